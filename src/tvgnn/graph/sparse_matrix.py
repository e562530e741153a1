"""Compressed sparse rows as plain tensors, with the transposed lists that gather-only backward passes need."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import torch
from torch import Tensor

from tvgnn.errors import GraphError

__all__ = ["Lists", "SparseMatrix", "TransposedLists", "index_dtype", "row_pointers"]

_INT32_MAX = 2**31 - 1

Lists = tuple[Tensor, Tensor, Tensor | None, Tensor | None, Tensor | None, Tensor | None]
"""What kernels take: indptr, indices, values, and those of the transposed lists with perm last, or Nones."""


def index_dtype(rows: int, entries: int) -> torch.dtype:
    """``torch.int32`` where every row number and entry position fits, else ``torch.int64``."""
    return torch.int32 if max(rows, entries) < _INT32_MAX else torch.int64


def row_pointers(rows: Tensor, num_rows: int) -> Tensor:
    """Row pointers (num_rows + 1,) int64 of entries lying in ``rows`` (entries,) int64; no data-dependent shapes."""
    counts = torch.zeros(num_rows + 1, dtype=torch.int64, device=rows.device)
    counts.scatter_add_(0, rows + 1, torch.ones_like(rows))
    return counts.cumsum(0)


@dataclass(frozen=True, eq=False)
class TransposedLists:
    """Where the entries of each column lie.

    Attributes:
        indptr: (columns + 1,) pointers into the two arrays below.
        indices: (entries,) row of each entry, grouped by column.
        perm: (entries,) position of each entry in the row-wise arrays.

    """

    indptr: Tensor
    indices: Tensor
    perm: Tensor


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """A sparse matrix in compressed sparse rows; duplicates within a row add up.

    Attributes:
        indptr: (rows + 1,) int32 or int64, entries of row i are ``indptr[i]:indptr[i + 1]``.
        indices: (entries,) column of each entry, same dtype as ``indptr``.
        values: (entries,) floating point, or None for ones.
        num_columns: number of columns.
        symmetric: the matrix is known to equal its transpose, entry by entry.
        transposed: column lists; None when symmetric (the rows serve) or when no backward pass needs them.

    """

    indptr: Tensor
    indices: Tensor
    values: Tensor | None
    num_columns: int
    symmetric: bool = False
    transposed: TransposedLists | None = None

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return self.indptr.shape[0] - 1

    @property
    def num_entries(self) -> int:
        """Number of stored entries."""
        return self.indices.shape[0]

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns)."""
        return self.num_rows, self.num_columns

    @classmethod
    def from_torch(cls, matrix: Tensor) -> Self:
        """Take a torch CSR or COO matrix (rows, columns); entries keep their order within a row."""
        # Values are cloned: torch.compile cannot guard a view whose base is a sparse tensor.
        if matrix.layout == torch.sparse_coo and matrix.dim() == matrix.sparse_dim() == 2:
            matrix = matrix.coalesce()
            rows, columns = matrix.indices()
            return cls.from_csr(row_pointers(rows, matrix.shape[0]), columns, matrix.values().clone(), matrix.shape[1])
        if matrix.layout != torch.sparse_csr or matrix.dim() != 2:
            raise GraphError(
                f"expected a 2-D torch matrix with layout sparse_csr or sparse_coo, got layout {matrix.layout} and "
                f"shape {tuple(matrix.shape)}; convert it with .to_sparse_csr()"
            )
        return cls.from_csr(matrix.crow_indices(), matrix.col_indices(), matrix.values().clone(), matrix.shape[1])

    @classmethod
    def from_csr(
        cls, indptr: Tensor, indices: Tensor, values: Tensor | None, num_columns: int, *, for_training: bool = True
    ) -> Self:
        """Build from CSR arrays of any integer dtype and derive the transposed lists, which only training reads."""
        num_rows = indptr.shape[0] - 1
        dtype = index_dtype(max(num_rows, num_columns), indices.shape[0])
        if not for_training:
            return cls(indptr.to(dtype), indices.to(dtype), values, num_columns)
        rows = torch.repeat_interleave(
            torch.arange(num_rows, device=indptr.device), indptr.diff(), output_size=indices.shape[0]
        )
        columns = indices.long()
        perm = torch.argsort(columns, stable=True)
        lists = TransposedLists(row_pointers(columns, num_columns).to(dtype), rows[perm].to(dtype), perm.to(dtype))
        return cls(indptr.to(dtype), indices.to(dtype), values, num_columns, transposed=lists)

    def rows(self) -> Tensor:
        """Row of every entry, (entries,) int64."""
        ids = torch.arange(self.num_rows, device=self.indptr.device)
        return torch.repeat_interleave(ids, self.indptr.diff().long(), output_size=self.num_entries)

    def lists(self) -> Lists:
        """What operators take: indptr, indices, values, then those of the transposed lists, perm last, or Nones."""
        by_column = self.transposed
        if by_column is None:
            return self.indptr, self.indices, self.values, None, None, None
        return self.indptr, self.indices, self.values, by_column.indptr, by_column.indices, by_column.perm

    def with_values(self, values: Tensor | None) -> Self:
        """Return the same pattern with other values (entries,), which must be symmetric too where the matrix is.

        Raises:
            GraphError: another number of values.

        """
        if values is not None and values.shape != self.indices.shape:
            raise GraphError(
                f"expected values of shape ({self.num_entries},), one per entry, got {tuple(values.shape)}"
            )
        return replace(self, values=values)

    def to(self, device: torch.device | str | None = None, dtype: torch.dtype | None = None) -> Self:
        """Move index arrays and values to ``device``, values also to ``dtype``."""
        lists = self.transposed
        return replace(
            self,
            indptr=self.indptr.to(device),
            indices=self.indices.to(device),
            values=None if self.values is None else self.values.to(device=device, dtype=dtype),
            transposed=None
            if lists is None
            else TransposedLists(lists.indptr.to(device), lists.indices.to(device), lists.perm.to(device)),
        )
