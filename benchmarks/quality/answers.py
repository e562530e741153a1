"""Graphs of answers: yes or no to a few dozen questions, symptoms, species that were seen at a place."""

from __future__ import annotations

import numpy as np

from benchmarks.quality.classes import edges_by_class
from tvgnn import Graph

__all__ = ["simulate_answers"]


def simulate_answers(number: int) -> Graph:
    """Draw 1,000 nodes, ``x`` (N, F) float32 of 0 and 1, ``y`` (N,), and six edges a node, or none.

    Parameters:
        number: seeds the draw and names its settings: all of 15, 40 and 150 columns, of three frequencies of a 1 (half,
            a quarter and a tenth of the entries, about), with an edge or without any, and rows that say yes alike, or
            some to much and some to little, as places have many species or few.

    """
    random = np.random.default_rng([number, 29])
    nodes, columns = 1000, (15, 40, 150)[number % 3]
    classes, often = (4, 6)[number // 2 % 2], (0, -1.5, -3)[number // 3 % 3]
    y = random.integers(0, classes, nodes)
    odds = random.normal(0, 0.9, (classes, columns))[y] + random.normal(0, 1.1, columns) + often
    odds += (0, 0.8)[number // 2 % 2] * random.normal(size=(nodes, 1))
    x = (random.random((nodes, columns)) < 1 / (1 + np.exp(-odds))).astype(np.float32)
    edges = edges_by_class(y, 0.4, random) if number % 2 else np.empty((2, 0), np.int64)
    return Graph.from_edge_index(edges, num_nodes=nodes, x=x, y=y)
