"""The one forward of every clustering-based pooling layer: select, reduce, connect, and its losses.

A method supplies `auxiliary_losses` and, where the MLP is not enough, the scores (`DensePooling.score`); all else
is here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

import torch
from torch import Tensor, nn

from tvgnn.checks import is_integer
from tvgnn.errors import GraphError
from tvgnn.graph.adjacency import Adjacency, check_dense, clear_padding
from tvgnn.graph.grouping import Grouping
from tvgnn.layers.by_rows import by_rows
from tvgnn.layers.mlp import assignment_mlp
from tvgnn.ops.coarsen import coarsen
from tvgnn.pooling.output import PoolingOutput

__all__ = ["LARGEST_INNER", "DensePooling", "at_least_float32"]

LARGEST_INNER = 2**26
ROWS_AT_ONCE = 8192


class DensePooling(nn.Module, ABC):
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
        if not _is_width(k):
            raise ValueError(f"expected k to be an integer >= 1, the number of clusters, got {k!r}")
        widths = list(mlp_channels) if isinstance(mlp_channels, Iterable) else []
        if not widths or not all(map(_is_width, widths)):
            raise ValueError(
                f"expected mlp_channels to list the input width and the hidden widths, integers >= 1, got "
                f"{mlp_channels!r}"
            )
        self.k, self.backend, self.low_memory = int(k), backend, low_memory
        self.hidden_widths = tuple(map(int, widths[1:]))
        self.mlp = assignment_mlp(list(map(int, widths)), self.k, mlp_activation, bias)

    def select(self, x: Tensor, adjacency: Adjacency | None = None) -> Tensor:
        """Soft assignments (..., K) of nodes with features x (..., F); rows sum to 1 (paper, eq. 17).

        Always the softmax of `score`, which a method overrides: some compute it together with their losses.
        """
        return torch.softmax(self.score(x, adjacency), dim=-1)

    def score(self, x: Tensor, adjacency: Adjacency | None = None) -> Tensor:
        """Scores of the clusters (..., K) before the softmax, at least in float32; x is (..., F)."""
        rows, inner = x.numel() // x.shape[-1], sum(self.hidden_widths)
        piecewise = x.dim() == 2 and (self.low_memory or rows * inner > LARGEST_INNER)
        scores: Tensor = by_rows(self.mlp, x, ROWS_AT_ONCE) if piecewise else self.mlp(x)
        return at_least_float32(scores)

    def select_with_losses(self, x: Tensor, adjacency: Adjacency, groups: Grouping) -> tuple[Tensor, dict[str, Tensor]]:
        """Soft assignments (N, K) of nodes with features x (N, F), and their `auxiliary_losses`."""
        s = self.select(x, adjacency)
        return s, self.auxiliary_losses(s, adjacency, groups)

    @abstractmethod
    def auxiliary_losses(self, assignments: Tensor, adjacency: Adjacency, groups: Grouping) -> dict[str, Tensor]:
        """Losses of assignments (N, K), each a scalar already multiplied by its coefficient."""

    def coarsened(self, adjacency: Adjacency) -> Adjacency:
        """Return the matrix A in the pooled adjacency ``S^T A S``: the one given, unless a method scales it first."""
        return adjacency

    def rescale(self, pooled: Tensor) -> Tensor:
        """Return the adjacencies (B, K, K) that the next layer sees: as pooled, unless a method changes them."""
        return pooled

    def forward(
        self,
        x: Tensor,
        edge_index: Any = None,
        edge_weight: Tensor | None = None,
        batch: Tensor | Grouping | None = None,
        batch_size: int | None = None,
        *,
        adj: Tensor | Adjacency | None = None,
        mask: Tensor | None = None,
    ) -> PoolingOutput:
        """Pool a graph or a batch of graphs.

        Parameters:
            x: (N, F) with ``edge_index``, or (B, N, F) with ``adj``.
            edge_index: (2, E) integers, ``EdgeIndex`` or `Adjacency`, taken as they are.
            edge_weight: (E,) or None.
            batch: (N,) graph of every node in any order, a `Grouping`, or None for one graph.
            batch_size: number of graphs; by default the last of ``batch`` + 1.
            adj: (B, N, N) dense adjacencies instead of ``edge_index``, or `Adjacency.from_dense` of them without a
                mask, which several layers can share. A diagonal counts as weight inside a cluster of an earlier
                pooling: in the total weight, not in the variation.
            mask: (B, N) bool, True for real nodes, with ``adj`` only.

        Returns:
            `PoolingOutput`.

        Raises:
            GraphError: both or neither of ``edge_index`` and ``adj``, or shapes that do not fit each other.

        """
        first = cast(nn.Linear, self.mlp[0])
        if not isinstance(x, Tensor) or x.is_complex():
            got = x.dtype if isinstance(x, Tensor) else type(x).__name__
            raise GraphError(
                f"expected x to be a tensor of numbers with {first.in_features} columns (mlp_channels[0]), got {got}"
            )
        if x.dim() < 2 or x.shape[-1] != first.in_features:
            raise GraphError(
                f"expected x to be a tensor with {first.in_features} columns (mlp_channels[0]), got {tuple(x.shape)}"
            )
        x = x.to(first.weight.dtype)
        if (edge_index is None) == (adj is None):
            raise GraphError("expected either edge_index or adj, got " + ("neither" if adj is None else "both"))
        if adj is not None:
            if edge_weight is not None or batch is not None or batch_size is not None:
                raise GraphError(
                    "expected mask with adj, got edge_weight, batch or batch_size; they go with edge_index"
                )
            return self._pool_dense(x, adj, mask)
        if mask is not None:
            raise GraphError("expected batch with edge_index, got mask; that goes with adj")
        if x.dim() != 2:
            raise GraphError(f"expected x of shape (N, F) with edge_index, got {tuple(x.shape)}")
        adjacency = Adjacency.from_edge_index(edge_index, edge_weight, x.shape[0])
        return self._pool(x, adjacency, Grouping.of(batch, x, batch_size))

    def _pool_dense(self, x: Tensor, adj: Tensor | Adjacency, mask: Tensor | None) -> PoolingOutput:
        if isinstance(adj, Adjacency):
            if mask is not None or x.dim() != 3 or (adj.block, adj.num_nodes) != (x.shape[1], x.shape[0] * x.shape[1]):
                raise GraphError(
                    f"expected x (B, N, F) with the Adjacency.from_dense of B adjacencies and no mask, got "
                    f"{tuple(x.shape)} and {adj.num_nodes} nodes in blocks of {adj.block}"
                )
            return self._pool_blocks(x, adj)
        check_dense(adj)
        if x.dim() != 3 or adj.shape != (*x.shape[:2], x.shape[1]):
            raise GraphError(f"expected x (B, N, F) and adj (B, N, N), got {tuple(x.shape)} and {tuple(adj.shape)}")
        if mask is None:
            return self._pool_blocks(x, Adjacency.from_dense(adj.to(x.dtype)))
        if not isinstance(mask, Tensor):
            raise GraphError(f"expected mask to be a tensor, True for real nodes, got {type(mask).__name__}")
        if mask.shape != x.shape[:2]:
            raise GraphError(f"expected mask of shape {tuple(x.shape[:2])}, got {tuple(mask.shape)}")
        x, adj, mask = clear_padding(x, adj, mask)
        out = self._pool(x[mask], Adjacency.from_dense(adj.to(x.dtype), mask), Grouping.from_sizes(mask.sum(1)))
        s = cast(Tensor, out.assignments)
        padded = s.new_zeros(*mask.shape, self.k).masked_scatter(mask[:, :, None], s)
        return replace(out, assignments=padded)

    def _pool_blocks(self, x: Tensor, adjacency: Adjacency) -> PoolingOutput:
        """Pool graphs of the same size, x (B, N, F)."""
        groups = Grouping.equal(x.shape[0], x.shape[1], x.device)
        out = self._pool(x.flatten(0, 1), adjacency, groups)
        return replace(out, assignments=cast(Tensor, out.assignments).unflatten(0, x.shape[:2]))

    def _pool(self, x: Tensor, adjacency: Adjacency, groups: Grouping) -> PoolingOutput:
        """Select, reduce and connect nodes (N, F) of a batch of graphs."""
        s, losses = self.select_with_losses(x, adjacency, groups)
        pooled, adj = coarsen(s, x.to(s.dtype), self.coarsened(adjacency), groups, backend=self.backend)
        adj = self.rescale(adj)
        if x.dtype in (torch.bfloat16, torch.float16):  # a network in half precision, whose next layer expects it
            pooled, adj = pooled.to(x.dtype), adj.to(x.dtype)
        valid = torch.ones(pooled.shape[:2], dtype=torch.bool, device=x.device)
        return PoolingOutput(pooled, adj, valid, s, losses)


def at_least_float32(x: Tensor) -> Tensor:
    """Half precision as float32, anything else as it is."""
    return x.float() if x.dtype in (torch.bfloat16, torch.float16) else x


def _is_width(value: Any) -> bool:
    return not isinstance(value, Tensor) and is_integer(value, 1)
