"""Losses of DiffPool (Ying et al., NeurIPS 2018), without the N x N matrix of their definition."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.grouping import Grouping
from tvgnn.losses._per_graph import checked, mean_over_nodes
from tvgnn.ops.neighbor_sum import neighbor_sum
from tvgnn.shapes import Assignments, Batch, EdgeWeight, Scalar

__all__ = ["entropy_loss", "link_loss"]


def link_loss(
    assignments: Assignments,
    edge_index: Any,
    edge_weight: EdgeWeight | None = None,
    batch: Batch | Grouping | None = None,
    *,
    batch_size: int | None = None,
    backend: str = "auto",
) -> Scalar:
    """How badly the assignments predict the edges (Ying et al., NeurIPS 2018).

    ``||A - S S^T||_F / N^2``, computed as the root of ``||A||^2 - 2 Tr(S^T A S) + ||S^T S||^2``. An empty
    graph gives 0.

    Parameters:
        assignments: (N, K) floating point, rows sum to 1; half precision is computed in float32.
        edge_index: (2, E) integers with both directions of every edge, an ``EdgeIndex``, or an `Adjacency` (which
            then carries the weights). Self-loops count, entries of the same pair add up.
        edge_weight: (E,) or None for ones; the loss is differentiable in it.
        batch: (N,) graph of every node in any order, a `Grouping`, or None for one graph.
        batch_size: number of graphs; by default the last of ``batch`` + 1.
        backend: see `select_backend`.

    Returns:
        Scalar: the mean over the graphs, float64 for float64 assignments and float32 for all others.

    Raises:
        GraphError: edges or batch do not fit ``assignments``.

    Example:
        >>> round(link_loss(torch.eye(2), torch.tensor([[0, 1], [1, 0]])).item(), 4)  # ||[[-1, 1], [1, -1]]|| / 4
        0.5

    """
    s = checked(assignments)
    adjacency = Adjacency.from_edge_index(edge_index, edge_weight, s.shape[0])
    groups = Grouping.of(batch, s, batch_size)
    if groups.size == 0:
        return s.sum()
    # The three sums cancel where the prediction is nearly perfect, of which float32 would leave nothing.
    exact = s.double()
    gram = groups.products(exact, exact).square().sum((1, 2))
    inside = groups.sum((exact * neighbor_sum(adjacency, exact, backend=backend)).sum(1))
    squares = groups.sum(_squared_rows(adjacency, exact.dtype))
    difference = squares - 2 * inside + gram
    nodes = groups.pointers.diff().clamp(min=1).to(exact.dtype)
    # The root's slope is infinite at 0, where the prediction is perfect and the gradient 0. NaN is not below it.
    positive = ~(difference <= 0)
    return (torch.where(positive, difference, 1).sqrt() * positive / nodes.square()).mean().to(s.dtype)


def _squared_rows(adjacency: Adjacency, dtype: torch.dtype) -> Tensor:
    """Sum over each row of the squared weights (N,), where entries of the same pair are added first."""
    rows, weights = adjacency.rows(), adjacency.weights(dtype)
    if adjacency.block is None:
        repeated = adjacency.repeated_pairs
        if repeated is not None:
            rows, place = repeated
            weights = weights.new_zeros(rows.shape[0]).index_add(0, place, weights)
    return weights.new_zeros(adjacency.num_nodes).index_add(0, rows, weights.square())


def entropy_loss(
    assignments: Assignments, batch: Batch | Grouping | None = None, *, batch_size: int | None = None
) -> Scalar:
    """Mean entropy of the nodes' assignments in nats (Ying et al., NeurIPS 2018), from 0 to log K.

    Parameters:
        assignments: (N, K) floating point, rows sum to 1; half precision is computed in float32.
        batch: (N,) graph of every node in any order, a `Grouping`, or None for one graph.
        batch_size: number of graphs; by default the last of ``batch`` + 1.

    Returns:
        Scalar: the mean over the graphs, float64 for float64 assignments and float32 for all others; an empty graph
        counts 0.

    Raises:
        GraphError: batch does not fit ``assignments``.

    Example:
        >>> round(entropy_loss(torch.tensor([[0.5, 0.5], [1.0, 0.0]])).item(), 4)
        0.3466

    """
    s = checked(assignments)
    groups = Grouping.of(batch, s, batch_size)
    # s log s has slope -infinity at 0; the smallest normal number bounds it
    tiny = torch.finfo(s.dtype).tiny
    return mean_over_nodes(-(s * s.clamp(min=tiny).log()).sum(1), groups)
