"""Airports by how busy they are: the edges say it by their number, and the only features are degrees."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from tvgnn import Graph

__all__ = ["simulate_airports"]

_SIZES = (131, 1038), (399, 5995), (1190, 13599)  # nodes and edges of those of Brazil, Europe and the USA


def simulate_airports(number: int, levels: int = 4) -> Graph:
    """Join the pairs whose traffic by size and distance is largest; classes are equally large levels of activity.

    The sizes of the networks follow Ribeiro et al. (struc2vec, KDD 2017) in turn. Activity is the size with noise.
    Features are one-hot degrees, a column for each that occurs.
    """
    nodes, edges = _SIZES[number % len(_SIZES)]
    random = np.random.default_rng(number)
    size, place = 1.6 * random.normal(size=nodes), random.normal(size=(nodes, 2))
    one, other = np.triu_indices(nodes, 1)
    distance = np.linalg.norm(place[one] - place[other], axis=1)
    traffic = size[one] + size[other] - distance + 0.7 * random.gumbel(size=len(one))
    busiest = np.argsort(-traffic)[:edges]
    activity = size + 0.8 * random.normal(size=nodes)
    y = np.searchsorted(np.quantile(activity, np.arange(1, levels) / levels), activity)
    ends = np.stack([one[busiest], other[busiest]])
    degrees = np.bincount(ends.ravel(), minlength=nodes)
    columns = np.unique(degrees, return_inverse=True)[1]
    x = sp.csr_array((np.ones(nodes), (np.arange(nodes), columns)))
    return Graph.from_edge_index(np.concatenate([ends, ends[::-1]], axis=1), num_nodes=nodes, x=x, y=y)
