"""Numba kernels of the sparse-dense product; the gradient is the same product with the column lists."""

from __future__ import annotations

import numpy as np
from numba import prange

from tvgnn.ops._numba import add_pieces, inline, kernel, last_row, make_plan, piece, starts_cut_row

__all__ = ["product", "value_gradient"]


@inline
def _add_row(indices, values, weight, first, last, out, slot):
    one = weight.dtype.type(1)
    for e in range(first, last):
        j = indices[e]
        value = values[e] if values.shape[0] > 0 else one
        for h in range(weight.shape[1]):
            out[slot, h] += value * weight[j, h]


@kernel
def product(indptr, indices, values, weight, out):
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
def value_gradient(indptr, indices, grad, weight, dv):
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
