"""Graphs of amounts, most of them zero: what customers spend by category, hours by game, rain by station."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from benchmarks.quality.classes import edges_by_class
from tvgnn import Graph

__all__ = ["simulate_amounts"]


def simulate_amounts(number: int) -> Graph:
    """Draw N nodes and a graph of six edges a node; ``x`` (N, F) CSR, lognormal where it is not 0, ``y`` (N,).

    Parameters:
        number: seeds the draw and names its settings: all of three ways in which classes differ (by amounts alone, by
            amounts and by what is bought at all, by the latter foremost), of three widths of the amounts, two shares of
            the edges within classes, two sizes, and one unit for all categories or one for each.

    """
    random = np.random.default_rng([number, 26])
    nodes, classes, categories = ((1500, 5, 40), (2500, 8, 120))[number % 2]
    bought, spent = ((0.0, 1.0), (0.5, 0.5), (1.0, 0.25))[number % 3]
    width, within, units = (0.7, 1.2, 1.8)[number // 3 % 3], (0.35, 0.5)[number // 9 % 2], (0.0, 1.5)[number // 2 % 2]
    y = random.integers(0, classes, nodes)
    odds = random.normal(-2, 1, categories) + random.normal(0, bought, (classes, categories))
    buys = random.random((nodes, categories)) < (1 / (1 + np.exp(-odds)))[y]
    logarithms = 3 + random.normal(0, spent, (classes, categories))[y] + width * random.normal(size=buys.shape)
    logarithms += units * random.normal(size=categories) + 0.4 * random.normal(size=(nodes, 1))
    x = sp.csr_array((buys * np.exp(logarithms)).astype(np.float32))
    return Graph.from_edge_index(edges_by_class(y, within, random), num_nodes=nodes, x=x, y=y)
