"""``tvgnn reproduce``: the tables and figures of the paper, from data or from the records of earlier runs."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tvgnn.cli import options
from tvgnn.cli.reproduction import EXPERIMENTS, Experiment, Request, names_for
from tvgnn.cli.run import pool_workers, say
from tvgnn.errors import BackendUnavailableError, DataError, SchedulerError, TrainingError, TVGNNError

if TYPE_CHECKING:
    from tvgnn.experiments.clustering import ClusteringEnvironment
    from tvgnn.experiments.pool import Workers

__all__ = ["reproduce"]

_RUNS = "Runs"
_ALL = "all"


class Scheduling(StrEnum):
    """Where runs are made."""

    loky = "loky"
    dask = "dask"


def reproduce(
    experiment: Annotated[str, typer.Argument(help=f"One of {', '.join(EXPERIMENTS)}; or {_ALL}.")],
    quick: Annotated[bool, typer.Option("--quick", help="A short form: minutes on two cores.")] = False,
    out: Annotated[
        Path, typer.Option(help="Folder of records, tables and figures, shared by all; a second call goes on.")
    ] = Path("runs/reproduce"),
    draw_only: Annotated[
        bool, typer.Option("--draw-only", help="Make no runs: tables and figures of the records at hand.")
    ] = False,
    datasets: Annotated[str | None, typer.Option(help="Comma-separated names.", show_default="the paper's")] = None,
    methods: Annotated[
        str | None, typer.Option(help="Comma-separated names; no other method is trained.", show_default="all")
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, max=1000, help="Runs of a method on a graph or fold.", show_default="the paper's"),
    ] = None,
    max_epochs: Annotated[
        int | None, typer.Option(min=1, help="Limit of training, which may stop before.", show_default="the paper's")
    ] = None,
    root: options.Root = None,
    mirror: options.Mirror = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help=options.JOBS_HELP, show_default="1", rich_help_panel=_RUNS)
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=options.RUN_THREADS_HELP,
            show_default="1; all cores for times",
            rich_help_panel=_RUNS,
        ),
    ] = None,
    backend: Annotated[
        Scheduling, typer.Option(help="loky: processes of this machine; dask: a cluster.", rich_help_panel=_RUNS)
    ] = Scheduling.loky,
    scheduler: Annotated[
        str | None,
        typer.Option(
            help="Address of a dask scheduler, such as tcp://host:8786, all of whose workers are used.",
            show_default="--jobs workers on this machine",
            rich_help_panel=_RUNS,
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            min=0, help="Minutes after which no further run starts.", show_default="none", rich_help_panel=_RUNS
        ),
    ] = None,
) -> None:
    """Repeat a table or figure of the paper; an interrupted command goes on where it stopped.

    Each run is kept as soon as it ends, and experiments share runs. Labels enter the metrics only.

    Example: tvgnn reproduce table1 --datasets cora --max-epochs 500 --seeds 3 --jobs 2
    """
    names = options.chosen("EXPERIMENT", experiment, tuple(EXPERIMENTS))
    experiments = {name: EXPERIMENTS[name] for name in names}
    given = {"datasets": datasets, "methods": methods, "seeds": seeds, "max_epochs": max_epochs}
    for option, value in given.items():
        if value is not None and not any(one.takes(option) for one in experiments.values()):
            raise ValueError(f"expected no --{option.replace('_', '-')}: {', '.join(names)} would not use it")
    request = Request(
        out=_checked(out),
        environment=_environment(root, mirror),
        workers=_workers(jobs, threads, backend, scheduler),
        threads=threads,
        root=root,
        mirror=mirror,
        deadline=_deadline(time_limit),
        quick=quick,
        draw_only=draw_only,
        datasets=names_for("datasets", datasets, experiments),
        methods=names_for("methods", methods, experiments),
        seeds=seeds,
        max_epochs=max_epochs,
    )
    lacking = {name: missing for name, one in experiments.items() if (missing := one.missing()) is not None}
    if len(experiments) == 1:
        if lacking:
            raise BackendUnavailableError(f"{names[0]}: {lacking[names[0]]}")
        _make(experiments[names[0]], request)
    else:
        for name, missing in lacking.items():
            say("warning", f"{name} cannot be made: {missing}")
        _make_all(experiments, request, list(lacking))


def _make(one: Experiment, request: Request) -> None:
    """Make one; a package that turns out not to load is a mistake of the installation, told in one line."""
    try:
        one.make(request)
    except ImportError as error:
        raise BackendUnavailableError(str(error)) from error


def _make_all(experiments: Mapping[str, Experiment], request: Request, failed: list[str]) -> None:
    """Make several, but for those that cannot be made; one that fails does not end the others."""
    for name, one in experiments.items():
        if name in failed:
            continue
        if not (one.knows("datasets", request.datasets) and one.knows("methods", request.methods)):
            say("note", f"{name} is left out: it has none of the names that were given")
            continue
        try:
            _make(one, request)
        except SchedulerError:
            raise  # it would fail the others too
        except (TVGNNError, ValueError, OSError, MemoryError) as error:
            say("warning", f"{name} failed: {' '.join(str(error).split())}")
            failed.append(name)
    if failed:
        raise TrainingError(f"{len(failed)} of {len(experiments)} experiments failed, see above: {', '.join(failed)}")


def _checked(out: Path) -> Path:
    """Refuse a folder that cannot be written before any work is done."""
    existing = next(one for one in (out, *out.absolute().parents) if one.exists())
    if not existing.is_dir():
        raise DataError(f"{out}: cannot be written: {existing} is no folder; choose another folder with --out")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise DataError(f"{out}: cannot be written: {existing} is read-only; choose another folder with --out")
    return out


def _deadline(minutes: float | None) -> float | None:
    if minutes is None:
        return None
    if math.isnan(minutes):
        raise ValueError("expected --time-limit to be a number of minutes, got nan")
    return time.monotonic() + 60 * minutes


def _workers(jobs: int | None, threads: int | None, backend: Scheduling, scheduler: str | None) -> Workers:
    """Return who makes runs: of one thread each unless told, so that results depend on neither jobs nor machine."""
    if backend is Scheduling.dask:
        from tvgnn.experiments.dask_pool import require_dask

        require_dask()
    if scheduler is not None and backend is not Scheduling.dask:
        raise ValueError("expected --backend dask with --scheduler, got --backend loky; add --backend dask")
    if scheduler is not None and not scheduler.strip():
        raise ValueError("expected --scheduler to be an address such as tcp://host:8786, got nothing")
    if scheduler is not None and jobs is not None:
        raise ValueError(f"expected no --jobs with --scheduler, all of whose workers are used, got --jobs {jobs}")
    return pool_workers(jobs or 1, threads=threads or 1, backend=backend.value, scheduler=scheduler)


def _environment(root: Path | None, mirror: Path | None) -> ClusteringEnvironment:
    from tvgnn.cli.environment import git_commit, peak_rss_bytes, processor, versions
    from tvgnn.experiments.clustering import ClusteringEnvironment, PublicGraphs

    return ClusteringEnvironment(PublicGraphs(root, mirror), peak_rss_bytes, versions(), git_commit(), processor)
