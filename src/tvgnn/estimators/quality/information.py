"""How much a partition says about edges and features: one number in nats, without a weight between the two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

__all__ = ["PartitionInformation", "edge_information"]

_RESOLUTION = 1e-6  # share of a direction's variance within clusters below which float32 tells nothing
_RIDGE = 1e-6  # of the mean variance
_BLOCK = 1 << 19  # entries of the adjacency looked at together, so that what is made of them stays in the cache


class PartitionInformation:
    """Log-likelihood of a graph and its features given a partition, above that without one.

    Edges: maximum likelihood of the degree-corrected stochastic block model (Karrer & Newman, 2011),
    ``1/2 sum_kl e_kl log(e_kl 2m / (d_k d_l))``. Features: a Gaussian per cluster with one covariance W,
    ``N/2 (log det T - log det W)``, which is invariant under linear maps, so correlated features do not count twice.
    Both are in nats, so they add up. Partitions into equally many clusters have equally many parameters, so they need
    no penalty against each other. The block model takes edges for independent; where they are not, as those that close
    triangles, only a share of theirs counts.

    Parameters:
        adjacency: (N, N) symmetric CSR.
        features: (N, r) dense, r below N; with ``nodes`` only theirs, whose nats stand for those of all. None where
            they say nothing of their own.
        nodes: (n,) a random part of the nodes, or None for all.
        edge_share: of the nats of the edges that counts, see `independent_share`.
        number: of nodes that have features; all N where it is None.
        categories: of the rows of ``features``, levels (n,) or values (n, 1) of each category, see `levels`. A
            partition that repeats one leaves no variance within its clusters, which no other partition equals, and says
            nothing that was not known. So what it says of the category that it says most of does not count.

    """

    def __init__(
        self,
        adjacency: Any,
        features: np.ndarray | None,
        nodes: np.ndarray | None = None,
        edge_share: float = 1.0,
        number: int | None = None,
        categories: Sequence[np.ndarray] = (),
    ) -> None:
        self.adjacency, self.nodes, self.edge_share = adjacency, nodes, edge_share
        self._number = adjacency.shape[0] if number is None else number
        self._white = None if features is None else _whitened(features)
        self._levels = [part for part in categories if part.ndim == 1]
        codes = [part for part in categories if part.ndim == 2]
        self._codes = _standardised(np.hstack(codes)) if codes else None

    def of(self, labels: np.ndarray, n_clusters: int) -> float:
        """Nats explained by labels (N,) in 0 .. n_clusters - 1."""
        edges = self.edge_share * edge_information(self.adjacency, labels, n_clusters)
        return edges + self.feature_information(labels, n_clusters)

    def feature_information(self, labels: np.ndarray, n_clusters: int) -> float:
        """Nats of the features.

        With T the identity, that is in whitened features, ``det W`` is ``det(I - M M^T)``, where row k of M is the sum
        over cluster k divided by the root of its size: K by K instead of r by r.
        """
        if self._white is None:
            return 0.0
        labels = labels if self.nodes is None else labels[self.nodes]
        of_each = [_nats_of_levels(part, labels, n_clusters) for part in self._levels]
        if self._codes is not None:
            of_each.append(_most_nats_of_columns(self._codes, labels, n_clusters))
        return self._number * (_nats(self._white, labels, n_clusters) - max(of_each, default=0.0))


def _whitened(features: np.ndarray) -> np.ndarray:
    x = features - features.mean(0)
    total = (x.T @ x).astype(np.float64)
    ridge = _RIDGE * max(np.trace(total) / len(total), 1e-12)
    values, vectors = scipy.linalg.eigh(total)
    # Rounding makes zero eigenvalues slightly negative
    return x @ (vectors / np.sqrt(np.maximum(values, 0) + ridge)).astype(np.float32)


def _standardised(columns: np.ndarray) -> np.ndarray:
    """Each column as `_whitened` makes it alone."""
    x = columns - columns.mean(0)
    total = np.square(x, dtype=np.float64).sum(0)
    return x / np.sqrt(total + _RIDGE * np.maximum(total, 1e-12)).astype(np.float32)


def _nats(white: np.ndarray, labels: np.ndarray, n_clusters: int) -> float:
    """Nats a node that labels explain of whitened features."""
    means = _means(white, labels, n_clusters)
    return _nats_of_explained(means @ means.T)


def _most_nats_of_columns(standardised: np.ndarray, labels: np.ndarray, n_clusters: int) -> float:
    """Nats a node that labels explain of the column, alone, of which they explain most."""
    explained = np.square(_means(standardised, labels, n_clusters)).sum(0).max()
    return -float(np.log(max(1 - explained, _RESOLUTION))) / 2


def _means(columns: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Means over clusters times the root of their sizes, (K, F) float64."""
    sizes = np.maximum(np.bincount(labels, minlength=n_clusters), 1)
    return np.asarray(_members(labels, n_clusters).T @ columns, dtype=np.float64) / np.sqrt(sizes)[:, None]


def _nats_of_levels(levels: np.ndarray, labels: np.ndarray, n_clusters: int) -> float:
    """Nats a node that labels explain of dummies of the levels, from the table of both alone."""
    number = int(levels.max(initial=0)) + 1
    both = np.bincount(labels * number + levels, minlength=n_clusters * number).reshape(n_clusters, number)
    sizes = np.maximum(both.sum(1, keepdims=True), 1)
    expected = sizes * both.sum(0) / len(labels)
    beyond = (both - expected) / np.sqrt(sizes * np.maximum(both.sum(0), 1))
    return _nats_of_explained(beyond @ beyond.T)


def _nats_of_explained(explained: np.ndarray) -> float:
    left = np.maximum(scipy.linalg.eigvalsh(np.eye(len(explained)) - explained), _RESOLUTION)
    return -float(np.log(left).sum()) / 2


def edge_information(adjacency: Any, labels: np.ndarray, n_clusters: int) -> float:
    """Nats of the edges; weights count as numbers of edges, scaled to one on average.

    Example:
        >>> pairs = sp.block_diag([np.ones((2, 2)) - np.eye(2)] * 2).tocsr()
        >>> round(edge_information(pairs, np.array([0, 0, 1, 1]), 2) / (2 * float(np.log(2))), 6)
        1.0

    """
    between = _between(adjacency, labels, n_clusters)
    volumes, total = between.sum(1), between.sum()
    if total == 0:
        return 0.0
    expected = np.outer(volumes, volumes) / total
    positive = between > 0
    nats = float((between[positive] * np.log(between[positive] / expected[positive])).sum()) / 2
    return nats * float(np.count_nonzero(adjacency.data) / total)


def _between(adjacency: Any, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Sums of the entries between clusters, (K, K) float64."""
    sums = np.zeros(n_clusters * n_clusters)
    own = np.repeat(labels * n_clusters, np.diff(adjacency.indptr))
    for first in range(0, adjacency.indices.size, _BLOCK):
        block = slice(first, first + _BLOCK)
        sums += np.bincount(own[block] + labels[adjacency.indices[block]], adjacency.data[block], sums.size)
    return sums.reshape(n_clusters, n_clusters)


def _members(labels: np.ndarray, n_clusters: int) -> sp.csr_array:
    ones = np.ones(len(labels), np.float32)
    return sp.csr_array((ones, labels, np.arange(len(labels) + 1)), shape=(len(labels), n_clusters))
