"""Work off jobs in this process, in several, or on a dask cluster, and give each result as soon as it is there."""

from __future__ import annotations

import logging
import signal
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from tvgnn.errors import BackendUnavailableError, TVGNNError

__all__ = ["Workers", "until", "use_threads", "work_off"]

J = TypeVar("J")
R = TypeVar("R")
_ENDED = "its process was ended from outside, probably for lack of memory; try fewer --jobs"
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
        Threads a process.
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
        A job is taken when somebody is free for it.
    work : callable
        Can be pickled, like the jobs and results.
    workers : Workers
        Who works.
    """
    if workers.backend == "dask":
        return _on_dask(jobs, work, workers)
    return _in_turn(jobs, work, workers.threads) if workers.jobs == 1 else _in_processes(jobs, work, workers)


def until(minutes: float | None, jobs: Iterable[J]) -> Iterator[J]:
    """Give jobs out until this time is over; None: without end."""
    deadline = None if minutes is None else time.monotonic() + 60 * minutes
    for job in jobs:
        if deadline is not None and time.monotonic() >= deadline:
            return
        yield job


def _in_turn(jobs: Iterator[J], work: Callable[[J], R], threads: int) -> Generator[tuple[J, R | Exception]]:
    use_threads(threads)
    for job in jobs:
        try:
            result: R | Exception = work(job)
        except Exception as error:
            result = error
        yield job, result


def _in_processes(jobs: Iterator[J], work: Callable[[J], R], workers: Workers) -> Generator[tuple[J, R | Exception]]:
    from joblib.externals.loky import FIRST_COMPLETED, BrokenProcessPool, ProcessPoolExecutor, wait

    def start() -> Any:
        variables = dict.fromkeys(_THREAD_VARIABLES, str(workers.threads))  # read when libraries are loaded
        return ProcessPoolExecutor(workers.jobs, env=variables, initializer=_start_worker, initargs=(workers.threads,))

    pool = start()
    pending: dict[Any, J] = {}
    try:
        while True:
            while len(pending) < workers.jobs and (job := next(jobs, None)) is not None:
                pending[pool.submit(work, job)] = job
            if not pending:
                return
            finished, _ = wait(pending, return_when=FIRST_COMPLETED)
            if any(isinstance(future.exception(), BrokenProcessPool) for future in finished):
                finished, _ = wait(pending)  # the pool takes all runs in progress with it
                pool.shutdown(kill_workers=True)
                pool = start()
            for future in finished:
                error = future.exception()
                died = isinstance(error, BrokenProcessPool)
                yield pending.pop(future), RunError(_ENDED) if died else error or future.result()
    finally:
        pool.shutdown(kill_workers=True)


def _on_dask(jobs: Iterator[J], work: Callable[[J], R], workers: Workers) -> Generator[tuple[J, R | Exception]]:
    with _dask_client(workers) as client:
        from distributed import as_completed

        pending: dict[Any, J] = {}
        found = as_completed()

        def hand_out() -> None:
            while (
                len(pending) < max(1, len(client.scheduler_info()["workers"])) and (job := next(jobs, None)) is not None
            ):
                future = client.submit(_with_threads, work, job, workers.threads, pure=False)
                pending[future.key] = job
                found.add(future)

        hand_out()
        for future in found:
            job, error = pending.pop(future.key), future.exception()
            hand_out()
            yield job, future.result() if error is None else error


@contextmanager
def _dask_client(workers: Workers) -> Iterator[Any]:
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise BackendUnavailableError(
            "expected dask for the backend 'dask'; install it with: pip install 'tvgnn[cluster]'"
        ) from None
    with ExitStack() as stack:
        address: Any = workers.scheduler
        if address is None:
            # its workers are ended, not asked: their farewell is no news to a user
            local = LocalCluster(
                n_workers=workers.jobs, threads_per_worker=1, dashboard_address=None, silence_logs=logging.ERROR
            )
            address = stack.enter_context(local)
        try:
            client = stack.enter_context(Client(address))
        except OSError as error:
            raise BackendUnavailableError(
                f"expected a dask scheduler at {address}, got no answer ({error}); start one with: dask scheduler"
            ) from None
        yield client


def _with_threads(work: Callable[[J], R], job: J, threads: int) -> R:
    use_threads(threads)
    return work(job)


def _start_worker(threads: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process; the first one ends the others
    use_threads(threads)


def use_threads(threads: int) -> None:
    """Limit torch, and with it tvgnn's kernels, to this many threads."""
    import torch

    torch.set_num_threads(threads)
