"""Many small graphs at once: validated and cleaned as one block-diagonal matrix, then cut.

Building thousands of graphs one by one costs a third of a millisecond each, most of it in checks of tiny arrays. Here
every step runs once for the whole set; the graphs that come out equal those of :meth:`tvgnn.Graph.from_edge_index`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from tvgnn.graph.graph import Graph, GraphReport
from tvgnn.graph.validation import Features, frozen

__all__ = ["BlockGraphs"]

_UNION = "directed input symmetrised: union of both directions"


@dataclass(frozen=True, eq=False)
class BlockGraphs:
    """The cleaned adjacencies of G graphs, without attributes yet.

    Attributes
    ----------
    starts
        (G + 1,) first node of each graph; its nodes are consecutive.
    indptr, indices
        CSR structure of the whole set, symmetric, sorted, without self-loops.
    num_self_loops, num_duplicates, was_directed
        (G,) what was dropped and found, as in :class:`tvgnn.graph.graph.GraphReport`.
    """

    starts: npt.NDArray[np.int64]
    indptr: npt.NDArray[np.int32]
    indices: npt.NDArray[np.int32]
    num_self_loops: npt.NDArray[np.int64]
    num_duplicates: npt.NDArray[np.int64]
    was_directed: npt.NDArray[np.bool_]

    @classmethod
    def from_edges(cls, source: npt.NDArray[Any], target: npt.NDArray[Any], sizes: npt.NDArray[np.int64]) -> Self:
        """Clean unweighted directed entries by the policies of :class:`tvgnn.Graph`.

        Parameters
        ----------
        source, target
            (M,) nodes of the set, numbered graph after graph; both ends of an entry lie in one graph. The caller has
            checked that.
        sizes
            (G,) number of nodes of each graph, which may be 0.
        """
        starts = np.concatenate([[0], np.cumsum(sizes)])
        num_nodes = int(starts[-1])
        source, target = source.astype(np.int32, copy=False), target.astype(np.int32, copy=False)
        keep = source != target
        num_self_loops = _count(source[~keep], starts)
        if num_self_loops.any():
            source, target = source[keep], target[keep]
        del keep
        shape = (num_nodes, num_nodes)
        listed = len(source)
        entries = sp.coo_array((np.ones(listed, dtype=bool), (source, target)), shape=shape).tocsr()
        distinct = np.diff(entries.indptr[starts])
        num_duplicates = _count(source, starts) - distinct if listed != entries.nnz else np.zeros_like(sizes)
        del source, target
        reverse = entries.T.tocsr()  # its columns come out sorted
        entries.sort_indices()
        same = np.array_equal(entries.indptr, reverse.indptr) and np.array_equal(entries.indices, reverse.indices)
        union = entries if same else entries + reverse
        union.sort_indices()
        # an entry without its reverse makes the union larger
        was_directed = np.diff(union.indptr[starts]) != distinct
        return cls(
            starts,
            union.indptr.astype(np.int32, copy=False),
            union.indices.astype(np.int32, copy=False),
            num_self_loops,
            num_duplicates,
            was_directed,
        )

    @property
    def degrees(self) -> npt.NDArray[np.int32]:
        """Number of neighbours of every node of the set."""
        return np.diff(self.indptr)

    def cut(self, x: Features, labels: Sequence[Any], notes: tuple[str, ...] = ()) -> list[Graph]:
        """Return the graphs one by one, each with arrays of its own.

        Parameters
        ----------
        x
            Features of all nodes, a finite dense array or ``csr_array`` of float32, or None.
        labels
            (G,) class or target of each graph.
        notes
            Added to the report of every graph.
        """
        starts, edges = self.starts.tolist(), self.indptr[self.starts].tolist()
        local = self.indices - np.repeat(self.starts[:-1].astype(np.int32), np.diff(edges))
        ones = np.ones(max(np.diff(edges), default=0), dtype=np.float32)
        found = zip(
            self.num_self_loops.tolist(),
            self.num_duplicates.tolist(),
            self.was_directed.tolist(),
            self._isolated().tolist(),
            self._components().tolist(),
            labels,
            strict=True,
        )
        graphs = []
        reports: dict[GraphReport, GraphReport] = {}  # most graphs have the same to report, and share it
        for graph, (loops, duplicates, directed, isolated, components, label) in enumerate(found):
            start, stop, first, last = starts[graph], starts[graph + 1], edges[graph], edges[graph + 1]
            own_notes = (_UNION, *notes) if directed else notes
            report = GraphReport(loops, duplicates, 0, directed, isolated, components, own_notes)
            graphs.append(
                Graph(
                    indptr=frozen(self.indptr[start : stop + 1] - np.int32(first)),
                    indices=frozen(local[first:last].copy()),
                    weights=frozen(ones[: last - first]),
                    is_weighted=False,
                    x=None if x is None else _rows(x, start, stop),
                    y=None,
                    class_names=(),
                    node_ids=range(stop - start),
                    report=reports.setdefault(report, report),
                    label=label,
                )
            )
        return graphs

    def _isolated(self) -> npt.NDArray[np.int64]:
        return _count(np.flatnonzero(self.degrees == 0), self.starts)

    def _components(self) -> npt.NDArray[np.int64]:
        num_nodes = int(self.starts[-1])
        if num_nodes == 0:
            return np.zeros(len(self.starts) - 1, dtype=np.int64)
        pattern = sp.csr_array((np.ones(len(self.indices)), self.indices, self.indptr), shape=(num_nodes, num_nodes))
        number, member_of = connected_components(pattern, directed=False)
        first = np.zeros(number, dtype=np.int64)
        first[member_of[::-1]] = np.arange(num_nodes)[::-1]  # of several assignments the last counts
        return _count(first, self.starts)


def _count(nodes: npt.NDArray[Any], starts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return how many of ``nodes`` each graph has."""
    below = np.concatenate([[0], np.cumsum(np.bincount(nodes, minlength=int(starts[-1])))])
    return np.diff(below[starts])


def _rows(x: Features, start: int, stop: int) -> Features:
    """Copy rows of a dense or CSR array; scipy's own slicing takes five times as long on a few rows."""
    if not sp.issparse(x):
        return frozen(x[start:stop].copy())
    first, last = x.indptr[start], x.indptr[stop]
    parts = (x.data[first:last].copy(), x.indices[first:last].copy(), x.indptr[start : stop + 1] - first)
    rows = sp.csr_array(parts, shape=(stop - start, x.shape[1]))
    for part in (rows.data, rows.indices, rows.indptr):
        frozen(part)
    return rows
