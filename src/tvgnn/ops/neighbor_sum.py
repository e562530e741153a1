"""``A X``: the sum over each node's neighbours, by whichever product suits the adjacency."""

from __future__ import annotations

from torch import Tensor

from tvgnn.graph.adjacency import Adjacency
from tvgnn.ops.sparse_linear import sparse_linear

__all__ = ["neighbor_sum"]


def neighbor_sum(adjacency: Adjacency, x: Tensor, *, backend: str = "auto") -> Tensor:
    """Multiply an adjacency by the features of its nodes, ``A x``; differentiable in both.

    Complete blocks (see `Adjacency.from_dense`) are multiplied as matrices, anything else edge by edge.

    Parameters:
        adjacency: N nodes.
        x: (N, F).
        backend: see `select_backend`.

    Returns:
        (N, F), dtype of ``x``.

    """
    if adjacency.block is None or adjacency.values is None:
        return sparse_linear(adjacency, x, backend=backend)
    adjacency.check_rows(x, "x")
    blocks = adjacency.values.to(x.dtype).view(-1, adjacency.block, adjacency.block)
    return (blocks @ x.view(-1, adjacency.block, x.shape[1])).flatten(0, 1)
