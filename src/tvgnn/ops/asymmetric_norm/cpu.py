"""Numba kernels of the asymmetric norm: the quantile is selected, not sorted for."""

from __future__ import annotations

import math

import numpy as np
import torch
from numba import prange
from torch import Tensor

from tvgnn.ops._numba import as_array, inline, kernel, use_threads

__all__ = ["add_gradient", "backward", "forward", "measure_column"]

_ROWS = 4096  # of a piece of work


@inline
def _select(values, rank):
    """Value of this rank in ascending order by Hoare's quickselect, which reorders ``values``; NaN if one is there.

    Compiles in a tenth of the time that numba takes for ``np.partition``.
    """
    for value in values:
        if value != value:
            return value
    low, high = 0, values.shape[0] - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            break
    return values[rank]


@inline
def measure_column(s, k, first, last, rho):
    """Norm of column k over the rows first..last, at least one, and the first row that holds its quantile."""
    nodes = last - first
    numbers, values = np.empty(nodes, s.dtype), np.empty(nodes, s.dtype)
    for i in range(nodes):
        numbers[i] = values[i] = s[first + i, k]
    above = min(np.int64(math.floor(nodes / (rho + 1.0))), nodes - 1)
    quantile = _select(values, nodes - 1 - above)
    total = np.float64(0)  # a column of 10^5 float32 values would lose three digits
    holder = -1
    for i in range(nodes):
        difference = numbers[i] - quantile
        total += s.dtype.type(rho) * difference if difference >= 0 else -difference
        if holder < 0 and difference == 0:
            holder = first + i
    return total, (holder if holder >= 0 else first)


@kernel
def _select_and_measure(s, graph_ptr, rho, norms, holders):
    """Norm and quantile holder (row in ``s``, the first of equals) of every column of every graph, both (B, K).

    The holder of an empty graph is -1. A NaN reaches the norm of its column.
    """
    graphs, clusters = norms.shape
    for column in prange(graphs * clusters):
        b, k = column // clusters, column % clusters
        norms[b, k] = 0
        holders[b, k] = -1
        if graph_ptr[b + 1] > graph_ptr[b]:
            norms[b, k], holders[b, k] = measure_column(s, k, graph_ptr[b], graph_ptr[b + 1], rho)


@inline
def _chunks(graph_ptr):
    """Graph, first and last row of pieces of at most `_ROWS` rows, (pieces, 3)."""
    pieces = 0
    for b in range(graph_ptr.shape[0] - 1):
        pieces += (graph_ptr[b + 1] - graph_ptr[b] + _ROWS - 1) // _ROWS
    chunks = np.empty((pieces, 3), np.int64)
    piece = 0
    for b in range(graph_ptr.shape[0] - 1):
        for first in range(graph_ptr[b], graph_ptr[b + 1], _ROWS):
            chunks[piece, 0], chunks[piece, 1] = b, first
            chunks[piece, 2] = min(first + _ROWS, graph_ptr[b + 1])
            piece += 1
    return chunks


@kernel
def _add_gradient(s, graph_ptr, holders, rho, g, ds):
    """Add the gradient of ``sum_b g_b sum_k norm_bk`` to ``ds``.

    It is rho or -1 for each element, and minus their sum for the one that holds the quantile.
    """
    clusters = holders.shape[1]
    chunks = _chunks(graph_ptr)
    above = np.zeros((chunks.shape[0], clusters), np.int64)
    for chunk in prange(chunks.shape[0]):
        b = chunks[chunk, 0]
        quantiles = np.empty(clusters, s.dtype)
        for k in range(clusters):
            quantiles[k] = s[holders[b, k], k]
        up, down = g[b] * s.dtype.type(rho), -g[b]
        for i in range(chunks[chunk, 1], chunks[chunk, 2]):
            for k in range(clusters):
                ds[i, k] += up if s[i, k] >= quantiles[k] else down
            for k in range(clusters):
                above[chunk, k] += s[i, k] >= quantiles[k]
    for chunk in range(chunks.shape[0]):
        b, first, last = chunks[chunk, 0], chunks[chunk, 1], chunks[chunk, 2]
        for k in range(clusters):
            count = above[chunk, k]
            ds[holders[b, k], k] -= g[b] * s.dtype.type(rho * count - (last - first - count))


def forward(s: Tensor, graph_ptr: Tensor, rho: float) -> tuple[Tensor, Tensor]:
    """See `tvgnn.ops.asymmetric_norm.op`."""
    use_threads(s.numel())
    shape = (graph_ptr.shape[0] - 1, s.shape[1])
    norms, holders = s.new_empty(shape), graph_ptr.new_empty(shape)
    _select_and_measure(as_array(s), as_array(graph_ptr), float(rho), as_array(norms), as_array(holders))
    return norms.sum(1), holders


def add_gradient(grad: Tensor, s: Tensor, graph_ptr: Tensor, holders: Tensor, rho: float, ds: Tensor) -> None:
    """Add the gradient with respect to s (N, K) of ``sum_b grad_b norm_b``, grad (B,), to ``ds`` (N, K)."""
    use_threads(s.numel())
    g = as_array(grad.to(s.dtype))
    _add_gradient(as_array(s), as_array(graph_ptr), as_array(holders), float(rho), g, as_array(ds))


def backward(grad: Tensor, s: Tensor, graph_ptr: Tensor, holders: Tensor, rho: float) -> Tensor:
    """See `tvgnn.ops.asymmetric_norm.op`."""
    ds = torch.zeros_like(s, memory_format=torch.contiguous_format)
    add_gradient(grad, s, graph_ptr, holders, rho, ds)
    return ds
