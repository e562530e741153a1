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
    from tvgnn.graph.graph import Graph
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
        request.write_figure(f"assignments-{name}", assignment_figure(panels, _labels(request.graph(name))))


def umap(request: Request) -> None:
    """UMAP of the last message-passing layer, by cluster and by class."""
    import numpy as np

    from tvgnn.experiments.studies import figure_jobs
    from tvgnn.report.embedding_map import embedding_figure, umap_points
    from tvgnn.report.paper_figures import CLUSTERING_TITLES

    names = _citation_graphs(request)
    outcome = request.run(figure_jobs(names, request.epochs(full=10_000, quick=200)))
    for name in names:
        graph = request.graph(name)
        found = {_short(CLUSTERING_TITLES[method]): one for method, one in request.arrays(outcome, name).items()}
        points = {title: umap_points(one["embedding"].astype(np.float32)) for title, one in found.items()}
        clusters = {title: one["labels"] for title, one in found.items()}
        request.write_figure(f"umap-{name}", embedding_figure(points, clusters, _labels(graph), _edges(graph)))


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
        graph = request.graph(DENOISING)
        edges = _edges(graph)
        places = spring_positions(edges, graph.num_nodes)
        request.write_figure("denoising", denoising_figure(places, edges, graph.x, _labels(graph), panels))
    _write_groups(request, "denoising", groups)


def gtv_steps(request: Request) -> None:
    """Total variation by number of GTV steps, and the smoothed function with its derivative."""
    from tvgnn.experiments.gtv_steps import PAPER_STEPS, gtv_steps
    from tvgnn.report.gtv_figures import gtv_steps_figure, smoothed_total_variation_figure

    request.write_figure("smoothed-total-variation", smoothed_total_variation_figure())
    steps = {size: count // (20 if request.quick else 1) for size, count in PAPER_STEPS.items()}
    request.write_figure("gtv-steps", gtv_steps_figure(gtv_steps(request.graph("cora"), steps)))


def _point_cloud(request: Request, name: str, curve: Literal["sorted", "order"]) -> None:
    from tvgnn.experiments.studies import point_cloud_jobs
    from tvgnn.report.ring_grid_figure import graph_partition_figure

    groups = _groups(request.run(point_cloud_jobs(name, _seeds(request), request.epochs(full=10_000, quick=300))))
    graph = request.graph(name)
    panels = {title: (graph.x, _edges(graph), soft) for title, soft in _kept(request, groups).items()}
    if panels:
        request.write_figure(name, graph_partition_figure(panels, curve=curve))
    _write_groups(request, name, groups)


def _groups(outcome: ClusteringOutcome) -> dict[str, list[ClusteringRecord]]:
    """Finished runs by method, a step size that is not the paper's in the title."""
    from tvgnn.report.paper_figures import CLUSTERING_TITLES

    groups: dict[str, list[ClusteringRecord]] = {}
    for record in outcome.records.values():
        step = record.settings.get("delta_coeff")
        title = CLUSTERING_TITLES[record.method] + ("" if step is None else f", 2δ = {step:g}")
        if record.finished:
            groups.setdefault(title, []).append(record)
    return groups


def _kept(request: Request, groups: Mapping[str, Sequence[ClusteringRecord]]) -> dict[str, NDArray[np.float32]]:
    """Assignments of the first seed, by title."""
    from tvgnn.experiments.clustering_runner import read_arrays

    return {
        title: read_arrays(record, request.out)["assignments"]
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


def _edges(graph: Graph) -> NDArray[np.int64]:
    """Both ends of the undirected edges (2, E)."""
    import numpy as np

    adjacency = graph.adjacency().tocoo()
    once = adjacency.row < adjacency.col
    return np.stack([adjacency.row[once], adjacency.col[once]]).astype(np.int64)


def _labels(graph: Graph) -> NDArray[np.int64]:
    """Class of each node; graphs without classes have none to draw."""
    if graph.y is None:
        raise DataError("expected a graph with classes, got one without; choose another dataset")
    return graph.y


def _short(title: str) -> str:
    """Name of an ablation without its explanation."""
    return title.partition(":")[0]
