"""How much memory ``preset="quality"`` takes, said before it starts."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from tvgnn.estimators.quality.categories import category_columns
from tvgnn.estimators.quality.directions import number_of_encoders
from tvgnn.estimators.quality.held_out import PARTS, SAMPLE, are_short_texts
from tvgnn.graph.graph import Graph

__all__ = ["quality_bytes"]


def quality_bytes(graph: Graph, n_clusters: int, parameters: dict[str, Any]) -> int:
    """Estimated peak of what fitting adds to the memory of the process.

    That is reached while neighbourhoods are looked at, where components are wide, or else while candidates are sought.
    The numbers of arrays and bytes are fitted to measured peaks.

    Parameters:
        graph: N nodes with features x (N, F).
        n_clusters: K.
        parameters: the preset's, resolved.

    """
    nodes, features = graph.x.shape
    rank, seen = min(256, features), min(parameters["batch_size"] or nodes, nodes)
    width = min(parameters["hidden_channels"], rank)
    views = number_of_encoders(nodes, features)
    floats = max(6 * seen * rank, 2 * seen * rank + 9 * nodes * width) + 3 * features * rank + 6 * rank * rank
    floats += nodes * views * (width + parameters["n_init"] * n_clusters)
    if are_short_texts(graph.x):  # while words held out are looked at
        floats += PARTS * min(nodes, SAMPLE) * min(rank, features // PARTS)
    floats += 4 * nodes * len(category_columns(graph.x))
    floats += 4 * graph.x.nnz if sp.issparse(graph.x) else 2 * graph.x.size  # prepared, and in another order
    return 32 * 2**20 + 4 * floats + 40 * graph.indices.size
