"""Pooling that keeps the nodes of the highest scores: PyTorch Geometric's Top-K and SAG with our output."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, cast

from torch import Tensor, nn

from tvgnn.checks import is_integer
from tvgnn.errors import GraphError
from tvgnn.graph.adjacency import check_edges
from tvgnn.graph.grouping import Grouping
from tvgnn.pooling.output import PoolingOutput

__all__ = ["NodePooling", "SAGPooling", "TopKPooling"]


_EVERY_NODE = 2**31 - 1  # above the size of any graph


class NodePooling(nn.Module):
    """Base of the layers that keep some nodes of every graph; use `TopKPooling` or `SAGPooling`.

    Parameters:
        in_channels: width of x.
        ratio: part of every graph's nodes that is kept (rounded up), in (0, 1], or how many of them, an integer >= 1.

    """

    _name = ""

    def __init__(self, in_channels: int, ratio: float | int = 0.5) -> None:
        super().__init__()
        if not is_integer(in_channels, 1):
            raise ValueError(f"expected in_channels to be an integer >= 1, the columns of x, got {in_channels!r}")
        self.in_channels, self.ratio = int(in_channels), _checked_ratio(ratio)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # raised by the imports of PyTorch Geometric itself
            from torch_geometric.nn import pool
        # PyTorch Geometric takes 1.0 for one node, and no number that int64 cannot hold
        every = self.ratio == 1 if isinstance(self.ratio, float) else self.ratio > _EVERY_NODE
        self.pool = cast(nn.Module, getattr(pool, self._name)(self.in_channels, _EVERY_NODE if every else self.ratio))

    def directions(self) -> list[nn.Parameter]:
        """Parameters whose length changes nothing, since they are normalised.

        Weight decay would shrink them for ever, until the norm that divides them is 0 and gradients are NaN.
        """
        select: Any = self.pool.select
        return [select.weight]

    def forward(
        self,
        x: Tensor,
        edge_index: Tensor,
        edge_weight: Tensor | None = None,
        batch: Any = None,
        batch_size: int | None = None,
    ) -> PoolingOutput:
        """Keep the nodes of the highest scores and the edges between them.

        Parameters:
            x: (N, in_channels).
            edge_index: (2, E) integers or ``EdgeIndex``.
            edge_weight: (E,) or None; kept with its edge, not looked at.
            batch: (N,) graph of every node, a `Grouping`, or None for one graph.
            batch_size: number of graphs; by default the last of ``batch`` + 1.

        Returns:
            `PoolingOutput` with ``x``, ``edge_index``, ``edge_weight``, ``batch`` and ``kept``, without losses.

        Raises:
            GraphError: shapes that do not fit each other.

        """
        if not isinstance(x, Tensor) or x.is_complex() or x.dim() != 2 or x.shape[1] != self.in_channels:
            got = f"{tuple(x.shape)} of {x.dtype}" if isinstance(x, Tensor) else type(x).__name__
            raise GraphError(f"expected x of shape (N, {self.in_channels}) with real numbers, got {got}")
        x = x.to(self.directions()[0].dtype)
        check_edges(edge_index, edge_weight, x.shape[0])
        if hasattr(edge_index, "as_tensor"):  # an EdgeIndex, whose order PyG would keep
            edge_index = edge_index.as_tensor()
        edge_index = edge_index.long()
        groups = Grouping.of(batch, x, batch_size)
        numbers = groups.batch if groups.batch is not None else edge_index.new_zeros(x.shape[0])
        if x.shape[0] == 0:
            return PoolingOutput(x, edge_index=edge_index, edge_weight=edge_weight, batch=numbers, kept=numbers)
        pooled, edges, weights, numbers, kept, _ = self.pool(x, edge_index, edge_weight, numbers)
        return PoolingOutput(pooled, edge_index=edges, edge_weight=weights, batch=numbers, kept=kept)


def _checked_ratio(ratio: Any) -> float | int:
    whole: bool = hasattr(ratio, "__index__") and not isinstance(ratio, bool)
    if not _is_number(ratio) or not (ratio >= 1 if whole else 0 < ratio <= 1):
        raise ValueError(f"expected ratio in (0, 1] or an integer number of nodes >= 1, got {ratio!r}")
    return int(ratio) if whole else float(ratio)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


class TopKPooling(NodePooling):
    """Keep the nodes whose features point along a learned direction (Gao & Ji, ICML 2019; Cangea et al., 2018).

    Parameters: as of `NodePooling`.

    Example:
        >>> import torch
        >>> path = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
        >>> TopKPooling(3)(torch.randn(4, 3), path).x.shape
        torch.Size([2, 3])

    """

    _name = "TopKPooling"


class SAGPooling(NodePooling):
    """Keep the nodes that a graph convolution scores highest (Lee et al., ICML 2019).

    Parameters: as of `NodePooling`.

    Example:
        >>> import torch
        >>> path = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
        >>> SAGPooling(3, ratio=0.75)(torch.randn(4, 3), path).x.shape
        torch.Size([3, 3])

    """

    _name = "SAGPooling"
