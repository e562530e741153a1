"""Figures of a clustering, from plain arrays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tvgnn.report._arrays import evenly
from tvgnn.report._panels import MAX_NODES
from tvgnn.report.palette import COLORS, color_of, marker_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

__all__ = ["clustering_figure", "principal_components", "save_figure"]

FORMATS = (".png", ".pdf", ".svg")
_BLOCK = 8_192  # rows that are float64 at a time
_MAX_ROWS = 2_000  # of the assignment matrix: above the height of the picture in pixels


def principal_components(x: ArrayLike, n_components: int = 2) -> NDArray[np.float64]:
    """Project rows onto their leading principal components.

    Parameters
    ----------
    x : array-like of float, shape (N, F)
        Finite numbers.
    n_components : int, default 2
        Components; where there are fewer columns the missing ones are zero.

    Returns
    -------
    ndarray of shape (N, n_components), float64
        Each component's largest entry in absolute value is positive, so that the result does not depend on the sign
        that an eigensolver happens to return.

    Examples
    --------
    >>> principal_components([[0.0, 1.0], [0.0, 1.0], [3.0, 1.0]])[:, 0].round(6).tolist()
    [-1.0, -1.0, 2.0]
    """
    rows = np.asarray(x)
    mean = rows.mean(axis=0, dtype=np.float64)
    covariance = np.zeros((rows.shape[1], rows.shape[1]))  # F x F, as N may be millions
    for start in range(0, len(rows), _BLOCK):
        centered = rows[start : start + _BLOCK] - mean
        covariance += centered.T @ centered
    _, vectors = np.linalg.eigh(covariance)
    leading = vectors[:, ::-1][:, :n_components]
    scores = np.concatenate([(rows[start : start + _BLOCK] - mean) @ leading for start in range(0, len(rows), _BLOCK)])
    largest = np.abs(scores).argmax(axis=0)
    scores *= np.where(scores[largest, np.arange(scores.shape[1])] < 0, -1, 1)
    return np.pad(scores, ((0, 0), (0, n_components - scores.shape[1])))


def clustering_figure(
    embedding: ArrayLike, assignments: ArrayLike, loss_history: Sequence[float], title: str = ""
) -> Figure:
    """Draw the nodes in the plane, the soft assignments with rows sorted by cluster, and the loss by epoch.

    Parameters
    ----------
    embedding : array-like of float, shape (N, H)
        Embedding of the nodes; its two leading principal components are drawn. At most 20,000 nodes are drawn, evenly
        spaced in their order.
    assignments : array-like of float, shape (N, K)
        Soft assignments; a node's cluster is the largest.
    loss_history : sequence of float
        Loss of each epoch.
    title : str
        Heading.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered with pyplot: nothing to close.

    Examples
    --------
    >>> import numpy as np
    >>> figure = clustering_figure(np.eye(3), np.eye(3), [1.0, 0.5])
    >>> len(figure.axes)
    4
    """
    from matplotlib.figure import Figure

    soft = np.asarray(assignments)
    labels = soft.argmax(axis=1)
    figure = Figure(figsize=(13.5, 4.6), layout="constrained")
    left, middle, right = figure.subplots(1, 3, width_ratios=(1.25, 0.9, 1))
    if title:
        figure.suptitle(title)
    _draw_embedding(left, np.asarray(embedding), labels, soft.shape[1])
    picture = _draw_assignments(middle, soft, labels)
    figure.colorbar(picture, ax=middle, label="share", shrink=0.9)
    _draw_loss(right, loss_history)
    return figure


def save_figure(figure: Figure, path: str | Path, dpi: int = 150) -> None:
    """Write a figure in the format that the file's ending names.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.
    path : path
        Ends in ``.png``, ``.pdf`` or ``.svg``.
    dpi : int, default 150
        Pixels an inch.

    Raises
    ------
    ValueError
        If the ending is another one.
    """
    if Path(path).suffix.lower() not in FORMATS:
        raise ValueError(f"{path}: expected a file name that ends in {', '.join(FORMATS)}")
    figure.savefig(path, dpi=dpi)


def _draw_embedding(axes: Axes, embedding: NDArray[Any], labels: NDArray[np.intp], n_clusters: int) -> None:
    shown = evenly(len(labels), MAX_NODES)
    points, shown_labels = principal_components(embedding)[shown], labels[shown]
    size = float(np.clip(12_000 / len(shown), 2, 40))
    for cluster in range(n_clusters):
        members = points[shown_labels == cluster]
        if not len(members):
            continue
        color, marker = color_of(cluster), marker_of(cluster)
        axes.scatter(
            members[:, 0], members[:, 1], s=size, color=color, marker=marker, alpha=0.7, linewidths=0, rasterized=True
        )
    for cluster in np.unique(shown_labels):
        center = np.median(points[shown_labels == cluster], axis=0)
        axes.annotate(
            str(cluster),
            center,
            ha="center",
            va="center",
            fontsize=9,
            fontweight="bold",
            bbox={"boxstyle": "circle,pad=0.2", "facecolor": "white", "edgecolor": color_of(cluster)},
        )
    axes.set(title="Embedding, by cluster", xlabel="principal component 1", ylabel="principal component 2")
    axes.set(xticks=[], yticks=[])


def _draw_assignments(axes: Axes, soft: NDArray[Any], labels: NDArray[np.intp]) -> AxesImage:
    n_nodes, n_clusters = soft.shape
    order = np.lexsort((-soft.max(axis=1), labels))
    rows = order[evenly(n_nodes, _MAX_ROWS)]
    extent = (-0.5, n_clusters - 0.5, n_nodes, 0)
    picture = axes.imshow(
        soft[rows], aspect="auto", cmap="Blues", vmin=0, vmax=1, extent=extent, interpolation="nearest"
    )
    step = -(-n_clusters // 12)
    axes.set(title="Soft assignments", xlabel="cluster", ylabel="nodes, sorted by cluster")
    axes.set_xticks(range(0, n_clusters, step))
    return picture


def _draw_loss(axes: Axes, loss_history: Sequence[float]) -> None:
    axes.plot(np.arange(1, len(loss_history) + 1), loss_history, color=COLORS[0], linewidth=1.5)
    lowest = int(np.argmin(loss_history))
    axes.plot(lowest + 1, loss_history[lowest], "o", color=COLORS[2], label=f"kept: {loss_history[lowest]:.4f}")
    axes.set(title="Training loss", xlabel="epoch", ylabel="loss")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
