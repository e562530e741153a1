"""The tables of vertex clustering: NMI and accuracy beside the paper's figures, and all other metrics by graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

from rich.table import Table

from tvgnn.records import ClusteringRecord
from tvgnn.report.cells import MISSING, Cell, markdown_table, plain, rich_table
from tvgnn.report.clustering_statistics import ClusteringBlock, Runs, clustering_blocks, of_table_1, ranks
from tvgnn.report.paper_figures import CLUSTERING, CLUSTERING_AVERAGES, CLUSTERING_TITLES, GRAPH_TITLES
from tvgnn.report.provenance import provenance

__all__ = ["clustering_markdown", "clustering_tables"]

_OURS = ("tvgnn", "tvgnn-released")
_SCALE = {"nmi": 1.0, "acc": 100.0}  # accuracies are shares in records and percent in tables
_DIGITS = {"nmi": 3, "acc": 1}

# title, name, digits, factor, whether the largest is the best (None: no order)
_DETAILS: tuple[tuple[str, str, int, float, bool | None], ...] = (
    ("NMI", "nmi", 3, 1.0, True),
    ("ACC in %", "acc", 1, 100.0, True),
    ("ARI", "ari", 3, 1.0, True),
    ("macro F1 in %", "macro_f1", 1, 100.0, True),
    ("modularity", "modularity", 3, 1.0, True),
    ("conductance", "conductance", 3, 1.0, False),
    ("sharpness", "sharpness", 3, 1.0, True),
    ("clusters in use", "n_clusters_found", 1, 1.0, None),
    ("epochs", "epochs", 0, 1.0, None),
    ("seconds", "seconds", 1, 1.0, False),
    ("ms an epoch", "ms_per_epoch", 1, 1.0, None),
    ("peak GB", "peak_rss_bytes", 2, 1e-9, None),
)


def clustering_tables(records: Iterable[ClusteringRecord]) -> list[Table]:
    """Return, for each group of runs with the same settings, the paper's table 1 and one table a graph.

    Parameters
    ----------
    records : iterable of ClusteringRecord
        Of one experiment or several; of them those of table 1.
    """
    tables = []
    for block in clustering_blocks(records):
        heading = _heading(block)
        if block.graphs:
            tables.append(rich_table(list(_main_rows(block)), heading))
        for graph, row in block.runs.items():
            title = GRAPH_TITLES.get(graph, graph)
            tables.append(rich_table(list(_detail_rows(row)), title if block.graphs else f"{title}. {heading}"))
    return tables


def clustering_markdown(records: Iterable[ClusteringRecord]) -> str:
    """Return the same tables with what they were measured with, as Markdown.

    Parameters
    ----------
    records : iterable of ClusteringRecord
        As for `clustering_tables`; without any, how to make some.
    """
    kept, left_out = of_table_1(records)
    parts = []
    for block in clustering_blocks(kept):
        parts.append(f"### {plain(_heading(block))}")
        if block.graphs:
            parts.append(markdown_table(list(_main_rows(block))))
        parts.append("\n".join(f"{line}  " for line in (*_verdicts(block), *_remarks(block))))
        for graph, row in block.runs.items():
            parts += [
                f"All metrics on {plain(GRAPH_TITLES.get(graph, graph))} (means over the seeds):",
                markdown_table(list(_detail_rows(row))),
            ]
    if left_out:
        parts.append(plain(f"{left_out[0].upper()}{left_out[1:]}."))
    return (
        "\n\n".join(part for part in parts if part) or "Not run yet. This makes the records: `tvgnn reproduce table1`."
    )


def _main_rows(block: ClusteringBlock) -> Iterator[list[Cell]]:
    """Yield the header, then two lines a method: ours and the paper's."""
    graphs = block.graphs
    columns = [(graph, name) for graph in graphs for name in _SCALE]
    titles = [f"{GRAPH_TITLES.get(graph, graph)} {name.upper()}" for graph, name in columns]
    yield [Cell(text) for text in ("method", *titles, "mean NMI", "mean ACC", "seeds")]
    best = {
        (graph, name): ranks({method: runs.mean(name) for method, runs in block.runs[graph].items()})
        for graph, name in columns
    }
    averages = {name: {method: block.average(method, name) for method in block.methods} for name in _SCALE}
    best_average = {name: ranks(means) for name, means in averages.items()}
    for method in block.methods:
        own = [
            _mean(block.runs[graph][method], name, best[graph, name].get(method, 0))
            if method in block.runs[graph]
            else Cell()
            for graph, name in columns
        ]
        means = [_number(averages[name][method], name, best_average[name].get(method, 0)) for name in _SCALE]
        yield [Cell(CLUSTERING_TITLES.get(method, method)), *own, *means, Cell(_seeds(block, method))]
        if method in CLUSTERING:
            stated = [_stated(method, graph, name) for graph, name in columns]
            yield [Cell("paper"), *stated, *_stated_averages(method, graphs), Cell("")]


def _mean(runs: Runs, name: str, rank: int) -> Cell:
    cell = _number(runs.mean(name), name, rank)
    deviation = runs.deviation(name)
    if deviation is None or cell.text == MISSING:
        return cell
    return Cell(f"{cell.text} ± {deviation * _SCALE[name]:.{_DIGITS[name]}f}", rank)


def _number(value: float | None, name: str, rank: int = 0) -> Cell:
    return Cell() if value is None else Cell(f"{value * _SCALE[name]:.{_DIGITS[name]}f}", rank)


def _stated(method: str, graph: str, name: str) -> Cell:
    if graph not in CLUSTERING[method]:
        return Cell()
    mean, deviation = CLUSTERING[method][graph][name]
    return Cell(f"{mean:.{_DIGITS[name]}f} ± {deviation:.{_DIGITS[name]}f}")


def _stated_averages(method: str, graphs: list[str]) -> Iterator[Cell]:
    """Yield the averages that the paper prints over its four graphs; over some of them the means of its figures."""
    for name in _SCALE:
        if set(graphs) == set(GRAPH_TITLES):
            yield Cell(f"{CLUSTERING_AVERAGES[method][name]:.{_DIGITS[name]}f}")
        elif set(graphs) <= set(GRAPH_TITLES):
            mean = sum(CLUSTERING[method][graph][name][0] for graph in graphs) / len(graphs)
            yield Cell(f"{mean:.{_DIGITS[name]}f}")
        else:
            yield Cell()


def _seeds(block: ClusteringBlock, method: str) -> str:
    """Number of runs on each graph, once where it is the same on all."""
    rows = [block.runs[graph] for graph in block.graphs]
    counts = [str(len(row[method].records)) if method in row else "0" for row in rows]
    return counts[0] if len(set(counts)) == 1 else ", ".join(counts)


def _detail_rows(row: dict[str, Runs] | Any) -> Iterator[list[Cell]]:
    shown = [one for one in _DETAILS if any(runs.mean(one[1]) is not None for runs in row.values())]
    yield [Cell("method"), *[Cell(title) for title, *_ in shown], Cell("seeds")]
    best = {
        name: {} if largest is None else ranks({method: runs.mean(name) for method, runs in row.items()}, largest)
        for _, name, _, _, largest in shown
    }
    for method, runs in row.items():
        cells = []
        for _, name, digits, factor, _ in shown:
            mean = runs.mean(name)
            cells.append(Cell() if mean is None else Cell(f"{mean * factor:.{digits}f}", best[name].get(method, 0)))
        yield [Cell(CLUSTERING_TITLES.get(method, method)), *cells, Cell(str(len(runs.records)))]


def _heading(block: ClusteringBlock) -> str:
    epochs = block.settings.get("max_epochs", "?")
    limit = f"{epochs:,}" if isinstance(epochs, int) else epochs
    others = {name: value for name, value in block.settings.items() if name != "max_epochs"}
    return ", ".join([f"Vertex clustering, at most {limit} epochs", *(f"{one} {others[one]}" for one in others)])


def _verdicts(block: ClusteringBlock) -> Iterator[str]:
    """Say for each graph whether TVGNN is at most two of the paper's standard deviations below the paper."""
    for graph, row in block.runs.items():
        if graph not in GRAPH_TITLES:
            continue
        for method, name in product([method for method in _OURS if method in row], _SCALE):
            stated, deviation = CLUSTERING[method][graph][name]
            mean = row[method].mean(name)
            if mean is None:
                continue
            ours = mean * _SCALE[name]
            met = ours >= stated - 2 * deviation
            digits = _DIGITS[name]
            yield (
                f"{CLUSTERING_TITLES[method]} on {GRAPH_TITLES[graph]}, {name.upper()}: {ours:.{digits}f}, "
                f"{'not ' if not met else ''}within two standard deviations of the paper or better "
                f"({stated:.{digits}f} ± 2 x {deviation:.{digits}f})."
            )


def _remarks(block: ClusteringBlock) -> Iterator[str]:
    failures = [record for record in block.records if not record.finished]
    for record in failures:
        name = f"{CLUSTERING_TITLES.get(record.method, record.method)} on {record.dataset}, seed {record.seed}"
        yield plain(f"{name} failed: {record.error}.")
    if where := provenance(block.records):
        yield f"Measured: {where}."
