"""Numba kernels of the node-wise total variation: gather only, deterministic."""

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

__all__ = ["add_gradient", "backward", "forward", "row_distance"]


@inline
def row_distance(s, i, j):
    """``||s_i - s_j||_1``."""
    total = s.dtype.type(0)
    for k in range(s.shape[1]):
        total += abs(s[i, k] - s[j, k])
    return total


@kernel
def _node_variation(s, indptr, indices, weights, out):
    """``out[i, 0] = sum_j a_ij ||s_i - s_j||_1``; ``weights`` may be empty, ``out`` is (N, 1)."""
    plan = make_plan(indptr)
    partial = np.zeros((2 * plan.shape[0], 1), s.dtype)
    for task in prange(plan.shape[0]):
        for i in range(plan[task, 0], last_row(plan, task)):
            first, last, slot = piece(plan, task, i, indptr)
            total = s.dtype.type(0)
            for e in range(first, last):
                distance = row_distance(s, i, indices[e])
                total += weights[e] * distance if weights.shape[0] > 0 else distance
            if slot >= 0:
                partial[slot, 0] = total
            else:
                out[i, 0] = total
    for task in range(plan.shape[0]):
        if starts_cut_row(plan, task):
            out[plan[task, 2], 0] = 0
            add_pieces(plan, partial, task, out)


@inline
def _add_entries(s, g, indices, weights, perm, i, first, last, own, other, out, slot):
    """Add ``a_ij (own * g_i + other * g_j) sign(s_i - s_j)`` over entries first..last to ``out[slot]``."""
    zero = s.dtype.type(0)
    for e in range(first, last):
        j = indices[e]
        pull = own * g[i] + other * g[j]
        if weights.shape[0] > 0:
            pull *= weights[perm[e]] if perm.shape[0] > 0 else weights[e]
        for k in range(s.shape[1]):
            # Two independent selects: nested ones are four times slower, since they do not vectorise.
            above = pull if s[i, k] > s[j, k] else zero
            below = pull if s[i, k] < s[j, k] else zero
            out[slot, k] += above - below


@kernel
def _add_gradient(s, g, indptr, indices, weights, perm, own, other, ds):
    """Add the gradient of one set of lists to ``ds``: own = 1 for rows, other = 1 for columns, both if symmetric."""
    plan = make_plan(indptr)
    partial = np.zeros((2 * plan.shape[0], s.shape[1]), s.dtype)
    for task in prange(plan.shape[0]):
        for i in range(plan[task, 0], last_row(plan, task)):
            first, last, slot = piece(plan, task, i, indptr)
            if slot >= 0:
                _add_entries(s, g, indices, weights, perm, i, first, last, own, other, partial, slot)
            else:
                _add_entries(s, g, indices, weights, perm, i, first, last, own, other, ds, i)
    for task in range(plan.shape[0]):
        if starts_cut_row(plan, task):
            add_pieces(plan, partial, task, ds)


@kernel
def _weight_gradient(s, g, indptr, indices, dw):
    """``dw_e = g_i ||s_i - s_j||_1`` for every entry e = (i, j)."""
    plan = make_plan(indptr)
    for task in prange(plan.shape[0]):
        for i in range(plan[task, 0], last_row(plan, task)):
            first, last, _ = piece(plan, task, i, indptr)
            for e in range(first, last):
                dw[e] = g[i] * row_distance(s, i, indices[e])


def forward(s: Tensor, lists: Lists) -> Tensor:
    """See `tvgnn.ops.total_variation.op`."""
    indptr, indices, weights, *_ = lists
    use_threads((s.shape[0] + indices.shape[0]) * s.shape[1])
    out = s.new_empty(s.shape[0])
    _node_variation(as_array(s), as_array(indptr), as_array(indices), entry_values(weights, s), as_array(out[:, None]))
    return out


def add_gradient(grad: Tensor, s: Tensor, lists: Lists, ds: Tensor) -> None:
    """Add the gradient with respect to s (N, K) of ``sum_i grad_i tv_i``, grad (N,), to ``ds`` (N, K)."""
    indptr, indices, weights, t_indptr, t_indices, t_perm = lists
    use_threads((s.shape[0] + indices.shape[0]) * s.shape[1])
    values, g, weight_values, out = as_array(s), as_array(grad), entry_values(weights, s), as_array(ds)
    one, zero = values.dtype.type(1), values.dtype.type(0)
    rows, in_order = (as_array(indptr), as_array(indices)), as_array(indices[:0])
    if t_indptr is None or t_indices is None or t_perm is None:
        _add_gradient(values, g, *rows, weight_values, in_order, one, one, out)
    else:
        columns = (as_array(t_indptr), as_array(t_indices))
        _add_gradient(values, g, *rows, weight_values, in_order, one, zero, out)
        _add_gradient(values, g, *columns, weight_values, as_array(t_perm), zero, one, out)


def backward(grad: Tensor, s: Tensor, lists: Lists, needs_weights: bool) -> tuple[Tensor, Tensor]:
    """See `tvgnn.ops.total_variation.op`."""
    ds = torch.zeros_like(s, memory_format=torch.contiguous_format)
    add_gradient(grad, s, lists, ds)
    indptr, indices, *_ = lists
    dw = s.new_empty(indices.shape[0] if needs_weights else 0)
    if needs_weights:
        _weight_gradient(as_array(s), as_array(grad), as_array(indptr), as_array(indices), as_array(dw))
    return ds, dw
