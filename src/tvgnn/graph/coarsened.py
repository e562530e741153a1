"""The graph of clusters: ``S^T A S`` for hard or soft assignments S, without any N x N."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tvgnn.errors import GraphError
from tvgnn.graph.graph import Graph

__all__ = ["CoarsenedGraph", "coarsened_graph"]

_ENTRIES_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False)
class CoarsenedGraph:
    """Clusters as nodes.

    Attributes
    ----------
    adjacency
        (K, K) float64 symmetric ``csr_array``, ``S^T A S``. For hard assignments entry (k, l) is the weight of the
        edges between clusters k and l, and entry (k, k) twice that of the edges inside k, as each is an entry of A in
        both directions; so rows sum to the degrees of the clusters.
    sizes
        (K,) float64, column sums of S: numbers of nodes for hard assignments. A cluster without nodes has size 0 and
        no edges, and keeps its number.
    """

    adjacency: Any
    sizes: npt.NDArray[np.float64]

    @property
    def num_nodes(self) -> int:
        """Number of clusters K."""
        return len(self.sizes)

    @property
    def inside(self) -> npt.NDArray[np.float64]:
        """(K,) weight of the edges inside each cluster, every edge once: half the diagonal."""
        result: npt.NDArray[np.float64] = self.adjacency.diagonal() / 2
        return result

    def graph(self) -> Graph:
        """Return the edges between clusters as a graph of nodes 0..K-1, which has no self-loops."""
        between = sp.coo_array(self.adjacency)
        row, column = between.coords
        apart = row != column
        entries = np.stack([row[apart], column[apart]])
        return Graph.from_edge_index(entries, between.data[apart], num_nodes=self.num_nodes)


def coarsened_graph(graph: Any, assignments: Any, *, n_clusters: int | None = None) -> CoarsenedGraph:
    """Make a graph whose nodes are the clusters of another one.

    Parameters
    ----------
    graph : tvgnn.Graph, sparse matrix or array of shape (N, N)
        A matrix must be symmetric with finite entries of at least 0; its diagonal counts, so that a coarsened
        ``adjacency`` can be coarsened again.
    assignments : array-like
        Hard: N integers, clusters from 0. Soft: (N, K) finite numbers of at least 0.
    n_clusters : int, optional
        K of hard assignments. Default: the largest + 1.

    Returns
    -------
    CoarsenedGraph

    Raises
    ------
    GraphError
        The shapes do not fit, or a value is not valid.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> coarse = coarsened_graph(path, [0, 0, 1, 1])
    >>> coarse.adjacency.toarray().tolist(), coarse.inside.tolist(), coarse.sizes.tolist()
    ([[2.0, 1.0], [1.0, 2.0]], [1.0, 1.0], [2.0, 2.0])
    >>> coarse.graph()
    Graph(2 nodes, 1 edge, weighted)
    """
    adjacency = graph.adjacency() if isinstance(graph, Graph) else _as_symmetric(graph)
    values = np.asarray(assignments)
    if values.ndim not in (1, 2) or len(values) != adjacency.shape[0]:
        raise GraphError(
            f"expected assignments of shape (N,) or (N, K) for the {adjacency.shape[0]} nodes, got {values.shape}"
        )
    if values.ndim == 1:
        return _coarsen_hard(adjacency, values, n_clusters)
    if n_clusters is not None:
        raise GraphError("n_clusters is for hard assignments: soft ones have a column for each cluster")
    return _coarsen_soft(adjacency, values)


def _as_symmetric(matrix: Any) -> Any:
    if not sp.issparse(matrix):
        matrix = np.asarray(matrix)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.dtype.kind not in "biuf":
        raise GraphError(
            f"expected a tvgnn.Graph or a square matrix of numbers, got shape {matrix.shape} of {matrix.dtype}"
        )
    result = sp.csr_array(matrix, dtype=np.float64)
    if not np.isfinite(result.data).all() or (result.data < 0).any():
        raise GraphError("expected finite entries of at least 0 in the adjacency; remove the other edges")
    apart = abs(result - result.T)
    if apart.nnz and apart.max() > 1e-6 * result.max():
        raise GraphError("expected a symmetric adjacency; Graph.from_scipy(adjacency) unites both directions")
    return result


def _coarsen_hard(adjacency: Any, labels: npt.NDArray[Any], n_clusters: int | None) -> CoarsenedGraph:
    if labels.dtype.kind not in "iu":
        raise GraphError(f"expected hard assignments as integers, got {labels.dtype}; soft ones have shape (N, K)")
    largest = int(labels.max(initial=-1))
    k = largest + 1 if n_clusters is None else n_clusters
    if k < 1 or largest >= k or int(labels.min(initial=0)) < 0:
        raise GraphError(f"expected clusters in 0..{k - 1}, got {int(labels.min(initial=0))}..{largest}")
    entries = sp.coo_array(adjacency)
    row, column = entries.coords
    # duplicates of a COO matrix are summed, here in float64
    pairs = (labels[row], labels[column])
    pooled = sp.coo_array((entries.data.astype(np.float64), pairs), shape=(k, k)).tocsr()
    return CoarsenedGraph(pooled, np.bincount(labels, minlength=k).astype(np.float64))


def _coarsen_soft(adjacency: Any, assignments: npt.NDArray[Any]) -> CoarsenedGraph:
    if assignments.dtype.kind not in "biuf" or not assignments.shape[1]:
        raise GraphError(f"expected (N, K) numbers, got shape {assignments.shape} of {assignments.dtype}")
    if not np.isfinite(assignments).all() or (assignments < 0).any():
        raise GraphError("expected finite soft assignments of at least 0")
    s = assignments.astype(np.float64)
    k = s.shape[1]
    pooled = np.zeros((k, k))
    step = max(1, _ENTRIES_AT_ONCE // k)
    for start in range(0, len(s), step):  # A S is as large as S: a part of its rows at a time
        pooled += s[start : start + step].T @ (adjacency[start : start + step].astype(np.float64) @ s)
    pooled = (pooled + pooled.T) / 2  # rounding differs between the two sides of the diagonal
    return CoarsenedGraph(sp.csr_array(pooled), s.sum(axis=0))
