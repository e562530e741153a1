"""Metrics as tables for the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

__all__ = ["comparison_table", "metric_rows", "metrics_table"]

_MAX_SIZES_SHOWN = 12
_QUALITY = {
    "test_accuracy": "test accuracy",
    "test_macro_f1": "test macro F1",
    "validation_accuracy": "validation accuracy",
    "train_accuracy": "training accuracy",
    "nmi": "NMI",
    "acc": "accuracy",
    "ari": "ARI",
    "macro_f1": "macro F1",
    "modularity": "modularity",
    "conductance": "conductance",
    "cut_fraction": "cut fraction",
    "sharpness": "sharpness",
    "soft_entropy": "soft entropy",
    "loss": "loss",
    "total_variation": "  total variation",
    "balance": "  balance",
}


def metrics_table(metrics: Mapping[str, Any]) -> Table:
    """Return the contents of a ``metrics.json`` as a table of two columns; absent keys are left out.

    Parameters
    ----------
    metrics : mapping
        As `tvgnn cluster` or `tvgnn classify` writes it.

    Examples
    --------
    >>> table = metrics_table({"dataset": "ring", "n_nodes": 200, "nmi": 0.5})
    >>> table.row_count
    3
    """
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, text in metric_rows(metrics):
        table.add_row(name, Text(text))  # as it is: a name may contain what rich reads as markup
    return table


def comparison_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return one line a method: name, clusters in use, NMI, accuracy, ARI and seconds.

    Parameters
    ----------
    rows : sequence of mapping
        Each with ``method``, ``n_clusters_found``, ``nmi``, ``acc``, ``ari`` and ``fit_seconds``.

    Examples
    --------
    >>> row = {"method": "k-means", "n_clusters_found": 3, "nmi": 0.5, "acc": 0.6, "ari": 0.4, "fit_seconds": 1.0}
    >>> comparison_table([row]).row_count
    1
    """
    table = Table(box=None, pad_edge=False)
    table.add_column("method")
    for column in ("clusters", "NMI", "accuracy", "ARI", "seconds"):
        table.add_column(column, justify="right")
    for row in rows:
        quality = (f"{row[key]:.3f}" for key in ("nmi", "acc", "ari"))
        table.add_row(row["method"], str(row["n_clusters_found"]), *quality, f"{row['fit_seconds']:.1f}")
    return table


def metric_rows(metrics: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return name and text of what a ``metrics.json`` holds, in the order of reading; absent keys are left out."""
    rows = [(key, str(metrics[key])) for key in ("dataset", "method", "seed") if key in metrics]
    counts = [
        f"{metrics[key]:,} {key[2:]}" for key in ("n_graphs", "n_nodes", "n_edges", "n_features") if key in metrics
    ]
    if counts:
        rows.append(("graphs" if "n_graphs" in metrics else "graph", ", ".join(counts)))
    if "n_test" in metrics:
        parts = ("n_train", "n_validation", "n_test")
        rows.append(("split", ", ".join(f"{metrics[part]:,} {part[2:]}" for part in parts)))
    if "n_clusters" in metrics:
        rows.append(("clusters", f"{metrics.get('n_clusters_found', '?')} in use of {metrics['n_clusters']}"))
    if "cluster_sizes" in metrics:
        rows.append(("sizes", _sizes(metrics["cluster_sizes"])))
    rows += [(name, f"{metrics[key]:.4f}") for key, name in _QUALITY.items() if key in metrics]
    if "epochs" in metrics:
        ended = "stopped early" if metrics.get("converged") else "reached the limit"
        rows.append(("epochs", f"{metrics['epochs']:,} ({ended})"))
    if "fit_seconds" in metrics:
        per_epoch = f", {metrics['ms_per_epoch']:.1f} ms an epoch" if "ms_per_epoch" in metrics else ""
        rows.append(("time", f"{metrics['fit_seconds']:.1f} s{per_epoch}"))
    if metrics.get("peak_rss_bytes") is not None:
        rows.append(("peak memory", f"{metrics['peak_rss_bytes'] / 2**20:,.0f} MiB"))
    if "device" in metrics:
        rows.append(("computed on", f"{metrics['device']}, {metrics.get('threads', '?')} threads"))
    return rows


def _sizes(sizes: Sequence[int]) -> str:
    if len(sizes) <= _MAX_SIZES_SHOWN:
        return " ".join(f"{size:,}" for size in sizes)
    return f"from {min(sizes):,} to {max(sizes):,}"
