"""What may be wrong with the edges that a caller gives."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import spearmanr

from tvgnn.errors import ClusteringWarning
from tvgnn.graph.graph import Graph

__all__ = ["correlation_with_distance", "warn_of_given_edges"]

_FEWEST, _SAMPLE = 50, 2000  # edges that are looked at
_AS_DISTANCES = 0.5  # rank correlation; weights that are similarities have a negative one


def warn_of_given_edges(graph: Graph, transform: Callable[[Any], Any]) -> None:
    """Say that a graph that was given has no edges, or that their weights look like distances.

    Parameters:
        graph: with features.
        transform: makes of rows of features what the network reads.

    Warns:
        ClusteringWarning: there are no edges, and nodes that could have some; or weights grow with the distance between
            features.

    """
    found = None
    if graph.num_nodes > 1 and graph.num_edges == 0:
        found = (
            "the graph has no edges, so clusters are of the features alone; to join each row to its nearest pass the "
            "features without a graph"
        )
    elif (correlation := correlation_with_distance(graph, transform)) >= _AS_DISTANCES:
        found = (
            "edge weights grow with the distance between the features of their ends (rank correlation "
            f"{correlation:.2f}), as distances do, but a weight says how much two nodes belong together; pass weights "
            "that fall with the distance d, such as 1 / (1 + d), or none (every edge 1)"
        )
    if found is not None:
        warnings.warn(found, ClusteringWarning, stacklevel=4)


def correlation_with_distance(graph: Graph, transform: Callable[[Any], Any]) -> float:
    """Rank correlation of the weights with the Euclidean distance between the ends' features, of some edges.

    0 without weights, or where either does not differ; else the larger of that with the features and that with what
    ``transform`` makes of them.

    Example:
        >>> x = np.random.default_rng(0).random((60, 2))
        >>> graph = Graph.from_edges(range(59), range(1, 60), np.linalg.norm(x[:-1] - x[1:], axis=1), x=x)
        >>> round(correlation_with_distance(graph, lambda rows: rows / 2), 3)
        1.0

    """
    if not graph.is_weighted or graph.num_edges < _FEWEST:
        return 0.0
    entries = np.unique(np.linspace(0, graph.indices.size - 1, _SAMPLE).astype(np.int64))
    first = graph.x[np.searchsorted(graph.indptr, entries, side="right") - 1]
    second, weights = graph.x[graph.indices[entries]], graph.weights[entries]
    found = [_rank_correlation(weights, a - b) for a, b in ((first, second), (transform(first), transform(second)))]
    return max(found)


def _rank_correlation(weights: np.ndarray, apart: Any) -> float:
    with np.errstate(over="ignore", invalid="ignore"):  # of features as they are, which may be huge
        distances = sp.linalg.norm(apart, axis=1) if sp.issparse(apart) else np.linalg.norm(apart, axis=1)
    if np.ptp(weights) == 0 or not np.isfinite(distances).all() or np.ptp(distances) == 0:
        return 0.0
    return float(spearmanr(weights, distances).statistic)
