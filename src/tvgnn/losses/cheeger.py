"""The paper's objective: total variation of the assignments and balance of the clusters."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tvgnn.checks import check_rho
from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.grouping import Grouping
from tvgnn.losses._per_graph import checked, mean_of_ratios, positive_or_one
from tvgnn.ops.asymmetric_norm import asymmetric_norm
from tvgnn.ops.cheeger_batch import cheeger_batch, runs_as_one
from tvgnn.ops.cheeger_cut import cheeger_cut
from tvgnn.ops.total_variation import total_variation
from tvgnn.shapes import Assignments, Batch, EdgeWeight, Scalar

__all__ = ["asymmetric_norm_loss", "cheeger_cut_losses", "total_variation_loss"]


def total_variation_loss(
    assignments: Assignments,
    edge_index: Any,
    edge_weight: EdgeWeight | None = None,
    batch: Batch | Grouping | None = None,
    normalization: str = "weight",
    *,
    batch_size: int | None = None,
    backend: str = "auto",
) -> Scalar:
    """Graph total variation of soft assignments (paper, eq. 11 and 13).

    ``L_GTV = sum over undirected edges a_ij ||s_i - s_j||_1 / (2 W)``, where W is the total weight of the edges.
    Values lie in [0, 1]. Self-loops do not count; a graph without edges gives 0.

    The released code divides by the number of entries, loops included, which leaves [0, 1] on weighted graphs; on
    unweighted graphs without loops the two agree.

    Parameters:
        assignments: (N, K) floating point, rows sum to 1; half precision is computed in float32.
        edge_index: (2, E) integers with both directions of every edge, an ``EdgeIndex``, or an `Adjacency` (which
            then carries the weights).
        edge_weight: (E,) or None for ones; the loss is differentiable in it, normaliser included.
        batch: (N,) graph of every node in any order, a `Grouping`, or None for one graph.
        normalization: ``"weight"``, or ``"count"`` to divide by twice the number of edges, as the paper does.
        batch_size: number of graphs; by default the last of ``batch`` + 1.
        backend: see `select_backend`.

    Returns:
        Scalar: the mean over the graphs, float64 for float64 assignments and float32 for all others.

    Raises:
        ValueError: unknown ``normalization``.
        GraphError: edges or batch do not fit ``assignments``.

    Example:
        >>> path = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
        >>> halves = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
        >>> round(total_variation_loss(halves, path).item(), 4)
        0.3333

    """
    if normalization not in ("weight", "count"):
        raise ValueError(f"expected normalization to be 'weight' or 'count', got {normalization!r}")
    assignments = checked(assignments)
    groups = Grouping.of(batch, assignments, batch_size)
    adjacency = Adjacency.from_edge_index(edge_index, edge_weight, assignments.shape[0])
    variation = total_variation(assignments, adjacency, backend=backend)
    sums = adjacency.node_weights if normalization == "weight" else adjacency.edge_counts
    # Both sums run over directed entries, so the factor 2 of "every edge twice" cancels.
    return mean_of_ratios(variation, 2 * sums(assignments.dtype), groups)


def asymmetric_norm_loss(
    assignments: Assignments,
    batch: Batch | Grouping | None = None,
    rho: float | None = None,
    *,
    batch_size: int | None = None,
    backend: str = "auto",
) -> Scalar:
    """Balance of soft clusters by the asymmetric norm (paper, eq. 12, 14 and 15).

    ``L_AN = (beta - sum_k sum_i |s_ik - quant_k|_rho) / beta`` with ``beta = N rho min(1, K / (rho + 1))``. With
    ``rho = K - 1`` it is 0 for sharp clusters of equal size (above 0 where K does not divide N) and 1 when all nodes
    share one assignment. One cluster or an empty graph gives 0.

    Parameters:
        assignments: (N, K) floating point, rows sum to 1; half precision is computed in float32.
        batch: (N,) graph of every node in any order, a `Grouping`, or None for one graph; N is each graph's own node
            count.
        rho: asymmetry > 0, K - 1 by default; other values ask for uneven clusters.
        batch_size: number of graphs; by default the last of ``batch`` + 1.
        backend: see `select_backend`.

    Returns:
        Scalar: the mean over the graphs, float64 for float64 assignments and float32 for all others.

    Raises:
        ValueError: rho is not a positive number.
        GraphError: batch does not fit ``assignments``.

    Example:
        >>> halves = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
        >>> asymmetric_norm_loss(halves).item()
        0.0

    """
    assignments = checked(assignments)
    clusters = assignments.shape[1]
    if rho is not None:
        check_rho(rho)
    if clusters <= 1 or assignments.shape[0] == 0:
        return assignments.sum() * 0
    rho = float(clusters - 1 if rho is None else rho)
    groups = Grouping.of(batch, assignments, batch_size)
    norms = asymmetric_norm(groups.sort(assignments), None if batch is None else groups.pointers, rho, backend=backend)
    beta = groups.pointers.diff().to(norms.dtype) * _largest_norm_per_node(clusters, rho)
    return torch.where(beta > 0, 1 - norms / torch.where(beta > 0, beta, 1), 0).mean()


def _largest_norm_per_node(clusters: int, rho: float) -> float:
    """``beta / N`` (paper, eq. 14 and 15)."""
    return rho * min(1.0, clusters / (rho + 1))


def cheeger_cut_losses(
    logits: Tensor,
    adjacency: Adjacency,
    rho: float | None = None,
    groups: Grouping | None = None,
    *,
    backend: str = "auto",
) -> tuple[Assignments, Scalar, Scalar]:
    """Assignments and both losses from the scores of the clusters, in one pass where the backend has one.

    The same as a softmax over each row, `total_variation_loss` and `asymmetric_norm_loss`.

    Parameters:
        logits: (N, K) float32 or float64.
        adjacency: N nodes.
        rho: asymmetry > 0, K - 1 by default.
        groups: graphs of the nodes, None for one graph.
        backend: see `select_backend`.

    Returns:
        Assignments (N, K), total variation loss and balance loss (scalars).

    Raises:
        ValueError: rho is not a positive number.
        GraphError: ``logits`` is not (N, K).

    """
    if rho is not None:
        check_rho(rho)
    if groups is not None and groups.batch is None:
        groups = None
    clusters = logits.shape[-1]
    trivial = clusters <= 1 or logits.shape[0] == 0
    if trivial or (groups is not None and not runs_as_one(logits, adjacency, groups, backend)):
        assignments = torch.softmax(logits, dim=-1)
        variation = total_variation_loss(assignments, adjacency, batch=groups, backend=backend)
        return assignments, variation, asymmetric_norm_loss(assignments, groups, rho, backend=backend)
    rho = float(clusters - 1 if rho is None else rho)
    beta = _largest_norm_per_node(clusters, rho)
    if groups is not None:
        return cheeger_batch(logits, adjacency, groups, rho, beta)
    assignments, variation, norm = cheeger_cut(logits, adjacency, rho, backend=backend)
    total = 2 * adjacency.total_weight(assignments.dtype)
    return assignments, variation / positive_or_one(total), 1 - norm / (logits.shape[0] * beta)
