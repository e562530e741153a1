"""Embeddings of several methods in the plane, coloured by cluster and by true class."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tvgnn.errors import GraphError
from tvgnn.metrics import match_clusters
from tvgnn.report._arrays import as_edges, as_panels, as_rows, as_vector, evenly
from tvgnn.report._panels import MAX_NODES, draw_edges, node_size, panel_grid, plain_plane
from tvgnn.report.figures import principal_components
from tvgnn.report.palette import color_of, marker_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["embedding_figure", "umap_points"]

_FEWEST = 5  # with fewer rows there are no neighbourhoods to keep


def umap_points(embedding: ArrayLike, random_state: int = 0) -> NDArray[np.float64]:
    """Project an embedding to the plane with UMAP (McInnes et al. 2018, arXiv:1802.03426).

    Needs ``pip install 'tvgnn[viz]'``. UMAP's own defaults, but it starts from the two leading principal components:
    its spectral start fails on small and on disconnected neighbour graphs.

    Parameters
    ----------
    embedding : array-like of float, shape (N, H)
        One row a node. With fewer than 5 rows the principal components are returned as they are.
    random_state : int, default 0
        Seed; the same one gives the same points on the same machine.

    Returns
    -------
    ndarray of shape (N, 2), float64

    Raises
    ------
    ImportError
        umap-learn is not installed.
    GraphError
        The embedding is no matrix of finite numbers.

    Examples
    --------
    >>> umap_points([[0.0, 1.0], [2.0, 1.0]]).tolist()
    [[1.0, 0.0], [-1.0, 0.0]]
    """
    rows = as_rows(embedding, "the embedding")
    start = principal_components(rows)
    if len(rows) < _FEWEST:
        return start
    largest = np.abs(start).max()
    # Of the size that UMAP's own starts have, and no two nodes in the same place
    start *= 10 / largest if largest > 0 else 0
    start += np.random.default_rng(random_state).normal(scale=1e-4, size=start.shape)
    with warnings.catch_warnings():
        # About TensorFlow, threads under a seed and nodes without neighbours: nothing that the caller can act on
        warnings.simplefilter("ignore")
        model = _umap()(n_neighbors=min(15, len(rows) - 1), init=start, random_state=random_state, n_jobs=1)
        return np.asarray(model.fit_transform(rows), dtype=np.float64)


def embedding_figure(
    panels: Mapping[str, ArrayLike],
    clusters: Mapping[str, ArrayLike],
    y: ArrayLike,
    edges: ArrayLike | None = None,
    class_names: Sequence[str] | None = None,
) -> Figure:
    """Draw the nodes of each method in the plane: above coloured by cluster, below by true class.

    Clusters are renamed to the class that each matches best (Kuhn-Munkres), so that a node that is clustered right has
    one colour in both rows; clusters that match no class have colours of their own.

    Parameters
    ----------
    panels : mapping of str to array-like of float, shape (N, 2)
        Points by title, such as those of :func:`umap_points`. Of more than 20,000 nodes evenly spaced ones are drawn.
    clusters : mapping of str to array-like of int, shape (N,)
        Clusters by the same titles.
    y : array-like of int, shape (N,)
        True classes, -1 where unknown (pale grey).
    edges : array-like of int, shape (2, E), optional
        Edges of the graph, drawn as thin lines; either or both directions. Of more than 20,000 evenly spaced ones.
    class_names : sequence of str, optional
        Names for the legend; default are the numbers.

    Returns
    -------
    matplotlib.figure.Figure
        Not registered with pyplot: nothing to close. Panels are rows of at most four methods.

    Raises
    ------
    GraphError
        No panel, titles that differ, arrays of other shapes, or no known class.

    Examples
    --------
    >>> figure = embedding_figure({"a": [[0, 0], [1, 1]]}, {"a": [1, 0]}, y=[0, 1], edges=[[0], [1]])
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['clusters', 'true classes']
    """
    points = as_panels(panels, "title: points (N, 2)")
    if set(points) != set(clusters):
        raise GraphError(f"expected clusters of the panels {sorted(points)}, got those of {sorted(clusters)}")
    labels = as_vector(y, "y", len(np.atleast_1d(np.asarray(y))))
    lines = as_edges(edges, len(labels))
    codes: set[int] = set()
    figure, axes = panel_grid(len(points), (2.1, 2.1))
    for (title, xy), (top, bottom) in zip(points.items(), axes, strict=True):
        plane = as_rows(xy, f"the points of {title!r}", rows=len(labels), columns=2)
        matched = match_clusters(labels, as_vector(clusters[title], f"the clusters of {title!r}", len(labels)))
        for panel, numbers in ((top, matched), (bottom, labels)):
            draw_edges(panel, plane, lines)
            _scatter(panel, plane, numbers)
            codes.update(numbers.tolist())
        plain_plane(top, title)
        plain_plane(bottom)
    axes[0][0].set_ylabel("clusters")
    axes[0][1].set_ylabel("true classes")
    _draw_legend(figure, sorted(codes), int(labels.max()), class_names)
    return figure


def _scatter(axes: Axes, points: NDArray[np.float64], numbers: NDArray[np.int64]) -> None:
    """One collection a marker, so that no class hides the others by being drawn last."""
    shown = evenly(len(points), MAX_NODES)
    markers = np.array([marker_of(int(number)) for number in numbers[shown]])
    for marker in dict.fromkeys(markers.tolist()):
        members = shown[markers == marker]
        colors = [color_of(int(number)) for number in numbers[members]]
        x, y = points[members].T
        axes.scatter(x, y, s=node_size(len(shown)), c=colors, marker=marker, linewidths=0, rasterized=True)
    axes.set_aspect("equal", adjustable="datalim")  # only distances mean something


def _draw_legend(figure: Figure, codes: list[int], last_class: int, names: Sequence[str] | None) -> None:
    from matplotlib.lines import Line2D

    def text(code: int) -> str:
        if code < 0:
            return "unknown"
        if code > last_class:
            return f"no class ({code - last_class})"
        return str(names[code]) if names is not None and code < len(names) else str(code)

    entries = [
        Line2D([], [], linestyle="", marker=marker_of(code), color=color_of(code), label=text(code)) for code in codes
    ]
    longest = max(len(text(code)) for code in codes)
    columns = max(1, int(figure.get_figwidth() // (0.5 + 0.08 * longest)))
    figure.legend(handles=entries, loc="outside lower center", ncols=columns, frameon=False, fontsize=8)


def _umap() -> Any:
    try:
        from umap import UMAP
    except ImportError as error:
        raise ImportError(
            "expected umap-learn, which projects embeddings to the plane; install it with: pip install 'tvgnn[viz]'"
        ) from error
    return UMAP
