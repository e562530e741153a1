"""A linear discriminant in each view of the nodes, as one linear head."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
import torch
from torch import nn

__all__ = ["set_discriminant"]

_NEVER = -1e9  # score of a cluster without nodes
_LEAST_VARIANCE = 1e-6  # of the noise, as a share of the mean variance of the columns


@torch.no_grad()
def set_discriminant(head: nn.Linear, views: Sequence[np.ndarray], labels: np.ndarray, rounds: int = 3) -> np.ndarray:
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
    scatters = [(view.T @ view).astype(np.float64) for view in views]
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
