"""One graph from the files that users have: edges, features and labels in any mix of formats."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from tvgnn.errors import DataError
from tvgnn.graph.graph import Graph
from tvgnn.io._arrays import read_matrix
from tvgnn.io._cells import first_few, is_number
from tvgnn.io._id_column import ChosenColumns
from tvgnn.io._matching import not_in_edges, unknown_node
from tvgnn.io._node_table import NodeTable
from tvgnn.io._text import IdCache, require_file, text_suffix
from tvgnn.io.edges import EdgeTable, read_edges, unknown_row
from tvgnn.io.label_values import unlabelled_note
from tvgnn.io.network_files import NETWORK_SUFFIXES, fill_weights, read_network
from tvgnn.io.node_tables import read_features, read_labels
from tvgnn.wording import setting

__all__ = ["NamedGraph", "read_graph", "read_named_graph", "read_named_nodes", "read_nodes"]


class NamedGraph(NamedTuple):
    """A graph from files and the names of its features, None where the files give none."""

    graph: Graph
    feature_names: list[str] | None


def read_graph(
    edges: str | Path,
    features: str | Path | None = None,
    labels: str | Path | None = None,
    *,
    directed: bool = False,
    delimiter: str | None = None,
    header: bool | None = None,
    weight_column: str | int | Literal["auto"] | None = "auto",
    node_attributes: Sequence[str] | None = None,
    dtype: str = "auto",
) -> Graph:
    """Read a graph from files.

    Parameters
    ----------
    edges
        An edge list in text (CSV, TSV, semicolons, blanks; plain or gzip) or ``.parquet``, a square matrix (``.npz`` by
        scipy, ``.mtx``), ``.graphml`` or ``.gexf``.
    features
        Text or ``.parquet`` keyed by node id in the first column (or one named so, see
        :func:`tvgnn.io.node_tables.read_features`), or ``.npy``, ``.npz``, ``.mtx`` in node order. Keyed
        features define the nodes of an edge list and their order, so that isolated nodes are kept; with features in
        node order the edge list must name nodes by 0..N-1, and N comes from the features. Without features the nodes
        are those that edges name, ascending where all ids are integers, in order of appearance otherwise.
    labels
        Text or ``.parquet`` of node id and label, where nodes without one (or with ``NA`` or the like) count as unknown
        and other ids are left out, with notes; or ``.npy`` in node order.
    directed
        Whether an edge list means directed edges: see :meth:`tvgnn.Graph.from_edges`.
    delimiter, header, weight_column
        Format of the edge list: see :func:`tvgnn.io.edges.read_edges`. For GraphML and GEXF ``weight_column`` names
        the edge attribute. Matrices carry their own weights, and refuse another ``weight_column``.
    node_attributes
        Names of numeric node attributes of GraphML and GEXF that form the features.
    dtype
        Type of the features: ``"auto"``, ``"float32"`` or ``"float64"``, as of `tvgnn.Graph`.

    Raises
    ------
    DataError
        If a file is missing or damaged, or the files do not fit together; names file and line.
    GraphError
        If the values are no valid graph.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "edges.csv").write_text("ann,bob\\nbob,cid\\n")
    >>> _ = (folder / "features.csv").write_text("id,age\\nann,31\\nbob,27\\ncid,44\\ndan,9\\n")
    >>> read_graph(folder / "edges.csv", folder / "features.csv")
    Graph(4 nodes, 2 edges, unweighted, 1 feature)
    """
    return read_named_graph(
        edges,
        features,
        labels,
        directed=directed,
        delimiter=delimiter,
        header=header,
        weight_column=weight_column,
        node_attributes=node_attributes,
        dtype=dtype,
    ).graph


def read_named_graph(
    edges: str | Path,
    features: str | Path | None = None,
    labels: str | Path | None = None,
    *,
    directed: bool = False,
    delimiter: str | None = None,
    header: bool | None = None,
    weight_column: str | int | Literal["auto"] | None = "auto",
    node_attributes: Sequence[str] | None = None,
    dtype: str = "auto",
) -> NamedGraph:
    """Read a graph as :func:`read_graph` does, and the names of its features."""
    path = require_file(edges)
    suffix = text_suffix(path)
    if suffix not in NETWORK_SUFFIXES and node_attributes is not None:
        raise DataError(f"{path}: node attributes come from GraphML and GEXF files only; pass a features file instead")
    if node_attributes is not None and features is not None:
        raise DataError("the features come either from node attributes or from a features file, not from both")
    nodes = None if features is None else read_features(features, dtype=dtype)
    if suffix in NETWORK_SUFFIXES:
        graph = _from_network(path, nodes, weight_column, node_attributes, dtype)
    elif suffix in (".npz", ".mtx"):
        if weight_column != "auto":
            chosen = setting("weight_column", weight_column)
            raise DataError(
                f"{path}: the entries of a matrix are its weights; leave {chosen} out, or save other entries"
            )
        graph = _from_matrix(path, nodes, dtype)
    elif suffix == ".npy":
        raise DataError(
            f"{path}: edges are read from text, .npz, .mtx, .graphml or .gexf; save the matrix as sparse .npz"
        )
    else:
        table = read_edges(path, delimiter=delimiter, header=header, weight_column=weight_column)
        graph = _from_table(table, nodes, directed, dtype)
    if nodes is None:
        names = None if node_attributes is None else list(node_attributes)
    else:
        graph, names = _noted(graph, nodes.notes), nodes.names
    return NamedGraph(_with_labels(graph, labels), names)


def read_nodes(
    features: str | Path,
    labels: str | Path | None = None,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    dtype: str = "auto",
) -> Graph:
    """Read nodes without edges from a features file.

    Parameters
    ----------
    features, labels, dtype
        As in :func:`read_graph`.
    delimiter, header
        Format of the features file: see :func:`tvgnn.io.edges.read_edges`.

    Raises
    ------
    DataError
        As :func:`read_graph`, and where the first column of text holds numbers with a decimal point, which are no ids.
    GraphError
        If the values are no valid features.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "features.csv"
    >>> _ = path.write_text("id,age\\nann,31\\nbob,27\\n")
    >>> read_nodes(path)
    Graph(2 nodes, 0 edges, unweighted, 1 feature)
    """
    return read_named_nodes(features, labels, delimiter=delimiter, header=header, dtype=dtype).graph


def read_named_nodes(
    features: str | Path,
    labels: str | Path | None = None,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    dtype: str = "auto",
) -> NamedGraph:
    """Read nodes as :func:`read_nodes` does, and the names of their features."""
    nodes = read_features(features, delimiter=delimiter, header=header, dtype=dtype)
    if nodes.node_ids is not None and not nodes.names_ids and _are_decimals(nodes.node_ids):
        raise DataError(
            f"{nodes.where(0)}: expected a node id in the first column, got the number {nodes.node_ids[0]}; number the "
            "rows in a column of their own, or save the features as .npy; where these are ids, name the column node_id"
        )
    graph = Graph.from_edge_index(
        np.empty((2, 0), np.int64),
        x=nodes.values,
        node_ids=nodes.node_ids,
        num_nodes=nodes.values.shape[0],
        dtype=dtype,
    )
    notes = nodes.notes
    chosen = isinstance(nodes.table, ChosenColumns) and nodes.table.order[0] > 0
    if nodes.table is not None and not chosen:  # a feature would otherwise be lost without a word
        name = repr(nodes.table.header[0]) if nodes.table.header else "without a name"
        notes = (f"node ids: the first column of {nodes.path.name}, {name}", *notes)
    graph = _noted(graph, notes)
    return NamedGraph(_with_labels(graph, labels), nodes.names)


def _are_decimals(ids: Sequence[Hashable]) -> bool:
    """Say whether ids are rather measurements: all numbers, some with a decimal point, which 01234 and 12E4 lack."""
    texts = [str(one) for one in ids]
    return all(map(is_number, texts)) and any("." in text for text in texts)


def _noted(graph: Graph, notes: Sequence[str]) -> Graph:
    return replace(graph, report=replace(graph.report, notes=(*graph.report.notes, *notes)))


def _with_labels(graph: Graph, labels: str | Path | None) -> Graph:
    if labels is None:
        return graph
    known = read_labels(labels, known_ids=set(graph.node_ids))
    values, notes = known.aligned(graph.node_ids, partial=True)
    labelled = graph.with_labels(values)
    return _noted(labelled, (*known.notes, *notes, *unlabelled_note(labelled)))


def _from_table(edges: EdgeTable, nodes: NodeTable | None, directed: bool, dtype: str) -> Graph:
    if nodes is None:
        graph = Graph.from_edges(edges.source, edges.target, edges.weight, directed=directed, dtype=dtype)
        return _noted(graph, edges.notes if edges.doubt is None else (edges.doubt, *edges.notes))
    ids = range(nodes.values.shape[0]) if nodes.node_ids is None else nodes.node_ids
    for column in (edges.source, edges.target):
        row = unknown_row(column, ids)
        if row is not None:
            raise unknown_node(edges, nodes, ids, row, column[row])
    graph = Graph.from_edges(
        edges.source, edges.target, edges.weight, directed=directed, node_ids=ids, x=nodes.values, dtype=dtype
    )
    return _noted(graph, (*edges.notes, *(not_in_edges(edges, nodes) if graph.report.num_isolated else ())))


def _from_matrix(path: Path, nodes: NodeTable | None, dtype: str) -> Graph:
    matrix = read_matrix(path)
    graph = Graph.from_scipy(matrix, dtype=dtype)
    if nodes is None:
        return graph
    if nodes.node_ids is None or set(nodes.node_ids) == set(graph.node_ids):
        return graph.with_features(nodes.aligned(graph.node_ids)[0], dtype=dtype)
    if len(nodes.node_ids) != graph.num_nodes:
        raise DataError(f"{nodes.path}: expected {graph.num_nodes} rows, the size of {path}, got {len(nodes.node_ids)}")
    # a matrix has no ids of its own: its rows are those of the features file
    named = Graph.from_scipy(matrix, x=nodes.values, node_ids=nodes.node_ids, dtype=dtype)
    return _noted(named, (f"nodes: the rows of {path.name} in the order of {nodes.path.name}",))


def _from_network(
    path: Path, nodes: NodeTable | None, weight: str | int | None, attributes: Sequence[str] | None, dtype: str
) -> Graph:
    import networkx as nx

    source = read_network(path)
    source = nx.relabel_nodes(source, _distinct_ids(source, path))
    if not len(source):
        raise DataError(f"{path}: expected nodes, the graph has none")
    if isinstance(weight, int):
        raise DataError(f"{path}: weights are named by an edge attribute, got the position {weight}")
    name = "weight" if weight == "auto" else weight
    if name == "weight" and text_suffix(path) == ".gexf":
        fill_weights(source)
    if weight not in ("auto", None):
        known = {key for _, _, data in source.edges(data=True) for key in data}
        if weight not in known:
            listed = first_few(sorted(known), most=20) or "none"
            raise DataError(f"{path}: no edge has the attribute {weight!r}; attributes of edges: {listed}")
    graph = Graph.from_networkx(source, features=attributes, weight=name, dtype=dtype)
    if nodes is None:
        return graph
    values, notes = nodes.aligned(graph.node_ids)
    return _noted(graph.with_features(values, dtype=dtype), notes)


def _distinct_ids(names: Iterable[str], path: Path) -> dict[str, int | str]:
    """Read ids as in text files; two that differ in nothing but blanks would become one node."""
    ids = IdCache()
    first: dict[int | str, str] = {}
    for name in names:
        other = first.setdefault(ids[name], name)
        if other != name:
            raise DataError(f"{path}: nodes {other!r} and {name!r} differ in blanks only; rename one of them")
    return dict(ids)
