"""Columns that are places: what they say is in the edges already, where these join what is near in them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from tvgnn.estimators.component_scores import are_component_scores
from tvgnn.graph.graph import Graph

__all__ = ["coordinate_columns", "coordinate_units"]

_FEWEST_NODES = 50
_EDGES, _NODES = 5000, 300  # that are looked at
_SMOOTH = 0.25  # variance between neighbours, as a share of that of all, below which a column may be a coordinate
_LIKELIEST, _DIMENSIONS = 4, (2, 1, 3)  # columns that are tried, in sets of so many
_NEAR = 2  # times as many nodes as a node has neighbours; these are among the nearest so many
_OVERLAP, _MORE = 0.6, 0.1  # share of the neighbours that are; and more than in all columns
_DEGREE = 50  # nodes with more neighbours are passed over
_SAID = 2.0  # standard deviations of chance, that neighbours share more of the variance of the other columns


def coordinate_columns(graph: Graph, transform: Callable[[Any], Any] | None = None) -> list[int]:
    """Columns of the features that the edges were made of: neighbours are nearest nodes in one, two or three of these.

    Where others say the same, as degrees and metres do, these are meant, too. None where the other columns say nothing
    that neighbours share, where all columns together tell neighbours as well (a graph of nearest neighbours), of scores
    on principal components, and of sparse features.

    Parameters:
        graph: with features.
        transform: makes of the features what nearest neighbours may have been found in, too.

    Example:
        >>> random = np.random.default_rng(0)
        >>> places = random.random((300, 2))
        >>> joined = Graph.from_features(places, 6)
        >>> height = (places[:, :1] > 0.5) + 0.3 * random.normal(size=(300, 3))
        >>> coordinate_columns(Graph.from_scipy(joined.adjacency(), x=np.hstack([height, places])))
        [3, 4]

    """
    x = graph.x
    if sp.issparse(x) or x.shape[1] < 2 or graph.num_nodes < _FEWEST_NODES or not graph.num_edges:
        return []
    unshared = _unshared_variance(graph, x)
    likely = np.argsort(unshared, kind="stable")[:_LIKELIEST]
    likely = likely[unshared[likely] < _SMOOTH]
    if not likely.size or are_component_scores(x):
        return []
    nodes = _looked_at(graph)
    if not nodes.size:
        return []
    best: tuple[float, list[int]] = (0.0, [])
    for dimensions in _DIMENSIONS:
        for chosen in map(list, combinations(likely.tolist(), dimensions)):
            for points in (x[:, chosen], _standardised(x[:, chosen])):
                best = max(best, (_overlap(graph, points, nodes), chosen), key=lambda one: one[0] - 0.02 * len(one[1]))
    overlap, found = best
    others = np.setdiff1d(np.arange(x.shape[1]), found)
    chance = 1 / np.sqrt(graph.num_nodes * max(others.size, 1))
    if overlap < _OVERLAP or not others.size or float(np.mean(1 - unshared[others])) < _SAID * chance:
        return []
    together = [_standardised(x), *([] if transform is None else [transform(x)])]
    if any(_overlap(graph, points, nodes) > overlap - _MORE for points in together):
        return []
    again = coordinate_columns(graph.with_features(x[:, others]))
    return sorted([*found, *others[again].tolist()])


def coordinate_units(graph: Graph, columns: list[int]) -> np.ndarray:
    """What coordinates are divided by, (d,), so that neighbours are nearest in them: 1, or each column's deviation."""
    points, nodes = graph.x[:, columns], _looked_at(graph)
    deviations = _deviations(points)
    alike = _overlap(graph, points, nodes) >= _overlap(graph, points / deviations, nodes)
    return np.ones(len(columns), deviations.dtype) if alike else deviations


def _unshared_variance(graph: Graph, x: Any) -> np.ndarray:
    """Half the mean square of the difference of neighbours, divided by the variance, (F,); 1 for constant columns."""
    entries = np.unique(np.linspace(0, graph.indices.size - 1, _EDGES).astype(np.int64))
    first = np.searchsorted(graph.indptr, entries, side="right") - 1
    apart = x[first].astype(np.float64) - x[graph.indices[entries]]
    variance = x.var(0, dtype=np.float64)
    return np.where(variance > 0, (apart**2).mean(0) / 2 / np.where(variance > 0, variance, 1), 1.0)


def _looked_at(graph: Graph) -> np.ndarray:
    degrees = np.diff(graph.indptr)
    able = np.flatnonzero((degrees > 0) & (degrees <= _DEGREE))
    return able[np.unique(np.linspace(0, max(able.size - 1, 0), min(_NODES, able.size)).astype(np.int64))]


def _standardised(points: np.ndarray) -> np.ndarray:
    return np.asarray(points / _deviations(points))


def _deviations(points: np.ndarray) -> np.ndarray:
    deviations = points.std(0, dtype=np.float64)
    return np.where(deviations > 0, deviations, 1)


def _overlap(graph: Graph, points: np.ndarray, nodes: np.ndarray) -> float:
    """Share of the nodes' neighbours that are among the nearest, twice as many as there are neighbours."""
    degrees = np.diff(graph.indptr)[nodes]
    most = min(_NEAR * int(degrees.max()) + 1, graph.num_nodes)
    nearest = cKDTree(points).query(points[nodes], k=most)[1].reshape(len(nodes), -1)
    found = 0
    for node, degree, near in zip(nodes, degrees, nearest, strict=True):
        neighbours = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
        found += int(np.isin(neighbours, near[near != node][: _NEAR * degree]).sum())
    return found / float(degrees.sum())
