"""Networks whose edges have weights: amounts with heavy tails that say more or less of who belongs together."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from tvgnn import Graph

__all__ = ["simulate_weights"]

_WORDS = 400


def simulate_weights(number: int) -> Graph:
    """Draw 600 to 1,800 nodes, edges of any weight, ``x`` (N, F) float32 of measurements or words, and ``y`` (N,).

    Weights are lognormal, larger within classes or not, and in half of the networks grow with the sizes of the nodes
    that they join, as flows of trade do.

    Parameters:
        number: seeds the draw and names its settings.

    """
    random = np.random.default_rng([number, 43])
    nodes, classes = int(random.integers(600, 1800)), int(random.integers(3, 8))
    y = random.choice(classes, nodes, p=random.dirichlet(np.full(classes, 5.0)))
    size = random.lognormal(0, 0.8, nodes)
    ends = _joined(y, size, int(nodes * random.choice([3, 6, 12, 25])), random.choice([0.15, 0.35, 0.6]), random)
    logarithm = random.choice([0.7, 1.5, 2.5]) * random.normal(size=ends.shape[1])
    logarithm += random.choice([0, 1, 2.5]) * (y[ends[0]] == y[ends[1]])
    if number % 2:
        logarithm += np.log(size[ends]).sum(0)
    x = _measurements(y, random) if number // 2 % 2 else _words(y, random)
    return Graph.from_edge_index(ends, np.exp(logarithm), num_nodes=nodes, x=x, y=y)


def _joined(y: np.ndarray, size: np.ndarray, number: int, within: float, random: np.random.Generator) -> np.ndarray:
    """About so many pairs (2, E) of nodes by their size, a share of which is drawn ``within`` the first one's class."""
    first, second = random.choice(len(y), (2, number), p=size / size.sum())
    inside = random.random(number) < within
    for label in range(int(y.max()) + 1):
        own, drawn = np.flatnonzero(y == label), np.flatnonzero(inside & (y[first] == label))
        second[drawn] = random.choice(own, drawn.size, p=size[own] / size[own].sum())
    pairs = np.sort(np.stack([first, second]), axis=0)
    return np.unique(pairs[:, pairs[0] != pairs[1]], axis=1)


def _measurements(y: np.ndarray, random: np.random.Generator) -> np.ndarray:
    found = 0.45 * random.normal(size=(int(y.max()) + 1, 16))[y] + random.normal(size=(len(y), 16))
    return found.astype(np.float32)


def _words(y: np.ndarray, random: np.random.Generator) -> sp.csr_array:
    shares = np.exp(0.8 * random.normal(size=(int(y.max()) + 1, _WORDS))) / np.arange(1, _WORDS + 1)
    shares /= shares.sum(1, keepdims=True)
    x = np.zeros((len(y), _WORDS), np.float32)
    for node, label in enumerate(y):
        x[node, random.choice(_WORDS, 12, p=shares[label])] = 1
    return sp.csr_array(x)
