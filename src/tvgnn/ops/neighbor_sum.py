"""``A X``: the sum over each node's neighbours, by whichever product suits the adjacency."""

from __future__ import annotations

from torch import Tensor

from tvgnn.graph.adjacency import Adjacency, inverse_roots
from tvgnn.ops.sparse_linear import sparse_linear

__all__ = ["neighbor_sum", "normalized_neighbor_sum"]


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


def normalized_neighbor_sum(adjacency: Adjacency, x: Tensor, *, loop: float = 0.0, backend: str = "auto") -> Tensor:
    """``D^-1/2 (A + loop I) D^-1/2 x``, where D holds the row sums of the matrix in the middle.

    With ``loop=1`` the propagation of Kipf & Welling (ICLR 2017, eq. 2). Rows that do not sum to a positive number
    give 0. Differentiable in the weights and in ``x``.

    Parameters:
        adjacency: N nodes.
        x: (N, F).
        loop: weight of a self-loop that every node gets, >= 0.
        backend: see `select_backend`.

    Returns:
        (N, F), dtype of ``x``.

    """
    scale = inverse_roots(adjacency.row_sums(x.dtype) + loop)[:, None]
    scaled = scale * x
    around = neighbor_sum(adjacency, scaled, backend=backend)
    return scale * (around + loop * scaled if loop else around)
