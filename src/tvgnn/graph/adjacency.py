"""The adjacency that convolution, losses and pooling share: built once, passed through."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Self

import torch
from torch import Tensor

from tvgnn.errors import GraphError
from tvgnn.graph.locality import Relabelled, relabel_by_locality
from tvgnn.graph.sparse_matrix import SparseMatrix, TransposedLists, index_dtype, row_pointers

if TYPE_CHECKING:
    from tvgnn.graph.graph import Graph

__all__ = ["Adjacency", "check_dense", "check_edges", "check_weights", "clear_padding", "inverse_roots"]


_PATTERNS_KEPT = 8  # of complete graphs, whose arrays depend on their sizes alone
_LARGEST_KEPT = 2**20  # entries of a kept pattern
_CLOSER = 0.5  # graphs that no order brings together, such as PubMed's (0.57) and DBLP's (0.81), lost by the copies
_WORTH_COPYING = 16 * 2**20  # bytes of rows, above which two copies a step cost less than gathering in the given order


@dataclass(frozen=True, eq=False)
class Adjacency(SparseMatrix):
    """A square sparse matrix whose row i lists the neighbours j that node i looks at, with weights ``a_ij``.

    Edges are taken as they are: duplicates add up, nothing is symmetrised (cleaning is `Graph`'s work).

    Attributes:
        loops_count: self-loops count in the total weight. True for the dense adjacency of a pooled graph, whose
            diagonal is the weight inside its clusters, and where there are none.
        block: the entries are all pairs of nodes within each block of that many nodes, in order: what `from_dense`
            gives without a mask; else None.
        relabelled: the same graph in an order that keeps neighbours together, in which wide rows are gathered; see
            `by_locality`.

    """

    loops_count: bool = False
    block: int | None = None
    relabelled: Relabelled | None = None

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return self.num_rows

    @classmethod
    def from_graph(cls, graph: Graph, dtype: torch.dtype = torch.float32) -> Self:
        """Take the validated symmetric adjacency of a `Graph`; an unweighted graph carries no weight array."""
        values = torch.tensor(graph.weights, dtype=dtype) if graph.is_weighted else None
        indptr, indices = torch.tensor(graph.indptr), torch.tensor(graph.indices)
        return cls(indptr, indices, values, graph.num_nodes, symmetric=True, loops_count=True)

    @classmethod
    def from_edge_index(cls, edge_index: Any, edge_weight: Tensor | None, num_nodes: int) -> Self:
        """Sort a (2, E) ``edge_index`` by its first row, which is the row that aggregates.

        A ``torch_geometric.EdgeIndex`` that is sorted by row lends its cached row pointers; marked undirected and
        without weights it is symmetric if that holds, which is checked in every call: its mark may be wrong. Everything
        else counts as general, which costs a second gather in the backward pass.

        Raises:
            GraphError: wrong shape or dtype, an index outside ``[0, num_nodes)`` or a weight array of another length.

        """
        if isinstance(edge_index, cls):
            if edge_weight is not None:
                raise GraphError("expected the weights inside the Adjacency, got edge_weight too; use with_values()")
            if edge_index.num_nodes != num_nodes:
                raise GraphError(
                    f"expected an adjacency of {num_nodes} nodes (the rows of x), got one of {edge_index.num_nodes}"
                )
            return edge_index
        check_edges(edge_index, edge_weight, num_nodes)
        marked = edge_weight is None and bool(getattr(edge_index, "is_undirected", False))
        cached = _cached_rows(edge_index, num_nodes)
        if hasattr(edge_index, "as_tensor"):
            edge_index = edge_index.as_tensor()
        rows, columns, values = edge_index[0].long(), edge_index[1].long(), edge_weight
        if cached is None:
            order = torch.argsort(rows, stable=True)
            rows, columns = rows[order], columns[order]
            values = None if edge_weight is None else edge_weight[order]
        indptr = row_pointers(rows, num_nodes) if cached is None else cached
        dtype = index_dtype(num_nodes, rows.shape[0])
        perm = torch.argsort(columns, stable=True)
        t_indptr, t_rows = row_pointers(columns, num_nodes), rows[perm]
        undirected = marked and not torch.compiler.is_compiling() and torch.equal(t_indptr, indptr.long())
        if undirected:  # both lists in rising order
            undirected = torch.equal(columns[perm][torch.argsort(t_rows, stable=True)], t_rows)
        lists = None if undirected else TransposedLists(t_indptr.to(dtype), t_rows.to(dtype), perm.to(dtype))
        return cls(indptr.to(dtype), columns.to(dtype), values, num_nodes, undirected, lists)

    @classmethod
    def from_dense(cls, adj: Tensor, mask: Tensor | None = None, *, symmetric: bool = False) -> Self:
        """View a batch of dense adjacencies (B, N, N) as one graph of B * N nodes in which zeros are entries too.

        Every pair of a graph is an entry, so the gradient reaches the zeros of a pooled adjacency as well. With a mask
        (B, N) of bool the nodes are those it marks, in order. ``symmetric`` says that every adjacency equals its
        transpose, up to rounding, as pooled ones do; backward passes then take half the time.
        """
        check_dense(adj)
        if adj.dim() != 3 or adj.shape[1] != adj.shape[2]:
            raise GraphError(f"expected adj of shape (B, N, N), got {tuple(adj.shape)}; add a batch axis for one graph")
        if mask is not None:
            number = mask.flatten().cumsum(0).view(mask.shape) - 1
            pairs = mask[:, :, None] & mask[:, None, :]
            graph, row, column = pairs.nonzero(as_tuple=True)
            ends = torch.stack([number[graph, row], number[graph, column]])
            return replace(cls.from_edge_index(ends, adj[pairs], int(mask.sum().item())), loops_count=True)
        batch, nodes, _ = adj.shape
        keep = batch * nodes * nodes <= _LARGEST_KEPT and not torch.compiler.is_compiling()
        indptr, indices, lists = (_kept_pattern if keep else _complete_pattern)(batch, nodes, adj.device)
        values = adj.reshape(-1)
        columns = None if symmetric else lists
        return cls(indptr, indices, values, batch * nodes, symmetric, columns, loops_count=True, block=nodes or None)

    def by_locality(self, width: int = 128) -> Self:
        """Let `gtv_step` gather rows in an order that keeps neighbours together, where that pays.

        The order is found once (reverse Cuthill-McKee, 0.5 s for 10^6 nodes), so keep the result; inputs, outputs and
        values stay in the given order, and results change by rounding only.

        Parameters:
            width: columns of the rows that will be gathered.

        Example:
            >>> path = torch.randperm(40_000)
            >>> adjacency = Adjacency.from_edge_index(torch.stack([path[:-1], path[1:]]), None, 40_000)
            >>> adjacency.by_locality().relabelled is not None
            True

        """
        return replace(self, relabelled=relabel_by_locality(self, width, _WORTH_COPYING, _CLOSER))

    def with_values(self, values: Tensor | None) -> Self:
        """See `SparseMatrix.with_values`."""
        other = super().with_values(values)
        return other if self.relabelled is None else replace(other, relabelled=self.relabelled.with_values(values))

    def to(self, device: torch.device | str | None = None, dtype: torch.dtype | None = None) -> Self:
        """See `SparseMatrix.to`."""
        other = super().to(device, dtype)
        return other if self.relabelled is None else replace(other, relabelled=self.relabelled.to(device, dtype))

    def check_rows(self, x: Tensor, name: str) -> None:
        """Raise a `GraphError` unless ``x`` is (N, F): kernels gather its rows without looking at its length."""
        if x.dim() != 2 or x.shape[0] != self.num_nodes:
            raise GraphError(
                f"expected {name} of shape ({self.num_nodes}, F), one row per node of the adjacency, "
                f"got {tuple(x.shape)}"
            )

    @property
    def repeated_pairs(self) -> tuple[Tensor, Tensor] | None:
        """Row of each pair of nodes (P,) and the pair of each entry (E,), int64; None where no pair has two entries.

        Found once; a compiled graph, which can neither keep nor compare them, takes every pattern for a repeated one.
        """
        return _pairs(self) if torch.compiler.is_compiling() else self._repeated_pairs

    @cached_property
    def _repeated_pairs(self) -> tuple[Tensor, Tensor] | None:
        keys = self.rows() * self.num_nodes + self.indices
        if bool((keys[1:] > keys[:-1]).all()):  # in rising order, as those of a Graph are
            return None
        rows, place = _pairs(self)
        return None if rows.shape[0] == keys.shape[0] else (rows, place)

    def weights(self, dtype: torch.dtype) -> Tensor:
        """Weights (E,), ones where the graph is unweighted."""
        if self.values is None:
            return torch.ones(self.num_entries, dtype=dtype, device=self.indices.device)
        return self.values.to(dtype)

    def node_weights(self, dtype: torch.dtype) -> Tensor:
        """Sum of each row's weights, (N,); self-loops enter only where `loops_count`. Differentiable in the weights."""
        return self._row_sums(dtype, with_loops=self.loops_count)

    def total_weight(self, dtype: torch.dtype) -> Tensor:
        """Sum of all weights, scalar; self-loops enter only where `loops_count`. Differentiable in the weights."""
        if self.loops_count and self.values is None:
            # Filled where it lies: torch.tensor() copies from the host, which a CUDA graph cannot record
            return torch.full((), self.num_entries, dtype=dtype, device=self.indices.device)
        return (
            self.values.to(dtype).sum() if self.loops_count and self.values is not None else self.degrees(dtype).sum()
        )

    def row_sums(self, dtype: torch.dtype) -> Tensor:
        """Sum of each row's weights, self-loops included, (N,); differentiable in the weights."""
        return self._row_sums(dtype, with_loops=True)

    def degrees(self, dtype: torch.dtype) -> Tensor:
        """Sum of each row's weights without self-loops, (N,); differentiable in the weights."""
        return self._row_sums(dtype, with_loops=False)

    def edge_counts(self, dtype: torch.dtype) -> Tensor:
        """Number of each row's entries with a positive weight, self-loops left out, (N,)."""
        counted = replace(self, values=(self.weights(dtype) > 0).to(dtype))
        return counted.degrees(dtype)

    def _row_sums(self, dtype: torch.dtype, *, with_loops: bool) -> Tensor:
        if self.values is None and with_loops:
            return self.indptr.diff().to(dtype)
        if self.block is not None and self.values is not None:
            pairs = self.values.to(dtype).view(-1, self.block, self.block)
            if not with_loops:
                return (pairs.sum(2) - pairs.diagonal(dim1=1, dim2=2)).flatten()
            return pairs.sum(2).flatten()
        weights, rows = self.weights(dtype), self.rows()
        if not with_loops:
            weights = weights * (rows != self.indices)
        return weights.new_zeros(self.num_nodes).index_add(0, rows, weights)


def _pairs(adjacency: Adjacency) -> tuple[Tensor, Tensor]:
    keys = adjacency.rows() * adjacency.num_nodes + adjacency.indices
    pairs, place = torch.unique(keys, return_inverse=True)
    return pairs // adjacency.num_nodes, place


def _complete_pattern(batch: int, nodes: int, device: torch.device) -> tuple[Tensor, Tensor, TransposedLists]:
    """Row pointers, columns and transposed lists of ``batch`` complete graphs of ``nodes`` nodes."""
    dtype = index_dtype(batch * nodes, batch * nodes * nodes)
    node = torch.arange(batch * nodes, device=device, dtype=dtype).view(batch, nodes)
    indptr = torch.arange(batch * nodes + 1, device=device, dtype=dtype) * nodes
    indices = node[:, None, :].expand(batch, nodes, nodes).reshape(-1)
    entry = torch.arange(batch * nodes * nodes, device=device, dtype=dtype).view(batch, nodes, nodes)
    return indptr, indices, TransposedLists(indptr, indices, entry.transpose(1, 2).reshape(-1))


_kept_pattern = lru_cache(maxsize=_PATTERNS_KEPT)(_complete_pattern)


def inverse_roots(degrees: Tensor) -> Tensor:
    """``1 / sqrt(d)``, 0 where a degree is not positive or too small to have a finite reciprocal; any shape."""
    connected = degrees >= torch.finfo(degrees.dtype).tiny
    return torch.where(connected, degrees, 1).rsqrt() * connected


def clear_padding(x: Tensor, adj: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Set features (B, N, F) and adjacencies (B, N, N) to zero at padded nodes, NaN included; mask (B, N) as bool."""
    check_dense(adj)
    real = mask.bool()
    pairs = real[:, :, None] & real[:, None, :]
    return x.masked_fill(~real[:, :, None], 0), adj.masked_fill(~pairs, 0), real


def check_dense(adj: Any) -> None:
    """Raise a `GraphError` unless this is a tensor of real numbers that is not stored sparse."""
    if not isinstance(adj, Tensor) or adj.is_complex():
        got = adj.dtype if isinstance(adj, Tensor) else type(adj).__name__
        raise GraphError(f"expected adj to be a tensor of real numbers, got {got}")
    if adj.layout != torch.strided:
        raise GraphError(f"expected a dense adj, got layout {adj.layout}; convert it with .to_dense()")


def _cached_rows(edge_index: Any, num_nodes: int) -> Tensor | None:
    """Row pointers that an ``EdgeIndex`` sorted by row keeps for ``num_nodes`` rows, else None."""
    if not getattr(edge_index, "is_sorted_by_row", False):
        return None
    (indptr, _), _ = edge_index.get_csr()
    return indptr if indptr.shape[0] == num_nodes + 1 else None


def check_weights(edge_weight: Any) -> None:
    """Raise a `GraphError` unless this is a tensor of real numbers."""
    if not isinstance(edge_weight, Tensor) or edge_weight.is_complex():
        got = edge_weight.dtype if isinstance(edge_weight, Tensor) else type(edge_weight).__name__
        remedy = "" if isinstance(edge_weight, Tensor) else "; convert arrays and lists with torch.as_tensor()"
        raise GraphError(
            f"expected edge_weight to be a tensor of real numbers, one per edge, or None, got {got}{remedy}"
        )


def check_edges(edge_index: Any, edge_weight: Any, num_nodes: int) -> None:
    """Raise a `GraphError` unless these are (2, E) integers below ``num_nodes`` and None or (E,) real weights."""
    if not isinstance(edge_index, Tensor):
        raise GraphError(
            f"expected edge_index to be an integer tensor of shape (2, E), got {type(edge_index).__name__}; "
            "convert arrays and lists with torch.as_tensor()"
        )
    if edge_index.dim() != 2 or edge_index.shape[0] != 2:
        raise GraphError(
            f"expected edge_index to be an integer tensor of shape (2, E), got shape {tuple(edge_index.shape)}; "
            "a dense adjacency goes to DenseGTVConv, or convert it with adj.nonzero().T"
        )
    if edge_index.is_floating_point() or edge_index.is_complex() or edge_index.dtype == torch.bool:
        raise GraphError(f"expected edge_index to hold integers, got {edge_index.dtype}; convert it with .long()")
    if edge_weight is not None:
        check_weights(edge_weight)
    if edge_weight is not None and edge_weight.shape != edge_index.shape[1:]:
        raise GraphError(
            f"expected one weight per edge, shape ({edge_index.shape[1]},), got edge_weight of shape "
            f"{tuple(edge_weight.shape)}"
        )
    if torch.compiler.is_compiling() or edge_index.shape[1] == 0:
        return
    low, high = edge_index.min().item(), edge_index.max().item()
    if low < 0 or high >= num_nodes:
        raise GraphError(
            f"expected node indices in [0, {num_nodes}), the rows of x, got {int(low if low < 0 else high)} in "
            "edge_index; pass features for every node"
        )
