"""``tvgnn report``: a run folder as a table and a figure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvgnn.errors import DataError

if TYPE_CHECKING:
    from tvgnn.estimators.clustering import TVClustering

__all__ = ["draw_run", "report"]

FIGURE_FILE = "figure.png"


def report(
    run_dir: Annotated[Path, typer.Argument(help="A folder that tvgnn cluster, classify or demo wrote.")],
    figure: Annotated[
        Path | None, typer.Option(help="Where to draw it: .png, .pdf or .svg.", show_default=f"RUN_DIR/{FIGURE_FILE}")
    ] = None,
) -> None:
    """Print the metrics of a run and draw the figure of a clustering."""
    metrics = _read_metrics(run_dir)
    from rich.console import Console

    if metrics.get("task") == "classification":
        if figure is not None:
            raise ValueError("expected --figure with a clustering, got a classification, which has none")
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


def draw_run(path: Path, estimator: TVClustering, dataset: str) -> None:
    """Draw a fitted clustering into a file."""
    from tvgnn.report.figures import clustering_figure, save_figure

    nodes, clusters = estimator.graph_.num_nodes, estimator.n_clusters_found_
    title = f"{dataset}: {nodes:,} nodes, {clusters} clusters"
    save_figure(clustering_figure(estimator.embedding_, estimator.assignments_, estimator.loss_history_, title), path)


def _read_metrics(run_dir: Path) -> dict[str, Any]:
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
