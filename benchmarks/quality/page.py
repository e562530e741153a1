"""Write the tables of records on the quality preset's pages, or check: ``python -m benchmarks.quality.page``."""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.markdown import MISSING, markdown
from benchmarks.quality.published import PYAGC_CORA
from benchmarks.quality.tables import INPUT_KINDS, table_by_graph
from tvgnn.report.paper_figures import CLUSTERING, CLUSTERING_TITLES, GRAPH_TITLES
from tvgnn.report.provenance import between_markers

__all__ = ["DOCS", "PAGES", "RECORDS", "beside", "main", "written"]

DOCS = Path(__file__).parents[2] / "docs"
RECORDS = DOCS / "records" / "quality.jsonl"
# Pages, their tables by name, and the graphs of each
PAGES = {
    "quality.md": {"packages": "package"},
    "quality-inputs.md": {kind: kind for kind in INPUT_KINDS},
}


def beside(records: Iterable[dict[str, Any]]) -> str:
    """Ours, the paper's methods and those of PyAGC's benchmark, by their NMI on Cora.

    Cells are NMI / ACC in %; seconds are of one run on Cora.
    """
    runs: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for record in records:
        if record["graph"] in GRAPH_TITLES and record["variant"] == "recipe":
            runs[record["graph"]].append((record["nmi"], 100 * record["acc"], record["seconds"]))
    cells = [_cell(*np.mean(runs[graph], axis=0)[:2]) for graph in GRAPH_TITLES]
    nmi, _, seconds = np.array(runs["cora"]).T
    ours = ['**`preset="quality"`**', f"{len(nmi)} seeds", *cells, f"{np.median(seconds):.0f}, one thread"]
    rows = [(nmi.mean(), ours)]
    for method, graphs in CLUSTERING.items():
        if method != "tvgnn-released":
            cells = [_cell(graphs[graph]["nmi"][0], graphs[graph]["acc"][0]) for graph in GRAPH_TITLES]
            rows.append((graphs["cora"]["nmi"][0], [CLUSTERING_TITLES[method], "paper", *cells, MISSING]))
    for method, one in PYAGC_CORA.items():
        nothing = [MISSING] * (len(GRAPH_TITLES) - 1)
        cells = [_cell(one.nmi / 100, one.acc), *nothing, f"{one.seconds:.1f}"]
        rows.append((one.nmi / 100, [method, "PyAGC", *cells]))
    ordered = [row for _, row in sorted(rows, key=lambda row: -row[0])]
    return markdown(["", "from", *GRAPH_TITLES.values(), "seconds on Cora"], ordered)


def _cell(nmi: float, acc: float) -> str:
    return f"{nmi:.3f} / {acc:.1f}"


def written(name: str, page: str, records: list[dict[str, Any]]) -> str:
    """Return a page with its tables made anew.

    Parameters:
        name: of `PAGES`.
        page: its text.
        records: lines of `RECORDS`.

    Raises:
        DataError: it lacks the markers of a table.

    """
    if name == "quality.md":
        page = between_markers(page, "beside", beside(records))
    for table, kind in PAGES[name].items():
        of_kind = (one for one in records if one["graph"].startswith(f"{kind}-"))
        page = between_markers(page, table, table_by_graph(of_kind))
    return page


def main() -> None:
    """Write the pages, or with ``--check`` end with 1 where one is not what the records give."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether the pages are up to date")
    check = parser.parse_args().check
    records = [json.loads(line) for line in RECORDS.read_text(encoding="utf-8").splitlines()]
    for name in PAGES:
        path = DOCS / name
        page = path.read_text(encoding="utf-8")
        new = written(name, page, records)
        if check and new != page:
            sys.exit(f"expected {name} to show its records; run python -m benchmarks.quality.page")
        if not check:
            path.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
