"""Make the missing runs of vertex clustering and keep record and arrays of each as soon as it is there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from tvgnn.errors import DataError
from tvgnn.experiments.clustering import (
    Arrays,
    ClusteringEnvironment,
    ClusteringJob,
    failed,
    load_once,
    released_graph,
    run_clustering,
)
from tvgnn.experiments.pool import Workers, until, work_off
from tvgnn.experiments.process import reason
from tvgnn.io.new_files import whole_file
from tvgnn.records import ClusteringRecord, RunStore, latest, read_records

__all__ = ["RECORDS_FILE", "ClusteringOutcome", "read_arrays", "run_clusterings", "stored_clusterings"]

RECORDS_FILE = "records.jsonl"
_ARRAYS_FOLDER = "arrays"
_ONE_PROCESS = Workers()
_Key = tuple[str, str, int, str]


@dataclass(frozen=True)
class ClusteringOutcome:
    """What a call of `run_clusterings` did.

    Attributes
    ----------
    records : dict
        The latest record of each job that has one, by the key of the job; it names no arrays where their file is gone.
    made : list of ClusteringRecord
        Those of this call.
    left : list of ClusteringJob
        Jobs without a result: not started for lack of time, failed, or without the file of their arrays.

    """

    records: Mapping[_Key, ClusteringRecord]
    made: list[ClusteringRecord]
    left: list[ClusteringJob]


def run_clusterings(
    jobs: Sequence[ClusteringJob],
    out: Path,
    environment: ClusteringEnvironment,
    *,
    workers: Workers = _ONE_PROCESS,
    minutes: float | None = None,
    need_arrays: bool = True,
    on_start: Callable[[int, int], None] = lambda total, done: None,
    on_record: Callable[[ClusteringRecord], None] = lambda record: None,
) -> ClusteringOutcome:
    """Make the runs that have no result yet; failed ones are tried again.

    Parameters
    ----------
    jobs : sequence of ClusteringJob
        In the order in which they are made; a job that is named twice is made once.
    out : path
        Folder of ``records.jsonl`` and ``arrays/``, shared by all experiments: a run that two of them need is made
        once.
    environment : ClusteringEnvironment
        Loader and facts.
    workers, minutes, on_start, on_record
        As in `tvgnn.experiments.runner.run_benchmark`.
    need_arrays : bool
        Repeat runs that kept arrays and whose file of them is gone: figures need it, tables do not.

    Raises
    ------
    DataError
        A graph cannot be loaded, records are damaged, the folder cannot be written, or another process writes there.

    """
    every = {job.key: job for job in jobs}
    with RunStore(out / RECORDS_FILE, ClusteringRecord) as store, released_graph():
        done = {record.key for record in _made(every, store.records) if _complete(record, out, need_arrays)}
        missing = [job for key, job in every.items() if key not in done]
        load_once(missing, environment)
        on_start(len(every), len(every) - len(missing))
        made = []
        results = work_off(until(minutes, missing), partial(run_clustering, environment=environment), workers)
        with closing(results):
            for job, result in results:
                if isinstance(result, Exception):
                    record = failed(job, environment, reason(result))
                else:
                    record = _with_arrays(*result, out)
                store.append(record)
                made.append(record)
                on_record(record)
        stored = list(store.records)
    return _outcome(every, stored, made, out, need_arrays)


def stored_clusterings(jobs: Sequence[ClusteringJob], out: Path, *, need_arrays: bool = True) -> ClusteringOutcome:
    """Return what earlier calls made, and run nothing.

    Raises
    ------
    DataError
        There are no records, or they are damaged.
    """
    stored = read_records(out / RECORDS_FILE, ClusteringRecord)
    return _outcome({job.key: job for job in jobs}, stored, [], out, need_arrays)


def read_arrays(record: ClusteringRecord, out: Path) -> Arrays:
    """Return what a run kept: ``labels`` (N,), and ``assignments`` (N, K) and ``embedding`` (N, H) where it has them.

    Raises
    ------
    DataError
        It kept none, or the file is missing or damaged.
    """
    path = out / (record.arrays or _ARRAYS_FOLDER)
    try:
        with path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        labels = arrays["labels"]
        if any(len(one) != len(labels) for one in arrays.values()):
            raise ValueError("they differ in length")
    except Exception as error:  # zip, zlib and numpy's reader each have their own
        name = f"{record.method} on {record.dataset}, seed {record.seed}"
        raise DataError(f"{path}: expected the arrays of {name}: {error}; remove the file to repeat the run") from None
    return arrays


def _outcome(
    every: Mapping[_Key, ClusteringJob],
    records: Iterable[ClusteringRecord],
    made: list[ClusteringRecord],
    out: Path,
    need_arrays: bool,
) -> ClusteringOutcome:
    """Put the records of the jobs together, in the order of the jobs."""
    found = {record.key: record for record in latest(_made(every, records))}
    known = {key: found[key] for key in every if key in found}
    left = [job for key, job in every.items() if key not in known or not _complete(known[key], out, need_arrays)]
    there = {
        key: record if _complete(record, out, need_arrays=True) else replace(record, arrays=None)
        for key, record in known.items()
    }
    return ClusteringOutcome(there, made, left)


def _made(every: Mapping[_Key, ClusteringJob], records: Iterable[ClusteringRecord]) -> list[ClusteringRecord]:
    """Return the records of some jobs."""
    return [record for record in records if (job := every.get(record.key)) is not None and job.made(record)]


def _complete(record: ClusteringRecord, out: Path, need_arrays: bool) -> bool:
    """Whether a run has its result and, where it kept arrays that are needed, their file."""
    return record.finished and (not need_arrays or record.arrays is None or (out / record.arrays).exists())


def _with_arrays(record: ClusteringRecord, arrays: Arrays, out: Path) -> ClusteringRecord:
    """Write the arrays, if any, before the record that names them."""
    if not arrays:
        return record
    name = f"{_ARRAYS_FOLDER}/{record.dataset}-{record.method}-{record.seed}-{record.fingerprint}.npz"
    path = out / name
    try:
        path.parent.mkdir(exist_ok=True)
        with whole_file(path, alone=True) as part:
            np.savez_compressed(part, allow_pickle=False, **arrays)
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror}; make room on the disk, and go on") from None
    return replace(record, arrays=name)
