"""Many partitions as one: an aligned product of what they say, then a discriminant in each view of the nodes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
import torch
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix
from torch import nn

__all__ = ["agreed_labels", "set_discriminant"]

_ROUNDS = 3  # of alignment; two suffice unless clusters change places
_BLOCK = 65_536  # rows converted at a time
_NEVER = -1e9  # score of a cluster without nodes
_LEAST_VARIANCE = 1e-6  # of the noise, as a share of the mean variance of the columns


def agreed_labels(log_probabilities: Sequence[np.ndarray]) -> tuple[np.ndarray, float]:
    """Labels of the product of several soft partitions, their clusters matched.

    Clusters are matched to those of the partition that the others agree with most, then to those of the product. Where
    partitions split different clusters, the product may leave one without nodes; then that partition is taken as it is.

    Parameters:
        log_probabilities: each (N, K), log of soft assignments; at least one.

    Returns:
        Labels (N,) int64, and the highest mean adjusted Rand index of a partition with the others, 1 for a single one.

    """
    partitions = [scores.argmax(1) for scores in log_probabilities]
    agreement = np.ones((len(partitions), len(partitions)))
    for i, first in enumerate(partitions):
        for j in range(i):
            agreement[i, j] = agreement[j, i] = adjusted_rand_score(first, partitions[j])
    means = (agreement.sum(1) - 1) / max(len(partitions) - 1, 1) if len(partitions) > 1 else np.ones(1)
    labels = central = partitions[int(means.argmax())]
    for _ in range(_ROUNDS):
        total = np.zeros_like(log_probabilities[0])
        for scores, own in zip(log_probabilities, partitions, strict=True):
            total[:, _matched(labels, own, total.shape[1])] += scores
        before, labels = labels, total.argmax(1)
        if np.array_equal(before, labels):
            break
    if len(np.unique(labels)) < len(np.unique(central)):
        labels = central
    return labels.astype(np.int64), float(means.max())


def _matched(labels: np.ndarray, own: np.ndarray, n_clusters: int) -> np.ndarray:
    """For each cluster of ``own`` the one of ``labels`` that it shares most nodes with, one to one."""
    everyone = np.arange(n_clusters)  # once more each, so that empty clusters have a row and a column
    shared = contingency_matrix(np.concatenate([own, everyone]), np.concatenate([labels, everyone]))
    return np.asarray(linear_sum_assignment(shared - np.eye(n_clusters), maximize=True)[1])


@torch.no_grad()
def set_discriminant(head: nn.Linear, views: Sequence[np.ndarray], labels: np.ndarray, rounds: int = 2) -> np.ndarray:
    """Set a linear head to the product of one linear discriminant a view, and relabel the nodes by it.

    In each view the clusters are Gaussians of one covariance (shrunk, Ledoit & Wolf, 2004); a node goes to the cluster
    of the highest product of their densities and the share of the nodes that the labels give it.

    Parameters:
        head: of as many inputs as the views have columns together, in place.
        views: each (N, q) embedding.
        labels: (N,) in 0 .. K - 1.
        rounds: how often the discriminants are fitted, each time but the first to the labels of the last.

    Returns:
        The labels that the head gives.

    """
    scatters = [_scatter(view) for view in views]
    for _ in range(rounds):
        fitted = [_discriminant(*one, labels, head.out_features) for one in zip(views, scatters, strict=True)]
        sizes = np.bincount(labels, minlength=head.out_features)
        bias = np.where(sizes > 0, np.log(np.maximum(sizes, 1) / len(labels)), _NEVER)
        bias = np.sum([bias, *(part for _, part in fitted)], axis=0)
        scores = bias + np.sum([view @ weight.T for view, (weight, _) in zip(views, fitted, strict=True)], axis=0)
        head.weight.copy_(torch.tensor(np.concatenate([weight for weight, _ in fitted], axis=1)))
        head.bias.copy_(torch.tensor(bias))
        labels = scores.argmax(1)
    return labels


def _scatter(view: np.ndarray) -> np.ndarray:
    """Sum of the rows' outer products in float64, as clusters may be small beside their distance from zero."""
    blocks = (view[i : i + _BLOCK].astype(np.float64) for i in range(0, len(view), _BLOCK))
    return np.sum([block.T @ block for block in blocks], axis=0)


def _discriminant(
    view: np.ndarray, scatter: np.ndarray, labels: np.ndarray, n_clusters: int
) -> tuple[np.ndarray, np.ndarray]:
    """Weight (K, q) and bias (K,) of a linear discriminant; the scatter (q, q) is that of the rows about zero."""
    nodes, width = view.shape
    sizes = np.bincount(labels, minlength=n_clusters)
    member = sp.csr_array((np.ones(nodes, np.float32), labels, np.arange(nodes + 1)), shape=(nodes, n_clusters))
    centers = np.asarray(member.T @ view, dtype=np.float64) / np.maximum(sizes, 1)[:, None]
    covariance = (scatter - (sizes[:, None] * centers).T @ centers) / nodes
    # Ledoit and Wolf's shrinkage towards a multiple of the identity, which needs of the residuals only their lengths
    along = (view @ centers.T.astype(view.dtype))[np.arange(nodes), labels]
    lengths = np.square(view).sum(1) - 2 * along + np.square(centers).sum(1)[labels]
    scale, squares = np.trace(covariance) / width, np.square(covariance).sum()
    away = max(squares - width * scale**2, 0)  # of the covariance from the target, squared
    shrinkage = min(max(np.square(lengths).mean() - squares, 0) / nodes, away) / max(away, 1e-300)
    covariance = (1 - shrinkage) * covariance + shrinkage * scale * np.eye(width)
    covariance += max(_LEAST_VARIANCE * float(view.var(0).mean()), 1e-12) * np.eye(width)
    weight = np.linalg.solve(covariance, centers.T).T
    return weight, -(weight * centers).sum(1) / 2
