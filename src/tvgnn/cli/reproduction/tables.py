"""The tables of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tvgnn.cli.reproduction.request import Request

if TYPE_CHECKING:
    from tvgnn.experiments.runner import Outcome
    from tvgnn.graph.graph import Graph

__all__ = ["datasets", "table1", "table2", "times"]

_CLASSIFICATION = "classification"  # subfolder: its records are of another kind
_QUICK_SETS = ("mutag", "proteins")
_LARGE_SETS = ("dd", "collab", "reddit-binary")


def table1(request: Request) -> None:
    """Vertex clustering: NMI and accuracy beside the paper's, then all metrics of each graph."""
    from tvgnn.cli.progress import print_tables
    from tvgnn.experiments.methods import CLUSTERING_METHODS
    from tvgnn.experiments.studies import CITATION, table1_jobs
    from tvgnn.report.clustering_table import clustering_markdown, clustering_tables

    jobs = table1_jobs(
        request.chosen_datasets(tuple(CITATION), ("cora",) if request.quick else tuple(CITATION)),
        request.chosen_methods(tuple(CLUSTERING_METHODS)),
        request.seeds or (2 if request.quick else 10),
        request.epochs(full=10_000, quick=100),
    )
    records = list(request.run(jobs, need_arrays=False).records.values())
    print_tables(clustering_tables(records))
    request.write_text("table1.md", clustering_markdown(records) + "\n")


def table2(request: Request) -> None:
    """Graph classification: accuracy beside the paper's."""
    from tvgnn.cli.progress import print_tables
    from tvgnn.experiments.plan import DATASETS, METHODS
    from tvgnn.report.classification_table import classification_tables, markdown

    sets = tuple(name for name in DATASETS if not name.endswith("-small"))
    records = _classify(
        request,
        datasets=request.chosen_datasets(DATASETS, ("mutag",) if request.quick else sets),
        methods=request.chosen_methods(METHODS),
        folds=2 if request.quick else 5,
        runs=request.seeds or (1 if request.quick else 3),
        max_epochs=request.epochs(full=500, quick=20),
    ).records
    print_tables(classification_tables(records))
    request.write_text("table2.md", markdown(records) + "\n")


def times(request: Request) -> None:
    """Training time an epoch of the four clustering and the six classification methods."""
    from dataclasses import replace

    from tvgnn.cli.run import pool_workers
    from tvgnn.experiments.plan import DATASETS, METHODS
    from tvgnn.experiments.studies import CITATION, FOUR, times_jobs
    from tvgnn.report.provenance import provenance
    from tvgnn.report.times_table import classification_time_rows, clustering_time_rows

    # one run at a time, on one machine and all of its cores, whatever the other tables use: it is measured how fast
    # a run can be, and several would slow each other down
    alone = replace(request, workers=pool_workers(1, threads=request.threads))
    known = (*CITATION, *DATASETS)
    sets = tuple(name for name in DATASETS if not name.endswith("-small"))
    wanted = request.chosen_datasets(known, ("cora", *_QUICK_SETS) if request.quick else (*CITATION, *sets))
    parts = []
    notes = []
    graphs = [name for name in wanted if name in CITATION]
    clustering_methods = request.chosen_methods(FOUR)
    if graphs and clustering_methods:
        repeats = request.seeds or (1 if request.quick else 3)
        jobs = times_jobs(graphs, request.epochs(full=30, quick=5), repeats, clustering_methods)
        clustered = list(alone.run(jobs, need_arrays=False).records.values())
        parts.append(("Vertex clustering, time of training", clustering_time_rows(clustered)))
        notes.append(f"Clustering: {provenance(clustered)}.")
    graph_sets = [name for name in wanted if name in DATASETS]
    if graph_sets:
        epochs = request.epochs(full=5, quick=2)
        methods = request.chosen_methods(METHODS)
        outcome = _classify(alone, tuple(graph_sets), methods, folds=1, runs=1, max_epochs=epochs, timed=True)
        parts.append(("Graph classification, time of training", classification_time_rows(outcome.records)))
        notes.append(f"Classification: {provenance(outcome.records)}.")
    if not parts:
        raise ValueError(f"expected --methods that are timed on {', '.join(wanted)}: {', '.join(FOUR)}; got others")
    notes.append("In brackets: ratio to TVGNN. The paper's times are those of its authors' machine.")
    request.write_table("times", parts, "\n".join(notes))


def datasets(request: Request) -> None:
    """Sizes of the datasets, loaded and printed."""
    from tvgnn.datasets import load_graphs
    from tvgnn.experiments.dataset_statistics import SIZES_FILE, run_sizes, stored_sizes
    from tvgnn.experiments.plan import DATASETS
    from tvgnn.experiments.studies import CITATION
    from tvgnn.records import DatasetRecord
    from tvgnn.report.dataset_table import DATASET_NOTES, dataset_parts

    sets = tuple(name for name in DATASETS if not (request.quick and name in _LARGE_SETS))
    wanted = request.chosen_datasets((*CITATION, *DATASETS), (*CITATION, *sets))
    environment = request.environment

    def load(name: str) -> Graph | list[Graph]:
        return environment.load(name, 0) if name in CITATION else load_graphs(name, request.root, request.mirror)

    request.require_records(request.out / SIZES_FILE)
    if request.draw_only:
        records = stored_sizes(wanted, request.out)
    else:
        records = run_sizes(wanted, request.out, load, environment.versions, environment.commit)
    known = {record.dataset for record in records}
    request.tell(records, [DatasetRecord(name, {}) for name in wanted if name not in known])
    request.write_table("datasets", dataset_parts(records), DATASET_NOTES)


def _classify(
    request: Request,
    datasets: tuple[str, ...],
    methods: tuple[str, ...],
    folds: int,
    runs: int,
    max_epochs: int,
    timed: bool = False,
) -> Outcome:
    from tvgnn.cli.benchmark import run_plan
    from tvgnn.experiments.plan import Plan, Settings
    from tvgnn.experiments.runner import RECORDS_FILE, stored_benchmark

    plan = Plan(datasets, methods, tuple(range(folds)), runs, Settings(max_epochs=max_epochs, timed=timed))
    out = request.out / _CLASSIFICATION
    request.require_records(out / RECORDS_FILE)
    if request.draw_only:
        outcome = stored_benchmark(plan, out)
    else:
        outcome = run_plan(plan, out, request.root, request.mirror, workers=request.workers, minutes=request.minutes())
    request.tell(outcome.records, outcome.left)
    return outcome
