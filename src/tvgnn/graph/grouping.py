"""Which nodes form which graph of a batch: checked once, then shared by losses and pooling."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Self, cast

import torch
from torch import Tensor

from tvgnn.checks import is_integer
from tvgnn.errors import GraphError

__all__ = ["Grouping"]

_PADDING = 3  # times the nodes
_LARGEST_PADDED = 2**22  # numbers that are worth a product a graph


@dataclass(frozen=True, eq=False)
class Grouping:
    """The graphs of a batch.

    Attributes:
        pointers: (B + 1,) int64; graph b has the nodes ``pointers[b]:pointers[b + 1]``, counted in `order`.
        num_nodes: N.
        size: number of graphs B, empty ones included.
        batch: (N,) int64 graph of every node, or None for one graph.
        order: (N,) nodes sorted by graph, or None where they are in that order already.
        longest: nodes of the largest graph, None where the host does not know it.

    """

    pointers: Tensor
    num_nodes: int
    size: int
    batch: Tensor | None = None
    order: Tensor | None = None
    longest: int | None = None

    @classmethod
    def of(cls, batch: Any, x: Tensor, batch_size: int | None = None) -> Self:
        """Group the rows of ``x`` (N, ...) by graph.

        Parameters:
            batch: (N,) integers in any order, a `Grouping` of N nodes, or None for one graph.
            x: says how many nodes there are and where they lie.
            batch_size: number of graphs; by default the last of ``batch`` + 1.

        Raises:
            GraphError: ``batch`` does not fit ``x`` or ``batch_size``.

        """
        nodes = x.shape[0]
        _check_batch_size(batch_size)
        if batch is None:
            if batch_size not in (None, 1):
                raise GraphError(f"expected batch, the graph of every node, with batch_size {batch_size}, got none")
            return cls(torch.arange(2, device=x.device) * nodes, nodes, 1, longest=nodes)
        if isinstance(batch, cls):
            if batch.num_nodes != nodes:
                raise GraphError(f"expected a grouping of {nodes} nodes, the rows given, got one of {batch.num_nodes}")
            if batch_size not in (None, batch.size):
                raise GraphError(f"expected batch_size {batch.size} as in the grouping, or none, got {batch_size}")
            return batch
        numbers, size = _graph_numbers(batch, nodes, batch_size)
        counts = torch.zeros(size + 1, dtype=torch.int64, device=x.device)
        counts.scatter_add_(0, numbers + 1, torch.ones_like(numbers))
        return cls(counts.cumsum(0), nodes, size, numbers, torch.argsort(numbers, stable=True))

    @classmethod
    def equal(cls, graphs: int, nodes: int, device: torch.device) -> Self:
        """Describe ``graphs`` graphs of ``nodes`` nodes each, one after the other."""
        pointers = torch.arange(graphs + 1, device=device) * nodes
        batch = torch.arange(graphs, device=device)[:, None].expand(graphs, nodes).reshape(-1)
        return cls(pointers, graphs * nodes, graphs, batch, longest=nodes)

    @classmethod
    def from_sizes(cls, sizes: Tensor) -> Self:
        """Describe graphs of these many nodes (B,) int64, one after the other."""
        pointers = torch.cat([sizes.new_zeros(1), sizes.cumsum(0)])
        graphs = sizes.shape[0]
        batch = torch.repeat_interleave(torch.arange(graphs, device=sizes.device), sizes)
        longest = int(sizes.max().item()) if graphs else 0
        return cls(pointers, batch.shape[0], graphs, batch, longest=longest)

    def to(self, device: torch.device | str) -> Self:
        """Move the tensors to ``device``."""
        batch = None if self.batch is None else self.batch.to(device)
        order = None if self.order is None else self.order.to(device)
        return replace(self, pointers=self.pointers.to(device), batch=batch, order=order)

    def sort(self, x: Tensor) -> Tensor:
        """Rows of ``x`` (N, ...) in the order of the graphs."""
        return x if self.order is None else x[self.order]

    def sum(self, x: Tensor) -> Tensor:
        """Sum the rows of ``x`` (N, ...) of every graph, (B, ...)."""
        if self.batch is None:
            return x.sum(0, keepdim=True)
        if self._equal_sizes():
            return x.unflatten(0, (self.size, self.longest or 0)).sum(1)
        return x.new_zeros(self.size, *x.shape[1:]).index_add(0, self.batch, x)

    def pad(self, x: Tensor) -> Tensor:
        """Lay out rows (N, F) as (B, largest graph, F) with zeros behind each graph."""
        if self.batch is None:
            return x[None]
        if self._equal_sizes():
            return x.unflatten(0, (self.size, self.longest or 0))
        slots, longest = self._slots
        flat = x.new_zeros(self.size * longest, x.shape[1]).index_copy(0, slots, x)
        return flat.view(self.size, longest, x.shape[1])

    def unpad(self, x: Tensor) -> Tensor:
        """Take the rows (N, F) out of what `pad` laid out (B, largest graph, F)."""
        rows = x.flatten(0, 1)
        return rows if self.batch is None or self._equal_sizes() else rows.index_select(0, self._slots[0])

    @cached_property
    def _slots(self) -> tuple[Tensor, int]:
        """Place of every node, of several graphs, among the rows of all padded ones, and how many rows a graph has."""
        longest = self.longest
        if longest is None:
            longest = int(self.pointers.diff().max().item()) if self.size else 0
        device = self.pointers.device
        places = torch.arange(self.num_nodes, device=device)
        if self.order is not None:
            places = torch.empty_like(places).index_copy_(0, self.order, places)
        shifts = torch.arange(self.size, device=device) * longest - self.pointers[:-1]
        return places + shifts.index_select(0, cast(Tensor, self.batch)), longest

    def products(self, a: Tensor, b: Tensor) -> Tensor:
        """Multiply ``A^T B`` over the rows of every graph: a (N, K) and b (N, F) give (B, K, F).

        One product of padded batches, or one a graph where a huge graph among small ones would make padding large.
        """
        if self.fits_padding(max(a.shape[1], b.shape[1])):
            return self.pad(a).transpose(1, 2) @ self.pad(b)
        a, b = self.sort(a), self.sort(b)
        return torch.stack([a[first:last].T @ b[first:last] for first, last in pairwise(self.pointers.tolist())])

    def fits_padding(self, columns: int) -> bool:
        """Whether that many columns are worth padding: not where a huge graph among small ones would make it large."""
        if self.batch is None or self.size == 0 or torch.compiler.is_compiling():
            return True
        slots = self.size * (int(self.pointers.diff().max().item()) if self.longest is None else self.longest)
        return slots <= _PADDING * self.num_nodes or slots * columns <= _LARGEST_PADDED

    def _equal_sizes(self) -> bool:
        return self.order is None and self.longest is not None and self.size * self.longest == self.num_nodes


def _check_batch_size(batch_size: Any) -> None:
    if batch_size is None or torch.compiler.is_compiling():
        return
    if not is_integer(batch_size, 0):
        raise GraphError(f"expected batch_size to be an integer >= 0, the number of graphs, got {batch_size!r}")


def _graph_numbers(batch: Any, nodes: int, batch_size: int | None) -> tuple[Tensor, int]:
    """Check the graph numbers of ``nodes`` nodes and return them as int64, and how many graphs there are."""
    if not isinstance(batch, Tensor):
        raise GraphError(f"expected batch to be a tensor of integers, got {type(batch).__name__}")
    if batch.shape != (nodes,):
        raise GraphError(f"expected batch of shape ({nodes},), got {tuple(batch.shape)}")
    if batch.is_floating_point() or batch.dtype == torch.bool:
        raise GraphError(f"expected batch to hold integers, got {batch.dtype}; convert it with .long()")
    batch = batch.long()
    if torch.compiler.is_compiling() and batch_size is not None:
        return batch, batch_size
    low, high = (int(batch.min().item()), int(batch.max().item())) if nodes else (0, -1)
    size = high + 1 if batch_size is None else int(batch_size)
    if low < 0 or high >= size:
        raise GraphError(f"expected batch numbers in [0, {size}), got {low if low < 0 else high}")
    return batch, size
