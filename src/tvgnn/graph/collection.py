"""Many graphs, from which batches are laid end to end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from torch import Tensor

from tvgnn.errors import GraphError
from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.graph import Graph
from tvgnn.graph.grouping import Grouping
from tvgnn.graph.held_features import held
from tvgnn.graph.sparse_matrix import index_dtype

Rows = npt.NDArray[Any]

__all__ = ["GraphBatch", "GraphCollection", "common_width"]


@dataclass(frozen=True, eq=False)
class GraphBatch:
    """Some graphs as one.

    Attributes:
        x: (N, F) features of all nodes.
        adjacency: symmetric, N nodes; edges join nodes of the same graph only.
        groups: which nodes form which graph.

    """

    x: Tensor
    adjacency: Adjacency
    groups: Grouping

    def to(self, device: torch.device | str) -> Self:
        """Move the tensors to ``device``."""
        return replace(self, x=self.x.to(device), adjacency=self.adjacency.to(device), groups=self.groups.to(device))

    @cached_property
    def edge_index(self) -> Tensor:
        """The edges as (2, E) int64, both directions of each."""
        return torch.stack([self.adjacency.rows(), self.adjacency.indices.long()])

    @property
    def edge_weight(self) -> Tensor | None:
        """Weights (E,), None where the graphs have none."""
        return self.adjacency.values


class GraphCollection:
    """Graphs with features of the same width; see `batch`. It copies nothing of them but features that it prepares.

    Parameters:
        graphs: at least one, all with features.
        prepare: gives the float32 features (N, F) that are used, None for those of the graphs; called by batch where
            they are sparse, since it may fill them.

    Raises:
        GraphError: no graph, a graph without features, or features of another width; names the graph by its number.

    Example:
        >>> pair = Graph.from_edges([0], [1], x=[[1.0], [2.0]])
        >>> batch = GraphCollection([pair, pair]).batch([0, 1])
        >>> batch.x.flatten().tolist(), batch.edge_index.tolist()
        ([1.0, 2.0, 1.0, 2.0], [[0, 1, 2, 3], [1, 0, 3, 2]])

    """

    def __init__(self, graphs: Sequence[Graph], prepare: Callable[[Rows], Rows] | None = None) -> None:
        if not graphs:
            raise GraphError("expected at least one graph, got none")
        self.num_features = common_width(graphs)
        self.sizes = np.array([graph.num_nodes for graph in graphs], np.int64)
        self._graphs = list(graphs)  # their arrays stay the only ones
        self._weighted = any(graph.is_weighted for graph in graphs)
        self._prepare = prepare
        self._x = [held(graph) for graph in graphs]
        self._dtype = np.result_type(np.float32, *{x.dtype for x in self._x})
        self._sparse = any(sp.issparse(x) for x in self._x)
        if prepare is not None and not self._sparse:
            self._x, self._dtype = [prepare(graph.x) for graph in graphs], np.dtype(np.float32)

    def __len__(self) -> int:
        return len(self.sizes)

    def batch(self, numbers: npt.ArrayLike) -> GraphBatch:
        """Return the graphs of these numbers, in this order."""
        chosen = np.asarray(numbers, np.int64)
        graphs = [self._graphs[number] for number in chosen.tolist()]
        sizes = self.sizes[chosen]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        num_entries = sum(len(graph.indices) for graph in graphs)
        dtype = np.int32 if index_dtype(int(offsets[-1]), num_entries) == torch.int32 else np.int64
        indptr, indices = np.zeros(offsets[-1] + 1, dtype), np.empty(num_entries, dtype)
        entries = 0
        for graph, node in zip(graphs, offsets.tolist(), strict=False):
            following = entries + len(graph.indices)
            np.add(graph.indptr, entries, out=indptr[node : node + len(graph.indptr)], casting="same_kind")
            np.add(graph.indices, node, out=indices[entries:following], casting="same_kind")
            entries = following
        values = None
        if self._weighted:
            values = torch.from_numpy(np.concatenate([np.empty(0, np.float32), *(graph.weights for graph in graphs)]))
        adjacency = Adjacency(
            torch.from_numpy(indptr),
            torch.from_numpy(indices),
            values,
            int(offsets[-1]),
            symmetric=True,
            loops_count=True,
        )
        groups = Grouping(
            torch.from_numpy(offsets),
            int(offsets[-1]),
            len(chosen),
            torch.from_numpy(np.repeat(np.arange(len(chosen)), sizes)),
            longest=int(sizes.max(initial=0)),
        )
        return GraphBatch(torch.from_numpy(self._rows(chosen)), adjacency, groups)

    def _rows(self, chosen: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        parts = [self._x[number] for number in chosen.tolist()]
        dense = [part.toarray() if sp.issparse(part) else part for part in parts]
        none = np.empty((0, self.num_features), self._dtype)
        with np.errstate(over="ignore"):
            rows = np.concatenate([none, *dense])  # of the same type for all batches
            if self._sparse and self._prepare is not None:
                rows = self._prepare(rows)
            return rows.astype(np.float32, copy=False)


def common_width(graphs: Sequence[Graph]) -> int:
    """Number of feature columns of all graphs.

    Raises:
        GraphError: a graph without features, or with another number of them; names it by its number.

    """
    width = None
    for number, graph in enumerate(graphs):
        if held(graph) is None:
            raise GraphError(
                f"expected features for every graph, got none for graph {number}; "
                "use Graph.with_structural_features('degree', dim)"
            )
        if width is None:
            width = graph.num_features
        if graph.num_features != width:
            raise GraphError(f"expected {width} features as in graph 0, got {graph.num_features} in graph {number}")
    return int(width or 0)
