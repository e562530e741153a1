"""A graph whose nodes are joined to their nearest neighbours."""

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from tvgnn.graph.adapters import RawGraph
from tvgnn.graph.graph import Graph
from tvgnn.graph.knn.build import neighbor_edges
from tvgnn.graph.knn.settings import NeighborSettings

__all__ = ["with_neighbor_edges"]

G = TypeVar("G", bound=Graph)


def with_neighbor_edges(graph: G, rows: Any, settings: NeighborSettings) -> G:
    """Return the graph's nodes, features, labels and ids with the edges of the nearest neighbours among ``rows``.

    Parameters
    ----------
    graph
        N nodes without edges: those it has are left out, notes are kept.
    rows
        (N, F) finite, dense or CSR: what neighbours are near in, for example scaled features.
    settings
        How.

    Raises
    ------
    GraphError
        See `neighbor_edges`.

    Examples
    --------
    >>> nodes = Graph.from_edge_index([[], []], x=[[2.0], [5.0], [9.0]], node_ids="abc")
    >>> with_neighbor_edges(nodes, np.array([[0.0], [0.1], [7.0]]), NeighborSettings(1))
    Graph(3 nodes, 2 edges, unweighted, 1 feature)
    """
    edges = neighbor_edges(rows, settings)
    notes = (*graph.report.notes, *edges.notes)
    raw = RawGraph(edges.source, edges.target, edges.weight, "listed", node_ids=graph.node_ids, notes=notes)
    joined = type(graph)._from_raw(raw, np.float32)
    return replace(joined, x=graph.x, y=graph.y, class_names=graph.class_names, label=graph.label)
