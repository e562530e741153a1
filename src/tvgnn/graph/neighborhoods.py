"""Parts of a graph that are enough for what a network of few steps says of some of its nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from scipy.sparse.csgraph import reverse_cuthill_mckee

from tvgnn.graph.adjacency import Adjacency

if TYPE_CHECKING:
    from tvgnn.graph.graph import Graph

__all__ = ["Neighborhood", "Neighborhoods"]


@dataclass(frozen=True, eq=False)
class Neighborhood:
    """Some nodes and all that their results depend on.

    Attributes:
        nodes: (M,) int64, in the order of the graph's `Neighborhoods.order`.
        asked: (m,) int64, where among these those stand that were asked for.
        inner: (M,) bool, those whose neighbours are among the M, too.
        entries: directed edges of the inner ones.

    """

    nodes: np.ndarray
    asked: np.ndarray
    inner: np.ndarray
    entries: int


class Neighborhoods:
    """Neighbourhoods of nodes that lie close together.

    Whatever a node gets from GTV steps, degrees and means of neighbours within ``hops`` edges is the same in its
    neighbourhood as in the whole graph, up to rounding: nodes nearer than ``hops`` have all their edges there, the
    outermost have none, and nobody asks for what they would get.

    Parameters:
        graph: N nodes.
        hops: steps of the network, >= 0.

    Example:
        >>> from tvgnn import Graph
        >>> path = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
        >>> parts = Neighborhoods(path, hops=1)
        >>> part = parts.around(0, 2)
        >>> len(part.nodes), parts.adjacency(part).num_entries
        (3, 3)

    """

    def __init__(self, graph: Graph, hops: int) -> None:
        self.hops, self._weighted = hops, graph.is_weighted
        self._matrix = graph.adjacency()
        self.order = reverse_cuthill_mckee(self._matrix, symmetric_mode=True)
        self._places = np.empty_like(self.order)
        self._places[self.order] = np.arange(len(self.order), dtype=self.order.dtype)
        self._seen = np.zeros(len(self.order), bool)
        self._where = np.empty(len(self.order), self._matrix.indices.dtype)

    def around(self, first: int, last: int) -> Neighborhood:
        """Neighbourhood of the nodes ``order[first:last]``."""
        levels = [self.order[first:last]]
        self._seen[levels[0]] = True
        for _ in range(self.hops):
            read = self._matrix[levels[-1]].indices
            found = np.unique(read[~self._seen[read]])
            self._seen[found] = True
            levels.append(found)
            if not found.size:
                break
        places = np.sort(self._places[np.concatenate(levels)])
        nodes = self.order[places].astype(np.int64)
        self._seen[nodes] = False
        inner = np.ones(len(nodes), bool)
        if len(levels) > self.hops:
            inner[np.searchsorted(places, self._places[levels[self.hops]])] = False
        counts = np.diff(self._matrix.indptr)[nodes[inner]] if self.hops else np.zeros(0)
        return Neighborhood(nodes, np.searchsorted(places, np.arange(first, last)), inner, int(counts.sum()))

    def adjacency(self, part: Neighborhood) -> Adjacency:
        """Adjacency of the M nodes of a neighbourhood, not symmetric, for inference only."""
        rows = self._matrix[part.nodes[part.inner]]
        self._where[part.nodes] = np.arange(len(part.nodes), dtype=self._where.dtype)
        indices = self._where[rows.indices]
        counts = np.zeros(len(part.nodes) + 1, indices.dtype)
        counts[1:][part.inner] = np.diff(rows.indptr)
        indptr = torch.from_numpy(np.cumsum(counts, dtype=counts.dtype))
        values = torch.from_numpy(rows.data) if self._weighted else None
        return Adjacency(indptr, torch.from_numpy(indices), values, len(part.nodes))
