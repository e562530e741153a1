"""Runs of a benchmark of graph classification in numbers: mean, standard deviation, and who differs from whom."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tvgnn.records import RunRecord, latest
from tvgnn.report.paper_figures import DATASET_TITLES, METHOD_TITLES, in_table_order

__all__ = ["Block", "Summary", "blocks", "summarize", "welch"]


@dataclass(frozen=True)
class Summary:
    """The finished runs of one method on one dataset.

    Attributes
    ----------
    accuracies : tuple of float
        Test accuracy of each run, in percent.
    which : frozenset of (fold, run)
        The runs that entered.
    epochs, seconds_per_epoch : float
        Medians.
    peak_gigabytes : float or None
        Largest memory of a run.

    """

    accuracies: tuple[float, ...]
    which: frozenset[tuple[int, int]]
    epochs: float
    seconds_per_epoch: float
    peak_gigabytes: float | None

    @property
    def mean(self) -> float:
        """Mean accuracy in percent."""
        return statistics.fmean(self.accuracies)

    @property
    def deviation(self) -> float | None:
        """Standard deviation over the runs (of the population that they are drawn from), None for a single one."""
        return statistics.stdev(self.accuracies) if len(self.accuracies) > 1 else None

    @property
    def folds(self) -> int:
        """Number of folds that the runs cover."""
        return len({fold for fold, _ in self.which})


@dataclass(frozen=True)
class Block:
    """All runs with the same settings.

    Attributes
    ----------
    settings : mapping
        What they share.
    records : tuple of RunRecord
        The latest of each run, failed ones included.
    summaries : mapping
        By dataset and method, in the order of the tables; a pair without a finished run is absent.

    """

    settings: Mapping[str, Any]
    records: tuple[RunRecord, ...]
    summaries: Mapping[str, Mapping[str, Summary]]


def blocks(records: Iterable[RunRecord]) -> list[Block]:
    """Group runs by their settings, the largest group first."""
    groups: dict[str, list[RunRecord]] = {}
    for record in latest(records):
        groups.setdefault(json.dumps(record.settings, sort_keys=True), []).append(record)
    largest_first = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    return [Block(json.loads(settings), tuple(group), _summaries(group)) for settings, group in largest_first]


def summarize(records: Sequence[RunRecord]) -> Summary:
    """Put the finished runs of one method on one dataset together; there must be at least one.

    Examples
    --------
    >>> common = {"fingerprint": "", "seed": 0, "settings": {}, "n_graphs": 9, "epochs": 7, "seconds_per_epoch": 0.5}
    >>> runs = [RunRecord("mutag", "tvgnn", 0, i, **common, test_accuracy=a) for i, a in enumerate((0.8, 0.9))]
    >>> summary = summarize(runs)
    >>> round(summary.mean, 2), round(summary.deviation, 2), summary.folds
    (85.0, 7.07, 1)
    """
    memory = [record.peak_rss_bytes for record in records if record.peak_rss_bytes is not None]
    return Summary(
        accuracies=tuple(100 * record.test_accuracy for record in records if record.test_accuracy is not None),
        which=frozenset((record.fold, record.run) for record in records),
        epochs=statistics.median(record.epochs or 0 for record in records),
        seconds_per_epoch=statistics.median(record.seconds_per_epoch or 0.0 for record in records),
        peak_gigabytes=max(memory) / 1e9 if memory else None,
    )


def welch(first: Summary, second: Summary) -> float | None:
    """Return the two-sided p-value of Welch's t-test on the accuracies of two methods.

    None where it is not defined: a method has a single run, or neither varies. The runs of a fold share their test
    graphs, so they are less independent than the test assumes; it is the paper's test.

    Examples
    --------
    >>> common = (frozenset(), 1.0, 1.0, None)
    >>> p = welch(Summary((1.0, 2.0, 3.0), *common), Summary((2.0, 4.0, 6.0), *common))
    >>> round(p, 4)
    0.2209
    """
    from scipy.stats import ttest_ind_from_stats

    if first.deviation is None or second.deviation is None or first.deviation == second.deviation == 0:
        return None
    # the same as ttest_ind(equal_var=False), which warns where all runs of a method agree
    moments = ((one.mean, one.deviation, len(one.accuracies)) for one in (first, second))
    return float(ttest_ind_from_stats(*next(moments), *next(moments), equal_var=False).pvalue)


def _summaries(records: Iterable[RunRecord]) -> dict[str, dict[str, Summary]]:
    groups: dict[str, dict[str, list[RunRecord]]] = {}
    for record in records:
        if record.finished:
            groups.setdefault(record.dataset, {}).setdefault(record.method, []).append(record)
    return {
        dataset: {
            method: summarize(groups[dataset][method]) for method in in_table_order(groups[dataset], METHOD_TITLES)
        }
        for dataset in in_table_order(groups, DATASET_TITLES)
    }
