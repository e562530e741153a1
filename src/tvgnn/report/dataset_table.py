"""The paper's two tables of datasets: what is loaded beside what is printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tvgnn.report.cells import Cell
from tvgnn.report.paper_figures import DATASET_TITLES, GRAPH_SET_SIZES, GRAPH_SIZES, GRAPH_TITLES

__all__ = ["graph_rows", "graph_set_rows"]


def graph_rows(sizes: Mapping[str, Any]) -> list[list[Cell]]:
    """Return the header and two lines a graph: loaded, printed; a difference is marked.

    Parameters
    ----------
    sizes : mapping
        By name of the graph, with ``vertices``, ``edges``, ``attributes`` and ``classes``.
    """
    names = ("vertices", "edges", "attributes", "classes")
    rows = [[Cell(text) for text in ("graph", *names)]]
    for graph, size in sizes.items():
        ours = [getattr(size, name) for name in names]
        paper = GRAPH_SIZES.get(graph)
        rows.append(_line(GRAPH_TITLES.get(graph, graph), (f"{value:,}" for value in ours), _differs(ours, paper)))
        if paper is not None:
            rows.append(_line("paper", (f"{value:,}" for value in paper)))
    return rows


def graph_set_rows(sizes: Mapping[str, Any]) -> list[list[Cell]]:
    """Return the header and two lines a set of graphs: loaded, printed; numbers of classes that differ are marked.

    Other numbers differ where duplicates are left out (all TU sets), or where the paper counts an edge once.

    Parameters
    ----------
    sizes : mapping
        By name of the set, with ``samples``, ``classes``, ``mean_vertices``, ``mean_edges`` and ``attributes``.
    """
    rows = [[Cell(text) for text in ("set", "samples", "classes", "mean vertices", "mean edges", "features")]]
    for name, size in sizes.items():
        paper = GRAPH_SET_SIZES.get(name)
        texts = (
            f"{size.samples:,}", str(size.classes), f"{size.mean_vertices:.2f}", f"{size.mean_edges:,.2f}",
            str(size.attributes),
        )  # fmt: skip
        marks = [False, paper is not None and paper[1] != size.classes, False, False, False]
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
