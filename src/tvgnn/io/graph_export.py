"""A graph with its clusters as GraphML or GEXF."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tvgnn.errors import DataError
from tvgnn.graph.graph import Graph
from tvgnn.io._looks import look_of, room
from tvgnn.io._text import IdCache, text_suffix
from tvgnn.io.network_files import NETWORK_SUFFIXES, check_xml, known_suffix, read_network, write_network
from tvgnn.io.new_files import new_file
from tvgnn.io.node_results import NodeResults, node_results, shortest

__all__ = ["write_clustered_graph"]

_SPACING = 30.0  # Gephi draws a node 10 wide


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
    suffix = known_suffix(path, NETWORK_SUFFIXES)
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


def _looks(results: NodeResults, points: Any, taken: set[str], suffix: str) -> Any:
    """Return what gives the look of a row; attributes of the input stay."""
    if points is not None and suffix == ".gexf":
        points = points * room(points, _SPACING)
    labels = results.labels.tolist()

    def look(row: int) -> dict[str, Any]:
        found = look_of(labels[row], suffix, None if points is None else points[row])
        if suffix == ".gexf":
            return found
        kept = {name for group in ("rgb", "xy") if not taken.intersection(group) for name in group}
        return {name: value for name, value in found.items() if name in kept}

    return look
