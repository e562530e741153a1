"""Triton kernels of the node-wise total variation: a program a row, no atomics."""

from __future__ import annotations

import torch
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


@triton.jit
def _distance(s, i, j, inside, width, BLOCK: tl.constexpr, BLOCKS: tl.constexpr, TILE: tl.constexpr, SUM: tl.constexpr):
    """``||s_i - s_j||_1`` for a tile of rows j; nothing for those not ``inside``."""
    distance = tl.zeros([TILE], SUM)
    for part in range(BLOCKS):
        columns = part * BLOCK + tl.arange(0, BLOCK)
        there = inside[:, None] & (columns < width)[None, :]
        s_i = row_of(s, i, columns, width, SUM)
        distance += tl.sum(tl.where(there, tl.abs(gather(s, j, columns, width, there, SUM) - s_i[None, :]), 0.0), 1)
    return distance


@triton.jit(do_not_specialize=["rows", "entries"])
def _forward_kernel(
    s, indptr, indices, weights, partial, out, rows, entries, width,
    HAS_WEIGHTS: tl.constexpr, BLOCK: tl.constexpr, BLOCKS: tl.constexpr, TILE: tl.constexpr, SUM: tl.constexpr,
):  # fmt: skip
    row, first, last, slot = piece_of(indptr, tl.program_id(0), rows, entries)
    total = tl.zeros([TILE], SUM)
    for tile in range(0, last - first, TILE):
        entry = first + tile + tl.arange(0, TILE)
        j = tl.load(indices + entry, mask=entry < last, other=0).to(tl.int64)
        distance = _distance(s, row, j, entry < last, width, BLOCK, BLOCKS, TILE, SUM)
        if HAS_WEIGHTS:
            distance *= tl.load(weights + entry, mask=entry < last, other=0.0).to(SUM)
        total += distance
    if slot >= 0:
        tl.store(partial + slot, tl.sum(total, 0))
    if slot == -1:
        tl.store(out + row, tl.sum(total, 0))


@triton.jit(do_not_specialize=["rows", "entries"])
def _backward_kernel(
    s, g, start, indptr, indices, weights, perm, partial, ds, rows, entries, width,
    HAS_START: tl.constexpr, HAS_WEIGHTS: tl.constexpr, HAS_PERM: tl.constexpr, OWN: tl.constexpr, OTHER: tl.constexpr,
    BLOCK: tl.constexpr, BLOCKS: tl.constexpr, TILE: tl.constexpr, SUM: tl.constexpr,
):  # fmt: skip
    """``ds_i = start_i + sum_j a_ij (own g_i + other g_j) sign(s_i - s_j)``, one set of lists."""
    row, first, last, slot = piece_of(indptr, tl.program_id(0), rows, entries)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    s_i = row_of(s, row, columns, width, SUM)
    total = tl.zeros([BLOCK], SUM)
    for tile in range(0, last - first, TILE):
        entry = first + tile + tl.arange(0, TILE)
        j = tl.load(indices + entry, mask=entry < last, other=0).to(tl.int64)
        pull = tl.zeros([TILE], SUM)
        if OWN:
            pull += tl.load(g + row).to(SUM)
        if OTHER:
            pull += tl.load(g + j, mask=entry < last, other=0.0).to(SUM)
        if HAS_WEIGHTS:
            place = entry
            if HAS_PERM:
                place = tl.load(perm + entry, mask=entry < last, other=0).to(tl.int64)
            pull *= tl.load(weights + place, mask=entry < last, other=0.0).to(SUM)
        inside = (entry < last)[:, None] & (columns < width)[None, :]
        x = tl.where(inside, s_i[None, :] - gather(s, j, columns, width, inside, SUM), 0.0)
        total += tl.sum(tl.where(x > 0, pull[:, None], tl.where(x < 0, -pull[:, None], 0.0)), 0)
    if slot >= 0:
        tl.store(partial + slot.to(tl.int64) * width + columns, total, mask=columns < width)
    if slot == -1:
        if HAS_START:
            total += row_of(start, row, columns, width, SUM)
        tl.store(ds + row * width + columns, total, mask=columns < width)


@triton.jit(do_not_specialize=["rows", "entries"])
def _weight_kernel(
    s, g, indptr, indices, dw, rows, entries, width,
    BLOCK: tl.constexpr, BLOCKS: tl.constexpr, TILE: tl.constexpr, SUM: tl.constexpr,
):  # fmt: skip
    """``dw_e = g_i ||s_i - s_j||_1`` for every entry e = (i, j)."""
    row, first, last, _ = piece_of(indptr, tl.program_id(0), rows, entries)
    for tile in range(0, last - first, TILE):
        entry = first + tile + tl.arange(0, TILE)
        j = tl.load(indices + entry, mask=entry < last, other=0).to(tl.int64)
        distance = _distance(s, row, j, entry < last, width, BLOCK, BLOCKS, TILE, SUM)
        tl.store(dw + entry, tl.load(g + row).to(SUM) * distance, mask=entry < last)


def forward(s: Tensor, lists: Lists) -> Tensor:
    """See `tvgnn.ops.total_variation.op`."""
    indptr, indices, weights, *_ = lists
    s = s.contiguous()
    rows, entries = s.shape[0], indices.shape[0]
    out = s.new_empty(rows)
    if rows == 0:
        return out
    partial = s.new_empty(number_of_slots(entries), 1, dtype=accumulate_dtype(s))
    with on_device(s):
        _forward_kernel[(rows + partial.shape[0],)](
            s, indptr, indices, s if weights is None else weights.contiguous(), partial, out, rows, entries, s.shape[1],
            HAS_WEIGHTS=weights is not None, **tiling(s),
        )  # fmt: skip
        finish_long_rows(None, indptr, partial, out[:, None], entries)
    return out


def backward(grad: Tensor, s: Tensor, lists: Lists, needs_weights: bool) -> tuple[Tensor, Tensor]:
    """See `tvgnn.ops.total_variation.op`."""
    indptr, indices, weights, t_indptr, t_indices, t_perm = lists
    s, grad = s.contiguous(), grad.contiguous()
    (rows, width), entries, shape = s.shape, indices.shape[0], tiling(s)
    values = s if weights is None else weights.contiguous()
    slots = number_of_slots(entries)
    ds = torch.zeros_like(s)
    dw = s.new_zeros(entries if needs_weights else 0, dtype=accumulate_dtype(s))
    if ds.numel() == 0:
        return ds, dw

    def add(
        start: Tensor | None, pointers: Tensor, others: Tensor, perm: Tensor | None, own: bool, other: bool
    ) -> Tensor:
        result, partial = torch.empty_like(s), s.new_empty(slots, width, dtype=accumulate_dtype(s))
        _backward_kernel[rows + slots, shape["BLOCKS"]](
            s, grad, s if start is None else start, pointers, others, values, others if perm is None else perm,
            partial, result, rows, entries, width, HAS_START=start is not None, HAS_WEIGHTS=weights is not None,
            HAS_PERM=perm is not None, OWN=own, OTHER=other, **shape,
        )  # fmt: skip
        finish_long_rows(start, pointers, partial, result, entries)
        return result

    with on_device(s):
        if t_indptr is None or t_indices is None:
            ds = add(None, indptr, indices, None, own=True, other=True)
        else:
            ds = add(None, indptr, indices, None, own=True, other=False)
            ds = add(ds, t_indptr, t_indices, t_perm, own=False, other=True)
        if needs_weights:
            _weight_kernel[(rows + slots,)](s, grad, indptr, indices, dw, rows, entries, width, **shape)
    return ds, dw
