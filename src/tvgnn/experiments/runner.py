"""Run what is missing of a benchmark, in this process or in several, and keep every result as soon as it is there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from tvgnn.experiments.classification import Environment, failed, released_graphs, run_job
from tvgnn.experiments.plan import Job, Plan
from tvgnn.experiments.pool import Workers, until, work_off
from tvgnn.experiments.process import reason
from tvgnn.experiments.splits import Splits, read_splits, splits_for
from tvgnn.records import RunRecord, RunStore, latest, read_records

__all__ = ["RECORDS_FILE", "Outcome", "run_benchmark", "stored_benchmark"]

RECORDS_FILE = "records.jsonl"
_ONE_PROCESS = Workers()


@dataclass(frozen=True)
class Outcome:
    """What a call of `run_benchmark` did.

    Attributes
    ----------
    records : list of RunRecord
        The latest record of each run of the plan.
    made : list of RunRecord
        Those of this call.
    left : list of Job
        Runs without a result: not started for lack of time, or failed.

    """

    records: list[RunRecord]
    made: list[RunRecord]
    left: list[Job]


def run_benchmark(
    plan: Plan,
    out: Path,
    environment: Environment,
    *,
    workers: Workers = _ONE_PROCESS,
    minutes: float | None = None,
    on_start: Callable[[int, int], None] = lambda total, done: None,
    on_record: Callable[[RunRecord], None] = lambda record: None,
) -> Outcome:
    """Make the runs of a plan that have no result yet; failed ones are tried again.

    Parameters
    ----------
    plan : Plan
        What is run.
    out : path
        Folder of ``records.jsonl`` and of ``splits/NAME.json``.
    environment : Environment
        Loaders, classifier and facts.
    workers : Workers, default one process of one thread
        Who works; a process that the system ends costs only its run.
    minutes : float, optional
        After these no further run starts; those in progress end.
    on_start : callable
        Gets the numbers of all runs and of those that have a result.
    on_record : callable
        Gets every new record, once it is on disk.

    Raises
    ------
    DataError
        A dataset cannot be loaded, splits or records do not fit or are damaged.

    """
    with RunStore(out / RECORDS_FILE, RunRecord) as store, released_graphs():
        done = {record.key for record in store.records if record.finished}
        every = plan.jobs({name: _splits(name, plan, out, environment, done) for name in plan.datasets})
        missing = [job for job in every if job.key not in done]
        on_start(len(every), len(every) - len(missing))
        made = []
        results = work_off(until(minutes, missing), partial(run_job, environment=environment), workers)
        with closing(results):
            for job, result in results:
                record = failed(job, environment, reason(result)) if isinstance(result, Exception) else result
                store.append(record)
                made.append(record)
                on_record(record)
        stored = list(store.records)
    return _outcome(every, stored, made)


def stored_benchmark(plan: Plan, out: Path) -> Outcome:
    """Return what earlier calls made, and load, run and write nothing.

    Raises
    ------
    DataError
        There are no records, or records or splits are damaged.
    """
    stored = read_records(out / RECORDS_FILE, RunRecord)
    paths = {name: _splits_file(name, out) for name in plan.datasets}
    # no run is made before the splits are there
    splits = {name: read_splits(path) if path.exists() else Splits("", 0, ()) for name, path in paths.items()}
    return _outcome(plan.jobs(splits), stored, [])


def _outcome(every: Sequence[Job], stored: Iterable[RunRecord], made: list[RunRecord]) -> Outcome:
    keys = {job.key for job in every}
    records = latest(record for record in stored if record.key in keys)
    finished = {record.key for record in records if record.finished}
    return Outcome(records, made, [job for job in every if job.key not in finished])


def _splits_file(name: str, out: Path) -> Path:
    return out / "splits" / f"{name}.json"


def _splits(
    name: str, plan: Plan, out: Path, environment: Environment, done: set[tuple[str, str, int, int, str]]
) -> Splits:
    """Read or draw the splits of a dataset, which is loaded only where a run of it is missing."""
    path = _splits_file(name, out)
    if path.exists():
        known = read_splits(path)
        if all(job.key in done for job in replace(plan, datasets=(name,)).jobs({name: known})):
            return known
    labels = [graph.label for graph in environment.load(name)]
    return splits_for(path, labels, n_folds=plan.settings.n_folds, seed=plan.settings.seed)
