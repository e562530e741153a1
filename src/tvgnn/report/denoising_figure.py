"""The denoising task: noisy features of a graph, and what each method makes of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tvgnn.metrics import match_clusters
from tvgnn.report._arrays import as_edges, as_panels, as_rows, as_vector
from tvgnn.report._panels import draw_bar, draw_edges, node_size, panel_grid, plain_plane
from tvgnn.report.assignment_figure import sorted_products
from tvgnn.report.palette import mixed_colors

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["denoising_figure", "spring_positions"]


def denoising_figure(
    positions: ArrayLike,
    edges: ArrayLike | None,
    features: ArrayLike,
    labels: ArrayLike,
    panels: Mapping[str, ArrayLike],
) -> Figure:
    """Draw true communities, noisy features and each method's assignments: above the graph, below ``S S^T``.

    The colour of a node mixes those of the communities by its features, or by its assignments. The paper takes red,
    green and blue; here they are colours that people with a colour vision deficiency tell apart. Features are cut off
    at 0 and 1, and where nothing is left the node is white.

    Parameters
    ----------
    positions : array-like of float, shape (N, 2)
        Places of the nodes, such as those of :func:`spring_positions`.
    edges : array-like of int, shape (2, E), or None
        Edges of the graph.
    features : array-like of float, shape (N, C)
        Noisy features, one column a community.
    labels : array-like of int, shape (N,)
        Community of each node, from 0 to C - 1.
    panels : mapping of str to array-like of float, shape (N, K)
        Soft assignments by title. Clusters are matched to communities (Kuhn-Munkres) for colours and order.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered with pyplot: nothing to close. Below the first two panels are products of features.

    Raises
    ------
    GraphError
        No panel, arrays of other shapes or with invalid numbers, or no known community.

    Examples
    --------
    >>> figure = denoising_figure(
    ...     [[0, 0], [1, 0]], [[0], [1]], [[0.8, 0.1], [0.3, 1.2]], [0, 1], {"sharp": [[0, 1], [1, 0]]}
    ... )
    >>> figure.axes[2].get_title(), figure.axes[5].images[0].get_array().tolist()
    ('sharp', [[1.0, 0.0], [0.0, 1.0]])
    """
    points = as_rows(positions, "positions", columns=2)
    y = as_vector(labels, "labels", len(points))
    noisy = as_rows(features, "features", rows=len(points))
    lines = as_edges(edges, len(points))
    order = np.argsort(y, kind="stable")
    truth = (y[:, None] == np.arange(noisy.shape[1])).astype(np.float64)
    rows = [("original", truth, _products(truth, order)), ("with noise", noisy, _products(noisy, order))]
    names = 2 * [r"$X X^\mathsf{T}$"] + len(panels) * [r"$S\,S^\mathsf{T}$"]
    for title, assignments in as_panels(panels, "title: soft assignments (N, K)").items():
        soft = as_rows(assignments, f"the assignments of {title!r}", rows=len(points), shares=True)
        rows.append((title, _by_community(soft, y), sorted_products(soft, y, title)))
    figure, axes = panel_grid(len(rows), (2.2, 2.2))
    for (title, shares, products), name, (top, bottom) in zip(rows, names, axes, strict=True):
        draw_edges(top, points, lines)
        _draw_nodes(top, points, shares)
        plain_plane(top, title)
        picture = bottom.imshow(products, cmap="viridis", vmin=0, vmax=1)
        plain_plane(bottom, name)
    axes[0][0].set_ylabel("graph")
    axes[0][1].set_ylabel("products of rows")
    draw_bar(figure, picture, [bottom for _, bottom in axes], extend="both")
    return figure


def spring_positions(edges: ArrayLike | None, num_nodes: int, random_state: int = 0) -> NDArray[np.float64]:
    """Place nodes so that neighbours are close and others apart (Fruchterman & Reingold 1991).

    Parameters
    ----------
    edges : array-like of int, shape (2, E), or None
        Edges of the graph, in either or both directions.
    num_nodes : int
        Number of nodes N; the time grows with its square.
    random_state : int, default 0
        Seed of the first places.

    Returns
    -------
    ndarray of shape (N, 2), float64

    Raises
    ------
    GraphError
        Edges of another shape, or to nodes that do not exist.

    Examples
    --------
    >>> spring_positions([[0], [1]], 3).shape
    (3, 2)
    """
    import networkx as nx

    graph = nx.empty_graph(num_nodes)
    graph.add_edges_from(as_edges(edges, num_nodes).tolist())
    places = nx.spring_layout(graph, seed=random_state)
    return np.array([places[node] for node in range(num_nodes)], dtype=np.float64).reshape(-1, 2)


def _products(rows: NDArray[np.float64], order: NDArray[np.intp]) -> NDArray[np.float64]:
    return rows[order] @ rows[order].T


def _by_community(soft: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Move each cluster's column to the community that it matches; those that no node chose fill the rest in order."""
    hard = soft.argmax(axis=1)
    matched = match_clusters(labels, hard)
    place = dict(zip(hard.tolist(), matched.tolist(), strict=True))
    width = max(soft.shape[1], int(matched.max()) + 1)
    free = iter(sorted(set(range(width)) - set(place.values())))
    moved = np.zeros((len(soft), width))
    for column in range(soft.shape[1]):
        moved[:, place[column] if column in place else next(free)] = soft[:, column]
    return moved


def _draw_nodes(axes: Axes, points: NDArray[np.float64], shares: NDArray[np.float64]) -> None:
    x, y = points.T
    axes.scatter(x, y, s=node_size(len(points)), c=mixed_colors(shares), linewidths=0.4, edgecolors="#666666", zorder=2)
