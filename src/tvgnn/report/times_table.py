"""The paper's two tables of training times, ours beside the paper's, each as a ratio to TVGNN as well."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping

from tvgnn.records import ClusteringRecord, RunRecord
from tvgnn.report.cells import Cell
from tvgnn.report.paper_figures import (
    CLUSTERING_TITLES,
    DATASET_TITLES,
    GRAPH_TITLES,
    METHOD_TITLES,
    MS_PER_EPOCH,
    SECONDS_PER_EPOCH,
    in_table_order,
)

__all__ = ["classification_time_rows", "clustering_time_rows"]

_REFERENCE = "tvgnn"


def clustering_time_rows(records: Iterable[ClusteringRecord]) -> list[list[Cell]]:
    """Return milliseconds an epoch by graph and method: medians over the repeats, and the paper's.

    Parameters
    ----------
    records : iterable of ClusteringRecord
        With ``ms_per_epoch``.
    """
    found: dict[str, dict[str, list[float]]] = {}
    for record in records:
        if record.ms_per_epoch is not None:
            found.setdefault(record.dataset, {}).setdefault(record.method, []).append(record.ms_per_epoch)
    stated = {graph: {method: row[graph] for method, row in MS_PER_EPOCH.items()} for graph in GRAPH_TITLES}
    return _rows(
        "ms an epoch", found, stated, GRAPH_TITLES, {name: CLUSTERING_TITLES[name] for name in MS_PER_EPOCH}, 1
    )


def classification_time_rows(records: Iterable[RunRecord]) -> list[list[Cell]]:
    """Return seconds an epoch by set of graphs and method: medians over the runs, and the paper's.

    Parameters
    ----------
    records : iterable of RunRecord
        Finished ones.
    """
    found: dict[str, dict[str, list[float]]] = {}
    for record in records:
        if record.seconds_per_epoch is not None:
            found.setdefault(record.dataset, {}).setdefault(record.method, []).append(record.seconds_per_epoch)
    titles = {name: DATASET_TITLES.get(name, name) for name in in_table_order(found, DATASET_TITLES)}
    return _rows("s an epoch", found, SECONDS_PER_EPOCH, titles, METHOD_TITLES, 2)


def _rows(
    unit: str,
    found: Mapping[str, Mapping[str, list[float]]],
    stated: Mapping[str, Mapping[str, float]],
    datasets: Mapping[str, str],
    methods: Mapping[str, str],
    digits: int,
) -> list[list[Cell]]:
    shown = [name for name in methods if any(name in row for row in found.values())]
    rows = [[Cell(text) for text in (unit, *(methods[name] for name in shown))]]
    for dataset in (name for name in datasets if name in found):
        ours = {name: statistics.median(values) for name, values in found[dataset].items()}
        rows.append(_line(datasets[dataset], ours, shown, digits))
        if dataset in stated:
            rows.append(_line("paper", stated[dataset], shown, digits))
    return rows


def _line(title: str, times: Mapping[str, float], shown: Iterable[str], digits: int) -> list[Cell]:
    """One line; a time is followed by its ratio to TVGNN's."""
    reference = times.get(_REFERENCE)
    cells = [Cell(title)]
    for name in shown:
        if name not in times:
            cells.append(Cell())
        elif reference is None or name == _REFERENCE:
            cells.append(Cell(f"{times[name]:.{digits}f}"))
        else:
            cells.append(Cell(f"{times[name]:.{digits}f} ({times[name] / reference:.2f}x)"))
    return cells
