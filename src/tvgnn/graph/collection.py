"""Many graphs laid end to end, from which batches are cut without touching the graphs again."""

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
    """Graphs with features of the same width; see `batch`.

    Parameters:
        graphs: at least one, all with features.
        prepare: gives the features (N, F) that are used; called by batch where they are sparse, since it may fill them.

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
        entries = np.array([graph.indices.shape[0] for graph in graphs], np.int64)
        self._node_ptr = np.concatenate([[0], np.cumsum(self.sizes)])
        self._entry_ptr = np.concatenate([[0], np.cumsum(entries)])
        self._degrees = np.concatenate([np.diff(graph.indptr) for graph in graphs]).astype(np.int32)
        self._indices = np.concatenate([graph.indices for graph in graphs]).astype(np.int32)
        weighted = any(graph.is_weighted for graph in graphs)
        self._weights = np.concatenate([graph.weights for graph in graphs]) if weighted else None
        sparse = any(sp.issparse(graph.x) for graph in graphs)
        self._prepare = prepare or (lambda rows: rows)
        self._x = _stacked_rows([graph.x if sparse else self._prepare(graph.x) for graph in graphs], sparse)

    def __len__(self) -> int:
        return len(self.sizes)

    def batch(self, numbers: npt.ArrayLike) -> GraphBatch:
        """Return the graphs of these numbers, in this order."""
        chosen = np.asarray(numbers, np.int64)
        sizes = self.sizes[chosen]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        nodes = [slice(self._node_ptr[g], self._node_ptr[g + 1]) for g in chosen]
        entries = [slice(self._entry_ptr[g], self._entry_ptr[g + 1]) for g in chosen]
        indptr = np.zeros(offsets[-1] + 1, np.int32)
        np.cumsum(_joined(self._degrees, nodes), out=indptr[1:])
        shifted = [self._indices[part] + np.int32(first) for part, first in zip(entries, offsets, strict=False)]
        indices = np.concatenate(shifted) if shifted else np.empty(0, np.int32)
        values = None if self._weights is None else torch.from_numpy(_joined(self._weights, entries))
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
        return GraphBatch(torch.from_numpy(self._rows(nodes)), adjacency, groups)

    def _rows(self, nodes: list[slice]) -> npt.NDArray[Any]:
        if not sp.issparse(self._x):
            return _joined(self._x, nodes).astype(np.float32, copy=False)
        parts = [self._x[part].toarray() for part in nodes]
        rows = np.concatenate(parts) if parts else np.empty((0, self.num_features), np.float32)
        return self._prepare(rows).astype(np.float32, copy=False)


def _joined(array: npt.NDArray[Any], parts: list[slice]) -> npt.NDArray[Any]:
    return np.concatenate([array[part] for part in parts]) if parts else array[:0].copy()


def _stacked_rows(features: list[Any], sparse: bool) -> Any:
    """Features of all nodes: CSR where some are, since one-hot degrees are mostly zeros; else float32, or bytes where
    they hold nothing but 0 and 1, as one-hot labels do: the graphs themselves often keep theirs in memory too.
    """
    if sparse:  # not prepared yet, so float64 stays
        return sp.csr_array(sp.vstack([sp.csr_array(x) for x in features], "csr"))
    if all(((x == 0) | (x == 1)).all() for x in features):
        return np.concatenate([x.astype(np.uint8) for x in features])
    with np.errstate(over="ignore"):
        return np.concatenate(features).astype(np.float32, copy=False)


def common_width(graphs: Sequence[Graph]) -> int:
    """Number of feature columns of all graphs.

    Raises:
        GraphError: a graph without features, or with another number of them; names it by its number.

    """
    width = None
    for number, graph in enumerate(graphs):
        if graph.x is None:
            raise GraphError(
                f"expected features for every graph, got none for graph {number}; "
                "use Graph.with_structural_features('degree', dim)"
            )
        if width is None:
            width = graph.num_features
        if graph.num_features != width:
            raise GraphError(f"expected {width} features as in graph 0, got {graph.num_features} in graph {number}")
    return int(width or 0)
