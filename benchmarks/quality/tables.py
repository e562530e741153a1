"""Records of `benchmarks.quality.run` as a table: ``python -m benchmarks.quality.tables FILE...``."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.markdown import MISSING, markdown

__all__ = ["main", "table"]


def table(records: Iterable[dict[str, Any]]) -> str:
    """One row a variant, one column a graph: NMI / ACC in %, or modularity where there are no classes; then nats.

    Simulated citation networks share a column: the mean over all of them.
    """
    cells: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for record in records:
        graph = record["graph"]
        column = kind if (kind := graph.partition("-")[0]) in ("citations", "doubtful") else graph
        cells.setdefault((record["variant"], column), []).append(record)
    variants = list(dict.fromkeys(variant for variant, _ in cells))
    graphs = list(dict.fromkeys(graph for _, graph in cells))
    rows = [[variant, *(_cell(cells.get((variant, graph), [])) for graph in graphs)] for variant in variants]
    return markdown(["", *graphs], rows)


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
