"""Node-wise total variation in plain torch."""

from __future__ import annotations

from torch import Tensor

from tvgnn.graph.adjacency import Adjacency

__all__ = ["total_variation_reference"]


def total_variation_reference(s: Tensor, adjacency: Adjacency) -> Tensor:
    """``tv_i = sum_j a_ij ||s_i - s_j||_1`` (paper, eq. 11, before summing over i), shape (N,)."""
    rows, columns = adjacency.rows(), adjacency.indices.long()
    distance = (s[rows] - s[columns]).abs().sum(1)
    return s.new_zeros(s.shape[0]).index_add(0, rows, adjacency.weights(s.dtype) * distance)
