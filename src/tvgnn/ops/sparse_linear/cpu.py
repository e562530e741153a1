"""Numba kernels of the sparse-dense product; the gradient is the same product with the column lists."""

from __future__ import annotations

import numpy as np
import torch
from numba import prange
from torch import Tensor

from tvgnn.graph.sparse_matrix import Lists
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

_CACHE_BYTES = 8 * 2**20
_BLOCK_COLUMNS = 64


@inline
def _add_row(indices, values, perm, weight, first, last, out, slot):
    for e in range(first, last):
        j = indices[e]
        value = weight.dtype.type(1)
        if values.shape[0] > 0:
            value = values[perm[e]] if perm.shape[0] > 0 else values[e]
        for h in range(weight.shape[1]):
            out[slot, h] += value * weight[j, h]


@kernel
def _product_kernel(indptr, indices, values, perm, weight, out):
    """``out = x @ weight`` for x in rows; ``values`` empty means ones, ``perm`` empty that they are in order."""
    plan = make_plan(indptr)
    partial = np.zeros((2 * plan.shape[0], weight.shape[1]), weight.dtype)
    for task in prange(plan.shape[0]):
        for i in range(plan[task, 0], last_row(plan, task)):
            first, last, slot = piece(plan, task, i, indptr)
            if slot >= 0:
                _add_row(indices, values, perm, weight, first, last, partial, slot)
            else:
                for h in range(weight.shape[1]):
                    out[i, h] = 0
                _add_row(indices, values, perm, weight, first, last, out, i)
    for task in range(plan.shape[0]):
        if starts_cut_row(plan, task):
            for h in range(weight.shape[1]):
                out[plan[task, 2], h] = 0
            add_pieces(plan, partial, task, out)


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


def _product(indptr: Tensor, indices: Tensor, values: Tensor | None, perm: Tensor | None, weight: Tensor) -> Tensor:
    rows, width = indptr.shape[0] - 1, weight.shape[1]
    order = as_array(indices[:0] if perm is None else perm)
    arrays = (as_array(indptr), as_array(indices), entry_values(values, weight), order)
    # Gathering from a matrix that no cache holds is faster a few columns at a time, each block copied together first.
    too_large = weight.nbytes > _CACHE_BYTES and rows <= weight.shape[0]
    blocks = weight.split(_BLOCK_COLUMNS, dim=1) if too_large and width > _BLOCK_COLUMNS else (weight,)
    outs = []
    use_threads((rows + indices.shape[0]) * blocks[0].shape[1])
    for block in blocks:
        outs.append(weight.new_empty(rows, block.shape[1]))
        _product_kernel(*arrays, as_array(block), as_array(outs[-1]))
    return outs[0] if len(outs) == 1 else torch.cat(outs, dim=1)


def forward(weight: Tensor, lists: Lists) -> Tensor:
    """See `tvgnn.ops.sparse_linear.op`."""
    return _product(*lists[:3], None, weight)


def backward(
    grad: Tensor, weight: Tensor, lists: Lists, needs_weight: bool, needs_values: bool
) -> tuple[Tensor, Tensor]:
    """See `tvgnn.ops.sparse_linear.op`."""
    indptr, indices, values, t_indptr, t_indices, t_perm = lists
    dweight = weight.new_empty(0, 0)
    if needs_weight and t_indptr is not None and t_indices is not None and t_perm is not None:
        dweight = _product(t_indptr, t_indices, values, t_perm, grad)
    elif needs_weight:  # symmetric
        dweight = _product(indptr, indices, values, None, grad)
    dvalues = weight.new_empty(indices.shape[0] if needs_values else 0)
    if needs_values:
        use_threads(indices.shape[0] * weight.shape[1])
        _value_gradient(as_array(indptr), as_array(indices), as_array(grad), as_array(weight), as_array(dvalues))
    return dweight, dvalues
