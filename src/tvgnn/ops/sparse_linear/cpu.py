"""Numba kernels of the sparse-dense product; the gradient is the same product with the column lists."""

from __future__ import annotations

import numpy as np
import torch
from numba import prange
from torch import Tensor

from tvgnn.graph.sparse_matrix import Lists
from tvgnn.ops._buffers import empty
from tvgnn.ops._numba import (
    add_pieces,
    as_array,
    entry_values,
    inline,
    kernel,
    last_row,
    make_plan,
    piece,
    starts_cut_row,
    use_threads,
)

__all__ = ["backward", "forward"]

_CACHE_BYTES = 4 * 2**20
_TILE_ROWS = 256
_TIMES_REUSED = 16


@inline
def _value(values, e, one):
    return values[e] if values.shape[0] > 0 else one


@inline
def _add_row(indices, values, weight, first, last, out, slot):
    one = weight.dtype.type(1)
    width = weight.shape[1]
    e = first
    while e + 4 <= last:  # four at a time: the sum is loaded and stored a quarter as often
        a, b, c, d = indices[e], indices[e + 1], indices[e + 2], indices[e + 3]
        va, vb = _value(values, e, one), _value(values, e + 1, one)
        vc, vd = _value(values, e + 2, one), _value(values, e + 3, one)
        for h in range(width):
            out[slot, h] += va * weight[a, h] + vb * weight[b, h] + vc * weight[c, h] + vd * weight[d, h]
        e += 4
    while e < last:
        a, va = indices[e], _value(values, e, one)
        for h in range(width):
            out[slot, h] += va * weight[a, h]
        e += 1


@kernel
def _product_kernel(indptr, indices, values, weight, out):
    """``out = x @ weight`` for x in rows; ``values`` empty means ones."""
    plan = make_plan(indptr)
    partial = np.zeros((2 * plan.shape[0], weight.shape[1]), weight.dtype)
    for task in prange(plan.shape[0]):
        for i in range(plan[task, 0], last_row(plan, task)):
            first, last, slot = piece(plan, task, i, indptr)
            if slot >= 0:
                _add_row(indices, values, weight, first, last, partial, slot)
            else:
                for h in range(weight.shape[1]):
                    out[i, h] = 0
                _add_row(indices, values, weight, first, last, out, i)
    for task in range(plan.shape[0]):
        if starts_cut_row(plan, task):
            for h in range(weight.shape[1]):
                out[plan[task, 2], h] = 0
            add_pieces(plan, partial, task, out)


@kernel
def _product_in_tiles(indptr, indices, values, weight, out, parts):
    """The same for lists whose indices rise within each row, with a tile of ``weight`` at a time in the cache.

    Pays where a large ``weight`` is gathered many times over. The rows of ``out`` are shared out among ``parts``,
    which does not change results.
    """
    rows = out.shape[0]
    for part in prange(parts):
        low = np.searchsorted(indptr, indices.shape[0] * part // parts) if part > 0 else 0
        high = np.searchsorted(indptr, indices.shape[0] * (part + 1) // parts) if part + 1 < parts else rows
        position = indptr[low:high].copy()
        for i in range(low, high):
            for h in range(out.shape[1]):
                out[i, h] = 0
        for top in range(0, weight.shape[0], _TILE_ROWS):
            for i in range(low, high):
                first = np.int64(position[i - low])
                last = first
                while last < indptr[i + 1] and indices[last] < top + _TILE_ROWS:
                    last += 1
                _add_row(indices, values, weight, first, last, out, i)
                position[i - low] = last


@kernel
def _value_gradient(indptr, indices, grad, weight, dv):
    """``dv_e = <grad_i, weight_j>`` for every entry e = (i, j)."""
    plan = make_plan(indptr)
    for task in prange(plan.shape[0]):
        for i in range(plan[task, 0], last_row(plan, task)):
            first, last, _ = piece(plan, task, i, indptr)
            for e in range(first, last):
                total = weight.dtype.type(0)
                for h in range(weight.shape[1]):
                    total += grad[i, h] * weight[indices[e], h]
                dv[e] = total


def _product(indptr: Tensor, indices: Tensor, values: Tensor | None, weight: Tensor, rising: bool) -> Tensor:
    rows, width = indptr.shape[0] - 1, weight.shape[1]
    arrays = (as_array(indptr), as_array(indices), entry_values(values, weight), as_array(weight))
    out = empty((rows, width), weight)
    use_threads((rows + indices.shape[0]) * width)
    reused = indices.shape[0] >= _TIMES_REUSED * weight.shape[0]
    if rising and reused and weight.nbytes > _CACHE_BYTES:
        _product_in_tiles(*arrays, as_array(out), torch.get_num_threads())
    else:
        _product_kernel(*arrays, as_array(out))
    return out


def forward(weight: Tensor, lists: Lists) -> Tensor:
    """See `tvgnn.ops.sparse_linear.op`."""
    return _product(*lists[:3], weight, rising=False)


def backward(
    grad: Tensor, weight: Tensor, lists: Lists, needs_weight: bool, needs_values: bool
) -> tuple[Tensor, Tensor]:
    """See `tvgnn.ops.sparse_linear.op`."""
    indptr, indices, values, t_indptr, t_indices, t_perm = lists
    dweight = weight.new_empty(0, 0)
    if needs_weight and t_indptr is not None and t_indices is not None and t_perm is not None:
        by_column = None if values is None else values.index_select(0, t_perm)
        dweight = _product(t_indptr, t_indices, by_column, grad, rising=True)
    elif needs_weight:  # symmetric
        dweight = _product(indptr, indices, values, grad, rising=False)
    dvalues = weight.new_empty(indices.shape[0] if needs_values else 0)
    if needs_values:
        use_threads(indices.shape[0] * weight.shape[1])
        _value_gradient(as_array(indptr), as_array(indices), as_array(grad), as_array(weight), as_array(dvalues))
    return dweight, dvalues
