"""Numba kernels of softmax and both losses of a batch of small graphs, a graph at a time.

Nothing here is shared out but the graphs: for one large graph see `cpu`, whose kernels cut it.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from numba import prange
from torch import Tensor

from tvgnn.graph.adjacency import Adjacency
from tvgnn.ops._numba import as_array, entry_values, inline, kernel, use_threads
from tvgnn.ops.asymmetric_norm.cpu import measure_column
from tvgnn.ops.total_variation.cpu import row_distance

__all__ = ["backward", "forward"]


@inline
def _softmax_row(logits, s, i):
    largest = logits[i, 0]
    for k in range(1, s.shape[1]):
        largest = max(largest, logits[i, k])
    total = s.dtype.type(0)
    for k in range(s.shape[1]):
        s[i, k] = math.exp(logits[i, k] - largest)
        total += s[i, k]
    for k in range(s.shape[1]):
        s[i, k] /= total


@kernel
def _forward(logits, indptr, indices, weights, graph_ptr, rho, beta, loops_count, s, holders, sums, means):
    """Assignments ``s``; quantile holders (B, K); variation and twice the weight (B, 2); both losses (2,)."""
    graphs, clusters = holders.shape
    balance = np.zeros(graphs)
    for b in prange(graphs):
        for i in range(graph_ptr[b], graph_ptr[b + 1]):
            _softmax_row(logits, s, i)
    for b in prange(graphs):
        first, last = graph_ptr[b], graph_ptr[b + 1]
        variation, weight = 0.0, 0.0
        for i in range(first, last):
            for e in range(indptr[i], indptr[i + 1]):
                w = weights[e] if weights.shape[0] > 0 else s.dtype.type(1)
                variation += w * row_distance(s, i, indices[e])
                if loops_count or indices[e] != i:
                    weight += w
        sums[b, 0], sums[b, 1] = variation, 2 * weight
        norm = 0.0
        for k in range(clusters):
            holders[b, k] = -1
            if last > first:
                column, holders[b, k] = measure_column(s, k, first, last, rho)
                norm += column
        balance[b] = 1 - norm / ((last - first) * beta) if last > first else 0.0
    means[0], means[1] = 0, 0
    for b in range(graphs):
        means[0] += sums[b, 0] / (sums[b, 1] if sums[b, 1] >= np.finfo(s.dtype).tiny else 1.0) / graphs
        means[1] += balance[b] / graphs


@inline
def _add_norm_gradient(s, first, last, holders, b, rho, g, grad):
    """As in `asymmetric_norm`: rho or -1 for each element, minus their sum for the one that holds the quantile."""
    for k in range(s.shape[1]):
        quantile = s[holders[b, k], k]
        above = 0
        for i in range(first, last):
            grad[i, k] += g * rho if s[i, k] >= quantile else -g
            above += s[i, k] >= quantile
        grad[holders[b, k], k] -= g * (rho * above - (last - first - above))


@kernel
def _backward(ds, dmeans, s, indptr, indices, weights, graph_ptr, rho, beta, loops_count, holders, sums, grad, dw):
    """Gradients ``grad`` with respect to the logits and, if that is not empty, ``dw``; ``ds`` may be empty too."""
    graphs, clusters = holders.shape
    number = s.dtype.type
    scale = np.empty(s.shape[0], s.dtype)  # gradient of the variation of a node
    for b in range(graphs):
        weight = sums[b, 1] if sums[b, 1] >= np.finfo(s.dtype).tiny else 1.0
        for i in range(graph_ptr[b], graph_ptr[b + 1]):
            scale[i] = dmeans[0] / (weight * graphs)
    for b in prange(graphs):
        first, last = graph_ptr[b], graph_ptr[b + 1]
        from_weight = number(0)
        if sums[b, 1] >= np.finfo(s.dtype).tiny and last > first:
            from_weight = number(2 * scale[first] * sums[b, 0] / sums[b, 1])
        for i in range(first, last):
            for k in range(clusters):
                grad[i, k] = ds[i, k] if ds.shape[0] > 0 else 0
            for e in range(indptr[i], indptr[i + 1]):
                j = indices[e]
                pull = scale[i] + scale[j]
                if weights.shape[0] > 0:
                    pull *= weights[e]
                for k in range(clusters):  # two independent selects vectorise, nested ones do not
                    above = pull if s[i, k] > s[j, k] else number(0)
                    below = pull if s[i, k] < s[j, k] else number(0)
                    grad[i, k] += above - below
                if dw.shape[0] > 0:
                    dw[e] = scale[i] * row_distance(s, i, j) - (from_weight if loops_count or i != j else number(0))
        if last > first:
            g = number(-dmeans[1] / (graphs * (last - first) * beta))
            _add_norm_gradient(s, first, last, holders, b, number(rho), g, grad)
        for i in range(first, last):
            mean = number(0)
            for k in range(clusters):
                mean += grad[i, k] * s[i, k]
            for k in range(clusters):
                grad[i, k] = (grad[i, k] - mean) * s[i, k]


def forward(
    logits: Tensor, adjacency: Adjacency, pointers: Tensor, rho: float, beta: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Assignments (N, K), losses (2,), and what `backward` needs of the graphs: holders (B, K) and sums (B, 2)."""
    use_threads((logits.shape[0] + adjacency.num_entries) * logits.shape[1])
    graphs = pointers.shape[0] - 1
    s, holders = (
        torch.empty_like(logits, memory_format=torch.contiguous_format),
        pointers.new_empty(graphs, logits.shape[1]),
    )
    sums, means = logits.new_empty(graphs, 2, dtype=torch.float64), logits.new_empty(2)
    rows = (as_array(adjacency.indptr), as_array(adjacency.indices), entry_values(adjacency.values, logits))
    settings = (as_array(pointers), rho, beta, adjacency.loops_count)
    _forward(as_array(logits), *rows, *settings, as_array(s), as_array(holders), as_array(sums), as_array(means))
    return s, means, holders, sums


def backward(
    ds: Tensor | None,
    dmeans: Tensor,
    s: Tensor,
    holders: Tensor,
    sums: Tensor,
    adjacency: Adjacency,
    pointers: Tensor,
    rho: float,
    beta: float,
    needs_weights: bool,
) -> tuple[Tensor, Tensor]:
    """Gradients with respect to the logits (N, K) and the weights (E,) or an empty tensor."""
    use_threads((s.shape[0] + adjacency.num_entries) * s.shape[1])
    grad, dw = torch.empty_like(s), s.new_empty(adjacency.num_entries if needs_weights else 0)
    given = as_array(s.new_empty(0, s.shape[1]) if ds is None else ds)
    rows = (as_array(adjacency.indptr), as_array(adjacency.indices), entry_values(adjacency.values, s))
    settings = (as_array(pointers), rho, beta, adjacency.loops_count, as_array(holders), as_array(sums))
    _backward(given, as_array(dmeans), as_array(s), *rows, *settings, as_array(grad), as_array(dw))
    return grad, dw
