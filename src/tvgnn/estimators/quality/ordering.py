"""An order of the nodes in which GTV steps find their neighbours in the cache."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.graph import Graph
from tvgnn.graph.locality import relabel_by_locality

__all__ = ["in_order_of_locality"]

_WORTH_ORDERING = 16 * 2**20  # bytes of an embedding; smaller ones are mostly found in the cache


def in_order_of_locality(graph: Graph, *rows: Any, width: int) -> tuple[Any, ...]:
    """Put the nodes of a large graph into an order that keeps neighbours together, which the result does not tell.

    Parameters:
        graph: N nodes.
        rows: (N, ...) of the nodes, dense or CSR.
        width: columns of the embedding, by which a graph is large.

    Returns:
        All of them in the order, or as they are.

    """
    relabelled = relabel_by_locality(Adjacency.from_graph(graph), width, _WORTH_ORDERING)
    if relabelled is None:
        return graph, *rows
    lists = relabelled.adjacency
    weights = graph.weights[relabelled.entries.numpy()] if graph.is_weighted else graph.weights
    ordered = replace(
        graph,
        indptr=lists.indptr.numpy(),
        indices=lists.indices.numpy(),
        weights=weights,
        x=None,
        y=None,
        node_ids=range(graph.num_nodes),
    )
    return ordered, *(part[relabelled.nodes.numpy()] for part in rows)
