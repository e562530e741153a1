"""Blocks whose nodes have mostly neighbours from elsewhere."""

import numpy as np

from tvgnn import Graph


def blocks(nodes, *, shared, degree, apart, classes=3, columns=12, weight=1.0, seed=0):
    """A share of the edges ends in the own class, the others anywhere; features are Gaussian around its mean."""
    random = np.random.default_rng(seed)
    y = np.sort(np.arange(nodes) % classes)
    source = random.integers(0, nodes, nodes * degree // 2)
    begin, end = np.searchsorted(y, y[source]), np.searchsorted(y, y[source], "right")
    own = random.random(len(source)) < shared
    target = np.where(own, random.integers(begin, end), random.integers(0, nodes, len(source)))
    x = random.normal(0, apart, (classes, columns))[y] + random.normal(size=(nodes, columns))
    weights = np.full(len(source), weight)
    return Graph.from_edge_index(np.stack([source, target]), weights, num_nodes=nodes, x=x, y=y)
