"""A table of the experiments without figures of the paper: accuracy over the seeds, clusters in use, sharpness."""

from __future__ import annotations

from collections.abc import Mapping

from tvgnn.report.cells import Cell
from tvgnn.report.clustering_statistics import Runs, ranks

__all__ = ["sharpness_rows"]

# title, name, digits, factor
_COLUMNS = (
    ("ACC in %", "acc", 1, 100.0),
    ("NMI", "nmi", 3, 1.0),
    ("clusters in use", "n_clusters_found", 1, 1.0),
    ("sharpness", "sharpness", 3, 1.0),
    ("cut fraction", "cut_fraction", 3, 1.0),
)
_RANKED = ("acc", "nmi", "sharpness")


def sharpness_rows(groups: Mapping[str, Runs]) -> list[list[Cell]]:
    """Return the header and one line a group: mean and standard deviation, lowest and highest value in brackets.

    Parameters
    ----------
    groups : mapping of str to Runs
        By title; metrics that no run has are left out.
    """
    shown = [one for one in _COLUMNS if any(runs.values(one[1]) for runs in groups.values())]
    best = {
        name: ranks({title: runs.mean(name) for title, runs in groups.items()}) if name in _RANKED else {}
        for _, name, _, _ in shown
    }
    rows = [[Cell("method"), *(Cell(title) for title, *_ in shown), Cell("seeds")]]
    for title, runs in groups.items():
        cells = [_cell(runs, name, digits, factor, best[name].get(title, 0)) for _, name, digits, factor in shown]
        rows.append([Cell(title), *cells, Cell(str(len(runs.records)))])
    return rows


def _cell(runs: Runs, name: str, digits: int, factor: float, rank: int) -> Cell:
    values = [factor * value for value in runs.values(name)]
    if not values:
        return Cell()
    text = f"{sum(values) / len(values):.{digits}f}"
    deviation = runs.deviation(name)
    if deviation is not None:
        text += f" ± {factor * deviation:.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"
    return Cell(text, rank)
