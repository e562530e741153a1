"""A table of the experiments without figures of the paper: accuracy over the seeds, clusters in use, sharpness."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from tvgnn.records import ClusteringRecord
from tvgnn.report.cells import Cell
from tvgnn.report.clustering_statistics import Runs, ranks
from tvgnn.report.paper_figures import CLUSTERING_TITLES

__all__ = ["by_title", "run_title", "sharpness_rows"]

# title, name, digits, factor
_COLUMNS = (
    ("ACC in %", "acc", 1, 100.0),
    ("NMI", "nmi", 3, 1.0),
    ("clusters in use", "n_clusters_found", 1, 1.0),
    ("sharpness", "sharpness", 3, 1.0),
    ("cut fraction", "cut_fraction", 3, 1.0),
)
_RANKED = ("acc", "nmi", "sharpness")


class _Run(Protocol):
    """A run that was made, or is to be."""

    @property
    def method(self) -> str: ...

    @property
    def settings(self) -> dict[str, Any]: ...


def run_title(run: _Run) -> str:
    """Return the method, without the explanation of an ablation, with settings that are not the paper's."""
    step, starts = run.settings.get("delta_coeff"), run.settings.get("n_init")
    title = CLUSTERING_TITLES[run.method].partition(":")[0]
    title += "" if step is None else f", 2δ = {step:g}"
    return title + ("" if starts is None else f", best of {starts} starts")


def by_title(records: Iterable[ClusteringRecord]) -> dict[str, list[ClusteringRecord]]:
    """Return finished runs by method, in the order of the methods; settings that are not the paper's in the title.

    Examples
    --------
    >>> settings = {"delta_coeff": 50.0, "n_init": 5}
    >>> run = ClusteringRecord("sbm-denoising", "tvgnn", 0, "f", settings, 3, metrics={"acc": 1.0})
    >>> list(by_title([run]))
    ['TVGNN, 2δ = 50, best of 5 starts']
    """
    order = {name: number for number, name in enumerate(CLUSTERING_TITLES)}
    groups: dict[str, list[ClusteringRecord]] = {}
    for record in sorted(records, key=lambda one: (order[one.method], len(one.settings), one.seed)):
        if record.finished:
            groups.setdefault(run_title(record), []).append(record)
    return groups


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
