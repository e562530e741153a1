"""What marks each cluster: its edges, its features, its most typical and most doubtful nodes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tvgnn.report.page.view import ClusteringView

__all__ = [
    "FeatureDifferences",
    "cluster_edges",
    "confusion",
    "doubtful_nodes",
    "feature_differences",
    "neighbor_agreement",
    "typical_nodes",
]

_BLOCK = 64  # columns of dense features that are float64 at a time


def one_hot(codes: NDArray[np.int64], n_columns: int) -> sp.csr_array:
    """Return (N, C) with a one at each code; a row of zeros where it is -1."""
    rows = np.flatnonzero(codes >= 0)
    return sp.csr_array((np.ones(len(rows)), (rows, codes[rows])), shape=(len(codes), n_columns))


def cluster_edges(view: ClusteringView) -> NDArray[np.float64]:
    """Return the weight of the edges between each two clusters; on the diagonal of those inside, each once."""
    members = one_hot(view.labels, view.n_clusters)
    weights: NDArray[np.float64] = (members.T @ (view.adjacency.astype(np.float64) @ members)).toarray()
    weights[np.diag_indices_from(weights)] /= 2
    return weights


def neighbor_agreement(view: ClusteringView) -> NDArray[np.float64]:
    """Return for each node the share of its edges' weight that stays in its cluster; NaN for an isolated node."""
    adjacency, labels = view.adjacency, view.labels
    rows = np.repeat(np.arange(view.n_nodes), view.degrees)
    same = labels[rows] == labels[adjacency.indices]
    total = np.bincount(rows, adjacency.data, minlength=view.n_nodes)
    inside = np.bincount(rows, adjacency.data * same, minlength=view.n_nodes)
    return np.divide(inside, total, out=np.full(view.n_nodes, np.nan), where=total > 0)


def confusion(view: ClusteringView) -> NDArray[np.int64]:
    """Return the number of nodes of each cluster (rows) and known class (columns)."""
    members = one_hot(view.labels, view.n_clusters)
    classes = one_hot(view.y, len(view.class_names))
    return np.asarray((members.T @ classes).toarray(), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class FeatureDifferences:
    """Means of each feature inside and outside of each cluster, (K, F), and the difference in standard deviations.

    ``difference`` is (mean inside - mean outside) / sqrt((variance inside + variance outside) / 2), 0 where the means
    are equal and where there is no other cluster.
    """

    inside: NDArray[np.float64]
    outside: NDArray[np.float64]
    difference: NDArray[np.float64]

    def marking(self, cluster: int, most: int) -> list[int]:
        """Return the features of the largest differences of a cluster, the largest first."""
        strength = np.abs(self.difference[cluster])
        order = np.argsort(-strength, kind="stable")[:most]
        return [int(feature) for feature in order if strength[feature] > 0]

    def rank(self) -> NDArray[np.intp]:
        """Return all features, those first that mark some cluster most."""
        return np.argsort(-np.abs(self.difference).max(axis=0), kind="stable")


def feature_differences(view: ClusteringView) -> FeatureDifferences | None:
    """Compare the features inside and outside of each cluster; None without features."""
    if not view.n_features:
        return None
    members = one_hot(view.labels, view.n_clusters).T.tocsr()
    parts = []
    for start in range(0, view.n_features, view.n_features if sp.issparse(view.x) else _BLOCK):
        columns = view.x if sp.issparse(view.x) else view.x[:, start : start + _BLOCK]
        values = columns.astype(np.float64)
        if not sp.issparse(values):
            values = values - values.mean(axis=0)  # squares of numbers far from 0 would lose their digits
        sums, squares = (
            members @ part for part in (values, values.multiply(values) if sp.issparse(values) else values**2)
        )
        offset = 0 if sp.issparse(values) else columns.mean(axis=0, dtype=np.float64)
        dense = [part.toarray() if sp.issparse(part) else np.asarray(part) for part in (sums, squares)]
        parts.append(_compare(dense[0], dense[1], view.sizes, offset))
    return FeatureDifferences(*(np.concatenate(arrays, axis=1) for arrays in zip(*parts, strict=True)))


def _compare(
    sums: NDArray[np.float64], squares: NDArray[np.float64], sizes: NDArray[np.int64], offset: NDArray[np.float64] | int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    count = sizes[:, None].astype(np.float64)
    rest = count.sum() - count
    means, variances = [], []
    for total, square, number in (
        (sums, squares, count),
        (sums.sum(axis=0) - sums, squares.sum(axis=0) - squares, rest),
    ):
        mean = total / np.maximum(number, 1)
        means.append(mean)
        variances.append(np.maximum(square / np.maximum(number, 1) - mean**2, 0))
    gap = means[0] - means[1]
    overall = np.maximum(squares.sum(axis=0) / count.sum() - (sums.sum(axis=0) / count.sum()) ** 2, 0)
    deviation = np.sqrt((variances[0] + variances[1]) / 2)
    # A feature that is constant on both sides but differs: measured by its deviation over all nodes
    deviation = np.where(deviation > 1e-9 * np.sqrt(overall), deviation, np.sqrt(overall))
    known = (deviation > 0) & (count > 0) & (rest > 0)
    difference = np.divide(gap, deviation, out=np.zeros_like(gap), where=known)
    levels = [mean + offset for mean in means]
    # What was taken off comes back with an error in its last digit, which a mean of 0 should not show
    inside, outside = (np.where(np.abs(level) > 1e-12 * np.abs(offset), level, 0) for level in levels)
    return inside, outside, difference


def typical_nodes(view: ClusteringView, agreement: NDArray[np.float64], most: int) -> list[list[int]]:
    """Return for each cluster its surest nodes; among equally sure ones those amid their own kind."""
    distance = _distance_to_mean(view)
    return _first(view, (distance, -np.nan_to_num(agreement, nan=-1), -view.confidence.round(3)), most)


def doubtful_nodes(view: ClusteringView, agreement: NDArray[np.float64], most: int) -> list[list[int]]:
    """Return for each cluster its least sure nodes; among equally sure ones those amid other clusters."""
    return _first(view, (np.nan_to_num(agreement, nan=-1), view.confidence.round(3)), most)


def _first(view: ClusteringView, keys: tuple[NDArray[np.floating], ...], most: int) -> list[list[int]]:
    order = np.lexsort((*keys, view.labels))
    starts = np.concatenate([[0], np.cumsum(view.sizes)])
    return [order[start : min(start + most, end)].tolist() for start, end in pairwise(starts)]


def _distance_to_mean(view: ClusteringView) -> NDArray[np.float64]:
    """Squared distance of each node's embedding to the mean of its cluster."""
    embedding = np.asarray(view.embedding)
    members = one_hot(view.labels, view.n_clusters).T.tocsr().astype(embedding.dtype)
    means = (members @ embedding) / np.maximum(view.sizes, 1)[:, None]
    result = np.empty(view.n_nodes)
    for start in range(0, view.n_nodes, 8192):
        part = slice(start, start + 8192)
        result[part] = np.square(embedding[part] - means[view.labels[part]]).sum(axis=1)
    return result
