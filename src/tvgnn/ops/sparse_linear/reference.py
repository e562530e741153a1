"""Sparse times dense in plain torch."""

from __future__ import annotations

from torch import Tensor

from tvgnn.graph.sparse_matrix import SparseMatrix

__all__ = ["sparse_linear_reference"]


def sparse_linear_reference(x: SparseMatrix, weight: Tensor) -> Tensor:
    """``out = x @ weight`` entry by entry, shape (rows, H)."""
    picked = weight[x.indices.long()]
    if x.values is not None:
        picked = picked * x.values.to(weight.dtype)[:, None]
    return weight.new_zeros(x.num_rows, weight.shape[1]).index_add(0, x.rows(), picked)
