"""Partitions of graphs whose nodes have a place in the plane: where clusters lie and where assignments are smooth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tvgnn.report._arrays import as_edges, as_panels, as_rows, evenly
from tvgnn.report._panels import MAX_NODES, draw_edges, node_size, panel_grid, plain_plane
from tvgnn.report.palette import COLORS, color_of, marker_of, mixed_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["graph_partition_figure"]

_FEW = 30  # a curve of fewer nodes shows each as a point


def graph_partition_figure(
    panels: Mapping[str, tuple[ArrayLike, ArrayLike | None, ArrayLike]], *, curve: Literal["sorted", "order"] = "sorted"
) -> Figure:
    """Draw nodes in their places, coloured by cluster and the paler the smoother; below, the largest assignments.

    As in the paper's experiment on two point clouds: an assignment of 1 has the full colour of its cluster, one of 0
    would be white. Each cluster also carries its number. The paper draws the curves of all methods into one panel; here
    each is below its picture, on the same scale.

    Parameters
    ----------
    panels : mapping of str to (positions, edges, assignments)
        By title: positions (N, 2), edges (2, E) or None, soft assignments (N, K). Of more than 20,000 nodes evenly
        spaced ones are drawn, and as many edges.
    curve : {"sorted", "order"}, default "sorted"
        Largest assignment of the nodes from the lowest to the highest (the paper's grid), or in the order of the nodes
        (the paper's ring, whose nodes follow the circumference).

    Returns
    -------
    matplotlib.figure.Figure
        Not registered with pyplot: nothing to close.

    Raises
    ------
    GraphError
        No panel, or arrays of other shapes or with invalid numbers.
    ValueError
        Unknown ``curve``.

    Examples
    --------
    >>> figure = graph_partition_figure({"pair": ([[0, 0], [1, 0]], [[0], [1]], [[0.9, 0.1], [0.2, 0.8]])})
    >>> figure.axes[1].lines[0].get_ydata().tolist()
    [0.8, 0.9]
    """
    if curve not in ("sorted", "order"):
        raise ValueError(f"expected curve to be 'sorted' or 'order', got {curve!r}")
    methods = as_panels(panels, "title: (positions, edges, assignments)")
    figure, axes = panel_grid(len(methods), (2.3, 1.1))
    for (title, (positions, edges, assignments)), (top, bottom) in zip(methods.items(), axes, strict=True):
        points = as_rows(positions, f"the positions of {title!r}", columns=2)
        soft = as_rows(assignments, f"the assignments of {title!r}", rows=len(points), shares=True)
        draw_edges(top, points, as_edges(edges, len(points)), alpha=0.6)
        _draw_nodes(top, points, soft)
        plain_plane(top, title)
        _draw_curve(bottom, soft.max(axis=1), curve)
    axes[0][1].set_ylabel("largest\nassignment", fontsize=8)
    return figure


def _draw_nodes(axes: Axes, points: NDArray[np.float64], soft: NDArray[np.float64]) -> None:
    labels = soft.argmax(axis=1)
    largest = np.where(np.arange(soft.shape[1]) == labels[:, None], soft, 0)
    shown = evenly(len(points), MAX_NODES)
    colors = mixed_colors(largest[shown])
    markers = np.array([marker_of(int(cluster)) for cluster in labels[shown]])
    for marker in dict.fromkeys(markers.tolist()):
        members = markers == marker
        size = 1.7 * node_size(len(shown))  # these nodes do not crowd
        # The thin rim keeps the palest nodes visible
        x, y = points[shown[members]].T
        axes.scatter(
            x,
            y,
            s=size,
            c=colors[members],
            marker=marker,
            linewidths=0.2,
            edgecolors="#888888",
            rasterized=len(shown) > 2_000,
        )
    for cluster in np.unique(labels):
        _draw_number(axes, points[labels == cluster], int(cluster))
    axes.set_aspect("equal", adjustable="datalim")


def _draw_number(axes: Axes, members: NDArray[np.float64], cluster: int) -> None:
    """At the node nearest to the cluster's centre, as that of an arc or of scattered nodes lies outside."""
    nearest = np.square(members - np.median(members, axis=0)).sum(axis=1).argmin()
    rim = {"boxstyle": "circle,pad=0.15", "facecolor": "white", "edgecolor": color_of(cluster), "linewidth": 1.2}
    axes.annotate(str(cluster), members[nearest], ha="center", va="center", fontsize=7, bbox=rim)


def _draw_curve(axes: Axes, largest: NDArray[np.float64], curve: str) -> None:
    heights = np.sort(largest) if curve == "sorted" else largest
    axes.plot(heights, color=COLORS[0], linewidth=1.2, marker="." if len(heights) < _FEW else "")
    axes.set(ylim=(0, 1.05), yticks=[0, 0.5, 1])
    axes.set_xlabel("nodes, sorted" if curve == "sorted" else "nodes, in order", fontsize=8)
    axes.tick_params(labelsize=7)
    axes.grid(alpha=0.3)
