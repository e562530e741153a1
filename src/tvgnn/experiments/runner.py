"""Run what is missing of a benchmark, in this process or in several, and keep every result as soon as it is there."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tvgnn.experiments.classification import Environment, failed, run_job
from tvgnn.experiments.plan import Job, Plan
from tvgnn.experiments.splits import Splits, read_splits, splits_for
from tvgnn.records import RunRecord, RunStore, latest

__all__ = ["RECORDS_FILE", "Outcome", "run_benchmark"]

RECORDS_FILE = "records.jsonl"
_ENDED = "its process was ended from outside, probably for lack of memory; try fewer --jobs"
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


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
    jobs: int = 1,
    threads: int = 1,
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
    jobs : int, default 1
        Processes; 1 is this one. Of several, one that the system ends costs only the runs in progress.
    threads : int, default 1
        Threads a process.
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
    deadline = None if minutes is None else time.monotonic() + 60 * minutes
    with RunStore(out / RECORDS_FILE) as store:
        done = {record.key for record in store.records if record.finished}
        every = plan.jobs({name: _splits(name, plan, out, environment, done) for name in plan.datasets})
        missing = [job for job in every if job.key not in done]
        on_start(len(every), len(every) - len(missing))
        made = []
        in_time = _until(deadline, missing)
        results = (
            _in_turn(in_time, environment, threads) if jobs == 1 else _in_pool(in_time, environment, jobs, threads)
        )
        with closing(results):
            for record in results:
                store.append(record)
                made.append(record)
                on_record(record)
        keys = {job.key for job in every}
        records = latest(record for record in store.records if record.key in keys)
    finished = {record.key for record in records if record.finished}
    return Outcome(records, made, [job for job in every if job.key not in finished])


def _splits(
    name: str, plan: Plan, out: Path, environment: Environment, done: set[tuple[str, str, int, int, str]]
) -> Splits:
    """Read or draw the splits of a dataset, which is loaded only where a run of it is missing."""
    path = out / "splits" / f"{name}.json"
    if path.exists():
        known = read_splits(path)
        if all(job.key in done for job in replace(plan, datasets=(name,)).jobs({name: known})):
            return known
    labels = [graph.label for graph in environment.load(name)]
    return splits_for(path, labels, n_folds=plan.settings.n_folds, seed=plan.settings.seed)


def _until(deadline: float | None, jobs: Iterable[Job]) -> Iterator[Job]:
    """Give jobs out until time is over."""
    for job in jobs:
        if deadline is not None and time.monotonic() >= deadline:
            return
        yield job


def _in_turn(jobs: Iterator[Job], environment: Environment, threads: int) -> Generator[RunRecord]:
    _use_threads(threads)
    for job in jobs:
        yield run_job(job, environment)


def _in_pool(jobs: Iterator[Job], environment: Environment, n_jobs: int, threads: int) -> Generator[RunRecord]:
    """Keep ``n_jobs`` processes busy; a job is handed out when a process is free for it."""
    from joblib.externals.loky import FIRST_COMPLETED, BrokenProcessPool, ProcessPoolExecutor, wait

    def start() -> Any:
        variables = dict.fromkeys(_THREAD_VARIABLES, str(threads))  # read when libraries are loaded
        return ProcessPoolExecutor(n_jobs, env=variables, initializer=_start_worker, initargs=(threads,))

    pool = start()
    pending: dict[Any, Job] = {}
    try:
        while True:
            while len(pending) < n_jobs and (job := next(jobs, None)) is not None:
                pending[pool.submit(run_job, job, environment)] = job
            if not pending:
                return
            finished, _ = wait(pending, return_when=FIRST_COMPLETED)
            if any(isinstance(future.exception(), BrokenProcessPool) for future in finished):
                finished, _ = wait(pending)  # the pool takes all runs in progress with it
                pool.shutdown(kill_workers=True)
                pool = start()
            for future in finished:
                job, error = pending.pop(future), future.exception()
                if error is None:
                    yield future.result()
                else:
                    yield failed(job, environment, _ENDED if isinstance(error, BrokenProcessPool) else repr(error))
    finally:
        pool.shutdown(kill_workers=True)


def _start_worker(threads: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process; the first one ends the others
    _use_threads(threads)


def _use_threads(threads: int) -> None:
    import torch

    torch.set_num_threads(threads)
