"""Which edges of a graph count, and how much: the strongest of a matrix of similarities, powers of the weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import randomized_svd
from sklearn.utils.random import sample_without_replacement

from tvgnn.estimators.quality.missing import nodes_with_features
from tvgnn.estimators.quality.origin import origin_of_features
from tvgnn.estimators.quality.similarities import STRONGEST, is_similarity_matrix, strongest_edges
from tvgnn.graph.graph import Graph

__all__ = ["choose_edges", "counted_edges", "weight_power"]

_POWERS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
_CLEAR = 2.0  # standard errors by which another power has to predict features better than weights as they are
_LEAST = 1e-30  # of the largest weight; reciprocals of smaller ones overflow
_RANK = 32  # components that are predicted; further ones are mostly noise
_SAMPLE = 20_000  # nodes whose neighbours are asked


def choose_edges(graph: Graph, x: Any) -> dict[str, Any]:
    """Decide how the edges of a graph count, for the record and for `counted_edges`.

    Parameters:
        graph: N nodes with the features as given.
        x: (N, F) prepared features, dense or CSR.

    Returns:
        ``strongest_edges``, the number that count of each node, or None for all; ``weight_power``, see `weight_power`,
        None where edges have no weights.

    """
    chosen: dict[str, Any] = {"strongest_edges": STRONGEST if is_similarity_matrix(graph) else None}
    power = None
    if graph.is_weighted:
        own_features = origin_of_features(graph, x) is None
        power = weight_power(counted_edges(graph, chosen), x) if own_features else 1.0
    return chosen | {"weight_power": power}


def counted_edges(graph: Graph, chosen: Mapping[str, Any]) -> Graph:
    """Return a graph with the edges that count and their weights, as `choose_edges` has decided on this or another."""
    number, power = chosen.get("strongest_edges"), chosen.get("weight_power")
    if number is not None:
        graph = strongest_edges(graph, number)
    if power is None or power == 1 or not graph.is_weighted:
        return graph
    relative = graph.weights / np.float64(graph.weights.max(initial=0) or 1)
    weights = np.maximum(relative**power, _LEAST).astype(np.float32)
    weights.setflags(write=False)
    return replace(graph, weights=weights)


def weight_power(graph: Graph, x: Any) -> float:
    """Power of the weights with which the mean of the neighbours predicts a node's features best, without the node.

    Weights are often amounts: of trade, calls, payments, of mentions, with a few that are a thousand times others. Then
    the mean over neighbours is that of one or two of them, though all say something. Powers below 1 damp that, and 0
    counts edges. Correlations of noisy profiles, on the other hand, differ less than what they say, and higher powers
    part them. Which is right depends on how much weights say of who belongs together, and features tell. All powers
    have one coefficient for each component, so that the best prediction is the best weighting. Weights stay as they are
    unless another power is better by two standard errors.

    Parameters:
        graph: N nodes with weights.
        x: (N, F) prepared features, dense or CSR.

    Returns:
        One of 0, 0.25, 0.5, 0.75, 1, 1.5, 2, 3 and 4.

    Example:
        >>> random = np.random.default_rng(0)
        >>> y = np.repeat([0, 1], 200)
        >>> a, b = random.integers(0, 200, (2, 4000)) + 200 * random.integers(0, 2, 4000)
        >>> x = y[:, None] + random.normal(size=(400, 1))
        >>> graph = Graph.from_edge_index([a, b], random.lognormal(0, 3, 4000), x=x)
        >>> weight_power(graph, graph.x)
        0.0

    """
    adjacency, known = sp.csr_array(graph.adjacency(), dtype=np.float64), nodes_with_features(x)
    if known is not None:
        adjacency, x = adjacency[known][:, known], x[known]
    asked = np.flatnonzero(np.diff(adjacency.indptr))
    if not asked.size:
        return 1.0
    if asked.size > _SAMPLE:
        asked = asked[np.sort(sample_without_replacement(asked.size, _SAMPLE, random_state=0))]
    rows, basis = adjacency[asked], _principal_axes(x[asked])
    read, columns = np.unique(rows.indices, return_inverse=True)
    own, of_neighbors = (np.asarray(x[nodes] @ basis, dtype=np.float64) for nodes in (asked, read))
    own, of_neighbors = own - own.mean(0), of_neighbors - own.mean(0)
    relative = rows.data / rows.data.max()
    explained = {}
    for power in _POWERS:
        weights = np.maximum(relative**power, _LEAST)
        weighed = sp.csr_array((weights, columns, rows.indptr), shape=(len(asked), len(read)))
        explained[power] = _explained(own, (weighed @ of_neighbors) / weighed.sum(1)[:, None])
    as_given = explained.pop(1.0)
    better = {
        power: float(each.sum())
        for power, each in explained.items()
        if (each - as_given).sum() > _CLEAR * np.sqrt(each.size) * (each - as_given).std()
    }
    return max(better, key=better.__getitem__, default=1.0)


def _principal_axes(x: Any) -> np.ndarray:
    rank = min(_RANK, *x.shape)
    if rank == x.shape[1]:
        return np.eye(rank)
    return np.asarray(randomized_svd(x, rank, random_state=0)[2].T)


def _explained(own: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Squares of features (n, r) that means over neighbours explain, each column with its coefficient, (n,)."""
    means = means - means.mean(0)
    squares = np.maximum(np.square(means).sum(0), np.finfo(np.float64).tiny)
    coefficients = np.maximum((own * means).sum(0), 0) / squares
    return np.asarray((np.square(own) - np.square(own - coefficients * means)).sum(1))
