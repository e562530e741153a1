"""``tvgnn report``: a run folder as a table, a figure and a page for the browser."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvgnn.cli.unused import Effect, refuse_unused
from tvgnn.errors import DataError

if TYPE_CHECKING:
    from tvgnn.estimators.clustering import TVClustering
    from tvgnn.io.run_context import RunContext
    from tvgnn.report.page import ClusteringView

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
    from tvgnn.cli.run import print_metrics

    if metrics.get("task") == "classification":
        if figure is not None or html is not None:
            option = "--figure" if figure is not None else "--html"
            raise ValueError(f"expected {option} with a clustering, got a classification, which has none")
        _refuse_map(projection, page=False, instead="a classification has none")
        print_metrics(metrics)
        return

    _refuse_map(projection, page=not no_html, instead="with --no-html there is none")
    target = figure or run_dir / FIGURE_FILE
    page = None if no_html else html or run_dir / PAGE_FILE
    _check_targets(target, page, projection)
    from tvgnn.estimators.clustering import TVClustering
    from tvgnn.io.run_context import read_context

    estimator = TVClustering.load(run_dir)
    view = None if page is None else _view(estimator, metrics, read_context(run_dir))
    print_metrics(metrics)
    draw_run(target, estimator, str(metrics.get("dataset", run_dir.name)))
    print(f"wrote {target}")
    if page is not None and view is not None:
        from tvgnn.report.page import write_page

        write_page(page, view, projection=projection.value)
        print(f"wrote {page}; open it in a browser")


def _refuse_map(projection: Projection, *, page: bool, instead: str) -> None:
    refuse_unused([Effect("--map", projection is not Projection.auto, page, "places the nodes of the page")], instead)


def draw_run(path: Path, estimator: TVClustering, dataset: str) -> None:
    """Draw a fitted clustering into a file, completely or not at all."""
    from tvgnn.io.new_files import replaced_file
    from tvgnn.report.figures import clustering_figure, save_figure

    nodes, clusters = estimator.graph_.num_nodes, estimator.n_clusters_found_
    title = f"{dataset}: {nodes:,} nodes, {clusters} clusters"
    figure = clustering_figure(estimator.embedding_, estimator.assignments_, estimator.loss_history_, title)
    with replaced_file(path) as part:
        save_figure(figure, part)


def draw_page(
    path: Path, estimator: TVClustering, metrics: dict[str, Any], context: RunContext, projection: str = "auto"
) -> None:
    """Write the page of a fitted clustering into a file."""
    from tvgnn.report.page import write_page

    write_page(path, _view(estimator, metrics, context), projection=projection)


def _view(estimator: TVClustering, metrics: dict[str, Any], context: RunContext) -> ClusteringView:
    from tvgnn.report.page import ClusteringView, Picture

    graph = estimator.graph_
    return ClusteringView(
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


def _check_targets(figure: Path, page: Path | None, projection: Projection) -> None:
    """Refuse what could not be written, before anything is printed or written."""
    from importlib.util import find_spec

    from tvgnn.io.new_files import check_target
    from tvgnn.report.figures import FORMATS

    if figure.suffix.lower() not in FORMATS:
        raise ValueError(f"{figure}: expected a file name that ends in {', '.join(FORMATS)}")
    drawn = check_target(figure)
    if page is None:
        return
    if check_target(page) == drawn:
        raise ValueError(f"expected --figure and --html to be two files, got {figure} for both")
    if projection is Projection.umap and find_spec("umap") is None:
        raise DataError("--map umap needs umap-learn; install it with: pip install 'tvgnn[viz]', or pass --map pca")


def read_metrics(run_dir: Path) -> dict[str, Any]:
    """Return the metrics of a run folder."""
    import json

    from tvgnn.io.run_folder import METRICS_FILE
    from tvgnn.report.page.run_metrics import checked_metrics

    path = run_dir / METRICS_FILE
    try:
        metrics = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"{path}: expected a run folder, found no {METRICS_FILE}; pass what --out named") from None
    except (ValueError, OSError) as error:
        raise DataError(f"{path}: not readable as a run's metrics: {error}; run it again") from None
    try:
        return checked_metrics(metrics)
    except DataError as error:
        raise DataError(f"{path}: {error}; run it again") from None
