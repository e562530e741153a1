"""``tvgnn reproduce``: the tables and figures of the paper, from data or from the records of earlier runs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tvgnn.cli import options
from tvgnn.cli.reproduction import EXPERIMENTS, Request
from tvgnn.cli.run import pool_workers

if TYPE_CHECKING:
    from tvgnn.experiments.clustering import ClusteringEnvironment

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
        str | None, typer.Option(help="Comma-separated names, for the tables.", show_default="all")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Runs of a method on a graph or fold.", show_default="the paper's")
    ] = None,
    max_epochs: Annotated[
        int | None, typer.Option(min=1, help="Limit of training, which may stop before.", show_default="the paper's")
    ] = None,
    root: options.Root = None,
    mirror: options.Mirror = None,
    jobs: Annotated[int, typer.Option(min=1, help="Runs at a time, which share the cores.", rich_help_panel=_RUNS)] = 1,
    backend: Annotated[
        Scheduling, typer.Option(help="loky: processes of this machine; dask: a cluster.", rich_help_panel=_RUNS)
    ] = Scheduling.loky,
    scheduler: Annotated[
        str | None,
        typer.Option(
            help="Address of a dask scheduler, such as tcp://host:8786.",
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
    if scheduler is not None and backend is not Scheduling.dask:
        raise ValueError("expected --backend dask with --scheduler, got --backend loky; add --backend dask")
    request = Request(
        out=out,
        environment=_environment(root, mirror),
        workers=pool_workers(jobs, backend=backend.value, scheduler=scheduler),
        root=root,
        mirror=mirror,
        minutes=time_limit,
        quick=quick,
        draw_only=draw_only,
        datasets=datasets,
        methods=methods,
        seeds=seeds,
        max_epochs=max_epochs,
    )
    for name in names:
        EXPERIMENTS[name](request)


def _environment(root: Path | None, mirror: Path | None) -> ClusteringEnvironment:
    from tvgnn.cli.environment import git_commit, peak_rss_bytes, versions
    from tvgnn.experiments.clustering import ClusteringEnvironment, PublicGraphs

    return ClusteringEnvironment(PublicGraphs(root, mirror), peak_rss_bytes, versions(), git_commit())
