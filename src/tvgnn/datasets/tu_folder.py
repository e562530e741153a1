"""A TU dataset from its text files: the user's own folder or archive, or one that was fetched."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tvgnn.datasets.block_graphs import BlockGraphs
from tvgnn.datasets.tu_features import FeatureKind, check_options, label_ranges, node_features, one_hot_degrees
from tvgnn.datasets.tu_files import TUFiles, open_tu
from tvgnn.datasets.tu_text import read_table
from tvgnn.errors import DataError
from tvgnn.graph.graph import Graph

__all__ = ["read_tu_folder"]


def read_tu_folder(path: str | Path, *, features: FeatureKind = "auto", max_degree: int = 500) -> list[Graph]:
    """Read a set of graphs in the format of the TU Dortmund collection.

    The folder holds text files whose names begin with any prefix DS: ``DS_A.txt`` (an edge a line, ``source, target``,
    nodes of the whole set counted from 1), ``DS_graph_indicator.txt`` (line i: graph of node i, counted from 1) and,
    where known, ``DS_graph_labels.txt`` (line g: class of graph g, an integer), ``DS_node_labels.txt`` (integers) and
    ``DS_node_attributes.txt`` (numbers separated by commas). Without classes ``DS_graph_attributes.txt`` (a number a
    graph) is read as target. Other files are not used; of ``DS_edge_labels.txt`` and ``DS_edge_attributes.txt`` a note
    in each report says so.

    Parameters
    ----------
    path : path
        The folder, or a zip archive of one.
    features : {"auto", "labels", "attributes", "both", "degree"}, default "auto"
        Node features: one-hot node labels, node attributes, both (attributes first), or one-hot degrees. ``"auto"``
        takes labels and attributes as far as they exist, degrees where neither does. Columns of labels go from the
        smallest to the largest of this folder; a note in each report tells them.
    max_degree : int, default 500
        Degrees from here on share the last column of one-hot degrees; a note in each report says so.

    Returns
    -------
    list of Graph
        In the order of the files, with features ``x`` (float32; CSR where one-hot features take more than 128
        columns) and ``label`` (int for a class, float for a target, None where neither is known). Directed edges are
        united, self-loops and duplicates dropped. A graph that no node belongs to has no nodes.

    Raises
    ------
    DataError
        If a file is missing, is no such text or contradicts another; names file, line and what was expected.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> texts = {"A": "1, 2\\n2, 1\\n", "graph_indicator": "1\\n1\\n2\\n", "graph_labels": "1\\n-1\\n"}
    >>> for kind, text in texts.items():
    ...     _ = (folder / f"DS_{kind}.txt").write_text(text)
    >>> read_tu_folder(folder)
    [Graph(2 nodes, 1 edge, unweighted, 2 features), Graph(1 node, 0 edges, unweighted, 2 features)]
    """
    check_options(features, max_degree)
    with open_tu(path) as files:
        files.require("A", "graph_indicator")
        graph_of = read_table(files, "graph_indicator", columns=1)[:, 0]
        labels = _labels(files)
        sizes = _sizes(files, graph_of, None if labels is None else len(labels))
        source, target = _edges(files, graph_of)
        x, ranges = node_features(files, features, len(graph_of))
        unused = files.unused
    if (np.diff(graph_of) < 0).any():  # nodes of a graph must be consecutive to be cut out
        order = np.argsort(graph_of, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        source, target, x = place[source], place[target], None if x is None else x[order]
    blocks = BlockGraphs.from_edges(source, target, sizes)
    del source, target
    notes: tuple[str, ...] = ()
    if x is None:
        x, note = one_hot_degrees(blocks.degrees, max_degree)
        notes = (note,)
    elif ranges:
        notes = (label_ranges(ranges),)
    if unused:
        notes += (f"{' and '.join(unused)} not used: pass scalar weights of edges to Graph.from_edges",)
    return blocks.cut(x, [None] * len(sizes) if labels is None else labels, notes)


def _labels(files: TUFiles) -> list[int] | list[float] | None:
    """Return the class of each graph; without classes its target; None where neither is known."""
    if "graph_labels" in files:
        return read_table(files, "graph_labels", columns=1)[:, 0].tolist()
    if "graph_attributes" not in files:
        return None
    targets = read_table(files, "graph_attributes", real=True)
    if targets.shape[1] > 1:
        raise DataError(
            f"{files.where('graph_attributes')}: expected one target a graph, got {targets.shape[1]}; keep one column"
        )
    if not np.isfinite(targets).all():
        line = int(np.argmin(np.isfinite(targets[:, 0]))) + 1
        raise DataError(f"{files.where('graph_attributes')}, line {line}: expected a finite number")
    return targets[:, 0].tolist()


def _sizes(files: TUFiles, graph_of: npt.NDArray[Any], num_labels: int | None) -> npt.NDArray[np.int64]:
    """Count the nodes of each graph, after checking that graphs are numbered 1..G."""
    where = files.where("graph_indicator")
    if not len(graph_of):
        raise DataError(f"{where}: expected a line a node, the file holds none")
    smallest, largest = int(graph_of.min()), int(graph_of.max())
    if smallest < 1:
        line = int(np.argmin(graph_of)) + 1
        raise DataError(f"{where}, line {line}: expected a graph number of 1..G, got {smallest}; count graphs from 1")
    if num_labels is None and largest > len(graph_of):
        line = int(np.argmax(graph_of)) + 1
        raise DataError(f"{where}, line {line}: expected graphs numbered 1..G, got {largest} for {len(graph_of)} nodes")
    if num_labels is not None and largest != num_labels:
        line = int(np.argmax(graph_of)) + 1
        kind = "graph_labels" if "graph_labels" in files else "graph_attributes"
        raise DataError(
            f"{files.where(kind)}: expected a line a graph, and {files.prefix}graph_indicator.txt names {largest} "
            f"graphs (line {line}), got {num_labels} lines"
        )
    return np.bincount(graph_of, minlength=largest + 1)[1:]


def _edges(files: TUFiles, graph_of: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return both ends of every edge, counted from 0, after checking that they lie in one graph."""
    table = read_table(files, "A", columns=2)
    num_nodes = len(graph_of)
    if len(table) and (table.min() < 1 or table.max() > num_nodes):
        row, column = np.argwhere((table < 1) | (table > num_nodes))[0]
        raise DataError(
            f"{files.where('A')}, line {row + 1}: expected nodes 1..{num_nodes}, as {files.prefix}graph_indicator.txt "
            f"has {num_nodes} lines, got {table[row, column]}"
        )
    source, target = table[:, 0] - 1, table[:, 1] - 1
    del table
    astray = graph_of[source] != graph_of[target]
    if astray.any():
        row = int(np.argmax(astray))
        ends = (source[row], target[row])
        raise DataError(
            f"{files.where('A')}, line {row + 1}: expected both nodes in one graph, got node {ends[0] + 1} of graph "
            f"{graph_of[ends[0]]} and node {ends[1] + 1} of graph {graph_of[ends[1]]}"
        )
    return source, target
