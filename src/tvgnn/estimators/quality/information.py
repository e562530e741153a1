"""What a partition says about edges and features, and how well these tell its clusters apart; no weights, no labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

__all__ = ["Judgement", "PartitionInformation", "edge_information"]

_RESOLUTION = 1e-6  # share of a direction's variance within clusters below which float32 tells nothing


@dataclass(frozen=True)
class Judgement:
    """What is known of a partition without labels.

    Attributes:
        nats: what it explains, the more the better.
        overlap: how easily its clusters are confused, in [0, about 1], the less the better; see `PartitionInformation`.
        clusters: number of clusters in use.

    """

    nats: float
    overlap: float
    clusters: int


class PartitionInformation:
    """Log-likelihood of a graph and its features given a partition, above that without one.

    Edges: maximum likelihood of the degree-corrected stochastic block model (Karrer & Newman, 2011),
    ``1/2 sum_kl e_kl log(e_kl 2m / (d_k d_l))``. Features: a Gaussian per cluster with one covariance W,
    ``N/2 (log det T - log det W)``, which is invariant under linear maps, so correlated features do not count twice.
    Both are in nats, so they add up with nothing to tune. Partitions into equally many clusters have equally many
    parameters, so they need no penalty against each other.

    Nats prefer to cut large classes and to merge small ones, as a cut explains the more the more nodes it concerns. The
    overlap asks instead how well two clusters are told apart, whatever their sizes: Bhattacharyya's bound (1943) on the
    error of telling a node of cluster a from one of b by its features and by the clusters of its neighbours,
    ``exp(-D_ab / 8) * (sum_c sqrt(p_ac p_bc))^(2 degree)`` with the squared Mahalanobis distance D_ab of the means, the
    shares p_ac of a's edges that end in c, and the mean degree; summed over b and averaged over the nodes, relative to
    the probability that two nodes are of different clusters. The halves of a class that was cut overlap. Edges count
    twice (the bound itself has the power ``degree``): partitions are sought in the features, whose distances therefore
    come out too large, and on simulated networks the edges are the safer evidence.

    Parameters:
        adjacency: (N, N) symmetric CSR.
        features: (N, r) dense, r below N.

    """

    def __init__(self, adjacency: Any, features: np.ndarray) -> None:
        self.adjacency = adjacency
        x = features - features.mean(0)
        total = (x.T @ x).astype(np.float64)
        ridge = 1e-6 * max(np.trace(total) / len(total), 1e-12)
        values, vectors = scipy.linalg.eigh(total)
        # Rounding makes zero eigenvalues slightly negative
        self._white = x @ (vectors / np.sqrt(np.maximum(values, 0) + ridge)).astype(np.float32)

    def judged(self, labels: np.ndarray) -> Judgement:
        """Judge labels (N,); clusters without nodes have no say.

        With T the identity, that is in whitened features, ``det W`` is ``det(I - M M^T)``, where row k of M is the sum
        over cluster k divided by the root of its size: K by K instead of r by r. Its inverse gives that of W.
        """
        used, labels = np.unique(labels, return_inverse=True)
        sizes = np.bincount(labels)
        members = _members(labels, len(used))
        scaled = np.asarray(members.T @ self._white, dtype=np.float64) / np.sqrt(sizes)[:, None]
        gram = scaled @ scaled.T
        values, vectors = scipy.linalg.eigh(np.eye(len(used)) - gram)
        values = np.maximum(values, _RESOLUTION)
        edges = edges_between(self.adjacency, members)
        nats = _edge_nats(edges) - len(labels) / 2 * float(np.log(values).sum())
        inverse = gram + gram @ (vectors / values) @ vectors.T @ gram  # of W, between the scaled means
        inverse *= len(labels) / np.sqrt(np.outer(sizes, sizes))
        return Judgement(nats, self._overlap(inverse, edges, sizes), len(used))

    def _overlap(self, inner: np.ndarray, edges: np.ndarray, sizes: np.ndarray) -> float:
        """Relative overlap, from inner products of the means by the inverse covariance and edges between clusters."""
        norms = np.diag(inner)
        chance = self._white.shape[1] / sizes  # by which a squared distance of sample means exceeds that of the means
        distance = norms[:, None] + norms - 2 * inner - chance[:, None] - chance
        ends = np.sqrt((edges + 0.5) / (edges + 0.5).sum(1, keepdims=True))
        degree = edges.sum() / sizes.sum()
        confused = np.exp(-np.maximum(distance, 0) / 8) * np.minimum(ends @ ends.T, 1) ** (2 * degree)
        np.fill_diagonal(confused, 0)
        shares = sizes / sizes.sum()
        return float(shares @ confused.sum(1) / max(1 - np.square(shares).sum(), 1e-12))


def edges_between(adjacency: Any, members: sp.csr_array) -> np.ndarray:
    """Edges between clusters, (K, K), those within twice; weights are scaled to one on average, as numbers of edges."""
    members = members.astype(np.float64)  # sums of edges exceed what float32 holds exactly
    between = (members.T @ (adjacency @ members)).toarray()
    return np.asarray(between * (np.count_nonzero(adjacency.data) / max(between.sum(), 1e-300)))


def edge_information(adjacency: Any, labels: np.ndarray, n_clusters: int) -> float:
    """Nats of the edges; weights count as numbers of edges, scaled to one on average.

    Example:
        >>> pairs = sp.block_diag([np.ones((2, 2)) - np.eye(2)] * 2).tocsr()
        >>> round(edge_information(pairs, np.array([0, 0, 1, 1]), 2) / (2 * float(np.log(2))), 6)
        1.0

    """
    return _edge_nats(edges_between(adjacency, _members(labels, n_clusters)))


def _edge_nats(edges: np.ndarray) -> float:
    volumes, total = edges.sum(1), edges.sum()
    if total == 0:
        return 0.0
    expected = np.outer(volumes, volumes) / total
    positive = edges > 0
    return float((edges[positive] * np.log(edges[positive] / expected[positive])).sum()) / 2


def _members(labels: np.ndarray, n_clusters: int) -> sp.csr_array:
    ones = np.ones(len(labels), np.float32)
    return sp.csr_array((ones, labels, np.arange(len(labels) + 1)), shape=(len(labels), n_clusters))
