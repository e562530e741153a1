"""The graph type: validated once, immutable, undirected."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tvgnn.errors import GraphError
from tvgnn.graph import adapters, anndata_graph
from tvgnn.graph._normalize import normalize_rows
from tvgnn.graph.features import StructuralKind, structural_features
from tvgnn.graph.held_features import held, small_zeros_and_ones_as_bytes
from tvgnn.graph.report import FEATURES_NOTE, GraphReport, one_line, report_of, structural_note
from tvgnn.graph.row_labels import in_order, refuse_doubtful_order
from tvgnn.graph.symmetrize import symmetrize
from tvgnn.graph.validation import Features, as_features, as_float_dtype, as_labels

__all__ = ["Graph", "GraphReport"]


@small_zeros_and_ones_as_bytes
@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """Undirected, optionally weighted and attributed graph. Build it with one of the ``from_*`` class methods.

    Those apply the same policies:

    - Directed input is symmetrised, with a note in ``report``: unweighted the union of both directions, weighted
      ``a_ij = (w_ij + w_ji) / 2`` with an absent direction counting 0. A symmetric graph comes back unchanged.
      :meth:`from_edges` and undirected networkx graphs list each edge once: there the mean is over the listed
      directions only.
    - Entries of the same directed pair are merged: weights are summed; without weights they count once.
    - Self-loops and stored zeros are dropped. Isolated nodes and several components are kept.
    - Negative or non-finite weights, non-finite features, indices out of range and duplicate ids are refused, and the
      first offender is named.
    - Rows of pandas frames and series go to the nodes that their index names, where nodes have ids, or another frame
      an index, with the same labels in another order. Labels 0, 1, ... in order, and others, count as none.
    - N is ``num_nodes``, else the rows of ``x``, else the number of ``node_ids``, else the largest index + 1.

    All arrays are read-only: copy before changing them.

    Attributes
    ----------
    indptr, indices
        (N + 1,) and (2E,) CSR structure, sorted in each row, int32 where it fits, else int64.
    weights
        (2E,) float32, all ones where ``is_weighted`` is false.
    x
        (N, F) float32, or float64 where that would blur them or on request; dense or ``csr_array``, or None. Zeros and
        ones of a small graph are held as bytes, of which each access makes this array.
    y
        (N,) int64 class codes, -1 where unknown, or None; ``class_names[code]`` is the caller's label.
    node_ids
        The caller's N ids: a range or a tuple.
    report
        What was dropped, merged and found.
    label
        Class or target of the whole graph, for graph-level tasks: a scalar, a tuple of several targets, or None.

    Examples
    --------
    >>> graph = Graph.from_edges(["b", "a"], ["a", "c"], x=[[1], [0], [3]], node_ids=["a", "b", "c"])
    >>> graph
    Graph(3 nodes, 2 edges, unweighted, 1 feature)
    >>> graph.indices[graph.indptr[0] : graph.indptr[1]].tolist()
    [1, 2]
    """

    indptr: npt.NDArray[Any]
    indices: npt.NDArray[Any]
    weights: npt.NDArray[np.float32]
    is_weighted: bool
    x: Features
    y: npt.NDArray[np.int64] | None
    class_names: tuple[Hashable, ...]
    node_ids: Sequence[Hashable]
    report: GraphReport
    label: Any = None

    @property
    def num_nodes(self) -> int:
        """Number of nodes N."""
        return len(self.indptr) - 1

    @property
    def num_edges(self) -> int:
        """Number of undirected edges E."""
        return len(self.indices) // 2

    @property
    def num_features(self) -> int:
        """Number of feature columns F, 0 without features."""
        return 0 if held(self) is None else int(held(self).shape[1])

    @property
    def num_classes(self) -> int:
        """Number of distinct known labels, 0 without labels."""
        return len(self.class_names)

    def __repr__(self) -> str:
        return one_line(self)

    def adjacency(self) -> Any:
        """Return the symmetric (N, N) float32 ``csr_array``; it shares this graph's read-only arrays."""
        shape = (self.num_nodes, self.num_nodes)
        return sp.csr_array((self.weights, self.indices, self.indptr), shape=shape)

    def normalize_features(self, norm: Literal["l1", "l2"] | None) -> Self:
        """Return the graph with each feature row divided by its L1 or L2 norm; None returns it as it is.

        Rows of zeros stay zero. Values are never shifted.

        Raises
        ------
        GraphError
            If there are no features or ``norm`` is unknown.
        """
        if norm is None:
            return self
        if self.x is None:
            raise GraphError("this graph has no features to normalise: set x, or use with_structural_features first")
        return replace(self, x=normalize_rows(self.x, norm))

    def with_features(self, x: Any, *, dtype: Any = None) -> Self:
        """Return the graph with features ``x`` (N, F), checked as in the constructors; None removes them.

        ``dtype`` is by default float64 where the present features are, else ``"auto"``. Notes on the present features
        are removed.
        """
        if dtype is None:
            dtype = "float64" if self.x is not None and self.x.dtype == np.float64 else "auto"
        values = None if x is None else as_features(self._in_order(x, "x"), self.node_ids, as_float_dtype(dtype))
        notes = tuple(note for note in self.report.notes if not note.startswith(FEATURES_NOTE))
        return replace(self, x=values, report=replace(self.report, notes=notes))

    def with_labels(self, y: Any) -> Self:
        """Return the graph with one label per node (N,), read as in :meth:`from_edge_index`; None removes them."""
        codes, names = (None, ()) if y is None else as_labels(self._in_order(y, "y"), self.num_nodes)
        return replace(self, y=codes, class_names=names)

    def _in_order(self, value: Any, name: str) -> Any:
        if isinstance(self.node_ids, range):
            refuse_doubtful_order(value, self.num_nodes, name)
        return in_order(value, self.node_ids)

    def with_label(self, label: Any) -> Self:
        """Return the graph with the class or target(s) ``label`` of the whole graph, see above; None removes it."""
        return replace(self, label=label.item() if isinstance(label, np.generic) else label)

    def with_structural_features(self, kind: StructuralKind, dim: int | None = None, *, n_clusters: int = 1) -> Self:
        """Return the graph with features computed from its edges, replacing any others; a note records them.

        Parameters
        ----------
        kind
            ``"degree"`` (one-hot of the number of neighbours), ``"spectral"`` (leading eigenvectors of the normalised
            adjacency) or ``"ones"``; see :func:`tvgnn.graph.features.structural_features`.
        dim, n_clusters
            Number of columns; the default depends on the kind, and on how many clusters they shall tell apart.
        """
        result = self.with_features(structural_features(self.adjacency(), kind, dim, n_clusters=n_clusters))
        note = structural_note(kind, result.num_features)
        return replace(result, report=replace(result.report, notes=(*result.report.notes, note)))

    def index_of(self, node_id: Hashable) -> int:
        """Return the row of the node with the caller's id ``node_id``.

        Raises
        ------
        GraphError
            If no node has this id.
        """
        try:
            return self._position[node_id]
        except (KeyError, TypeError):
            known = ", ".join(repr(known_id) for known_id in self.node_ids[:3])
            dots = ", ..." if self.num_nodes > 3 else ""
            raise GraphError(f"no node has the id {node_id!r}; the ids are {known}{dots}") from None

    @cached_property
    def _position(self) -> dict[Hashable, int]:
        return {node_id: index for index, node_id in enumerate(self.node_ids)}

    @classmethod
    def from_edge_index(
        cls,
        edge_index: Any,
        edge_weight: Any = None,
        *,
        num_nodes: int | None = None,
        x: Any = None,
        y: Any = None,
        node_ids: Any = None,
        dtype: Any = "auto",
    ) -> Self:
        """Build from a (2, M) array or tensor of directed entries, as in PyTorch Geometric.

        Parameters
        ----------
        edge_index
            (2, M) integers; an undirected edge is listed in both directions. ``torch_geometric.EdgeIndex`` is fine.
        edge_weight
            (M,) or (M, 1) non-negative numbers; where given the graph counts as weighted.
        num_nodes
            N; see the class description for the default.
        x
            (N, F) or (N,) numbers, dense or sparse, or None.
        y
            (N,) labels: integers or text; -1, NaN, None and "" mean unknown.
        node_ids
            N distinct hashable ids, default ``range(N)``.
        dtype
            Type of the features: ``"float32"``, ``"float64"``, or ``"auto"``, which is float32 unless a column lies so
            far from 0 that its differences would be lost, such as Unix times.

        Raises
        ------
        GraphError
            See the class description.

        Examples
        --------
        >>> Graph.from_edge_index([[0, 1], [1, 2]], num_nodes=4).report.was_directed
        True
        """
        attributes = {"num_nodes": num_nodes, "x": x, "y": y, "node_ids": node_ids}
        return cls._from_raw(adapters.read_edge_index(edge_index, edge_weight, **attributes), dtype)

    @classmethod
    def from_scipy(
        cls, adjacency: Any, x: Any = None, y: Any = None, node_ids: Any = None, *, dtype: Any = "auto"
    ) -> Self:
        """Build from a square (N, N) sparse matrix or dense array; ``a[i, j]`` is the weight from i to j.

        A boolean matrix, or one that stores nothing but ones and zeros, is unweighted. The other parameters are those
        of :meth:`from_edge_index`.

        Examples
        --------
        >>> Graph.from_scipy(sp.csr_array([[0, 2.5], [2.5, 0]])).is_weighted
        True
        """
        return cls._from_raw(adapters.read_scipy(adjacency, x=x, y=y, node_ids=node_ids), dtype)

    @classmethod
    def from_edges(
        cls,
        source: Any,
        target: Any,
        weight: Any = None,
        *,
        directed: bool = False,
        node_ids: Any = None,
        x: Any = None,
        y: Any = None,
        dtype: Any = "auto",
    ) -> Self:
        """Build from a table with one row per undirected edge, naming nodes by ids of any hashable type.

        Parameters
        ----------
        source, target
            (M,) ids: lists, arrays, tensors or pandas columns.
        weight
            (M,) non-negative numbers, or None.
        directed
            False: an edge listed once keeps its weight, one listed in both directions gets their mean. True: each row
            is one directed entry and ``a_ij = (w_ij + w_ji) / 2``.
        node_ids
            All N ids, in the order of the rows of ``x`` and ``y``; needed for isolated nodes. Default: ``range(N)``
            where ``x`` is given; else the ids found, ascending if all are integers, in order of appearance if not.
        x, y, dtype
            As in :meth:`from_edge_index`.

        Examples
        --------
        >>> Graph.from_edges(["b", "a"], ["a", "c"]).node_ids
        ('b', 'a', 'c')
        """
        raw = adapters.read_edge_table(source, target, weight, directed=directed, node_ids=node_ids, x=x, y=y)
        return cls._from_raw(raw, dtype)

    @classmethod
    def from_networkx(
        cls,
        graph: Any,
        features: str | Sequence[str] | None = None,
        label: str | None = None,
        weight: str | None = "weight",
        *,
        dtype: Any = "auto",
    ) -> Self:
        """Build from a networkx graph, keeping its node names and their order.

        Parameters
        ----------
        graph
            ``networkx.Graph``, ``DiGraph``, ``MultiGraph`` or ``MultiDiGraph``.
        features
            Names of node attributes (numbers or vectors) that form the columns of ``x``; all nodes must have them.
        label
            Name of the node attribute that holds the class.
        weight
            Name of the edge attribute that holds the weight; unweighted where no edge has it.
        dtype
            As in :meth:`from_edge_index`.
        """
        return cls._from_raw(adapters.read_networkx(graph, features, label, weight), dtype)

    @classmethod
    def from_pyg(cls, data: Any, *, dtype: Any = "auto") -> Self:
        """Build from a ``torch_geometric.data.Data``; ``x``, ``y``, ``edge_weight`` and ``num_nodes`` are used.

        ``y`` with one entry per node gives ``y``; with a single one for several nodes, or a row (1, T), ``label``.
        """
        graph = cls._from_raw(adapters.read_pyg(data), dtype)
        label = adapters.graph_label(getattr(data, "y", None))
        return graph if label is None or graph.y is not None else graph.with_label(label)

    @classmethod
    def from_features(
        cls,
        x: Any,
        n_neighbors: int = 15,
        *,
        metric: str = "euclidean",
        mutual: bool = False,
        weights: Literal["connectivity", "heat_kernel"] = "connectivity",
        bandwidth: float | None = None,
        connect: bool = False,
        method: Literal["auto", "exact", "approximate"] = "auto",
        random_state: int = 0,
        y: Any = None,
        node_ids: Any = None,
        dtype: Any = "auto",
    ) -> Self:
        """Build the k-nearest-neighbour graph of the rows of ``x``; ``report.notes`` says how.

        Parameters
        ----------
        x
            (N, F) or (N,) numbers, dense or sparse.
        n_neighbors
            k; reduced to N - 1 on smaller data, with a note.
        metric
            ``"euclidean"``, ``"cosine"``, ``"correlation"`` or another name of
            :class:`sklearn.neighbors.NearestNeighbors`. By cosine a row of zeros has no neighbours, nor is one.
        mutual
            False: an edge where one of two rows is among the k nearest of the other. True: where both are, which
            leaves some rows without edges.
        weights
            ``"connectivity"``: none. ``"heat_kernel"``: ``exp(-d_ij^2 / (s_i s_j))``, at least 1e-6.
        bandwidth
            Of the heat kernel: the number is all ``s_i``; None: ``s_i`` is the distance to the k-th neighbour.
        connect
            Join components by a minimum spanning tree: :func:`tvgnn.graph.knn.connect.connecting_edges`.
        method
            ``"exact"``, ``"approximate"`` (pynndescent), or ``"auto"``: exact for up to 20,000 rows, for up to 3 dense
            columns, and where pynndescent has no such metric. docs/performance.md has times and recall.
        random_state
            Seed of ``"approximate"``, whose result is the same for any number of threads.
        y, node_ids, dtype
            As in :meth:`from_edge_index`.

        Examples
        --------
        >>> Graph.from_features([0.0, 1.0, 5.0], n_neighbors=1).num_edges
        2
        """
        from tvgnn.graph.knn import NeighborSettings
        from tvgnn.graph.knn.join import with_neighbor_edges

        settings = NeighborSettings(n_neighbors, metric, mutual, weights, bandwidth, connect, method, random_state)
        nodes = cls.from_edge_index([[], []], x=x, y=y, node_ids=node_ids, dtype=dtype)
        return with_neighbor_edges(nodes, nodes.x, settings)

    from_anndata = classmethod(anndata_graph.from_anndata)

    @classmethod
    def _from_raw(cls, raw: adapters.RawGraph, dtype: Any) -> Self:
        """Apply every policy to ``raw``; all constructors end here."""
        float_dtype = as_float_dtype(dtype)
        raw, node_ids = adapters.resolved(raw)
        x = None if raw.x is None else as_features(raw.x, node_ids, float_dtype)
        y, class_names = (None, ()) if raw.y is None else as_labels(raw.y, len(node_ids))
        csr = symmetrize(raw.source, raw.target, raw.weight, node_ids, raw.symmetry)
        report = report_of(csr, weighted=raw.weight is not None, zeros=raw.num_zero_weights, notes=raw.notes)
        is_weighted = raw.weight is not None
        return cls(csr.indptr, csr.indices, csr.weights, is_weighted, x, y, class_names, node_ids, report)
