"""Triton kernels of the GTV step: a program a row and block of columns, no atomics, no E x F array."""

from __future__ import annotations

import triton
import triton.language as tl

from tvgnn.ops._triton import add_pieces, gather, owner_of_slot, piece_of, row_of

__all__ = ["activation_kernel", "backward_kernel", "finish_kernel", "forward_kernel", "weight_kernel"]

ROOT_WEIGHTED, PER_FEATURE = tl.constexpr(1), tl.constexpr(2)
RELU, ELU = tl.constexpr(1), tl.constexpr(2)


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
def forward_kernel(
    z, indptr, indices, weights, bias, delta: tl.float64, eps: tl.float64, partial, out, rows, entries, width,
    HAS_WEIGHTS: tl.constexpr, HAS_BIAS: tl.constexpr, ACT: tl.constexpr, VARIANT: tl.constexpr,
    BLOCK: tl.constexpr, BLOCKS: tl.constexpr, TILE: tl.constexpr, SUM: tl.constexpr,
):  # fmt: skip
    """``out = act(z + delta * flow + bias)``, or the flow of a piece into its slot of ``partial``."""
    row, first, last, slot = piece_of(indptr, tl.program_id(0), rows, entries)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    delta, eps = tl.full([], delta, SUM), tl.full([], eps, SUM)
    z_i = row_of(z, row, columns, width, SUM)
    total = tl.zeros([BLOCK], SUM)
    for tile in range(0, last - first, TILE):
        entry = first + tile + tl.arange(0, TILE)
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
                    here = row_of(z, row, others, width, SUM)
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
def finish_kernel(
    z, indptr, bias, delta: tl.float64, partial, out, rows, entries, width,
    HAS_BIAS: tl.constexpr, ACT: tl.constexpr,
    BLOCK: tl.constexpr, BLOCKS: tl.constexpr, TILE: tl.constexpr, SUM: tl.constexpr,
):  # fmt: skip
    """Output of the long rows from the flows of their pieces."""
    row, first, last = owner_of_slot(indptr, tl.program_id(0), rows, entries)
    if last > first:
        columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
        total = add_pieces(partial, first, last, width, columns, SUM)
        z_i = row_of(z, row, columns, width, SUM)
        result = _finish(z_i, total, tl.full([], delta, SUM), bias, columns, width, HAS_BIAS, ACT)
        tl.store(out + row * width + columns, result, mask=columns < width)


@triton.jit
def activation_kernel(
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
def backward_kernel(
    z, g, start, indptr, indices, weights, perm, delta: tl.float64, eps: tl.float64, partial, dz, rows, entries, width,
    HAS_WEIGHTS: tl.constexpr, HAS_PERM: tl.constexpr, OWN: tl.constexpr, OTHER: tl.constexpr, VARIANT: tl.constexpr,
    BLOCK: tl.constexpr, BLOCKS: tl.constexpr, TILE: tl.constexpr, SUM: tl.constexpr,
):  # fmt: skip
    """``dz = start + sum over entries``, the terms of `tvgnn.ops.gtv_step.cpu` with own and other 0 or 1."""
    row, first, last, slot = piece_of(indptr, tl.program_id(0), rows, entries)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    delta, eps = tl.full([], delta, SUM), tl.full([], eps, SUM)
    z_i = row_of(z, row, columns, width, SUM)
    g_i = row_of(g, row, columns, width, SUM)
    total = tl.zeros([BLOCK], SUM)
    for tile in range(0, last - first, TILE):
        entry = first + tile + tl.arange(0, TILE)
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
                    here = row_of(z, row, others, width, SUM)
                    away = here[None, :] - gather(z, j, others, width, there, SUM)
                    pull = tl.zeros([TILE, BLOCK], SUM)
                    if OWN:
                        pull += row_of(g, row, others, width, SUM)[None, :]
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
        total += row_of(start, row, columns, width, SUM)
        tl.store(dz + row * width + columns, total, mask=columns < width)


@triton.jit(do_not_specialize=["rows", "entries"])
def weight_kernel(
    z, g, indptr, indices, weights, delta: tl.float64, eps: tl.float64, dw, rows, entries, width,
    VARIANT: tl.constexpr, BLOCK: tl.constexpr, BLOCKS: tl.constexpr, TILE: tl.constexpr, SUM: tl.constexpr,
):  # fmt: skip
    """``dw_e = delta <g_i, z_j - z_i> dgamma_ij/da_ij`` for every entry e = (i, j)."""
    row, first, last, _ = piece_of(indptr, tl.program_id(0), rows, entries)
    delta, eps = tl.full([], delta, SUM), tl.full([], eps, SUM)
    for tile in range(0, last - first, TILE):
        entry = first + tile + tl.arange(0, TILE)
        j = tl.load(indices + entry, mask=entry < last, other=0).to(tl.int64)
        distance, product = tl.zeros([TILE], SUM), tl.zeros([TILE], SUM)
        for part in range(BLOCKS):
            columns = part * BLOCK + tl.arange(0, BLOCK)
            z_i = row_of(z, row, columns, width, SUM)
            g_i = row_of(g, row, columns, width, SUM)
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
