"""``tvgnn reproduce``: the tables and figures of the paper, from data or from the records of earlier runs."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tvgnn.cli import options

if TYPE_CHECKING:
    from tvgnn.experiments.clustering import ClusteringEnvironment, ClusteringJob
    from tvgnn.experiments.clustering_runner import ClusteringOutcome
    from tvgnn.experiments.pool import Workers

__all__ = ["reproduce_app"]

reproduce_app = typer.Typer(help="Repeat the tables and figures of the paper; an interrupted command goes on.")

_PANEL = "Runs"
Out = Annotated[Path, typer.Option(help="Folder of records, arrays and results, shared by all experiments.")]
Jobs = Annotated[int, typer.Option(min=1, help="Runs at a time, which share the cores.", rich_help_panel=_PANEL)]


class Backend(StrEnum):
    """Where runs are made."""

    loky = "loky"
    dask = "dask"


BackendOption = Annotated[
    Backend, typer.Option("--backend", help="loky: processes of this machine; dask: a cluster.", rich_help_panel=_PANEL)
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        help="Address of a dask scheduler, such as tcp://host:8786.",
        show_default="a local cluster",
        rich_help_panel=_PANEL,
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(min=0, help="Minutes after which no further run starts.", show_default="none", rich_help_panel=_PANEL),
]


@reproduce_app.command("table1")
def table1(
    datasets: Annotated[str, typer.Option(help="cora, citeseer, pubmed, dblp, comma-separated; or all.")] = "all",
    methods: Annotated[str, typer.Option(help="Names of tvgnn.baselines and tvgnn, comma-separated; or all.")] = "all",
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each method on each graph.")] = 10,
    max_epochs: Annotated[int, typer.Option(min=1, help="Limit of the methods that are trained end to end.")] = 10_000,
    out: Out = Path("runs/reproduce"),
    root: options.Root = None,
    mirror: options.Mirror = None,
    jobs: Jobs = 1,
    backend: BackendOption = Backend.loky,
    scheduler: Scheduler = None,
    time_limit: TimeLimit = None,
) -> None:
    """Cluster the paper's four graphs by all methods; table 1 and one table of all metrics a graph."""
    from tvgnn.cli.benchmark import chosen
    from tvgnn.experiments.methods import CLUSTERING_METHODS
    from tvgnn.experiments.studies import CITATION, table1_jobs

    todo = table1_jobs(
        chosen("--datasets", datasets, tuple(CITATION)),
        chosen("--methods", methods, tuple(CLUSTERING_METHODS)),
        seeds,
        max_epochs,
    )
    outcome = _run(todo, out, _environment(root, mirror), _workers(jobs, backend, scheduler), time_limit)
    _print_clustering_tables(outcome)
    _print_ending(outcome, out)


def _workers(jobs: int, backend: Backend, scheduler: str | None) -> Workers:
    from joblib import cpu_count

    from tvgnn.experiments.pool import Workers

    if scheduler is not None:
        return Workers(jobs, int(cpu_count()), backend.value, scheduler)
    cores = int(cpu_count())
    if jobs > cores:
        raise ValueError(f"expected --jobs to be at most {cores}, the cores of this machine, got {jobs}")
    return Workers(jobs, cores // jobs, backend.value)


def _environment(root: Path | None, mirror: Path | None) -> ClusteringEnvironment:
    from tvgnn.cli.environment import git_commit, peak_rss_bytes, versions
    from tvgnn.experiments.clustering import ClusteringEnvironment, PublicGraphs

    return ClusteringEnvironment(PublicGraphs(root, mirror), peak_rss_bytes, versions(), git_commit())


def _run(
    jobs: Sequence[ClusteringJob],
    out: Path,
    environment: ClusteringEnvironment,
    workers: Workers,
    minutes: float | None,
) -> ClusteringOutcome:
    from tvgnn.cli.progress import run_progress
    from tvgnn.experiments.clustering_runner import run_clusterings
    from tvgnn.records import ClusteringRecord

    with run_progress() as (start, advance):

        def show(record: ClusteringRecord) -> None:
            nmi = record.metrics.get("nmi")
            result = "failed" if record.error else "done" if nmi is None else f"NMI {nmi:.3f}"
            advance(f"{record.dataset}, {record.method}, seed {record.seed}: {result}")

        return run_clusterings(jobs, out, environment, workers=workers, minutes=minutes, on_start=start, on_record=show)


def _print_clustering_tables(outcome: ClusteringOutcome) -> None:
    from tvgnn.cli.progress import print_tables
    from tvgnn.report.clustering_table import clustering_tables

    print_tables(clustering_tables(outcome.records.values()))


def _print_ending(outcome: ClusteringOutcome, out: Path) -> None:
    from tvgnn.cli.run import say
    from tvgnn.errors import TrainingError

    failures = [record for record in outcome.records.values() if not record.finished]
    if failures and len(failures) == len(outcome.records):
        raise TrainingError(f"every run failed, the last one: {failures[-1].error}")
    print(f"{len(outcome.made)} runs made, all records are in {out}")
    for record in failures:
        say("warning", f"{record.method} on {record.dataset}, seed {record.seed}, failed: {record.error}")
    if outcome.left:
        total = len(outcome.records) - len(failures) + len(outcome.left)
        say("note", f"{len(outcome.left)} of {total} runs are left; the same command makes them")
