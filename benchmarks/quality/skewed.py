"""Graphs of measurements with heavy tails: incomes, followers, slips of a sensor; and of markers, which must stay."""

from __future__ import annotations

import numpy as np

from benchmarks.quality.classes import edges_by_class
from tvgnn import Graph

__all__ = ["SHAPES", "simulate_skewed"]

SHAPES = ("exponentials", "steep exponentials", "half exponentials", "Student's t", "slips", "markers")


def simulate_skewed(number: int) -> Graph:
    """Draw N nodes and a graph of six edges a node; ``x`` (N, F) float32, ``y`` (N,).

    Parameters:
        number: seeds the draw and names its settings: all of six shapes of the columns, of two sizes, of three
            strengths of the differences between classes, which go with three shares of the edges within classes.

    """
    random = np.random.default_rng(number)
    shape, large = SHAPES[number % 6], number // 6 % 2
    difference, within = ((0.5, 0.5), (0.8, 0.7), (1.2, 0.3))[number % 3]
    nodes, classes, columns = ((800, 4, 8), (2000, 6, 20))[large]
    if shape == "markers":
        classes, columns, within = 12, 24, 0.35
    y = random.integers(0, classes, nodes)
    x = random.normal(0, difference, (classes, columns))[y] + random.normal(size=(nodes, columns))
    if shape == "markers":  # two columns a class, far up in most of its members
        own = np.repeat(np.eye(classes), 2, axis=1)[y]
        x = random.normal(size=x.shape) + 8 * own * (random.random(x.shape) < 0.8)
    elif shape == "half exponentials":
        x[:, ::2] = 100 * np.exp(1.5 * x[:, ::2])
    elif shape == "Student's t":
        x += random.standard_t(2, x.shape) - random.normal(size=x.shape)
    elif shape == "slips":
        slipped = random.integers(0, nodes, nodes // 100)
        x[slipped, random.integers(0, columns, len(slipped))] *= 100
    else:
        x = np.exp({"exponentials": 1, "steep exponentials": 2}[shape] * x)
    return Graph.from_edge_index(edges_by_class(y, within, random), num_nodes=nodes, x=x.astype(np.float32), y=y)
