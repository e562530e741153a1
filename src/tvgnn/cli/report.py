"""``tvgnn report``: a run folder as a table, a figure and a page for the browser."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvgnn.errors import DataError

if TYPE_CHECKING:
    from tvgnn.estimators.clustering import TVClustering
    from tvgnn.io.run_context import RunContext

__all__ = ["draw_page", "draw_run", "read_metrics", "report"]

FIGURE_FILE = "figure.png"
PAGE_FILE = "report.html"


class Projection(StrEnum):
    """How the embedding is projected to the plane."""

    auto = "auto"
    umap = "umap"
    pca = "pca"


def report(
    run_dir: Annotated[Path, typer.Argument(help="A folder that tvgnn cluster, classify or demo wrote.")],
    figure: Annotated[
        Path | None, typer.Option(help="Where to draw it: .png, .pdf or .svg.", show_default=f"RUN_DIR/{FIGURE_FILE}")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(help="Where to write the page.", show_default=f"RUN_DIR/{PAGE_FILE}")
    ] = None,
    no_html: Annotated[bool, typer.Option("--no-html", help="Write no page.")] = False,
    projection: Annotated[
        Projection, typer.Option("--map", help="Map of the nodes on the page; auto: UMAP where it is installed.")
    ] = Projection.auto,
) -> None:
    """Print the metrics of a run, draw its figure, and write a page that shows the clustering in a browser.

    The page is one file that holds all its data and makes no requests.
    """
    if no_html and html is not None:
        raise ValueError("expected --html FILE or --no-html, got both; leave one of them out")
    metrics = read_metrics(run_dir)
    from rich.console import Console

    if metrics.get("task") == "classification":
        if figure is not None or html is not None:
            option = "--figure" if figure is not None else "--html"
            raise ValueError(f"expected {option} with a clustering, got a classification, which has none")
        from tvgnn.report.tables import metrics_table

        Console().print(metrics_table(metrics))
        return

    from tvgnn.estimators.clustering import TVClustering
    from tvgnn.report.tables import metrics_table

    estimator = TVClustering.load(run_dir)
    Console().print(metrics_table(metrics))
    target = figure or run_dir / FIGURE_FILE
    draw_run(target, estimator, str(metrics.get("dataset", run_dir.name)))
    print(f"wrote {target}")
    if no_html:
        return
    from tvgnn.io.run_context import read_context

    page = html or run_dir / PAGE_FILE
    draw_page(page, estimator, metrics, read_context(run_dir), projection.value)
    print(f"wrote {page}; open it in a browser")


def draw_run(path: Path, estimator: TVClustering, dataset: str) -> None:
    """Draw a fitted clustering into a file."""
    from tvgnn.report.figures import clustering_figure, save_figure

    nodes, clusters = estimator.graph_.num_nodes, estimator.n_clusters_found_
    title = f"{dataset}: {nodes:,} nodes, {clusters} clusters"
    save_figure(clustering_figure(estimator.embedding_, estimator.assignments_, estimator.loss_history_, title), path)


def draw_page(
    path: Path, estimator: TVClustering, metrics: dict[str, Any], context: RunContext, projection: str = "auto"
) -> None:
    """Write the page of a fitted clustering into a file."""
    from tvgnn.report.page import ClusteringView, Picture, write_page

    graph = estimator.graph_
    view = ClusteringView(
        estimator.assignments_,
        graph.adjacency(),
        str(metrics.get("dataset", "clustering")),
        embedding=estimator.embedding_,
        x=graph.x,
        node_ids=graph.node_ids,
        y=context.y,
        class_names=context.class_names or (),
        feature_names=context.feature_names,
        positions=context.positions,
        picture=None if context.picture is None else Picture(*context.picture),
        loss_history=estimator.loss_history_,
        metrics=metrics,
    )
    write_page(path, view, projection=projection)


def read_metrics(run_dir: Path) -> dict[str, Any]:
    """Return the metrics of a run folder."""
    import json

    from tvgnn.io.run_folder import METRICS_FILE

    path = run_dir / METRICS_FILE
    try:
        metrics = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"{path}: expected a run folder, found no {METRICS_FILE}; pass what --out named") from None
    except (ValueError, OSError) as error:
        raise DataError(f"{path}: not readable as a run's metrics: {error}; run it again") from None
    if not isinstance(metrics, dict):
        raise DataError(f"{path}: expected a JSON object, got {type(metrics).__name__}; run it again")
    return metrics
