"""Sizes of datasets, computed from the loaded data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tvgnn.graph.graph import Graph

__all__ = ["GraphSetSize", "GraphSize", "graph_set_size", "graph_size"]


@dataclass(frozen=True)
class GraphSize:
    """Size of one graph; an undirected edge counts twice, as in the paper."""

    vertices: int
    edges: int
    attributes: int
    classes: int


@dataclass(frozen=True)
class GraphSetSize:
    """Size of a set of graphs; means over the graphs, an undirected edge counts twice."""

    samples: int
    classes: int
    mean_vertices: float
    mean_edges: float
    attributes: int


def graph_size(graph: Graph) -> GraphSize:
    """Return the size of a graph.

    Examples
    --------
    >>> from tvgnn import Graph
    >>> graph_size(Graph.from_edges([0, 1], [1, 2], x=[[1.0], [0.0], [2.0]], y=[0, 1, 1]))
    GraphSize(vertices=3, edges=4, attributes=1, classes=2)
    """
    return GraphSize(graph.num_nodes, 2 * graph.num_edges, graph.num_features, graph.num_classes)


def graph_set_size(graphs: Sequence[Graph]) -> GraphSetSize:
    """Return the size of a set of at least one graph, each with its class as ``label``."""
    return GraphSetSize(
        len(graphs),
        len({graph.label for graph in graphs}),
        float(np.mean([graph.num_nodes for graph in graphs])),
        float(np.mean([2 * graph.num_edges for graph in graphs])),
        graphs[0].num_features,
    )
