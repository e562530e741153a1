"""Work off jobs in this process, in several, or on a dask cluster, and give each result as soon as it is there."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from tvgnn.errors import TVGNNError
from tvgnn.experiments.interrupts import end_with, held_interrupts
from tvgnn.experiments.process import limited_threads, use_threads

__all__ = ["Workers", "until", "work_off"]

J = TypeVar("J")
R = TypeVar("R")
_ENDED = "its process was ended from outside, probably for lack of memory; try fewer --jobs"
_FEEDER = "QueueFeederThread"
_SECONDS_TO_END = 5.0  # of the thread that feeds a pool; it takes milliseconds, unless it is stuck in a full pipe
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


class RunError(TVGNNError, RuntimeError):
    """A run ended without a result or an exception of its own."""


@dataclass(frozen=True)
class Workers:
    """Who works.

    Attributes
    ----------
    jobs : int
        Processes; 1 without dask is this one. Ignored where ``scheduler`` is given.
    threads : int
        Threads of each run; sums are rounded by their order, so another number gives other last digits.
    backend : str
        ``"loky"``, or ``"dask"``.
    scheduler : str or None
        Address of a dask scheduler, such as ``tcp://host:8786``, whose workers see the same files; None starts
        a cluster on this machine.

    """

    jobs: int = 1
    threads: int = 1
    backend: str = "loky"
    scheduler: str | None = None


def work_off(jobs: Iterator[J], work: Callable[[J], R], workers: Workers) -> Generator[tuple[J, R | Exception]]:
    """Call ``work`` on each job and give (job, result), or the exception where a process died or ``work`` raised.

    Parameters
    ----------
    jobs : iterator
        A job is taken when somebody is free for it. Where a process dies, the jobs in progress are made again one at a
        time, and only those that end their process again fail.
    work : callable
        Can be pickled, like the jobs and results.
    workers : Workers
        Who works.
    """
    if workers.backend == "dask":
        from tvgnn.experiments.dask_pool import work_off_on_dask

        return work_off_on_dask(jobs, work, workers.jobs, workers.threads, workers.scheduler)
    return _in_turn(jobs, work, workers.threads) if workers.jobs == 1 else _in_processes(jobs, work, workers)


def until(minutes: float | None, jobs: Iterable[J]) -> Iterator[J]:
    """Give jobs out until this time is over; None: without end."""
    deadline = None if minutes is None else time.monotonic() + 60 * minutes
    for job in jobs:
        if deadline is not None and time.monotonic() >= deadline:
            return
        yield job


def _in_turn(jobs: Iterator[J], work: Callable[[J], R], threads: int) -> Generator[tuple[J, R | Exception]]:
    for job in jobs:
        try:
            with limited_threads(threads):
                result: R | Exception = work(job)
        except Exception as error:
            result = error
        yield job, result


def _in_processes(jobs: Iterator[J], work: Callable[[J], R], workers: Workers) -> Generator[tuple[J, R | Exception]]:
    from joblib.externals.loky import FIRST_COMPLETED, BrokenProcessPool, ProcessPoolExecutor, wait

    def start() -> Any:
        variables = dict.fromkeys(_THREAD_VARIABLES, str(workers.threads))  # read when libraries are loaded
        # `work` may hold a graph: it goes to each process once, and not with each job
        arguments = (workers.threads, os.getpid(), work)
        return ProcessPoolExecutor(workers.jobs, env=variables, initializer=_start_worker, initargs=arguments)

    others = set(threading.enumerate())
    pool = start()
    pending: dict[Any, J] = {}

    def again() -> None:
        nonlocal pool
        end()
        pool = start()

    def end() -> None:
        pool.shutdown(kill_workers=True)
        # loky does not wait for this thread, which frees locks: Python's end cuts it short and reports a leak of them
        for thread in threading.enumerate():
            if thread.name == _FEEDER and thread not in others:
                thread.join(_SECONDS_TO_END)

    def submit(job: J) -> Any:
        with held_interrupts():
            try:
                return pool.submit(_work_on, job)
            except BrokenProcessPool:  # a process died since the last look
                again()
                return pool.submit(_work_on, job)

    def died(future: Any) -> bool:
        return isinstance(future.exception(), BrokenProcessPool)

    try:
        while True:
            while len(pending) < workers.jobs and (job := next(jobs, None)) is not None:
                pending[submit(job)] = job
            if not pending:
                return
            finished, _ = wait(pending, return_when=FIRST_COMPLETED)
            lost = []
            if any(died(future) for future in finished):
                finished, _ = wait(pending)  # the pool takes all runs in progress with it
                lost = [pending.pop(future) for future in list(pending) if died(future)]
                again()
            for future in [one for one in finished if one in pending]:
                yield pending.pop(future), future.exception() or future.result()
            for job in lost:
                alone = submit(job)
                if died(alone):
                    yield job, RunError(_ENDED)
                else:
                    yield job, alone.exception() or alone.result()
    finally:
        end()


_of_this_process: list[Callable[[Any], Any]] = []
"""In a process of a pool: what it does with each job."""


def _start_worker(threads: int, parent: int, work: Callable[[Any], Any]) -> None:
    end_with(parent)
    use_threads(threads)
    _of_this_process[:] = [work]


def _work_on(job: Any) -> Any:
    return _of_this_process[0](job)
