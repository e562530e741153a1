"""The figures of the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from tvgnn.cli.reproduction.request import Request
from tvgnn.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tvgnn.experiments.clustering_runner import ClusteringOutcome
    from tvgnn.records import ClusteringRecord

__all__ = ["assignments", "denoising", "grid", "gtv_steps", "ring", "umap"]


def assignments(request: Request) -> None:
    """``log(S S^T)`` of the end-to-end methods and ablations, and of the true labels."""
    from tvgnn.experiments.studies import figure_jobs
    from tvgnn.report.assignment_figure import assignment_figure
    from tvgnn.report.paper_figures import CLUSTERING_TITLES

    names = _citation_graphs(request)
    outcome = request.run(figure_jobs(names, request.epochs(full=10_000, quick=200)))
    for name in names:
        found = request.arrays(outcome, name)
        panels = {_short(CLUSTERING_TITLES[method]): one["assignments"] for method, one in found.items()}
        request.write_figure(f"assignments-{name}", assignment_figure(panels, _labels(request, name)))


def umap(request: Request) -> None:
    """UMAP of the last message-passing layer, by cluster and by class."""
    import numpy as np

    from tvgnn.experiments.studies import figure_jobs
    from tvgnn.report.embedding_map import embedding_figure, umap_points
    from tvgnn.report.paper_figures import CLUSTERING_TITLES

    names = _citation_graphs(request)
    outcome = request.run(figure_jobs(names, request.epochs(full=10_000, quick=200)))
    for name in names:
        labels, edges = _labels(request, name), request.drawn_graph(name).edges
        found = {_short(CLUSTERING_TITLES[method]): one for method, one in request.arrays(outcome, name).items()}
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
    from tvgnn.experiments.studies import DENOISING, denoising_jobs
    from tvgnn.report.denoising_figure import denoising_figure, spring_positions

    jobs = denoising_jobs(_seeds(request), request.epochs(full=10_000, quick=500))
    groups = _groups(request.run(jobs))
    panels = _kept(request, groups)
    if panels:
        edges, features = request.drawn_graph(DENOISING).edges, _features(request, DENOISING)
        places = spring_positions(edges, len(features))
        request.write_figure(
            "denoising", denoising_figure(places, edges, features, _labels(request, DENOISING), panels)
        )
    _write_groups(request, "denoising", groups)


def gtv_steps(request: Request) -> None:
    """Total variation by number of GTV steps, and the smoothed function with its derivative."""
    from tvgnn.experiments.curves import CURVES_FILE, curve_jobs, run_curves, stored_curves
    from tvgnn.experiments.gtv_steps import PAPER_STEPS
    from tvgnn.report.gtv_figures import gtv_steps_figure, smoothed_total_variation_figure

    request.require_records(request.out / CURVES_FILE)
    request.write_figure("smoothed-total-variation", smoothed_total_variation_figure())
    steps = {size: count // (20 if request.quick else 1) for size, count in PAPER_STEPS.items()}
    jobs = curve_jobs("cora", steps)
    if request.draw_only:
        outcome = stored_curves(jobs, request.out)
    else:
        outcome = run_curves(jobs, request.out, request.environment, request.minutes())
    request.tell(outcome.records, outcome.left)
    curves: dict[float, dict[str, tuple[Sequence[int], Sequence[float]]]] = {}
    for one in outcome.records:
        curves.setdefault(one.step_size, {})[one.variant] = one.steps, one.total_variation
    request.write_figure("gtv-steps", gtv_steps_figure(curves))


def _point_cloud(request: Request, name: str, curve: Literal["sorted", "order"]) -> None:
    from tvgnn.experiments.studies import point_cloud_jobs
    from tvgnn.report.ring_grid_figure import graph_partition_figure

    groups = _groups(request.run(point_cloud_jobs(name, _seeds(request), request.epochs(full=10_000, quick=300))))
    kept = _kept(request, groups)
    if kept:
        places, edges = _features(request, name), request.drawn_graph(name).edges
        panels = {title: (places, edges, soft) for title, soft in kept.items()}
        request.write_figure(name, graph_partition_figure(panels, curve=curve))
    _write_groups(request, name, groups)


def _groups(outcome: ClusteringOutcome) -> dict[str, list[ClusteringRecord]]:
    from tvgnn.report.sharpness_table import by_title

    return by_title(outcome.records.values())


def _kept(request: Request, groups: Mapping[str, Sequence[ClusteringRecord]]) -> dict[str, NDArray[np.float32]]:
    """Assignments of the first seed, by title."""
    from tvgnn.experiments.clustering_runner import read_arrays

    return {
        title.replace(", best", ",\nbest"): read_arrays(record, request.out)["assignments"]
        for title, records in groups.items()
        for record in records
        if record.arrays is not None
    }


def _write_groups(request: Request, name: str, groups: Mapping[str, Sequence[ClusteringRecord]]) -> None:
    from tvgnn.report.clustering_statistics import Runs
    from tvgnn.report.sharpness_table import sharpness_rows

    rows = sharpness_rows({title: Runs(tuple(records)) for title, records in groups.items()})
    request.write_table(name, [(f"{name}: mean ± deviation (lowest to highest) over the seeds", rows)])


def _seeds(request: Request) -> int:
    return request.seeds or (2 if request.quick else 10)


def _citation_graphs(request: Request) -> tuple[str, ...]:
    from tvgnn.experiments.studies import CITATION

    return request.chosen_datasets(tuple(CITATION), ("cora",) if request.quick else tuple(CITATION))


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


def _short(title: str) -> str:
    """Name of an ablation without its explanation."""
    return title.partition(":")[0]
