"""A clustering as GraphML or GEXF: the nodes with their clusters, or the clusters themselves as nodes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tvgnn.colors import COLORS, color_of
from tvgnn.errors import DataError
from tvgnn.graph.coarsened import CoarsenedGraph
from tvgnn.graph.graph import Graph
from tvgnn.io._text import IdCache, text_suffix
from tvgnn.io.h5ad import new_file
from tvgnn.io.network_files import NETWORK_SUFFIXES, check_xml, read_network, write_network
from tvgnn.io.node_results import NodeResults, node_results, shortest
from tvgnn.io.table_export import TABLE_SUFFIXES, write_table

__all__ = ["write_clustered_graph", "write_coarsened_graph"]

_SHAPES = ("disc", "square", "triangle", "diamond")
_SPACING = 30.0  # Gephi draws a node 10 wide
_LARGEST = 60.0


def write_clustered_graph(
    path: str | Path,
    graph: Graph,
    labels: Any,
    *,
    confidence: Any = None,
    assignments: Any = None,
    positions: Any = None,
    source: str | Path | None = None,
    overwrite: bool = False,
) -> list[str]:
    """Write a graph with its clusters as GraphML or GEXF, for Gephi, Cytoscape, networkx or igraph.

    Nodes have the attributes ``cluster`` (text, by which Gephi colours a partition), ``confidence``, ``class`` where
    the graph knows it, ``p_0``, ``p_1``, ... where assignments are given, and a colour for each cluster: ``viz:color``
    in GEXF, ``r``, ``g`` and ``b`` in GraphML, which Gephi takes for it. From the eleventh cluster on colours repeat;
    in GEXF with another shape.

    Parameters
    ----------
    path : path
        A new file, ``.graphml`` or ``.gexf``.
    graph : tvgnn.Graph
        Weights are written where it has them. Ids are written as text.
    labels : array-like of int, shape (N,)
        Clusters from 0.
    confidence : array-like of float, shape (N,), optional
    assignments : array-like of float, shape (N, K), optional
    positions : array-like of float, shape (N, 2), optional
        Where nodes are, y upwards: ``x`` and ``y`` in GraphML; ``viz:position`` in GEXF, scaled so that nodes of
        Gephi's size have room.
    source : path, optional
        A GraphML or GEXF file with the same nodes. The result is this file with the clusters added: its edges,
        directions and attributes stay as they are. Where an attribute has the name of one of ours, ours is called
        ``tvgnn_cluster``, then ``tvgnn_cluster_2``, and so on; only a colour in GEXF is replaced.
    overwrite : bool, default False
        Replace the file where it exists.

    Returns
    -------
    list of str
        The names of the attributes.

    Raises
    ------
    DataError
        A length or value is wrong, ids are equal as text or hold a character that XML cannot, ``source`` has other
        nodes, or the file exists.

    Examples
    --------
    >>> import tempfile, networkx
    >>> path = Path(tempfile.mkdtemp()) / "graph.gexf"
    >>> write_clustered_graph(path, Graph.from_edges(["ann"], ["bob"]), [0, 1], confidence=[0.9, 1.0])
    ['cluster', 'confidence']
    >>> networkx.read_gexf(path).nodes["bob"]["cluster"]
    '1'
    """
    suffix = _suffix(path, NETWORK_SUFFIXES)
    results = node_results(graph, labels, confidence, assignments)
    points = None if positions is None else _points(positions, graph.num_nodes)
    check_xml(results.columns.get("class", ()), "class")
    if source is None:
        network, names = _network(graph, results.ids), [str(key) for key in results.ids]
        rows: Iterable[int] = range(graph.num_nodes)
    else:
        network = read_network(source)
        names = list(network)
        rows = _rows(names, graph, source)
    taken = {name for _, data in network.nodes(data=True) for name in data}
    given = {"cluster": [str(label) for label in results.labels.tolist()], **results.columns}
    columns = {_free(name, taken): values for name, values in given.items()}
    looks = _looks(results, points, taken, suffix)
    for name, row in zip(names, rows, strict=True):
        data = network.nodes[name]
        data.update({key: values[row] for key, values in columns.items() if values[row] is not None})
        look = looks(row)
        if suffix == ".gexf":
            look = {"viz": {**(data.get("viz") or {}), **look["viz"]}}
        data.update(look)
    converted = source is not None and text_suffix(Path(source)) != suffix
    with new_file(path, overwrite=overwrite) as temporary:
        write_network(Path(str(temporary)), network, converted=converted)
    return list(columns)


def write_coarsened_graph(
    path: str | Path,
    coarsened: CoarsenedGraph,
    *,
    attributes: Mapping[str, Sequence[float]] | None = None,
    positions: Any = None,
    overwrite: bool = False,
) -> None:
    """Write the graph of clusters as GraphML or GEXF, or its edges as a table.

    Edges carry the entries of ``S^T A S`` as ``weight``. A self-loop is the diagonal: twice the weight of the edges
    inside the cluster, which the attribute ``inside`` has once. Nodes are called by their number, also those of size
    0; their number of nodes (for soft assignments the sum of a column) is the attribute ``members``.

    Parameters
    ----------
    path : path
        A new file: ``.graphml`` or ``.gexf``, where nodes are drawn by their size; ``.csv``, ``.tsv`` or ``.parquet``
        with ``source,target,weight``, where clusters without any edge do not appear.
    coarsened : CoarsenedGraph
        From :func:`tvgnn.coarsened_graph`.
    attributes : mapping of str to K numbers, optional
        More about each cluster.
    positions : array-like of float, shape (K, 2), optional
        As in :func:`write_clustered_graph`; not finite where unknown.
    overwrite : bool, default False
        Replace the file where it exists.

    Raises
    ------
    DataError
        The file exists, or its ending is unknown.

    Examples
    --------
    >>> import tempfile
    >>> from tvgnn import coarsened_graph
    >>> path = Path(tempfile.mkdtemp()) / "clusters.csv"
    >>> write_coarsened_graph(path, coarsened_graph(Graph.from_edges([0, 1], [1, 2]), [0, 0, 1]))
    >>> path.read_text().split()
    ['source,target,weight', '0,0,2.0', '0,1,1.0']
    """
    import networkx as nx

    suffix = _suffix(path, NETWORK_SUFFIXES + TABLE_SUFFIXES)
    k = coarsened.num_nodes
    upper = sp.coo_array(sp.triu(coarsened.adjacency))
    row, column = (part.tolist() for part in upper.coords)
    if suffix in TABLE_SUFFIXES:
        columns = {"source": row, "target": column, "weight": upper.data.tolist()}
        write_table(path, columns, overwrite=overwrite)
        return
    network = nx.Graph()
    largest = max(float(coarsened.sizes.max()), 1e-300)
    given = {"members": coarsened.sizes, "inside": coarsened.inside, **(attributes or {})}
    values = {name: np.asarray(one, dtype=np.float64).tolist() for name, one in given.items()}
    places = np.full((k, 2), np.nan) if positions is None else np.asarray(positions, dtype=np.float64)
    if suffix == ".gexf":
        places = places * _scale(places, 3 * _LARGEST)
    for node in range(k):
        data: dict[str, Any] = {name: one[node] for name, one in values.items() if math.isfinite(one[node])}
        place = places[node] if np.isfinite(places[node]).all() else None
        size = _LARGEST * max(math.sqrt(coarsened.sizes[node] / largest), 0.05)
        look = _look(node, suffix, place, size)
        network.add_node(str(node), label=str(node), **data, **look)
    network.add_weighted_edges_from(zip(map(str, row), map(str, column), upper.data.tolist(), strict=True))
    with new_file(path, overwrite=overwrite) as temporary:
        write_network(Path(str(temporary)), network)


def _suffix(path: str | Path, known: Sequence[str]) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in known:
        raise DataError(f"{path}: expected one of the endings {', '.join(known)}, got {suffix or 'none'}")
    return suffix


def _network(graph: Graph, ids: Sequence[Any]) -> Any:
    """Return the graph in networkx, nodes called by their ids as text."""
    import networkx as nx

    names = [str(key) for key in ids]
    check_xml(names, "node id")
    if len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise DataError(f"expected ids that differ as text, got two nodes called {twice!r}; rename one of them")
    network = nx.Graph()
    network.add_nodes_from(names)
    row = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    upper = row < graph.indices
    source, target = (list(map(names.__getitem__, part.tolist())) for part in (row[upper], graph.indices[upper]))
    if graph.is_weighted:
        network.add_weighted_edges_from(zip(source, target, shortest(graph.weights[upper]), strict=True))
    else:
        network.add_edges_from(zip(source, target, strict=True))
    return network


def _rows(names: Sequence[str], graph: Graph, source: str | Path) -> list[int]:
    """Return the row of each node of the file; ids are read as when the graph was."""
    cache = IdCache()
    position = {key: row for row, key in enumerate(graph.node_ids)}
    missing = [name for name in names if cache[name] not in position]
    if missing or len(names) != graph.num_nodes:
        first = f", such as {missing[0]!r}, which was not clustered" if missing else ""
        raise DataError(
            f"{source}: expected the {graph.num_nodes} nodes that were clustered, got {len(names)}{first}; "
            "name the file that was clustered"
        )
    return [position[cache[name]] for name in names]


def _free(name: str, taken: set[str]) -> str:
    if name not in taken:
        return name
    number, result = 2, f"tvgnn_{name}"
    while result in taken:
        number, result = number + 1, f"tvgnn_{name}_{number}"
    return result


def _points(positions: Any, n: int) -> Any:
    points = np.asarray(positions, dtype=np.float64)
    if points.shape != (n, 2) or not np.isfinite(points).all():
        raise DataError(f"expected finite positions of shape ({n}, 2), got shape {points.shape}")
    return points


def _scale(points: Any, spacing: float) -> float:
    """Return the factor that gives each node about ``spacing`` of room."""
    known = points[np.isfinite(points).all(axis=1)]
    extent = float(np.ptp(known, axis=0).max()) if len(known) else 0.0
    return spacing * math.sqrt(len(points)) / extent if extent > 0 else 1.0


def _looks(results: NodeResults, points: Any, taken: set[str], suffix: str) -> Any:
    """Return what gives the look of a row; attributes of the input stay."""
    if points is not None and suffix == ".gexf":
        points = points * _scale(points, _SPACING)
    labels = results.labels.tolist()

    def look(row: int) -> dict[str, Any]:
        found = _look(labels[row], suffix, None if points is None else points[row])
        if suffix == ".gexf":
            return found
        kept = {name for group in ("rgb", "xy") if not taken.intersection(group) for name in group}
        return {name: value for name, value in found.items() if name in kept}

    return look


def _look(cluster: int, suffix: str, point: Any = None, size: float | None = None) -> dict[str, Any]:
    """Colour, shape and place of a node, as the format says them."""
    color = color_of(cluster)
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    if suffix == ".graphml":
        found: dict[str, Any] = {"r": red, "g": green, "b": blue}
        if point is not None:
            found |= {"x": float(point[0]), "y": float(point[1])}
        return found if size is None else found | {"size": size}
    viz: dict[str, Any] = {"color": {"r": red, "g": green, "b": blue, "a": 1.0}}
    if cluster >= len(COLORS):
        viz["shape"] = _SHAPES[cluster // len(COLORS) % len(_SHAPES)]
    if size is not None:
        viz["size"] = size
    if point is not None:
        viz["position"] = {"x": float(point[0]), "y": float(point[1]), "z": 0.0}
    return {"viz": viz}
