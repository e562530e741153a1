"""Lists, datasets and batches of graphs as a list of `Graph`."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from tvgnn.datasets.block_graphs import BlockGraphs
from tvgnn.errors import GraphError
from tvgnn.graph.adapters import EDGE_ATTRIBUTES_UNUSED, graph_label
from tvgnn.graph.graph import Graph
from tvgnn.graph.validation import as_array

__all__ = ["as_graphs"]


def as_graphs(graphs: Any, *, warn: bool = False) -> list[Graph]:
    """Return a list of `Graph`, converted from ``torch_geometric`` data where necessary.

    Parameters:
        graphs: an iterable, a torch dataset or a ``torch_geometric`` Batch, which is taken apart.
        warn: say once where edge attributes are not used.

    Raises:
        GraphError: one graph instead of several, none, or something that is no graph; names it by its number.

    """
    converted = []
    dropped = None
    for number, item in enumerate(_items(graphs)):
        graph = _as_graph(item, number)
        if graph is not item and dropped is None and EDGE_ATTRIBUTES_UNUSED in graph.report.notes:
            dropped = number
        converted.append(graph)
    if not converted:
        raise GraphError("expected at least one graph, got none")
    if warn and dropped is not None:
        warnings.warn(f"{EDGE_ATTRIBUTES_UNUSED} (first in graph {dropped})", UserWarning, stacklevel=5)
    return converted


def _items(graphs: Any) -> Iterable[Any]:
    if isinstance(graphs, DataLoader):
        raise GraphError(f"expected a list of graphs or a dataset, got {_kind(graphs)}; pass loader.dataset")
    # before a single graph: a dataset of PyTorch Geometric passes on the attributes of the graphs that it holds
    if not isinstance(graphs, Dataset):
        if _is_batch(graphs):
            return list(graphs.to_data_list())
        if isinstance(graphs, Graph) or _is_data(graphs) or _is_networkx(graphs):
            raise GraphError(f"expected a list of graphs, got {_kind(graphs)}; put a single graph into a list")
    if isinstance(graphs, Iterable):
        return graphs
    if hasattr(graphs, "__len__") and hasattr(graphs, "__getitem__"):
        return (graphs[number] for number in range(len(graphs)))
    raise GraphError(f"expected a list of graphs or a dataset, got {_kind(graphs)}; put a single graph into a list")


def _as_graph(item: Any, number: int) -> Graph:
    if isinstance(item, Graph):
        return item
    if isinstance(item, type | Dataset) or not _is_data(item):
        remedy = "Graph.from_networkx(graph)" if _is_networkx(item) else "Graph.from_edges, from_scipy or from_networkx"
        raise GraphError(
            f"expected every item to be a tvgnn.Graph or a torch_geometric Data, got {_kind(item)} at {number}; build "
            f"it with {remedy}"
        )
    held = _graphs_held(item)
    if held != 1:
        raise GraphError(
            f"expected one graph in every item, got {_kind(item)} of {held} graphs at {number}; take it apart with "
            "to_data_list()"
        )
    try:
        result = _without_nodes(item) or Graph.from_pyg(item)
    except GraphError as error:
        raise GraphError(f"graph {number}: {error}") from error
    # of a graph of one node, a single y is taken for the graph's
    return result.with_label(graph_label(getattr(item, "y", None)))


def _without_nodes(data: Any) -> Graph | None:
    """A Data without nodes, which `Graph` refuses since a clustering has nothing to do; None where it has some."""
    x, edges = getattr(data, "x", None), getattr(data, "edge_index", None)
    if (
        x is None
        or getattr(x, "ndim", 0) != 2
        or x.shape[0]
        or not x.shape[1]
        or tuple(getattr(edges, "shape", ())) != (2, 0)
    ):
        return None
    none = np.zeros(0, np.int64)
    values = as_array(x, "x").astype(np.float32)
    return BlockGraphs.from_edges(none, none, np.zeros(1, np.int64)).cut(values, [None])[0]


def _graphs_held(data: Any) -> int:
    """Number of graphs that a Data consists of: of a Batch its own, else by ``batch``, the graph of every node."""
    if _is_batch(data):
        return int(data.num_graphs)
    batch = getattr(data, "batch", None)
    return len(torch.unique(batch)) if isinstance(batch, torch.Tensor) and batch.numel() else 1


def _is_batch(value: Any) -> bool:
    return _is_data(value) and hasattr(value, "to_data_list") and hasattr(value, "num_graphs")


def _is_data(value: Any) -> bool:
    return not isinstance(value, type) and (hasattr(value, "edge_index") or hasattr(value, "edge_types"))


def _is_networkx(value: Any) -> bool:
    return hasattr(value, "nodes") and hasattr(value, "edges") and hasattr(value, "adj")


def _kind(value: Any) -> str:
    """Name of a class, with its package where several have such a one."""
    kind = value if isinstance(value, type) else type(value)
    package = kind.__module__.partition(".")[0]
    return kind.__name__ if package in ("builtins", "__main__", "abc", "tvgnn") else f"{package}.{kind.__name__}"
