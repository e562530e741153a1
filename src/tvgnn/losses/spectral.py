"""Losses of the pooling methods that relax spectral clustering: MinCutPool and DMoN. All take O(E K), none N x N."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tvgnn.graph.adjacency import Adjacency, inverse_roots
from tvgnn.graph.grouping import Grouping
from tvgnn.losses._per_graph import checked, mean_of_ratios, positive_or_one
from tvgnn.ops.neighbor_sum import neighbor_sum
from tvgnn.shapes import Assignments, Batch, EdgeWeight, Scalar

__all__ = ["collapse_loss", "mincut_loss", "modularity_loss", "normalized_adjacency", "orthogonality_loss"]


def mincut_loss(
    assignments: Assignments,
    edge_index: Any,
    edge_weight: EdgeWeight | None = None,
    batch: Batch | Grouping | None = None,
    *,
    batch_size: int | None = None,
    backend: str = "auto",
) -> Scalar:
    """Relaxed normalised cut of soft assignments (Bianchi et al., ICML 2020; first term of the paper's eq. 8).

    ``-Tr(S^T A~ S) / Tr(S^T D~ S)`` with ``A~ = D^-1/2 A D^-1/2`` and ``D~ = diag(A~ 1)``. Values lie in [-1, 0]; a
    graph without edges gives 0.

    Parameters:
        assignments: (N, K) floating point, rows sum to 1; half precision is computed in float32.
        edge_index: (2, E) integers with both directions of every edge, an ``EdgeIndex``, or an `Adjacency` (which
            then carries the weights). Self-loops count.
        edge_weight: (E,) or None for ones; the loss is differentiable in it.
        batch: (N,) graph of every node in any order, a `Grouping`, or None for one graph.
        batch_size: number of graphs; by default the last of ``batch`` + 1.
        backend: see `select_backend`.

    Returns:
        Scalar: the mean over the graphs, float64 for float64 assignments and float32 for all others.

    Raises:
        GraphError: edges or batch do not fit ``assignments``.

    Example:
        >>> path = torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]])
        >>> halves = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
        >>> mincut_loss(halves, path).item()
        -1.0

    """
    s, adjacency, groups = _inputs(assignments, edge_index, edge_weight, batch, batch_size)
    normalized = normalized_adjacency(adjacency, s.dtype)
    inside = (s * neighbor_sum(normalized, s, backend=backend)).sum(1)
    volume = normalized.row_sums(s.dtype) * s.square().sum(1)
    return mean_of_ratios(-inside, volume, groups)


def normalized_adjacency(adjacency: Adjacency, dtype: torch.dtype) -> Adjacency:
    """``D^-1/2 A D^-1/2``, where D holds the row sums; rows that sum to 0 stay 0."""
    scale = inverse_roots(adjacency.row_sums(dtype))
    values = adjacency.weights(dtype) * scale[adjacency.rows()] * scale[adjacency.indices]
    return adjacency.with_values(values)


def orthogonality_loss(
    assignments: Assignments, batch: Batch | Grouping | None = None, *, batch_size: int | None = None
) -> Scalar:
    """Distance of the clusters from orthogonal ones of equal size (Bianchi et al., ICML 2020; paper's eq. 8).

    ``|| S^T S / ||S^T S||_F - I / sqrt(K) ||_F``, from 0 to below sqrt(2). An empty graph gives 0.

    Parameters:
        assignments: (N, K) floating point, rows sum to 1; half precision is computed in float32.
        batch: (N,) graph of every node in any order, a `Grouping`, or None for one graph.
        batch_size: number of graphs; by default the last of ``batch`` + 1.

    Returns:
        Scalar: the mean over the graphs, float64 for float64 assignments and float32 for all others.

    Raises:
        GraphError: batch does not fit ``assignments``.

    Example:
        >>> round(orthogonality_loss(torch.tensor([[1.0, 0.0], [1.0, 0.0]])).item(), 4)  # sqrt(2 - sqrt(2))
        0.7654

    """
    s = checked(assignments)
    groups = Grouping.of(batch, s, batch_size)
    if groups.size == 0:
        return s.sum()
    gram = groups.products(s, s)
    size = positive_or_one(torch.linalg.matrix_norm(gram)[:, None, None])
    clusters = s.shape[1]
    identity = torch.eye(clusters, dtype=s.dtype, device=s.device) / clusters**0.5
    distance = torch.linalg.matrix_norm(gram / size - identity)
    return (distance * (groups.pointers.diff() > 0)).mean()


def modularity_loss(
    assignments: Assignments,
    edge_index: Any,
    edge_weight: EdgeWeight | None = None,
    batch: Batch | Grouping | None = None,
    *,
    batch_size: int | None = None,
    backend: str = "auto",
) -> Scalar:
    """Negative modularity of soft assignments (Tsitsulin et al., JMLR 2023).

    ``-Tr(S^T A S - (S^T d)(S^T d)^T / 2m) / 2m`` with degrees d and total weight 2m. The TVGNN paper (eq. 9) leaves
    out the inner ``1 / 2m``, a misprint. A graph without edges gives 0.

    Parameters, Returns and Raises: as of `mincut_loss`.

    Example:
        >>> pairs = torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]])
        >>> halves = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
        >>> modularity_loss(halves, pairs).item()
        -0.5

    """
    s, adjacency, groups = _inputs(assignments, edge_index, edge_weight, batch, batch_size)
    if groups.size == 0:
        return s.sum()
    degrees = adjacency.row_sums(s.dtype)
    total = positive_or_one(groups.sum(degrees))
    inside = groups.sum((s * neighbor_sum(adjacency, s, backend=backend)).sum(1))
    # divided before it is squared: the square of a weight near 1e20 or 1e-20 is no float32
    expected = (groups.sum(s * degrees[:, None]) / total[:, None]).square().sum(1)
    return (expected - inside / total).mean()


def collapse_loss(
    assignments: Assignments, batch: Batch | Grouping | None = None, *, batch_size: int | None = None
) -> Scalar:
    """How far the cluster sizes are from equal ones (Tsitsulin et al., JMLR 2023; second term of the paper's eq. 9).

    ``sqrt(K) / N || sum_i s_i ||_2 - 1``, from 0 to sqrt(K) - 1. An empty graph gives 0.

    Parameters, Returns and Raises: as of `orthogonality_loss`.

    Example:
        >>> round(collapse_loss(torch.tensor([[1.0, 0.0], [1.0, 0.0]])).item(), 4)  # sqrt(2) - 1
        0.4142

    """
    s = checked(assignments)
    groups = Grouping.of(batch, s, batch_size)
    if groups.size == 0:
        return s.sum()
    nodes = groups.pointers.diff().to(s.dtype)
    sizes = torch.linalg.vector_norm(groups.sum(s), dim=1)
    excess = s.shape[1] ** 0.5 / nodes.clamp(min=1) * sizes - 1
    return (excess * (nodes > 0)).mean()


def _inputs(
    assignments: Tensor, edge_index: Any, edge_weight: Tensor | None, batch: Any, batch_size: int | None
) -> tuple[Tensor, Adjacency, Grouping]:
    s = checked(assignments)
    adjacency = Adjacency.from_edge_index(edge_index, edge_weight, s.shape[0])
    return s, adjacency, Grouping.of(batch, s, batch_size)
