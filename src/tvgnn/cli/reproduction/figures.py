"""The figures of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from tvgnn.cli.reproduction.request import Request
from tvgnn.cli.run import say
from tvgnn.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tvgnn.experiments.clustering import Arrays, ClusteringJob
    from tvgnn.experiments.clustering_runner import ClusteringOutcome

__all__ = ["assignments", "denoising", "grid", "gtv_steps", "ring", "umap"]


def assignments(request: Request) -> None:
    """``log(S S^T)`` of the end-to-end methods and ablations, and of the true labels."""
    from tvgnn.report.assignment_figure import assignment_figure

    for name, found in _citation_panels(request, "assignments").items():
        panels = {title: one["assignments"] for title, one in found.items()}
        request.write_figure(f"assignments-{name}", assignment_figure(panels, _labels(request, name)))


def umap(request: Request) -> None:
    """UMAP of the last message-passing layer, by cluster and by class."""
    import numpy as np

    from tvgnn.report.embedding_map import embedding_figure, umap_points

    for name, found in _citation_panels(request, "umap").items():
        labels, edges = _labels(request, name), request.drawn_graph(name).edges
        points = {title: umap_points(one["embedding"].astype(np.float32)) for title, one in found.items()}
        clusters = {title: one["labels"] for title, one in found.items()}
        request.write_figure(f"umap-{name}", embedding_figure(points, clusters, labels, edges))


def ring(request: Request) -> None:
    """Clusters of the ring and the largest assignment along it."""
    _point_cloud(request, "ring", "order")


def grid(request: Request) -> None:
    """Clusters of the grid and its largest assignments, sorted."""
    _point_cloud(request, "grid", "sorted")


def denoising(request: Request) -> None:
    """Communities recovered from noisy features: a picture of the first seed, and a table of all of them."""
    from tvgnn.experiments.studies import DENOISING, FOUR, denoising_jobs
    from tvgnn.report.denoising_figure import denoising_figure, spring_positions

    epochs = request.epochs(full=10_000, quick=500)
    jobs = denoising_jobs(_seeds(request), epochs, request.chosen_methods(FOUR))
    outcome = request.run(jobs)
    found = _panels(request, "denoising", jobs, outcome)
    panels = {title.replace(", best", ",\nbest"): one["assignments"] for title, one in found.items()}
    if panels:
        edges, features = request.drawn_graph(DENOISING).edges, _features(request, DENOISING)
        places = spring_positions(edges, len(features))
        request.write_figure(
            "denoising", denoising_figure(places, edges, features, _labels(request, DENOISING), panels)
        )
    _write_groups(request, "denoising", outcome)


def gtv_steps(request: Request) -> None:
    """Total variation by number of GTV steps, and the smoothed function with its derivative."""
    from tvgnn.experiments.curves import CURVES_FILE, curve_jobs, run_curves, stored_curves
    from tvgnn.experiments.gtv_steps import PAPER_STEPS
    from tvgnn.experiments.process import limited_threads
    from tvgnn.report.gtv_figures import gtv_steps_figure, smoothed_total_variation_figure

    request.require_records(request.out / CURVES_FILE)
    request.write_figure("smoothed-total-variation", smoothed_total_variation_figure())
    steps = {size: count // (20 if request.quick else 1) for size, count in PAPER_STEPS.items()}
    jobs = curve_jobs("cora", steps)
    if request.draw_only:
        outcome = stored_curves(jobs, request.out)
    else:
        with limited_threads(request.workers.threads):
            outcome = run_curves(jobs, request.out, request.environment, request.minutes())
    request.tell(outcome.records, outcome.left)
    curves: dict[float, dict[str, tuple[Sequence[int], Sequence[float]]]] = {}
    for one in outcome.records:
        curves.setdefault(one.step_size, {})[one.variant] = one.steps, one.total_variation
    request.write_figure("gtv-steps", gtv_steps_figure(curves))


def _point_cloud(request: Request, name: str, curve: Literal["sorted", "order"]) -> None:
    from tvgnn.experiments.studies import FOUR, point_cloud_jobs
    from tvgnn.report.ring_grid_figure import graph_partition_figure

    epochs = request.epochs(full=10_000, quick=300)
    jobs = point_cloud_jobs(name, _seeds(request), epochs, request.chosen_methods(FOUR))
    outcome = request.run(jobs)
    found = _panels(request, name, jobs, outcome)
    if found:
        places, edges = _features(request, name), request.drawn_graph(name).edges
        panels = {title: (places, edges, one["assignments"]) for title, one in found.items()}
        request.write_figure(name, graph_partition_figure(panels, curve=curve))
    _write_groups(request, name, outcome)


def _citation_panels(request: Request, figure: str) -> dict[str, dict[str, Arrays]]:
    """Make the runs of a figure of the citation graphs; their arrays by graph and title.

    Raises
    ------
    DataError
        There is none to draw.
    """
    from tvgnn.experiments.methods import END_TO_END
    from tvgnn.experiments.studies import CITATION, figure_jobs

    names = request.chosen_datasets(tuple(CITATION), ("cora",) if request.quick else tuple(CITATION))
    jobs = figure_jobs(names, request.epochs(full=10_000, quick=200), request.chosen_methods(END_TO_END))
    outcome = request.run(jobs)
    found = {
        name: _panels(request, f"{figure}-{name}", [job for job in jobs if job.dataset == name], outcome)
        for name in names
    }
    drawn = {name: panels for name, panels in found.items() if panels}
    if not drawn:
        raise DataError(f"expected at least one finished run with its arrays to draw, found none in {request.out}")
    return drawn


def _panels(
    request: Request, figure: str, jobs: Sequence[ClusteringJob], outcome: ClusteringOutcome
) -> dict[str, Arrays]:
    """Arrays of the first seed by title, in the order of the jobs; says which are missing from the figure."""
    from tvgnn.experiments.clustering_runner import read_arrays
    from tvgnn.report.sharpness_table import run_title

    drawn = {run_title(job): outcome.records.get(job.key) for job in jobs if job.kept_arrays}
    there = {title: record for title, record in drawn.items() if record is not None and record.arrays is not None}
    missing = ", ".join(title for title in drawn if title not in there)
    if not there:
        say("warning", f"figure {figure} is not drawn: there is no result of seed 0 of {missing}")
    elif missing:
        say("warning", f"figure {figure} is drawn without {missing}: there is no result of seed 0")
    return {title: read_arrays(record, request.out) for title, record in there.items()}


def _write_groups(request: Request, name: str, outcome: ClusteringOutcome) -> None:
    """Write a table of the finished runs by method."""
    from tvgnn.report.clustering_statistics import Runs
    from tvgnn.report.sharpness_table import by_title, sharpness_rows

    groups = by_title(outcome.records.values())
    rows = sharpness_rows({title: Runs(tuple(records)) for title, records in groups.items()})
    request.write_table(name, [(f"{name}: mean ± deviation (lowest to highest) over the seeds", rows)])


def _seeds(request: Request) -> int:
    return request.seeds or (2 if request.quick else 10)


def _labels(request: Request, name: str) -> NDArray[np.int64]:
    """Class of each node; graphs without classes have none to draw."""
    labels = request.drawn_graph(name).labels
    if labels is None:
        raise DataError(f"expected classes of {name}, got a graph without; choose another dataset")
    return labels


def _features(request: Request, name: str) -> NDArray[np.float64]:
    """Few features of each node, such as its place."""
    features = request.drawn_graph(name).features
    if features is None:
        raise DataError(f"expected places or other few features of the nodes of {name}, got none; choose another one")
    return features
