"""Sizes of datasets, computed from the loaded data and kept as records."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tvgnn.records import DatasetRecord, RunStore, latest, read_records

if TYPE_CHECKING:
    from tvgnn.graph.graph import Graph

__all__ = ["SIZES_FILE", "GraphSetSize", "GraphSize", "graph_set_size", "graph_size", "run_sizes", "stored_sizes"]

SIZES_FILE = "datasets.jsonl"


@dataclass(frozen=True)
class GraphSize:
    """Size of one graph; an undirected edge counts twice, as in the paper."""

    vertices: int
    edges: int
    attributes: int
    classes: int


@dataclass(frozen=True)
class GraphSetSize:
    """Size of a set of graphs; vertices and edges of all of them, an undirected edge counts twice."""

    samples: int
    classes: int
    vertices: int
    edges: int
    attributes: int


def graph_size(graph: Graph) -> GraphSize:
    """Return the size of a graph.

    Examples
    --------
    >>> from tvgnn import Graph
    >>> graph_size(Graph.from_edges([0, 1], [1, 2], x=[[1.0], [0.0], [2.0]], y=[0, 1, 1]))
    GraphSize(vertices=3, edges=4, attributes=1, classes=2)
    """
    return GraphSize(graph.num_nodes, 2 * graph.num_edges, graph.num_features, graph.num_classes)


def graph_set_size(graphs: Sequence[Graph]) -> GraphSetSize:
    """Return the size of a set of at least one graph, each with its class as ``label``."""
    return GraphSetSize(
        len(graphs),
        len({graph.label for graph in graphs}),
        sum(graph.num_nodes for graph in graphs),
        sum(2 * graph.num_edges for graph in graphs),
        graphs[0].num_features,
    )


def run_sizes(
    names: Sequence[str],
    out: Path,
    load: Callable[[str], Graph | Sequence[Graph]],
    versions: Mapping[str, str] | None = None,
    commit: str | None = None,
) -> list[DatasetRecord]:
    """Load the datasets whose size has no record yet, and return the records of all.

    Parameters
    ----------
    names : sequence of str
        Datasets, in the order in which they are loaded.
    out : path
        Folder of ``datasets.jsonl``.
    load : callable
        One graph, or the graphs of a set, by name.
    versions, commit
        Of the code.

    Raises
    ------
    DataError
        One cannot be loaded, records are damaged, or the folder cannot be written.
    """
    with RunStore(out / SIZES_FILE, DatasetRecord) as store:
        done = {record.dataset for record in store.records}
        for name in names:
            if name not in done:
                loaded = load(name)
                size = graph_set_size(loaded) if isinstance(loaded, Sequence) else graph_size(loaded)
                today = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
                store.append(DatasetRecord(name, asdict(size), dict(versions or {}), commit, today))
        return _of(names, store.records)


def stored_sizes(names: Sequence[str], out: Path) -> list[DatasetRecord]:
    """Return the records of those that an earlier call loaded.

    Raises
    ------
    DataError
        There are no records, or they are damaged.
    """
    return _of(names, read_records(out / SIZES_FILE, DatasetRecord))


def _of(names: Sequence[str], records: Iterable[DatasetRecord]) -> list[DatasetRecord]:
    found = {record.dataset: record for record in latest(records)}
    return [found[name] for name in names if name in found]
