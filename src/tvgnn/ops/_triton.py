"""What the Triton kernels share: one program a row, and the entries of long rows (hubs) cut into pieces.

The list of all entries is cut into chunks of `PIECE`. What a row of more than `PIECE` entries has in one chunk is a
piece of it, with a program and a slot for its sums; a chunk holds two at most, one of the row of its first entry and
one of the row of its last. A second kernel adds the slots of a row in order. The host reads nothing back, so that a
training step can be captured in a CUDA graph; nothing is added atomically, so that results are bitwise repeatable.

Loops begin at 0 rather than at a row's first entry: Triton 3.4 does not compile a bound that depends on a branch there.
"""

from __future__ import annotations

import contextlib
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

__all__ = [
    "PIECE",
    "accumulate_dtype",
    "add_pieces",
    "finish_long_rows",
    "gather",
    "number_of_slots",
    "on_device",
    "owner_of_slot",
    "piece_of",
    "row_of",
    "tiling",
]

PIECE = tl.constexpr(256)
SLOTS_AT_ONCE = tl.constexpr(8)
_WIDEST = 1024  # columns of a block
_TILE = 1024  # numbers that a program gathers at once
_MOST_ENTRIES = 32  # of a tile


def accumulate_dtype(x: Tensor) -> torch.dtype:
    """Type in which sums over ``x`` are taken: float32, or float64 for float64."""
    return torch.promote_types(x.dtype, torch.float32)


def tiling(x: Tensor) -> dict[str, Any]:
    """Launch arguments for rows as wide as those of ``x``: block of columns, blocks, entries of a tile, warps.

    A warp holds a row of up to 512 columns by itself, so that sums over columns need no shared memory.
    """
    block = min(triton.next_power_of_2(max(x.shape[1], 1)), _WIDEST)
    return {
        "BLOCK": block,
        "BLOCKS": triton.cdiv(max(x.shape[1], 1), block),
        "TILE": min(_MOST_ENTRIES, _TILE // block),
        "SUM": tl.float64 if x.dtype == torch.float64 else tl.float32,
        "num_warps": 1 if block <= 512 else 2,
        "enable_fp_fusion": True,  # as on the cpu; left open, Triton 3.9 warns that its default will change
    }


def number_of_slots(entries: int) -> int:
    """Slots for the sums of pieces; none where no row can be long."""
    return 2 * triton.cdiv(entries, PIECE.value) if entries > PIECE.value else 0


def on_device(x: Tensor) -> contextlib.AbstractContextManager[Any]:
    """Launch on the GPU that holds ``x``."""
    return torch.cuda.device(x.device) if x.is_cuda else contextlib.nullcontext()


@triton.jit
def _piece_in_slot(indptr, slot, rows, entries):
    """Row, first entry and one past the last of a slot's piece; the same entry twice where the slot has none."""
    start = (slot // 2).to(tl.int64) * PIECE
    stop = tl.minimum(start + PIECE, entries)
    entry = tl.where(slot % 2 == 0, start, stop - 1)
    low = tl.zeros([], tl.int64)  # the row of that entry is the largest i with indptr[i] <= entry
    high = low + rows
    while low < high:
        middle = (low + high + 1) // 2
        here = tl.load(indptr + middle) <= entry
        low = tl.where(here, middle, low)
        high = tl.where(here, high, middle - 1)
    first, last = tl.load(indptr + low).to(tl.int64), tl.load(indptr + low + 1).to(tl.int64)
    used = (last - first > PIECE) & ((slot % 2 == 0) | (first > start))
    begin = tl.maximum(first, start)
    return low, begin, tl.where(used, tl.minimum(last, stop), begin)


@triton.jit
def piece_of(indptr, program, rows, entries):
    """Row, first entry, one past the last, and slot of a program's work.

    Programs below ``rows`` have a row each and the slot -1, those above have a slot each. A program without work, for
    a long row or an unused slot, has the slot -2 and no entries.
    """
    row = program.to(tl.int64)
    first, last, slot = row, row, program - rows
    if program < rows:
        first, last = tl.load(indptr + row).to(tl.int64), tl.load(indptr + row + 1).to(tl.int64)
        slot = tl.where(last - first > PIECE, -2, -1)
        last = tl.where(last - first > PIECE, first, last)
    else:
        row, first, last = _piece_in_slot(indptr, slot, rows, entries)
        slot = tl.where(last > first, slot, -2)
    return row, first, last, slot


@triton.jit
def gather(x, rows, columns, width, inside, SUM: tl.constexpr):
    """Rows (TILE,) and columns (BLOCK,) of ``x`` in the type of sums; zero where not ``inside``."""
    return tl.load(x + rows[:, None] * width + columns[None, :], mask=inside, other=0.0).to(SUM)


@triton.jit
def row_of(x, row, columns, width, SUM: tl.constexpr):
    """One row of ``x`` in the type of sums, zero beyond its width."""
    return tl.load(x + row * width + columns, mask=columns < width, other=0.0).to(SUM)


@triton.jit
def owner_of_slot(indptr, slot, rows, entries):
    """Row whose first piece lies in the slot, its first entry and one past its last; the same entry twice for none."""
    row, begin, end = _piece_in_slot(indptr, slot, rows, entries)
    first, last = tl.load(indptr + row).to(tl.int64), tl.load(indptr + row + 1).to(tl.int64)
    return row, first, tl.where((end > begin) & (begin == first), last, first)


@triton.jit
def add_pieces(partial, first, last, width, columns, SUM: tl.constexpr):
    """Sums of the slots of a long row with the entries first..last."""
    total = tl.zeros_like(columns).to(SUM)
    start, stop = first // PIECE, (last + PIECE - 1) // PIECE
    for chunk in range(0, stop - start, SLOTS_AT_ONCE):
        chunks = start + chunk + tl.arange(0, SLOTS_AT_ONCE)
        # A row that begins inside a chunk is the one of the chunk's last entry.
        slots = 2 * chunks + tl.where((chunks == start) & (first > start * PIECE), 1, 0)
        inside = (chunks < stop)[:, None] & (columns < width)[None, :]
        total += tl.sum(gather(partial, slots, columns, width, inside, SUM), 0)
    return total


@triton.jit(do_not_specialize=["rows", "entries"])
def _finish_kernel(
    start, indptr, partial, out, rows, entries, width,
    HAS_START: tl.constexpr, BLOCK: tl.constexpr, BLOCKS: tl.constexpr, TILE: tl.constexpr, SUM: tl.constexpr,
):  # fmt: skip
    row, first, last = owner_of_slot(indptr, tl.program_id(0), rows, entries)
    if last > first:
        columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
        total = add_pieces(partial, first, last, width, columns, SUM)
        if HAS_START:
            total += row_of(start, row, columns, width, SUM)
        tl.store(out + row * width + columns, total, mask=columns < width)


def finish_long_rows(start: Tensor | None, indptr: Tensor, partial: Tensor, out: Tensor, entries: int) -> None:
    """Write ``start`` plus the sums of its pieces into each long row of ``out`` (rows, width)."""
    shape = tiling(out)
    if partial.shape[0]:
        _finish_kernel[partial.shape[0], shape["BLOCKS"]](
            out if start is None else start, indptr, partial, out, out.shape[0], entries, out.shape[1],
            HAS_START=start is not None, **shape,
        )  # fmt: skip
