"""How sharp soft assignments are: the logarithm of ``S S^T`` of several methods, sorted by cluster."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tvgnn.metrics import match_clusters
from tvgnn.report._arrays import as_panels, as_rows, as_vector, evenly
from tvgnn.report._panels import draw_bar, panel_grid, plain_plane

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["assignment_figure", "sorted_products"]

_MAX_ROWS = 1_000  # above the height of a panel in pixels at 300 an inch


def assignment_figure(
    panels: Mapping[str, ArrayLike], labels: ArrayLike, *, floor: float = -10.0, max_rows: int = _MAX_ROWS
) -> Figure:
    """Draw ``log(S S^T)`` of each method, and of the true labels, with rows and columns sorted by cluster.

    The paper's picture of sharpness (figure "Visualization of the logarithm of S S^T" and the like in its appendix):
    each cluster is renamed to the class that it matches best (Kuhn-Munkres), and nodes are sorted by that class. Blocks
    on the diagonal are clusters, their side is the cluster's size, and everything beside them is mass that a node
    shares out among clusters.

    Parameters
    ----------
    panels : mapping of str to array-like of float, shape (N, K)
        Soft assignments or one-hot clusters by title; K may differ.
    labels : array-like of int, shape (N,)
        True classes, -1 where unknown.
    floor : float, default -10
        Lower end of the colour scale, which all panels share and which ends at 0. Smaller products are drawn as it:
        those of sharp assignments are zero up to rounding, and their logarithms would hide all else.
    max_rows : int, default 1,000
        Of more nodes, this many are drawn: evenly spaced ones in the sorted order, so that blocks keep their share.

    Returns
    -------
    matplotlib.figure.Figure
        One panel a method and one, the last, for the labels. Not registered with pyplot: nothing to close.

    Raises
    ------
    GraphError
        No panel, arrays of other shapes, negative or non-finite assignments, or no known label.
    ValueError
        ``floor`` is not below 0 or ``max_rows`` not positive.

    Examples
    --------
    >>> figure = assignment_figure({"sharp": np.eye(2), "smooth": [[0.5, 0.5], [0.5, 0.5]]}, [0, 1])
    >>> [axes.get_title() for axes in figure.axes[:3]]
    ['sharp', 'smooth', 'true labels']
    """
    if not (math.isfinite(floor) and floor < 0) or max_rows < 1:
        raise ValueError(f"expected a finite floor below 0 and max_rows of at least 1, got {floor} and {max_rows}")
    methods = as_panels(panels, "title: soft assignments (N, K)")
    y = as_vector(labels, "labels", len(np.atleast_1d(np.asarray(labels))))
    pictures = {title: sorted_products(soft, y, title, max_rows) for title, soft in methods.items()}
    figure, axes = panel_grid(len(pictures) + 1)
    drawn = [*pictures.items(), ("true labels", _label_products(y, max_rows))]
    for (title, products), (panel,) in zip(drawn, axes, strict=True):
        logarithm = np.log(np.maximum(products, math.exp(floor)))
        picture = panel.imshow(logarithm, cmap="viridis", vmin=floor, vmax=0)
        plain_plane(panel, title)
    bar = draw_bar(figure, picture, [panel for (panel,) in axes], extend="min")
    bar.set_label(r"$\log\,(S\,S^\mathsf{T})$")
    return figure


def sorted_products(
    assignments: ArrayLike, labels: NDArray[np.int64], title: str = "assignments", max_rows: int = _MAX_ROWS
) -> NDArray[np.float64]:
    """Return ``S S^T`` with nodes sorted by the class that their cluster matches, evenly spaced ones of too many.

    Parameters
    ----------
    assignments : array-like of float, shape (N, K)
        Soft assignments.
    labels : ndarray of int, shape (N,)
        True classes, -1 where unknown.
    title : str
        Name in messages.
    max_rows : int, default 1,000
        Most rows of the result.

    Returns
    -------
    ndarray of shape (min(N, max_rows), min(N, max_rows)), float64

    Raises
    ------
    GraphError
        As in :func:`assignment_figure`.

    Examples
    --------
    >>> sorted_products(np.eye(2)[[1, 0, 1]], np.array([0, 1, 0])).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    soft = as_rows(assignments, f"the assignments of {title!r}", rows=len(labels), shares=True)
    order = np.argsort(match_clusters(labels, soft.argmax(axis=1)), kind="stable")
    rows = soft[order[evenly(len(order), max_rows)]]
    return rows @ rows.T


def _label_products(labels: NDArray[np.int64], max_rows: int) -> NDArray[np.float64]:
    """One where both nodes have the same known class; nodes of unknown class come last and are alike to none."""
    known = np.count_nonzero(labels >= 0)
    order = np.argsort(np.where(labels < 0, np.iinfo(np.int64).max, labels), kind="stable")
    shown = evenly(len(order), max_rows)
    rows = labels[order[shown]]
    alike: NDArray[np.float64] = ((rows[:, None] == rows) & (shown < known)[:, None]).astype(np.float64)
    return alike
