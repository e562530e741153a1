"""Random walks on a weighted graph, the same for any number of threads."""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt
import torch

from tvgnn.graph.graph import Graph
from tvgnn.ops._numba import inline, kernel

__all__ = ["random_walks"]


def random_walks(
    graph: Graph, walks_per_node: int, length: int, seed: int, p: float = 1.0, q: float = 1.0
) -> npt.NDArray[np.int32]:
    """Walks of the second order that start at every node (Grover & Leskovec, KDD 2016, sec. 3.2).

    The next node x after ``t -> v`` is drawn with probability proportional to ``alpha a_vx``, where alpha is ``1/p``
    for ``x = t``, 1 for neighbours of t and ``1/q`` otherwise; the first step, and every step where ``p = q = 1``, is
    proportional to ``a_vx`` alone (DeepWalk). Drawn by rejection: memory is O(E), and no table per edge is kept.

    Every walk has a generator of its own, seeded by its number, so threads change nothing.

    Parameters:
        graph: N nodes.
        walks_per_node: walks from each node.
        length: nodes of a walk, the first included.
        seed: of all walks.
        p: return parameter.
        q: in-out parameter.

    Returns:
        (walks_per_node * N, length) int32, pass after pass over the nodes, each pass in a random order. A walk that
        starts at an isolated node is that node and then -1.

    """
    weights = graph.weights.astype(np.float64)
    sums = np.empty_like(weights)
    _row_sums(graph.indptr, weights, sums)
    order = np.random.default_rng(seed)
    nodes = np.arange(graph.num_nodes, dtype=np.int32)
    walks = np.full((walks_per_node * graph.num_nodes, length), -1, dtype=np.int32)
    walks[:, 0] = np.concatenate([order.permutation(nodes) for _ in range(walks_per_node)])
    numba.set_num_threads(min(torch.get_num_threads(), numba.config.NUMBA_NUM_THREADS))
    _walk(graph.indptr, graph.indices, sums, walks, np.uint64(seed), float(p), float(q))
    return walks


@inline
def _next(state):
    """Splitmix64 (Steele et al., OOPSLA 2014): the next state and a number in [0, 1)."""
    state = state + np.uint64(0x9E3779B97F4A7C15)
    return state, np.float64(_mixed(state) >> np.uint64(11)) * 2.0**-53


@inline
def _mixed(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@inline
def _row_sums(indptr, weights, sums):
    for row in range(indptr.shape[0] - 1):
        total = 0.0
        for entry in range(indptr[row], indptr[row + 1]):
            total += weights[entry]
            sums[entry] = total


@inline
def _neighbor(indices, sums, first, last, uniform):
    """Neighbour whose share of the row's weight holds the position ``uniform``."""
    position = uniform * sums[last - 1]
    low, high = first, last - 1
    while low < high:
        middle = (low + high) // 2
        if sums[middle] > position:
            high = middle
        else:
            low = middle + 1
    return indices[low]


@inline
def _adjacent(indptr, indices, node, other):
    low, high = indptr[node], indptr[node + 1]
    while low < high:
        middle = (low + high) // 2
        if indices[middle] < other:
            low = middle + 1
        else:
            high = middle
    return low < indptr[node + 1] and indices[low] == other


@kernel
def _walk(indptr, indices, sums, walks, seed, p, q):
    largest = max(1.0 / p, 1.0, 1.0 / q)
    second_order = p != 1.0 or q != 1.0
    for walk in numba.prange(walks.shape[0]):
        # Mixed, so that the sequences of two walks do not overlap
        state = _mixed(_mixed(seed) ^ np.uint64(walk))
        previous = np.int64(-1)
        for step in range(1, walks.shape[1]):
            node = np.int64(walks[walk, step - 1])
            first, last = indptr[node], indptr[node + 1]
            if first == last:
                break
            while True:
                state, uniform = _next(state)
                following = np.int64(_neighbor(indices, sums, first, last, uniform))
                if not second_order or previous < 0:
                    break
                bias = 1.0 / q
                if following == previous:
                    bias = 1.0 / p
                elif _adjacent(indptr, indices, previous, following):
                    bias = 1.0
                state, uniform = _next(state)
                if uniform * largest < bias:
                    break
            walks[walk, step] = following
            previous = node
