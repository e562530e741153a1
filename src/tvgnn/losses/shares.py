"""The balance loss for clusters of unequal, given sizes."""

from __future__ import annotations

import torch
from torch import Tensor

from tvgnn.errors import GraphError
from tvgnn.ops.asymmetric_norm import asymmetric_norm
from tvgnn.shapes import Assignments, Scalar

__all__ = ["share_balance_loss"]


def share_balance_loss(assignments: Assignments, sizes: Tensor, *, backend: str = "auto") -> Scalar:
    """Measure how far assignments are from sharp clusters of given sizes; 0 for exactly those, at most 1.

    The paper's asymmetric norm (eq. 12) asks each cluster for N / K nodes through ``rho = K - 1``. Here cluster k has
    its own ``rho_k = N / n_k - 1``, whose quantile lies at rank ``n_k``: the best value of column k is
    ``rho_k n_k = N - n_k``, and that of all columns ``N (K - 1)``, as in the paper, which equal sizes give back.

    Parameters:
        assignments: (N, K) floating point, rows sum to 1.
        sizes: (K,) nodes asked for in each cluster, in (0, N); a size outside leaves its column out.
        backend: see `select_backend`.

    Returns:
        Scalar.

    Raises:
        GraphError: ``sizes`` is not (K,).

    Example:
        >>> s = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
        >>> share_balance_loss(s, torch.tensor([1, 2])).item(), share_balance_loss(s, torch.tensor([2, 1])).item()
        (0.0, 0.5)

    """
    nodes, clusters = assignments.shape
    if sizes.shape != (clusters,):
        raise GraphError(f"expected sizes of shape ({clusters},), one per cluster, got {tuple(sizes.shape)}")
    wanted = [(k, float(size)) for k, size in enumerate(sizes.tolist()) if 0 < size < nodes]
    if not wanted:
        return assignments.sum() * 0
    # Gradients of unbound rows are stacked, those of slices are each padded to N x K and added up
    columns = assignments.t().contiguous().unbind()
    norms = [asymmetric_norm(columns[k][:, None], None, nodes / size - 1, backend=backend) for k, size in wanted]
    best = sum(nodes - size for _, size in wanted)
    return 1 - torch.cat(norms).sum() / best
