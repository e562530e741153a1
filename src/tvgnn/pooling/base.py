"""The one forward of every clustering-based pooling layer: select, reduce, connect, and its losses.

A method supplies the assignments (`DensePooling.select`) and `auxiliary_losses`; everything else is here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import torch
from torch import Tensor, nn

from tvgnn.errors import GraphError
from tvgnn.graph.adjacency import Adjacency, clear_padding
from tvgnn.layers.by_rows import by_rows
from tvgnn.layers.mlp import assignment_mlp
from tvgnn.losses import graph_pointers
from tvgnn.ops.sparse_linear import sparse_linear

__all__ = ["LARGEST_INNER", "DensePooling", "PoolingOutput", "pad_by_graph"]

LARGEST_INNER = 2**26
ROWS_AT_ONCE = 8192


@dataclass
class PoolingOutput:
    """What every pooling layer returns.

    Attributes:
        x: (B, K, F) pooled features ``S^T X``.
        adj: (B, K, K) pooled adjacency ``S^T A S``.
        mask: (B, K) bool, valid clusters: all of them, also those that no node chose.
        assignments: soft assignments S, (N, K) for sparse input, (B, N, K) for dense.
        losses: scalars already multiplied by their coefficients.

    """

    x: Tensor
    adj: Tensor
    mask: Tensor
    assignments: Tensor
    losses: dict[str, Tensor] = field(default_factory=dict)


class DensePooling(nn.Module):
    """Base of the layers that pool every graph to K clusters by soft assignments of a shared MLP.

    Parameters:
        k: number of clusters.
        mlp_channels: input width, then the widths of the hidden layers.
        mlp_activation: activation between the layers, as in `GTVConv`.
        bias: whether the MLP's linear layers have one.
        backend: see `select_backend`.
        low_memory: compute what lies inside the MLP again in the backward pass instead of keeping it; done anyway
            where it holds more than 2^26 numbers.

    """

    mlp: nn.Sequential

    def __init__(
        self,
        k: int,
        mlp_channels: Sequence[int],
        mlp_activation: str | Callable[[Tensor], Tensor] | None = "relu",
        bias: bool = True,
        *,
        backend: str = "auto",
        low_memory: bool = False,
    ) -> None:
        super().__init__()
        if k < 1:
            raise ValueError(f"expected k >= 1 clusters, got {k}")
        if isinstance(mlp_channels, int) or not mlp_channels or min(mlp_channels) < 1:
            raise ValueError(f"expected mlp_channels to list the input width and the hidden widths, got {mlp_channels}")
        self.k, self.backend, self.low_memory = k, backend, low_memory
        self.hidden_widths = tuple(mlp_channels[1:])
        self.mlp = assignment_mlp(mlp_channels, k, mlp_activation, bias)

    def select(self, x: Tensor) -> Tensor:
        """Soft assignments (..., K) of nodes with features x (..., F); rows sum to 1 (paper, eq. 17)."""
        return torch.softmax(self.score(x), dim=-1)

    def score(self, x: Tensor) -> Tensor:
        """Scores of the clusters (..., K) before the softmax, at least in float32; x is (..., F)."""
        rows, inner = x.numel() // x.shape[-1], sum(self.hidden_widths)
        piecewise = x.dim() == 2 and (self.low_memory or rows * inner > LARGEST_INNER)
        scores: Tensor = by_rows(self.mlp, x, ROWS_AT_ONCE) if piecewise else self.mlp(x)
        return scores.float() if scores.dtype in (torch.bfloat16, torch.float16) else scores

    def select_with_losses(
        self, x: Tensor, adjacency: Adjacency, batch: Tensor | None, batch_size: int | None
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Soft assignments (N, K) of nodes with features x (N, F), and their `auxiliary_losses`."""
        s = self.select(x)
        return s, self.auxiliary_losses(s, adjacency, batch, batch_size)

    def auxiliary_losses(
        self, assignments: Tensor, adjacency: Adjacency, batch: Tensor | None, batch_size: int | None
    ) -> dict[str, Tensor]:
        """Losses of assignments (N, K), each a scalar already multiplied by its coefficient."""
        raise NotImplementedError(f"{type(self).__name__} must define auxiliary_losses")

    def forward(
        self,
        x: Tensor,
        edge_index: Any = None,
        edge_weight: Tensor | None = None,
        batch: Tensor | None = None,
        batch_size: int | None = None,
        *,
        adj: Tensor | None = None,
        mask: Tensor | None = None,
    ) -> PoolingOutput:
        """Pool a graph or a batch of graphs.

        Parameters:
            x: (N, F) with ``edge_index``, or (B, N, F) with ``adj``.
            edge_index: (2, E) integers, ``EdgeIndex`` or `Adjacency`, taken as they are.
            edge_weight: (E,) or None.
            batch: (N,) graph of every node, or None for one graph.
            batch_size: number of graphs; by default the last of ``batch`` + 1.
            adj: (B, N, N) dense adjacencies instead of ``edge_index``. A diagonal counts as weight inside a cluster
                of an earlier pooling: in the total weight, not in the variation.
            mask: (B, N) bool, True for real nodes, with ``adj`` only.

        Returns:
            `PoolingOutput`.

        Raises:
            GraphError: both or neither of ``edge_index`` and ``adj``, or shapes that do not fit each other.

        """
        first = cast(nn.Linear, self.mlp[0])
        if not isinstance(x, Tensor) or x.dim() < 2 or x.shape[-1] != first.in_features:
            got = tuple(x.shape) if isinstance(x, Tensor) else type(x).__name__
            raise GraphError(f"expected x to be a tensor with {first.in_features} columns (mlp_channels[0]), got {got}")
        x = x.to(first.weight.dtype)
        if (edge_index is None) == (adj is None):
            raise GraphError("expected either edge_index or adj, got " + ("neither" if adj is None else "both"))
        if adj is not None:
            if edge_weight is not None or batch is not None:
                raise GraphError("expected mask with adj, got edge_weight or batch; those go with edge_index")
            return self._pool_dense(x, adj, mask)
        if mask is not None:
            raise GraphError("expected batch with edge_index, got mask; that goes with adj")
        return self._pool_sparse(x, edge_index, edge_weight, batch, batch_size)

    def _pool_sparse(
        self, x: Tensor, edge_index: Any, edge_weight: Tensor | None, batch: Tensor | None, batch_size: int | None
    ) -> PoolingOutput:
        if x.dim() != 2:
            raise GraphError(f"expected x of shape (N, F) with edge_index, got {tuple(x.shape)}")
        adjacency = Adjacency.from_edge_index(edge_index, edge_weight, x.shape[0])
        s, losses = self.select_with_losses(x, adjacency, batch, batch_size)
        pooled, adj = _reduce(s, [x, sparse_linear(adjacency, s, backend=self.backend)], batch, batch_size)
        return PoolingOutput(pooled, adj, _all_valid(pooled), s, losses)

    def _pool_dense(self, x: Tensor, adj: Tensor, mask: Tensor | None) -> PoolingOutput:
        if x.dim() != 3 or adj.shape != (*x.shape[:2], x.shape[1]):
            raise GraphError(f"expected x (B, N, F) and adj (B, N, N), got {tuple(x.shape)} and {tuple(adj.shape)}")
        if mask is not None and mask.shape != x.shape[:2]:
            raise GraphError(f"expected mask of shape {tuple(x.shape[:2])}, got {tuple(mask.shape)}")
        if mask is not None:
            x, adj, mask = clear_padding(x, adj, mask)
        adj, s = adj.to(x.dtype), self.select(x)
        batch = torch.arange(x.shape[0], device=x.device)[:, None].expand(x.shape[:2])
        if mask is None:
            adjacency, nodes, graphs = Adjacency.from_dense(adj), s.flatten(0, 1), batch.reshape(-1)
        else:
            s = s * mask[:, :, None]
            adjacency, nodes, graphs = Adjacency.from_dense(adj, mask), s[mask], batch[mask]
        losses = self.auxiliary_losses(nodes, adjacency, graphs, x.shape[0])
        transposed = s.transpose(1, 2)
        pooled = transposed @ x
        return PoolingOutput(pooled, transposed @ (adj @ s), _all_valid(pooled), s, losses)


def _all_valid(pooled: Tensor) -> Tensor:
    return torch.ones(pooled.shape[:2], dtype=torch.bool, device=pooled.device)


def _reduce(s: Tensor, values: list[Tensor], batch: Tensor | None, batch_size: int | None) -> list[Tensor]:
    """``S^T V`` of every graph, (B, K, width), for each of ``values`` (N, width)."""
    if batch is None:
        return [(s.T @ value)[None] for value in values]
    order, graph_ptr = graph_pointers(s, batch, batch_size)
    transposed = pad_by_graph(s, order, graph_ptr).transpose(1, 2)
    return [transposed @ pad_by_graph(value, order, graph_ptr) for value in values]


def pad_by_graph(x: Tensor, order: Tensor | None, graph_ptr: Tensor) -> Tensor:
    """Lay out rows (N, width) as (B, largest graph, width) with zeros behind each graph; see `graph_pointers`."""
    sizes = graph_ptr.diff()
    longest = int(sizes.max().item()) if sizes.shape[0] else 0
    graph = torch.repeat_interleave(torch.arange(sizes.shape[0], device=x.device), sizes)
    slot = torch.arange(x.shape[0], device=x.device) - graph_ptr[graph] + graph * longest
    rows = x if order is None else x[order]
    flat = x.new_zeros(sizes.shape[0] * longest, x.shape[1]).index_copy(0, slot, rows)
    return flat.view(sizes.shape[0], longest, x.shape[1])
