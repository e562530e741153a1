"""Adjacencies that are matrices of similarities: nearly all nodes are joined, and weights say who is near."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from tvgnn.estimators.quality.edges import closed_triangles
from tvgnn.graph.graph import Graph

__all__ = ["STRONGEST", "is_similarity_matrix", "strongest_edges"]

STRONGEST = 15  # edges of each node that are kept, as many as a graph of nearest neighbours has by default
_DENSE = 0.2  # share of all pairs; networks with fewer are sparse enough to be used as they are
_CLOSED = 0.25  # of the neighbours of an edge's end, beyond chance, that the other end has too


def is_similarity_matrix(graph: Graph) -> bool:
    """Say whether the weights of a graph are similarities of its nodes, as those of a kernel or of correlations are.

    Such a graph joins a fifth of all pairs or more, so that the mean over neighbours is much the mean of all nodes, and
    the nearest of near ones are near each other. Dense networks whose weights are amounts or noise are not: who is
    joined most strongly with whom is not shared with these.

    Parameters:
        graph: N nodes.

    Example:
        >>> points = np.random.default_rng(0).normal(size=(200, 2))
        >>> kernel = np.exp(-np.square(points[:, None] - points).sum(2))
        >>> noise = np.random.default_rng(1).random((200, 200))
        >>> [is_similarity_matrix(Graph.from_scipy(sp.csr_array(x))) for x in (kernel, noise)]
        [True, False]

    """
    degree = graph.indices.size / max(graph.num_nodes, 1)
    if not graph.is_weighted or degree <= max(2 * STRONGEST, _DENSE * (graph.num_nodes - 1)):
        return False
    nearest = strongest_edges(graph)
    return closed_triangles(nearest) >= _CLOSED * nearest.indices.size / nearest.num_nodes


def strongest_edges(graph: Graph, number: int = STRONGEST) -> Graph:
    """Keep the edges that are among the strongest ``number`` of either end; equal ones by lot, the same each time.

    Parameters:
        graph: N nodes.
        number: edges of each node, >= 1.

    Example:
        >>> star = Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2], [3.0, 2.0, 1.0, 0.5])
        >>> strongest_edges(star, 1).num_edges
        3

    """
    degrees = np.diff(graph.indptr)
    rows = np.repeat(np.arange(graph.num_nodes), degrees)
    lots = np.random.default_rng(0).random(graph.indices.size)
    order = np.lexsort((lots, -graph.weights, rows))
    rank = np.arange(order.size) - np.repeat(graph.indptr[:-1], degrees)
    kept = order[rank < number]
    shape = (graph.num_nodes, graph.num_nodes)
    chosen = sp.csr_array((graph.weights[kept], (rows[kept], graph.indices[kept])), shape=shape)
    found = Graph.from_scipy(chosen.maximum(chosen.T), x=None)
    return replace(graph, indptr=found.indptr, indices=found.indices, weights=found.weights)
