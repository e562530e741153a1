"""Records of `benchmarks.quality.run` as a table: ``python -m benchmarks.quality.tables FILE...``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.markdown import MISSING, markdown

__all__ = ["INPUT_KINDS", "main", "table", "table_by_graph"]

# Kinds of graphs, by what stands before the number or name; those of one kind of input have a table of their own
INPUT_KINDS = (
    "vectors",
    "joint",
    "missing",
    "edges",
    "airports",
    "rows",
    "table",
    "skewed",
    "shares",
    "topics",
    "amounts",
    "cells",
    "logcells",
    "answers",
    "dense",
    "weights",
    "texts",
    "short",
)
_KINDS = ("citations", "doubtful", "package", *INPUT_KINDS)


def table(records: Iterable[dict[str, Any]]) -> str:
    """One row a variant, one column a graph: NMI / ACC in %, or modularity where there are no classes; then nats.

    Simulated citation networks share a column, and so do networks of packages: the mean over all of them.
    """
    cells: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for record in records:
        graph = record["graph"]
        column = kind if (kind := graph.partition("-")[0]) in _KINDS else graph
        cells.setdefault((record["variant"], column), []).append(record)
    variants = list(dict.fromkeys(variant for variant, _ in cells))
    graphs = list(dict.fromkeys(graph for _, graph in cells))
    rows = [[variant, *(_cell(cells.get((variant, graph), [])) for graph in graphs)] for variant in variants]
    return markdown(["", *graphs], rows)


def table_by_graph(records: Iterable[dict[str, Any]]) -> str:
    """One row a graph, one column a variant: NMI / ACC in %; then their means over the graphs, and seconds a fit.

    Graphs are named ``package-NAME``, ``rows-NAME`` and so on, all of one kind. Seconds are medians over all
    records of a variant. A graph that a variant lacks has no part in its means.
    """
    cells: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for record in records:
        cells.setdefault((record["graph"].partition("-")[2], record["variant"]), []).append(record)
    variants = list(dict.fromkeys(variant for _, variant in cells))
    graphs = list(dict.fromkeys(graph for graph, _ in cells))
    rows = [[graph, *(_agreement([cells.get((graph, variant), [])]) for variant in variants)] for graph in graphs]
    found = {variant: [cell for (_, other), cell in cells.items() if other == variant] for variant in variants}
    rows.append(["mean", *(_agreement(found[variant]) for variant in variants)])
    seconds = [np.median([record["seconds"] for cell in found[variant] for record in cell]) for variant in variants]
    return markdown(["", *variants], [*rows, ["seconds, median", *(f"{value:.1f}" for value in seconds)]])


def _agreement(cells: list[list[dict[str, Any]]]) -> str:
    """Mean of the cells' means."""
    if not all(cells):
        return MISSING
    nmi, acc = np.mean([np.mean([(one["nmi"], one["acc"]) for one in cell], axis=0) for cell in cells], axis=0)
    return f"{nmi:.3f} / {100 * acc:.1f}"


def _cell(records: list[dict[str, Any]]) -> str:
    if not records:
        return MISSING

    def mean(name: str) -> float:
        return float(np.mean([record[name] for record in records]))

    known = all("nmi" in record for record in records)
    text = f"{mean('nmi'):.3f} / {100 * mean('acc'):.1f}" if known else f"modularity {mean('modularity'):.3f}"
    return f"{text}, {mean('nats'):.0f}" if all("nats" in record for record in records) else text


def main() -> None:
    """Parse the command line and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", nargs="+", type=Path)
    files = parser.parse_args().records
    print(table(json.loads(line) for path in files for line in path.read_text(encoding="utf-8").splitlines()))


if __name__ == "__main__":
    main()
