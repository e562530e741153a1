"""The graph of clusters as GraphML, GEXF or a table of edges."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tvgnn.graph.coarsened import CoarsenedGraph
from tvgnn.io._looks import look_of, room
from tvgnn.io.network_files import NETWORK_SUFFIXES, known_suffix, write_network
from tvgnn.io.new_files import new_file
from tvgnn.io.table_export import TABLE_SUFFIXES, write_table

__all__ = ["write_coarsened_graph"]

_LARGEST = 60.0  # Gephi draws a node 10 wide


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
    >>> from tvgnn import Graph, coarsened_graph
    >>> path = Path(tempfile.mkdtemp()) / "clusters.csv"
    >>> write_coarsened_graph(path, coarsened_graph(Graph.from_edges([0, 1], [1, 2]), [0, 0, 1]))
    >>> path.read_text().split()
    ['source,target,weight', '0,0,2.0', '0,1,1.0']
    """
    import networkx as nx

    suffix = known_suffix(path, NETWORK_SUFFIXES + TABLE_SUFFIXES)
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
        places = places * room(places, 3 * _LARGEST)
    for node in range(k):
        data: dict[str, Any] = {name: one[node] for name, one in values.items() if math.isfinite(one[node])}
        place = places[node] if np.isfinite(places[node]).all() else None
        size = _LARGEST * max(math.sqrt(coarsened.sizes[node] / largest), 0.05)
        look = look_of(node, suffix, place, size)
        network.add_node(str(node), **{"label": str(node), **look, **data})
    network.add_weighted_edges_from(zip(map(str, row), map(str, column), upper.data.tolist(), strict=True))
    with new_file(path, overwrite=overwrite) as temporary:
        write_network(Path(str(temporary)), network)
