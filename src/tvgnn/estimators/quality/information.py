"""How much a partition says about edges and features: one number in nats, without a weight between the two."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["PartitionInformation", "edge_information"]


class PartitionInformation:
    """Log-likelihood of a graph and its features given a partition, above that without one.

    Edges: maximum likelihood of the degree-corrected stochastic block model (Karrer & Newman, 2011),
    ``1/2 sum_kl e_kl log(e_kl 2m / (d_k d_l))``. Features: a Gaussian per cluster with one covariance W,
    ``N/2 (log det T - log det W)``, which is invariant under linear maps, so correlated features do not count twice.
    Both are in nats, so they add up with nothing to tune. Partitions into equally many clusters have equally many
    parameters, so they need no penalty against each other.

    Parameters:
        adjacency: (N, N) symmetric CSR.
        features: (N, r) dense, r below N.

    """

    def __init__(self, adjacency: Any, features: np.ndarray) -> None:
        self.adjacency = adjacency
        self._x = features - features.mean(0)
        self._total = self._x.T @ self._x
        self._ridge = 1e-6 * max(np.trace(self._total) / len(self._total), 1e-12) * np.eye(len(self._total))
        self._total_logdet = np.linalg.slogdet(self._total + self._ridge)[1]

    def of(self, labels: np.ndarray, n_clusters: int) -> float:
        """Nats explained by labels (N,) in 0 .. n_clusters - 1."""
        return edge_information(self.adjacency, labels, n_clusters) + self.feature_information(labels, n_clusters)

    def feature_information(self, labels: np.ndarray, n_clusters: int) -> float:
        """Nats of the features."""
        member = _members(labels, n_clusters)
        sizes = np.maximum(np.bincount(labels, minlength=n_clusters), 1)
        sums = member.T @ self._x
        within = self._total - sums.T @ (sums / sizes[:, None])
        return len(labels) / 2 * float(self._total_logdet - np.linalg.slogdet(within + self._ridge)[1])


def edge_information(adjacency: Any, labels: np.ndarray, n_clusters: int) -> float:
    """Nats of the edges; weights count as numbers of edges, scaled to one on average.

    Example:
        >>> pairs = sp.block_diag([np.ones((2, 2)) - np.eye(2)] * 2).tocsr()
        >>> round(edge_information(pairs, np.array([0, 0, 1, 1]), 2) / (2 * float(np.log(2))), 6)
        1.0

    """
    member = _members(labels, n_clusters)
    between = (member.T @ (adjacency @ member)).toarray().astype(np.float64)
    volumes, total = between.sum(1), between.sum()
    if total == 0:
        return 0.0
    expected = np.outer(volumes, volumes) / total
    positive = between > 0
    nats = float((between[positive] * np.log(between[positive] / expected[positive])).sum()) / 2
    return nats * float(np.count_nonzero(adjacency.data) / total)


def _members(labels: np.ndarray, n_clusters: int) -> sp.csr_array:
    ones = np.ones(len(labels))
    return sp.csr_array((ones, labels, np.arange(len(labels) + 1)), shape=(len(labels), n_clusters))
