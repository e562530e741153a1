"""Graphs of shares of a whole, such as types of cells in spots of a tissue, age groups of a district or topics."""

from __future__ import annotations

import numpy as np

from benchmarks.quality.classes import edges_by_class
from tvgnn import Graph

__all__ = ["simulate_shares"]


def simulate_shares(number: int) -> Graph:
    """Draw 1,000 nodes and a graph of six edges a node; ``x`` (N, F) float32 of rows that sum to 1, ``y`` (N,).

    Parameters:
        number: seeds the draw and names its settings: all of 4, 8, 15 and 40 parts, of three concentrations of the
            rows about their class, two shares of the edges within classes and three errors of measurement.

    """
    random = np.random.default_rng([number, 27])
    nodes, parts, classes = 1000, (4, 8, 15, 40)[number % 4], (4, 6, 8)[number // 4 % 3]
    concentration, within = (3, 10, 40)[number % 3], (0.3, 0.5)[number // 2 % 2]
    error = (0, 0.01, 0.03)[number // 3 % 3]
    y = random.integers(0, classes, nodes)
    means = random.dirichlet(np.full(parts, 0.7)) + random.dirichlet(np.full(parts, 0.7), classes)
    x = np.stack([random.dirichlet(concentration * mean / 2 + 0.02) for mean in means[y]])
    x = np.maximum(x + random.normal(0, error, x.shape), 0)
    x = (x / x.sum(1, keepdims=True)).astype(np.float32)
    return Graph.from_edge_index(edges_by_class(y, within, random), num_nodes=nodes, x=x, y=y)
