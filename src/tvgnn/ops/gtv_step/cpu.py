"""Numba kernels of the GTV step: gather only, no atomics, no E x F temporary, bitwise repeatable."""

from __future__ import annotations

import numpy as np
from numba import prange
from torch import Tensor

from tvgnn.graph.sparse_matrix import Lists
from tvgnn.ops._activation import activate_row, activation_gradient
from tvgnn.ops._buffers import empty_like
from tvgnn.ops._numba import (
    add_pieces,
    as_array,
    entry_values,
    inline,
    kernel,
    last_row,
    make_plan,
    piece,
    prefetch_row,
    starts_cut_row,
    use_threads,
)

__all__ = ["backward", "forward"]

SHARED, ROOT_WEIGHTED, PER_FEATURE = 0, 1, 2
AHEAD = 2  # entries whose rows are asked for before their turn (measured: 1 and 3 are no better)


@inline
def _conductance(distance, weight, eps, variant):
    """(gamma_ij, whether the distance is above eps and therefore moves gamma)."""
    scaled = distance * np.sqrt(weight) if variant == ROOT_WEIGHTED else distance
    # Written so that a NaN distance stays NaN.
    return (weight / eps, False) if scaled <= eps else (weight / scaled, True)


@inline
def _add_flow(z, indices, weights, i, first, last, eps, variant, out, slot):
    """Add ``sum_j gamma_ij (z_j - z_i)`` over entries first..last to ``out[slot]``."""
    width = z.shape[1]
    one = z.dtype.type(1)
    for e in range(first, last):
        if e + AHEAD < indices.shape[0]:
            prefetch_row(z, indices[e + AHEAD])
        j = indices[e]
        weight = weights[e] if weights.shape[0] > 0 else one
        if weight == 0 or j == i:
            continue
        if variant == PER_FEATURE:
            for f in range(width):
                step = z[j, f] - z[i, f]
                size = abs(step)
                # Divided rather than clipped, so that an infinite difference gives NaN as in every variant.
                out[slot, f] += weight * (step / (eps if size < eps else size))
            continue
        distance = z.dtype.type(0)
        for f in range(width):
            distance += abs(z[j, f] - z[i, f])
        gamma, _ = _conductance(distance, weight, eps, variant)
        for f in range(width):
            out[slot, f] += gamma * (z[j, f] - z[i, f])


@inline
def _finish(z, delta, bias, act, out, i):
    for f in range(z.shape[1]):
        out[i, f] = z[i, f] + delta * out[i, f]
    if bias.shape[0] > 0:
        for f in range(z.shape[1]):
            out[i, f] += bias[f]
    activate_row(out, i, act)


@kernel
def _forward(z, indptr, indices, weights, delta, eps, variant, bias, act, out):
    """``out = act(z + delta * flow + bias)``; ``weights`` and ``bias`` may be empty."""
    plan = make_plan(indptr)
    tasks = plan.shape[0]
    partial = np.zeros((2 * tasks, z.shape[1]), z.dtype)
    for task in prange(tasks):
        for i in range(plan[task, 0], last_row(plan, task)):
            first, last, slot = piece(plan, task, i, indptr)
            if slot >= 0:
                _add_flow(z, indices, weights, i, first, last, eps, variant, partial, slot)
            else:
                for f in range(z.shape[1]):
                    out[i, f] = 0
                _add_flow(z, indices, weights, i, first, last, eps, variant, out, i)
                _finish(z, delta, bias, act, out, i)
    for task in range(tasks):
        if starts_cut_row(plan, task):
            i = plan[task, 2]
            for f in range(z.shape[1]):
                out[i, f] = 0
            add_pieces(plan, partial, task, out)
            _finish(z, delta, bias, act, out, i)


@inline
def _add_gradient(z, g, indices, weights, perm, i, first, last, delta, eps, variant, own, other, out, slot):
    """Add what entries first..last give to dz_i.

    With u = own * g_i - other * g_j and x = z_i - z_j an entry gives
    ``-delta gamma u + delta gamma / d <u, x> sign(x)`` (the second term only where d > eps). ``own`` is 1 for entries
    of row i, ``other`` for entries of column i; a symmetric matrix serves both at once.
    """
    width = z.shape[1]
    zero, one = z.dtype.type(0), z.dtype.type(1)
    for e in range(first, last):
        if e + AHEAD < indices.shape[0]:
            prefetch_row(z, indices[e + AHEAD])
            prefetch_row(g, indices[e + AHEAD])
        j = indices[e]
        weight = one
        if weights.shape[0] > 0:
            weight = weights[perm[e]] if perm.shape[0] > 0 else weights[e]
        if weight == 0 or j == i:  # a self-loop's two parts would cancel only up to rounding
            continue
        if variant == PER_FEATURE:
            slope = delta * weight / eps
            for f in range(width):
                x = abs(z[i, f] - z[j, f])
                out[slot, f] -= zero if x > eps else slope * (own * g[i, f] - other * g[j, f])
            continue
        distance, product = zero, zero
        for f in range(width):
            x = z[i, f] - z[j, f]
            distance += abs(x)
            product += (own * g[i, f] - other * g[j, f]) * x
        gamma, moves = _conductance(distance, weight, eps, variant)
        gamma *= delta
        pull = gamma / distance * product if moves else zero
        for f in range(width):
            x = z[i, f] - z[j, f]
            signed = pull if x > 0 else (-pull if x < 0 else zero)
            out[slot, f] += signed - gamma * (own * g[i, f] - other * g[j, f])


@inline
def _copy_row(source, target, i):
    for f in range(source.shape[1]):  # element by element: for whole rows numba compiles checks of shapes for 2 s
        target[i, f] = source[i, f]


@kernel
def _backward(z, g, indptr, indices, weights, perm, delta, eps, variant, own, other, first_lists, dz):
    """Gradient of one set of lists, added to ``g`` for the first lists and to ``dz`` for the second.

    ``perm`` is empty for rows, the transposed lists' for columns.
    """
    plan = make_plan(indptr)
    tasks = plan.shape[0]
    width = z.shape[1]
    partial = np.zeros((2 * tasks, width), z.dtype)
    for task in prange(tasks):
        for i in range(plan[task, 0], last_row(plan, task)):
            first, last, slot = piece(plan, task, i, indptr)
            if slot >= 0:
                _add_gradient(
                    z, g, indices, weights, perm, i, first, last, delta, eps, variant, own, other, partial, slot
                )
            else:
                if first_lists:
                    _copy_row(g, dz, i)
                _add_gradient(z, g, indices, weights, perm, i, first, last, delta, eps, variant, own, other, dz, i)
    for task in range(tasks):
        if starts_cut_row(plan, task):
            if first_lists:
                _copy_row(g, dz, plan[task, 2])
            add_pieces(plan, partial, task, dz)


@kernel
def _weight_gradient(z, g, indptr, indices, weights, delta, eps, variant, dw):
    """``dw_e = delta <g_i, z_j - z_i> dgamma_ij/da_ij`` for every entry e = (i, j)."""
    plan = make_plan(indptr)
    one = z.dtype.type(1)
    for task in prange(plan.shape[0]):
        for i in range(plan[task, 0], last_row(plan, task)):
            first, last, _ = piece(plan, task, i, indptr)
            for e in range(first, last):
                j = indices[e]
                distance, product = z.dtype.type(0), z.dtype.type(0)
                for f in range(z.shape[1]):
                    x = z[j, f] - z[i, f]
                    distance += abs(x)
                    if variant == PER_FEATURE:
                        x /= eps
                        x = one if x > one else (-one if x < -one else x)
                    product += g[i, f] * x
                if variant == PER_FEATURE:
                    dw[e] = delta * product
                    continue
                scale = one / (eps if distance <= eps else distance)
                if variant == ROOT_WEIGHTED:
                    root = np.sqrt(weights[e])
                    scaled = distance * root
                    scale = one / eps if scaled <= eps or root == 0 else one / (2 * root * distance)
                dw[e] = delta * product * scale


def forward(z: Tensor, lists: Lists, bias: Tensor | None, delta: float, eps: float, act: int, variant: int) -> Tensor:
    """See `tvgnn.ops.gtv_step.op`."""
    indptr, indices, weights, *_ = lists
    use_threads((z.shape[0] + indices.shape[0]) * z.shape[1])
    out = empty_like(z)
    values = as_array(z)
    scalar = values.dtype.type
    _forward(
        values,
        as_array(indptr),
        as_array(indices),
        entry_values(weights, z),
        scalar(delta),
        scalar(eps),
        variant,
        entry_values(bias, z),
        act,
        as_array(out),
    )
    return out


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
    use_threads((z.shape[0] + indices.shape[0]) * z.shape[1])
    values, weight_values = as_array(z), entry_values(weights, z)
    scalar = values.dtype.type
    dz = empty_like(z)
    if out is None:
        g = grad.contiguous()
        db = g.sum(0)
    else:
        g = empty_like(dz)
        db = activation_gradient(grad, out, act, g)
    rows = (as_array(indptr), as_array(indices))
    args = (scalar(delta), scalar(eps), variant)
    empty = rows[1][:0]
    if t_indptr is None or t_indices is None or t_perm is None:
        _backward(values, as_array(g), *rows, weight_values, empty, *args, scalar(1), scalar(1), True, as_array(dz))
    else:
        columns = (as_array(t_indptr), as_array(t_indices))
        _backward(values, as_array(g), *rows, weight_values, empty, *args, scalar(1), scalar(0), True, as_array(dz))
        by_column = (weight_values, as_array(t_perm))
        _backward(values, as_array(g), *columns, *by_column, *args, scalar(0), scalar(1), False, as_array(dz))
    dw = z.new_empty(indices.shape[0] if needs_weights else 0)
    if needs_weights:
        _weight_gradient(values, as_array(g), *rows, weight_values, *args, as_array(dw))
    return dz, dw, db
