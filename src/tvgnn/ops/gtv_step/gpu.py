"""Triton kernels of the GTV step: a program a row and block of columns, no atomics, no E x F array."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from tvgnn.graph.sparse_matrix import Lists
from tvgnn.ops._triton import (
    accumulate_dtype,
    add_pieces,
    finish_long_rows,
    gather,
    number_of_slots,
    on_device,
    owner_of_slot,
    piece_of,
    tiling,
)

__all__ = ["backward", "forward"]

ROOT_WEIGHTED, PER_FEATURE = tl.constexpr(1), tl.constexpr(2)
RELU, ELU = tl.constexpr(1), tl.constexpr(2)
_ROWS = 64  # of a program of the activation gradient


@triton.jit
def _conductance(distance, weight, eps, VARIANT: tl.constexpr):
    """(gamma_ij, whether the distance is at most eps and therefore leaves gamma alone)."""
    scaled = distance
    if VARIANT == ROOT_WEIGHTED:
        scaled = distance * tl.sqrt(weight)
    near = scaled <= eps  # false for NaN, which then reaches the result
    return weight / tl.where(near, eps, scaled), near


@triton.jit
def _finish(z_i, total, delta, bias, columns, width, HAS_BIAS: tl.constexpr, ACT: tl.constexpr):
    out = z_i + delta * total
    if HAS_BIAS:
        out += tl.load(bias + columns, mask=columns < width, other=0.0).to(out.dtype)
    if ACT == RELU:
        out = tl.where(out < 0, 0.0, out)
    if ACT == ELU:
        x = tl.where(out > 0, 0.0, out)
        expm1 = tl.exp(x) - 1
        if out.dtype == tl.float32:  # the difference keeps no digits of a small x, the series keeps all
            series = x * (1 / 6 + x * (1 / 24 + x * (1 / 120 + x * (1 / 720 + x / 5040))))
            expm1 = tl.where(x > -0.4, x + x * x * (0.5 + series), expm1)
        out = tl.where(out > 0, out, expm1)
    return out


@triton.jit(do_not_specialize=["rows", "entries"])
def _forward_kernel(
    z, indptr, indices, weights, bias, delta: tl.float64, eps: tl.float64, partial, out, rows, entries, width,
    HAS_WEIGHTS: tl.constexpr, HAS_BIAS: tl.constexpr, ACT: tl.constexpr, VARIANT: tl.constexpr,
    BLOCK: tl.constexpr, BLOCKS: tl.constexpr, TILE: tl.constexpr, SUM: tl.constexpr,
):  # fmt: skip
    row, first, last, slot = piece_of(indptr, tl.program_id(0), rows, entries)
    block = tl.program_id(1)
    columns = block * BLOCK + tl.arange(0, BLOCK)
    delta, eps = tl.full([], delta, SUM), tl.full([], eps, SUM)
    z_i = tl.load(z + row * width + columns, mask=columns < width, other=0.0).to(SUM)
    total = tl.zeros([BLOCK], SUM)
    for tile in range(first, last, TILE):
        entry = tile + tl.arange(0, TILE)
        j = tl.load(indices + entry, mask=entry < last, other=0).to(tl.int64)
        weight = tl.full([TILE], 1, SUM)
        if HAS_WEIGHTS:
            weight = tl.load(weights + entry, mask=entry < last, other=0.0).to(SUM)
        counts = (entry < last) & (j != row) & (weight != 0)
        inside = counts[:, None] & (columns < width)[None, :]
        step = gather(z, j, columns, width, inside, SUM) - z_i[None, :]
        if VARIANT == PER_FEATURE:
            size = tl.abs(step)
            # Divided rather than clipped, so that an infinite difference gives NaN as in every variant.
            flow = weight[:, None] * (step / tl.where(size < eps, eps, size))
        else:
            distance = tl.sum(tl.abs(step), 1)
            if BLOCKS > 1:
                distance = tl.zeros([TILE], SUM)
                for part in range(BLOCKS):
                    others = part * BLOCK + tl.arange(0, BLOCK)
                    there = counts[:, None] & (others < width)[None, :]
                    here = tl.load(z + row * width + others, mask=others < width, other=0.0).to(SUM)
                    distance += tl.sum(tl.abs(gather(z, j, others, width, there, SUM) - here[None, :]), 1)
            gamma, _ = _conductance(distance, weight, eps, VARIANT)
            flow = gamma[:, None] * step
        total += tl.sum(tl.where(inside, flow, 0.0), 0)
    if slot >= 0:
        tl.store(partial + slot.to(tl.int64) * width + columns, total, mask=columns < width)
    if slot == -1:
        result = _finish(z_i, total, delta, bias, columns, width, HAS_BIAS, ACT)
        tl.store(out + row * width + columns, result, mask=columns < width)


@triton.jit(do_not_specialize=["rows", "entries"])
def _finish_kernel(
    z, indptr, bias, delta: tl.float64, partial, out, rows, entries, width,
    HAS_BIAS: tl.constexpr, ACT: tl.constexpr,
    BLOCK: tl.constexpr, BLOCKS: tl.constexpr, TILE: tl.constexpr, SUM: tl.constexpr,
):  # fmt: skip
    row, first, last = owner_of_slot(indptr, tl.program_id(0), rows, entries)
    if last > first:
        columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
        total = add_pieces(partial, first, last, width, columns, SUM)
        z_i = tl.load(z + row * width + columns, mask=columns < width, other=0.0).to(SUM)
        result = _finish(z_i, total, tl.full([], delta, SUM), bias, columns, width, HAS_BIAS, ACT)
        tl.store(out + row * width + columns, result, mask=columns < width)


@triton.jit
def _activation_kernel(
    grad, out, g, sums, rows, width, ROWS: tl.constexpr, ACT: tl.constexpr,
    BLOCK: tl.constexpr, BLOCKS: tl.constexpr, TILE: tl.constexpr, SUM: tl.constexpr,
):  # fmt: skip
    """``g = grad * act'``, read off the output: relu y > 0, elu y > 0 ? 1 : y + 1; and its sums over ROWS rows."""
    task = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], SUM)
    for tile in range(0, ROWS, TILE):
        row = task * ROWS + tile + tl.arange(0, TILE)
        inside = (row < rows)[:, None] & (columns < width)[None, :]
        y = gather(out, row, columns, width, inside, SUM)
        result = gather(grad, row, columns, width, inside, SUM)
        if ACT == RELU:
            result = tl.where(y <= 0, 0.0, result)
        else:
            result *= tl.where(y <= 0, y + 1, 1.0)
        tl.store(g + row[:, None] * width + columns[None, :], result, mask=inside)
        total += tl.sum(result, 0)
    tl.store(sums + task * width + columns, total, mask=columns < width)


@triton.jit(do_not_specialize=["rows", "entries"])
def _backward_kernel(
    z, g, start, indptr, indices, weights, perm, delta: tl.float64, eps: tl.float64, partial, dz, rows, entries, width,
    HAS_WEIGHTS: tl.constexpr, HAS_PERM: tl.constexpr, OWN: tl.constexpr, OTHER: tl.constexpr, VARIANT: tl.constexpr,
    BLOCK: tl.constexpr, BLOCKS: tl.constexpr, TILE: tl.constexpr, SUM: tl.constexpr,
):  # fmt: skip
    """``dz = start + sum over entries``, the terms of `tvgnn.ops.gtv_step.cpu` with own and other 0 or 1."""
    row, first, last, slot = piece_of(indptr, tl.program_id(0), rows, entries)
    block = tl.program_id(1)
    columns = block * BLOCK + tl.arange(0, BLOCK)
    delta, eps = tl.full([], delta, SUM), tl.full([], eps, SUM)
    z_i = tl.load(z + row * width + columns, mask=columns < width, other=0.0).to(SUM)
    g_i = tl.load(g + row * width + columns, mask=columns < width, other=0.0).to(SUM)
    total = tl.zeros([BLOCK], SUM)
    for tile in range(first, last, TILE):
        entry = tile + tl.arange(0, TILE)
        j = tl.load(indices + entry, mask=entry < last, other=0).to(tl.int64)
        weight = tl.full([TILE], 1, SUM)
        if HAS_WEIGHTS:
            place = entry
            if HAS_PERM:
                place = tl.load(perm + entry, mask=entry < last, other=0).to(tl.int64)
            weight = tl.load(weights + place, mask=entry < last, other=0.0).to(SUM)
        counts = (entry < last) & (j != row) & (weight != 0)
        inside = counts[:, None] & (columns < width)[None, :]
        x = z_i[None, :] - gather(z, j, columns, width, inside, SUM)
        u = tl.zeros([TILE, BLOCK], SUM)
        if OWN:
            u += g_i[None, :]
        if OTHER:
            u -= gather(g, j, columns, width, inside, SUM)
        if VARIANT == PER_FEATURE:
            change = tl.where(tl.abs(x) > eps, 0.0, -(delta * weight / eps)[:, None] * u)
        else:
            distance, product = tl.sum(tl.abs(x), 1), tl.sum(u * x, 1)
            if BLOCKS > 1:
                distance, product = tl.zeros([TILE], SUM), tl.zeros([TILE], SUM)
                for part in range(BLOCKS):
                    others = part * BLOCK + tl.arange(0, BLOCK)
                    there = counts[:, None] & (others < width)[None, :]
                    here = tl.load(z + row * width + others, mask=others < width, other=0.0).to(SUM)
                    away = here[None, :] - gather(z, j, others, width, there, SUM)
                    pull = tl.zeros([TILE, BLOCK], SUM)
                    if OWN:
                        pull += tl.load(g + row * width + others, mask=others < width, other=0.0).to(SUM)[None, :]
                    if OTHER:
                        pull -= gather(g, j, others, width, there, SUM)
                    distance += tl.sum(tl.abs(away), 1)
                    product += tl.sum(pull * away, 1)
            gamma, near = _conductance(distance, weight, eps, VARIANT)
            gamma *= delta
            slope = tl.where(near, 0.0, gamma / tl.where(near, eps, distance) * product)[:, None]
            change = tl.where(x > 0, slope, tl.where(x < 0, -slope, 0.0)) - gamma[:, None] * u
        total += tl.sum(tl.where(inside, change, 0.0), 0)
    if slot >= 0:
        tl.store(partial + slot.to(tl.int64) * width + columns, total, mask=columns < width)
    if slot == -1:
        total += tl.load(start + row * width + columns, mask=columns < width, other=0.0).to(SUM)
        tl.store(dz + row * width + columns, total, mask=columns < width)


@triton.jit(do_not_specialize=["rows", "entries"])
def _weight_kernel(
    z, g, indptr, indices, weights, delta: tl.float64, eps: tl.float64, dw, rows, entries, width,
    VARIANT: tl.constexpr, BLOCK: tl.constexpr, BLOCKS: tl.constexpr, TILE: tl.constexpr, SUM: tl.constexpr,
):  # fmt: skip
    """``dw_e = delta <g_i, z_j - z_i> dgamma_ij/da_ij`` for every entry e = (i, j)."""
    row, first, last, _ = piece_of(indptr, tl.program_id(0), rows, entries)
    delta, eps = tl.full([], delta, SUM), tl.full([], eps, SUM)
    for tile in range(first, last, TILE):
        entry = tile + tl.arange(0, TILE)
        j = tl.load(indices + entry, mask=entry < last, other=0).to(tl.int64)
        distance, product = tl.zeros([TILE], SUM), tl.zeros([TILE], SUM)
        for part in range(BLOCKS):
            columns = part * BLOCK + tl.arange(0, BLOCK)
            z_i = tl.load(z + row * width + columns, mask=columns < width, other=0.0).to(SUM)
            g_i = tl.load(g + row * width + columns, mask=columns < width, other=0.0).to(SUM)
            inside = (entry < last)[:, None] & (columns < width)[None, :]
            x = gather(z, j, columns, width, inside, SUM) - z_i[None, :]
            distance += tl.sum(tl.abs(x), 1)
            if VARIANT == PER_FEATURE:
                x = x / eps
                x = tl.where(x > 1, 1.0, tl.where(x < -1, -1.0, x))
            product += tl.sum(g_i[None, :] * x, 1)
        scale = tl.full([TILE], 1, SUM)
        if VARIANT != PER_FEATURE:
            scale = 1 / tl.where(distance <= eps, eps, distance)
        if VARIANT == ROOT_WEIGHTED:
            root = tl.sqrt(tl.load(weights + entry, mask=entry < last, other=0.0).to(SUM))
            near = (distance * root <= eps) | (root == 0)
            scale = 1 / tl.where(near, eps, 2 * root * distance)
        tl.store(dw + entry, delta * product * scale, mask=entry < last)


def forward(z: Tensor, lists: Lists, bias: Tensor | None, delta: float, eps: float, act: int, variant: int) -> Tensor:
    """See `tvgnn.ops.gtv_step.op`."""
    indptr, indices, weights, *_ = lists
    z = z.contiguous()
    (rows, width), entries, shape = z.shape, indices.shape[0], tiling(z)
    out = torch.empty_like(z)
    if out.numel() == 0:
        return out
    partial = z.new_empty(number_of_slots(entries), width, dtype=accumulate_dtype(z))
    added = z if bias is None else bias.contiguous()
    ending = {"HAS_BIAS": bias is not None, "ACT": act, **shape}
    with on_device(z):
        _forward_kernel[rows + partial.shape[0], shape["BLOCKS"]](
            z, indptr, indices, z if weights is None else weights.contiguous(), added, delta, eps, partial, out,
            rows, entries, width, HAS_WEIGHTS=weights is not None, VARIANT=variant, **ending,
        )  # fmt: skip
        if partial.shape[0]:
            _finish_kernel[partial.shape[0], shape["BLOCKS"]](
                z, indptr, added, delta, partial, out, rows, entries, width, **ending
            )
    return out


def _before_activation(grad: Tensor, out: Tensor | None, act: int) -> tuple[Tensor, Tensor]:
    """Gradient (N, F) before the activation and the bias gradient (F,)."""
    dtype = accumulate_dtype(grad)
    if out is None or out.numel() == 0:
        return grad.contiguous(), grad.sum(0, dtype=dtype)
    grad, g, shape = grad.contiguous(), torch.empty_like(out), tiling(out)
    sums = out.new_empty(triton.cdiv(out.shape[0], _ROWS), out.shape[1], dtype=dtype)
    _activation_kernel[sums.shape[0], shape["BLOCKS"]](grad, out, g, sums, *out.shape, ROWS=_ROWS, ACT=act, **shape)
    return g, sums.sum(0)


def backward(
    grad: Tensor,
    z: Tensor,
    out: Tensor | None,
    lists: Lists,
    delta: float,
    eps: float,
    act: int,
    variant: int,
    needs_weights: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """See `tvgnn.ops.gtv_step.op`."""
    indptr, indices, weights, t_indptr, t_indices, t_perm = lists
    z = z.contiguous()
    (rows, width), entries, shape = z.shape, indices.shape[0], tiling(z)
    values = z if weights is None else weights.contiguous()
    dw = z.new_zeros(entries if needs_weights else 0, dtype=accumulate_dtype(z))
    slots = number_of_slots(entries)

    def add(start: Tensor, pointers: Tensor, others: Tensor, perm: Tensor | None, own: bool, other: bool) -> Tensor:
        dz, partial = torch.empty_like(z), z.new_empty(slots, width, dtype=accumulate_dtype(z))
        _backward_kernel[rows + slots, shape["BLOCKS"]](
            z, g, start, pointers, others, values, others if perm is None else perm, delta, eps, partial, dz,
            rows, entries, width, HAS_WEIGHTS=weights is not None, HAS_PERM=perm is not None,
            OWN=own, OTHER=other, VARIANT=variant, **shape,
        )  # fmt: skip
        finish_long_rows(start, pointers, partial, dz, entries)
        return dz

    with on_device(z):
        g, db = _before_activation(grad, out, act)
        if z.numel() == 0:
            return torch.empty_like(z), dw, db
        if t_indptr is None or t_indices is None:
            dz = add(g, indptr, indices, None, own=True, other=True)
        else:
            dz = add(g, indptr, indices, None, own=True, other=False)
            dz = add(dz, t_indptr, t_indices, t_perm, own=False, other=True)
        if needs_weights:
            _weight_kernel[(rows + slots,)](
                z, g, indptr, indices, values, delta, eps, dw, rows, entries, width, VARIANT=variant, **shape
            )
    return dz, dw, db
