"""One graph from the files that users have: edges, features and labels in any mix of formats."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tvgnn.errors import DataError
from tvgnn.graph.graph import Graph
from tvgnn.io._arrays import read_matrix
from tvgnn.io._text import IdCache, is_number, require_file, text_suffix
from tvgnn.io.edges import EdgeTable, read_edges, unknown_row
from tvgnn.io.network_files import NETWORK_SUFFIXES, fill_weights, read_network
from tvgnn.io.node_tables import NodeTable, read_features, read_labels

__all__ = ["read_graph", "read_nodes"]


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
    dtype: str = "float32",
) -> Graph:
    """Read a graph from files.

    Parameters
    ----------
    edges
        An edge list in text (CSV, TSV, semicolons, blanks; plain or gzip) or ``.parquet``, a square matrix (``.npz`` by
        scipy, ``.mtx``), ``.graphml`` or ``.gexf``.
    features
        Text or ``.parquet`` keyed by node id in the first column, or ``.npy``, ``.npz``, ``.mtx`` in node order. Keyed
        features define the nodes of an edge list and their order, so that isolated nodes are kept; with features in
        node order the edge list must name nodes by 0..N-1, and N comes from the features. Without features the nodes
        are those that edges name, ascending where all ids are integers, in order of appearance otherwise.
    labels
        Text of node id and label, where nodes without one count as unknown; or ``.npy`` in node order.
    directed
        Whether an edge list means directed edges: see :meth:`tvgnn.Graph.from_edges`.
    delimiter, header, weight_column
        Format of the edge list: see :func:`tvgnn.io.edges.read_edges`. For GraphML and GEXF ``weight_column`` names
        the edge attribute. Matrices carry their own weights.
    node_attributes
        Names of numeric node attributes of GraphML and GEXF that form the features.
    dtype
        Type of the features, ``"float32"`` or ``"float64"``.

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
        graph = _from_matrix(path, nodes, dtype)
    elif suffix == ".npy":
        raise DataError(
            f"{path}: edges are read from text, .npz, .mtx, .graphml or .gexf; save the matrix as sparse .npz"
        )
    else:
        table = read_edges(path, delimiter=delimiter, header=header, weight_column=weight_column)
        graph = _from_table(table, nodes, directed, dtype)
    return _with_labels(graph, labels)


def read_nodes(
    features: str | Path,
    labels: str | Path | None = None,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    dtype: str = "float32",
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
    nodes = read_features(features, delimiter=delimiter, header=header, dtype=dtype)
    if nodes.node_ids is not None and all(isinstance(one, str) and is_number(one) for one in nodes.node_ids):
        raise DataError(
            f"{nodes.where(0)}: expected a node id in the first column, got the number {nodes.node_ids[0]}; number the "
            "rows in a column of their own, or save the features as .npy"
        )
    graph = Graph.from_edge_index(
        np.empty((2, 0), np.int64),
        x=nodes.values,
        node_ids=nodes.node_ids,
        num_nodes=nodes.values.shape[0],
        dtype=dtype,
    )
    if nodes.table is not None:  # a feature would otherwise be lost without a word
        name = repr(nodes.table.header[0]) if nodes.table.header else "without a name"
        note = f"node ids: the first column of {nodes.path.name}, {name}"
        graph = replace(graph, report=replace(graph.report, notes=(*graph.report.notes, note)))
    return _with_labels(graph, labels)


def _with_labels(graph: Graph, labels: str | Path | None) -> Graph:
    if labels is None:
        return graph
    known = read_labels(labels, known_ids=set(graph.node_ids))
    return graph.with_labels(known.aligned(graph.node_ids, partial=True))


def _from_table(edges: EdgeTable, nodes: NodeTable | None, directed: bool, dtype: str) -> Graph:
    if nodes is None:
        return Graph.from_edges(edges.source, edges.target, edges.weight, directed=directed, dtype=dtype)
    ids = range(nodes.values.shape[0]) if nodes.node_ids is None else nodes.node_ids
    for column in (edges.source, edges.target):
        row = unknown_row(column, ids)
        if row is None:
            continue
        if nodes.node_ids is None:
            raise DataError(
                f"{edges.where(row)}: expected nodes 0..{len(ids) - 1}, the rows of {nodes.path}, got "
                f"{_shown(column[row])}; for other ids give the features as text with the node id in the first column"
            )
        raise DataError(f"{edges.where(row)}: node {_shown(column[row])} has no row in {nodes.path}")
    return Graph.from_edges(
        edges.source, edges.target, edges.weight, directed=directed, node_ids=ids, x=nodes.values, dtype=dtype
    )


def _shown(node_id: Any) -> str:
    return repr(node_id.item() if isinstance(node_id, np.generic) else node_id)


def _from_matrix(path: Path, nodes: NodeTable | None, dtype: str) -> Graph:
    matrix = read_matrix(path)
    graph = Graph.from_scipy(matrix, dtype=dtype)
    if nodes is None:
        return graph
    if nodes.node_ids is None or set(nodes.node_ids) == set(graph.node_ids):
        return graph.with_features(nodes.aligned(graph.node_ids), dtype=dtype)
    if len(nodes.node_ids) != graph.num_nodes:
        raise DataError(f"{nodes.path}: expected {graph.num_nodes} rows, the size of {path}, got {len(nodes.node_ids)}")
    # a matrix has no ids of its own: its rows are those of the features file
    return Graph.from_scipy(matrix, x=nodes.values, node_ids=nodes.node_ids, dtype=dtype)


def _from_network(
    path: Path, nodes: NodeTable | None, weight: str | int | None, attributes: Sequence[str] | None, dtype: str
) -> Graph:
    import networkx as nx

    source = read_network(path)
    ids = IdCache()
    source = nx.relabel_nodes(source, {name: ids[name] for name in source})
    if isinstance(weight, int):
        raise DataError(f"{path}: here weight_column must be the name of an edge attribute, got {weight}")
    name = "weight" if weight == "auto" else weight
    if name == "weight" and text_suffix(path) == ".gexf":
        fill_weights(source)
    graph = Graph.from_networkx(source, features=attributes, weight=name, dtype=dtype)
    return graph if nodes is None else graph.with_features(nodes.aligned(graph.node_ids), dtype=dtype)
