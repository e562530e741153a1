"""Triton kernels of the sparse-dense product; the gradient is the same product with the column lists."""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor

from tvgnn.graph.sparse_matrix import Lists
from tvgnn.ops._triton import (
    accumulate_dtype,
    finish_long_rows,
    gather,
    number_of_slots,
    on_device,
    piece_of,
    row_of,
    tiling,
)

__all__ = ["backward", "forward"]


@triton.jit(do_not_specialize=["rows", "entries"])
def _product_kernel(
    indptr, indices, values, perm, weight, partial, out, rows, entries, width,
    HAS_VALUES: tl.constexpr, HAS_PERM: tl.constexpr,
    BLOCK: tl.constexpr, BLOCKS: tl.constexpr, TILE: tl.constexpr, SUM: tl.constexpr,
):  # fmt: skip
    """``out = x @ weight`` for a row and a block of columns."""
    row, first, last, slot = piece_of(indptr, tl.program_id(0), rows, entries)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], SUM)
    for tile in range(0, last - first, TILE):
        entry = first + tile + tl.arange(0, TILE)
        j = tl.load(indices + entry, mask=entry < last, other=0).to(tl.int64)
        inside = (entry < last)[:, None] & (columns < width)[None, :]
        term = gather(weight, j, columns, width, inside, SUM)
        if HAS_VALUES:
            place = entry
            if HAS_PERM:
                place = tl.load(perm + entry, mask=entry < last, other=0).to(tl.int64)
            term *= tl.load(values + place, mask=entry < last, other=0.0).to(SUM)[:, None]
        total += tl.sum(term, 0)
    if slot >= 0:
        tl.store(partial + slot.to(tl.int64) * width + columns, total, mask=columns < width)
    if slot == -1:
        tl.store(out + row * width + columns, total, mask=columns < width)


@triton.jit(do_not_specialize=["rows", "entries"])
def _value_kernel(
    indptr, indices, grad, weight, dvalues, rows, entries, width,
    BLOCK: tl.constexpr, BLOCKS: tl.constexpr, TILE: tl.constexpr, SUM: tl.constexpr,
):  # fmt: skip
    """``dv_e = <grad_i, weight_j>`` for every entry e = (i, j)."""
    row, first, last, _ = piece_of(indptr, tl.program_id(0), rows, entries)
    for tile in range(0, last - first, TILE):
        entry = first + tile + tl.arange(0, TILE)
        j = tl.load(indices + entry, mask=entry < last, other=0).to(tl.int64)
        product = tl.zeros([TILE], SUM)
        for part in range(BLOCKS):
            columns = part * BLOCK + tl.arange(0, BLOCK)
            g_i = row_of(grad, row, columns, width, SUM)
            inside = (entry < last)[:, None] & (columns < width)[None, :]
            product += tl.sum(g_i[None, :] * gather(weight, j, columns, width, inside, SUM), 1)
        tl.store(dvalues + entry, product, mask=entry < last)


def _product(indptr: Tensor, indices: Tensor, values: Tensor | None, perm: Tensor | None, weight: Tensor) -> Tensor:
    rows, entries, width, shape = indptr.shape[0] - 1, indices.shape[0], weight.shape[1], tiling(weight)
    out = weight.new_empty(rows, width)
    if out.numel() == 0:
        return out
    partial = weight.new_empty(number_of_slots(entries), width, dtype=accumulate_dtype(weight))
    _product_kernel[rows + partial.shape[0], shape["BLOCKS"]](
        indptr, indices, weight if values is None else values.contiguous(), indices if perm is None else perm, weight,
        partial, out, rows, entries, width, HAS_VALUES=values is not None, HAS_PERM=perm is not None, **shape,
    )  # fmt: skip
    finish_long_rows(None, indptr, partial, out, entries)
    return out


def forward(weight: Tensor, lists: Lists) -> Tensor:
    """See `tvgnn.ops.sparse_linear.op`."""
    with on_device(weight):
        return _product(*lists[:3], None, weight.contiguous())


def backward(
    grad: Tensor, weight: Tensor, lists: Lists, needs_weight: bool, needs_values: bool
) -> tuple[Tensor, Tensor]:
    """See `tvgnn.ops.sparse_linear.op`."""
    indptr, indices, values, t_indptr, t_indices, t_perm = lists
    grad, weight = grad.contiguous(), weight.contiguous()
    rows, entries = indptr.shape[0] - 1, indices.shape[0]
    dweight = weight.new_empty(0, 0)
    dvalues = weight.new_zeros(entries if needs_values else 0, dtype=accumulate_dtype(weight))
    with on_device(weight):
        if needs_weight and t_indptr is not None and t_indices is not None:
            dweight = _product(t_indptr, t_indices, values, t_perm, grad)
        elif needs_weight:  # symmetric
            dweight = _product(indptr, indices, values, None, grad)
        if needs_values and rows:
            _value_kernel[(rows + number_of_slots(entries),)](
                indptr, indices, grad, weight, dvalues, rows, entries, weight.shape[1], **tiling(weight)
            )
    return dweight, dvalues
