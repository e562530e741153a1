"""From what a caller passes, lists of graphs and their labels, to collated graphs for the network."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tvgnn.errors import GraphError
from tvgnn.graph.graph import Graph

__all__ = ["ColumnScaling", "as_graphs", "graph_targets"]


def as_graphs(graphs: Any) -> list[Graph]:
    """Return a list of `Graph`, converted from ``torch_geometric`` data where necessary.

    Raises:
        GraphError: one graph instead of several, none, or something that is no graph; names it by its number.

    """
    if isinstance(graphs, Graph) or hasattr(graphs, "edge_index") or not isinstance(graphs, Iterable):
        raise GraphError(f"expected a list of graphs, got {type(graphs).__name__}; put a single graph into a list")
    converted = [_as_graph(graph, number) for number, graph in enumerate(graphs)]
    if not converted:
        raise GraphError("expected at least one graph, got none")
    return converted


def _as_graph(graph: Any, number: int) -> Graph:
    if isinstance(graph, Graph):
        return graph
    if not hasattr(graph, "edge_index"):
        raise GraphError(
            f"expected every item to be a tvgnn.Graph or a torch_geometric Data, got {type(graph).__name__} at "
            f"{number}; build it with Graph.from_edges, from_scipy or from_networkx"
        )
    try:
        result = Graph.from_pyg(graph)
    except GraphError as error:
        raise GraphError(f"graph {number}: {error}") from error
    y = getattr(graph, "y", None)
    # of a graph of one node, a single y is taken for the graph's
    return result if y is None or y.numel() != 1 else result.with_label(y.item())


def graph_targets(graphs: list[Graph], y: Any) -> npt.NDArray[Any]:
    """Return one label or target a graph: ``y``, or those that the graphs carry.

    Raises:
        ValueError: another number of labels than graphs, or a label that is missing or not finite.

    """
    if y is None:
        missing = next((number for number, graph in enumerate(graphs) if graph.label is None), None)
        if missing is not None:
            raise ValueError(
                f"expected a label for every graph, got none for graph {missing}; pass y, or set it with "
                "Graph.with_label"
            )
        y = [graph.label for graph in graphs]
    values = np.asarray(y)
    if values.ndim == 0 or len(values) != len(graphs):
        raise ValueError(f"expected one label for each of {len(graphs)} graphs, got y of shape {values.shape}")
    if values.dtype.kind == "O" and any(value is None for value in values.flat):
        raise ValueError(f"expected a label for every graph, got None at {[v is None for v in values].index(True)}")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise ValueError(f"expected finite labels, got {values[~np.isfinite(values)][0]}")
    return values


@dataclass(frozen=True)
class ColumnScaling:
    """Standardises feature columns of the training graphs that hold other numbers than 0 and 1.

    Attributes:
        mean: (F,) subtracted; 0 for columns that are left alone.
        scale: (F,) divided by; 1 for columns that are left alone.

    """

    mean: npt.NDArray[np.float32]
    scale: npt.NDArray[np.float32]

    @classmethod
    def fit(cls, graphs: list[Graph], kind: str | None) -> Self:
        """Look at the columns; ``kind`` None leaves all of them alone.

        Raises:
            ValueError: an unknown kind.

        """
        if kind not in ("auto", None):
            raise ValueError(f"expected feature_norm to be 'auto' or None, got {kind!r}")
        width = graphs[0].num_features
        mean, scale = np.zeros(width, np.float32), np.ones(width, np.float32)
        if kind is None or any(sp.issparse(graph.x) for graph in graphs):
            return cls(mean, scale)
        x = np.concatenate([graph.x for graph in graphs]).astype(np.float64)
        if x.shape[0] == 0:
            return cls(mean, scale)
        measured = ~np.isin(x, (0, 1)).all(axis=0)
        spread = x.std(axis=0)
        mean[measured] = x.mean(axis=0)[measured]
        scale[measured] = np.where(spread > 0, spread, 1)[measured]
        return cls(mean, scale)

    @property
    def is_identity(self) -> bool:
        """Whether nothing changes."""
        return not self.mean.any() and bool((self.scale == 1).all())

    def transform(self, graphs: list[Graph]) -> list[Graph]:
        """Return the graphs with scaled features."""
        if self.is_identity:
            return graphs
        return [graph.with_features((graph.x - self.mean) / self.scale) for graph in graphs]
