"""The paper's two tables of datasets: what is loaded beside what is printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tvgnn.records import DatasetRecord
from tvgnn.report.cells import Cell
from tvgnn.report.paper_figures import DATASET_TITLES, GRAPH_SET_SIZES, GRAPH_SIZES, GRAPH_TITLES

__all__ = ["DATASET_NOTES", "dataset_parts", "graph_rows", "graph_set_rows"]

DATASET_NOTES = (
    "An undirected edge counts twice. The TU sets are the cleaned ones, without isomorphic copies of a graph; the "
    "paper's table counts all graphs."
)


def dataset_parts(records: Iterable[DatasetRecord]) -> list[tuple[str, list[list[Cell]]]]:
    """Return the two tables of the paper, each with its title, in the paper's order; a kind without records is absent.

    Parameters
    ----------
    records : iterable of DatasetRecord
        One a dataset.
    """
    found = {record.dataset: record.sizes for record in records}
    order = {name: number for number, name in enumerate((*GRAPH_TITLES, *DATASET_TITLES))}
    known = {name: found[name] for name in sorted(found, key=lambda name: (order.get(name, len(order)), name))}
    graphs = {name: sizes for name, sizes in known.items() if "samples" not in sizes}
    sets = {name: sizes for name, sizes in known.items() if "samples" in sizes}
    parts = []
    if graphs:
        parts.append(("Graphs of vertex clustering", graph_rows(graphs)))
    if sets:
        parts.append(("Sets of graphs", graph_set_rows(sets)))
    return parts


def graph_rows(sizes: Mapping[str, Mapping[str, int]]) -> list[list[Cell]]:
    """Return the header and two lines a graph: loaded, printed; a difference is marked.

    Parameters
    ----------
    sizes : mapping
        By name of the graph, with ``vertices``, ``edges``, ``attributes`` and ``classes``.
    """
    names = ("vertices", "edges", "attributes", "classes")
    rows = [[Cell(text) for text in ("graph", *names)]]
    for graph, size in sizes.items():
        ours = [size[name] for name in names]
        paper = GRAPH_SIZES.get(graph)
        rows.append(_line(GRAPH_TITLES.get(graph, graph), (f"{value:,}" for value in ours), _differs(ours, paper)))
        if paper is not None:
            rows.append(_line("paper", (f"{value:,}" for value in paper)))
    return rows


def graph_set_rows(sizes: Mapping[str, Mapping[str, int]]) -> list[list[Cell]]:
    """Return the header and two lines a set of graphs: loaded, printed; numbers of classes that differ are marked.

    Other numbers differ where duplicates are left out (all TU sets), or where the paper counts an edge once.

    Parameters
    ----------
    sizes : mapping
        By name of the set, with ``samples``, ``classes``, ``vertices`` and ``edges`` of all graphs, and ``attributes``.
    """
    rows = [[Cell(text) for text in ("set", "samples", "classes", "mean vertices", "mean edges", "features")]]
    for name, size in sizes.items():
        paper = GRAPH_SET_SIZES.get(name)
        texts = (
            f"{size['samples']:,}", str(size["classes"]), f"{size['vertices'] / size['samples']:.2f}",
            f"{size['edges'] / size['samples']:,.2f}", str(size["attributes"]),
        )  # fmt: skip
        marks = [False, paper is not None and paper[1] != size["classes"], False, False, False]
        rows.append(_line(DATASET_TITLES.get(name, name), texts, marks))
        if paper is not None:
            samples, classes, vertices, edges = paper
            rows.append(_line("paper", (f"{samples:,}", str(classes), f"{vertices:.2f}", f"{edges:,.2f}", "")))
    return rows


def _differs(ours: list[int], paper: tuple[int, ...] | None) -> list[bool]:
    return [False] * len(ours) if paper is None else [a != b for a, b in zip(ours, paper, strict=True)]


def _line(title: str, texts: Iterable[str], alarms: Iterable[bool] = ()) -> list[Cell]:
    found = list(texts)
    marks = list(alarms) or [False] * len(found)
    return [Cell(title), *(Cell(text, alarm=mark) for text, mark in zip(found, marks, strict=True))]
