"""Work off jobs on a dask cluster: one of this machine, or one whose scheduler is named."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, TypeVar

from tvgnn.errors import SchedulerError
from tvgnn.experiments.interrupts import held_interrupts
from tvgnn.experiments.process import use_threads

__all__ = ["require_dask", "work_off_on_dask"]

J = TypeVar("J")
R = TypeVar("R")
_CONNECTION_SECONDS = 10  # until a scheduler that does not answer is given up
_WORKER_SECONDS = 30  # until one without workers is


def work_off_on_dask(
    jobs: Iterator[J], work: Callable[[J], R], n_workers: int, threads: int, scheduler: str | None
) -> Generator[tuple[J, R | Exception]]:
    """Do what `tvgnn.experiments.pool.work_off` does.

    Parameters
    ----------
    jobs, work
        As there.
    n_workers : int
        Workers of a cluster of this machine.
    threads : int
        Threads a run.
    scheduler : str or None
        Address of another cluster, which has its own workers.

    Raises
    ------
    SchedulerError
        Dask is not installed, the cluster cannot be started or reached, or it is lost on the way.
    """
    with _client(n_workers, scheduler) as client:
        from distributed import as_completed

        pending: dict[Any, J] = {}
        found = as_completed()

        def hand_out() -> None:
            while len(pending) < max(1, len(client.nthreads())) and (job := next(jobs, None)) is not None:
                future = client.submit(_with_threads, work, job, threads, pure=False)
                pending[future.key] = job
                found.add(future)

        hand_out()
        for future in found:
            if future.cancelled():
                raise SchedulerError(
                    "expected the dask scheduler to stay, lost it; the same command goes on where it is back"
                )
            job, error = pending.pop(future.key), future.exception()
            hand_out()
            yield job, future.result() if error is None else error


def require_dask() -> None:
    """Raise a `SchedulerError` where dask is not installed."""
    try:
        import distributed  # noqa: F401  # whether it is there
    except ImportError:
        raise SchedulerError(
            "expected dask for the backend 'dask'; install it with: pip install 'tvgnn[cluster]'"
        ) from None


@contextmanager
def _client(n_workers: int, scheduler: str | None) -> Iterator[Any]:
    require_dask()
    from distributed import Client

    with ExitStack() as stack:
        stack.enter_context(_quiet())
        address: Any = _local_cluster(stack, n_workers) if scheduler is None else scheduler
        try:
            client = stack.enter_context(Client(address, timeout=_CONNECTION_SECONDS))
        except (OSError, ValueError) as error:
            raise SchedulerError(
                f"expected a dask scheduler at {address}, got no answer ({error}); start one with: dask scheduler"
            ) from None
        try:
            client.wait_for_workers(1, timeout=_WORKER_SECONDS)
        except TimeoutError:
            raise SchedulerError(
                f"expected workers of the dask scheduler at {address}, found none; start one with: dask worker ADDRESS"
            ) from None
        yield client


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what dask logs of a lost connection off the terminal, where one line says the same."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _local_cluster(stack: ExitStack, n_workers: int) -> Any:
    from distributed import LocalCluster

    try:
        with held_interrupts():
            # its workers are ended, not asked: their farewell is no news to a user
            return stack.enter_context(
                LocalCluster(
                    n_workers=n_workers,
                    threads_per_worker=1,
                    dashboard_address="127.0.0.1:0",
                    silence_logs=logging.CRITICAL,
                )
            )
    except (OSError, RuntimeError) as error:
        raise SchedulerError(
            f"expected to start a dask cluster of this machine, could not ({error}); use --backend loky"
        ) from None


def _with_threads(work: Callable[[J], R], job: J, threads: int) -> R:
    use_threads(threads)
    return work(job)
