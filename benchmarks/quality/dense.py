"""Graphs that join a large part of all pairs: similarities of the nodes, or amounts between them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from tvgnn import Graph

__all__ = ["simulate_dense"]


def simulate_dense(number: int) -> Graph:
    """Draw nodes of some classes, ``x`` (N, 10) float32 that tells them apart badly, ``y`` (N,), and weighted edges.

    Parameters:
        number: seeds the draw and names its settings: all of three kinds of weights (a Gaussian kernel of points,
            correlations of profiles, amounts by class with degrees and noise of their own), and three shares of the
            pairs that have an edge (of similarities the largest; of correlations only positive ones).

    """
    random = np.random.default_rng([number, 28])
    nodes, classes = ((400, 4), (600, 7))[number % 2]
    pairs = (1.0, 0.5, 0.25)[number // 3 % 3]
    y = random.integers(0, classes, nodes)
    kind = ("kernel", "correlations", "amounts")[number % 3]
    if kind == "amounts":
        weights = _amounts(y, pairs, random)
    else:
        columns, apart = (6, 1.2) if kind == "kernel" else (40, 0.6)
        points = apart * random.normal(size=(classes, columns))[y] + random.normal(size=(nodes, columns))
        weights = _kernel(points) if kind == "kernel" else np.clip(np.corrcoef(points), 0, None)
        np.fill_diagonal(weights, 0)
        weights[weights < np.quantile(weights, 1 - pairs)] = 0
    x = random.normal(size=(classes, 10))[y] + random.normal(0, 2.5, (nodes, 10))
    return Graph.from_scipy(sp.csr_array(weights), x=x.astype(np.float32), y=y)


def _kernel(points: np.ndarray) -> np.ndarray:
    squares = np.square(points[:, None] - points).sum(2)
    return np.exp(-squares / np.median(squares))


def _amounts(y: np.ndarray, pairs: float, random: np.random.Generator) -> np.ndarray:
    """Larger within classes, by the more the fewer pairs have any."""
    within = 1 + 0.9 / np.sqrt(pairs)
    weights = np.where(y[:, None] == y, within, 1) * random.lognormal(0, 1, (len(y), len(y)))
    weights = np.triu(weights * (random.random(weights.shape) < pairs), 1)
    activity = random.lognormal(0, 0.5, len(y))
    return (weights + weights.T) * activity[:, None] * activity
