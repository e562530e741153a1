"""Do the edges say anything about the features? What ``preset="quality"`` asks before it averages over neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tvgnn.estimators.quality.directions import averaging_matrix, highest_ratio
from tvgnn.graph.graph import Graph

__all__ = ["neighbor_agreement", "rewired", "shuffled_columns"]

_RANK = 32  # components that are looked at; chance correlates neighbours in some of many


def neighbor_agreement(graph: Graph, x: Any, basis: np.ndarray, random: np.random.RandomState) -> float:
    """Signal-to-noise ratio of what neighbours have in common, in the direction where it is highest, beyond chance.

    Chance is the highest ratio when the nodes' features are dealt out anew (parallel analysis, Horn, 1965). About 0
    where edges are drawn without regard to the features.

    Parameters:
        graph: N nodes.
        x: (N, F) prepared features, dense or CSR.
        basis: (F, r) principal axes, that of the largest variance first.
        random: deals out the features.

    """
    averaging = averaging_matrix(graph)
    reduced = np.asarray(x @ basis[:, :_RANK], dtype=np.float32)
    centred = reduced - reduced.mean(0)
    found = highest_ratio(averaging, centred)
    chance = highest_ratio(averaging, centred[random.permutation(len(centred))])
    # A mean over n nodes keeps 1 / n of the noise
    kept = float(np.square(averaging.data, dtype=np.float64).sum()) / len(centred)
    return (found - chance) * (1 - kept)


def rewired(graph: Graph, random: np.random.RandomState) -> Graph:
    """Join the ends of the edges at random (configuration model); degrees stay but for loops and double edges."""
    upper = sp.triu(graph.adjacency(), k=1).tocoo()
    ends = random.permutation(np.concatenate([upper.row, upper.col])).reshape(2, -1)
    both = np.concatenate([ends, ends[::-1]], axis=1)
    weights = np.tile(upper.data, 2) if graph.is_weighted else None
    return Graph.from_edge_index(both, weights, num_nodes=graph.num_nodes)


def shuffled_columns(x: Any, random: np.random.RandomState) -> Any:
    """Features (N, F) with each column dealt out anew: the same values, nothing in common between columns."""
    generator = np.random.default_rng(random.randint(2**31))
    if not sp.issparse(x):
        return generator.permuted(np.asarray(x), axis=0)
    columns = sp.csc_array(x)
    rows = [generator.choice(x.shape[0], number, replace=False) for number in np.diff(columns.indptr)]
    shuffled = (columns.data, np.concatenate([np.empty(0, np.int64), *rows]), columns.indptr)
    return sp.csr_array(sp.csc_array(shuffled, shape=x.shape))
