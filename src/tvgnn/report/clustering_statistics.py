"""Runs of vertex clustering in numbers: mean and standard deviation of each metric over the seeds."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tvgnn.records import ClusteringRecord, latest
from tvgnn.report.paper_figures import CLUSTERING_TITLES, GRAPH_TITLES, in_table_order

__all__ = ["ClusteringBlock", "Runs", "clustering_blocks", "of_table_1", "ranks"]

_OTHERS = ("row_normalize", "standardize", "timed", "data")  # settings of synthetic graphs, times and sweeps


@dataclass(frozen=True)
class Runs:
    """The finished runs of one method on one graph.

    Attributes
    ----------
    records : tuple of ClusteringRecord
        At least one.

    """

    records: tuple[ClusteringRecord, ...]

    def values(self, name: str) -> list[float]:
        """Return a metric or another number of each run that has it; accuracies and shares as they are."""
        found = (record.metrics.get(name, getattr(record, name, None)) for record in self.records)
        return [float(value) for value in found if value is not None]

    def mean(self, name: str) -> float | None:
        """Return its mean, None where no run has it."""
        values = self.values(name)
        return statistics.fmean(values) if values else None

    def deviation(self, name: str) -> float | None:
        """Return its standard deviation over the seeds, None for a single run."""
        values = self.values(name)
        return statistics.stdev(values) if len(values) > 1 else None

    @property
    def seeds(self) -> frozenset[int]:
        """Seeds of the runs."""
        return frozenset(record.seed for record in self.records)


@dataclass(frozen=True)
class ClusteringBlock:
    """All runs with the same settings.

    Attributes
    ----------
    settings : mapping
        What they share.
    records : tuple of ClusteringRecord
        The latest of each run, failed ones included.
    runs : mapping
        Finished ones by graph and method, in the order of the tables; a pair without one is absent.

    """

    settings: Mapping[str, Any]
    records: tuple[ClusteringRecord, ...]
    runs: Mapping[str, Mapping[str, Runs]]

    @property
    def graphs(self) -> list[str]:
        """Graphs whose classes are known, in the order of the tables."""
        return [graph for graph, row in self.runs.items() if any(runs.values("nmi") for runs in row.values())]

    @property
    def methods(self) -> list[str]:
        """Methods with a run on such a graph, in the order of the tables."""
        return in_table_order({name for graph in self.graphs for name in self.runs[graph]}, CLUSTERING_TITLES)

    def average(self, method: str, name: str) -> float | None:
        """Return the mean over these graphs of a method's means, None where it lacks one."""
        rows = [self.runs[graph] for graph in self.graphs]
        means = [row[method].mean(name) if method in row else None for row in rows]
        known = [mean for mean in means if mean is not None]
        return statistics.fmean(known) if known and len(known) == len(means) else None


def of_table_1(records: Iterable[ClusteringRecord]) -> tuple[list[ClusteringRecord], str]:
    """Return the records that are made as those of table 1, and what is to be said of the others.

    These are the synthetic graphs, whose features are left as they are, timed runs of a few epochs, and sweeps.

    Returns
    -------
    tuple of list and str
        In their order; the text is empty where none is left out.
    """
    every = list(records)
    ours = [record for record in every if not record.asked.keys() & set(_OTHERS)]
    counts = Counter(_kind(record) for record in every if record.asked.keys() & set(_OTHERS))
    if not counts:
        return ours, ""
    named = ", ".join(f"{count} {'run' if count == 1 else 'runs'} {kind}" for kind, count in sorted(counts.items()))
    return ours, f"left out, as table 1 does not make them: {named}"


def clustering_blocks(records: Iterable[ClusteringRecord]) -> list[ClusteringBlock]:
    """Group runs of table 1 by their settings, the largest group first; of a run that is there twice the later counts.

    See Also
    --------
    of_table_1 : which these are.
    """
    groups: dict[str, list[ClusteringRecord]] = {}
    for record in latest(sorted(of_table_1(records)[0], key=lambda one: one.date)):
        groups.setdefault(json.dumps(record.settings, sort_keys=True), []).append(record)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    return [ClusteringBlock(json.loads(settings), tuple(group), _runs(group)) for settings, group in ordered]


def ranks(means: Mapping[str, float | None], largest: bool = True) -> dict[str, int]:
    """Return 1 for the best method and 2 for the second best, equal means alike; nothing where there is one method.

    Examples
    --------
    >>> ranks({"a": 0.3, "b": 0.5, "c": 0.1})
    {'b': 1, 'a': 2}
    """
    known = {name: mean for name, mean in means.items() if mean is not None}
    if len(known) < 2:
        return {}
    order = sorted(set(known.values()), reverse=largest)[:2]
    return {
        name: order.index(mean) + 1
        for name, mean in sorted(known.items(), key=lambda item: item[1], reverse=largest)
        if mean in order
    }


def _kind(record: ClusteringRecord) -> str:
    if "data" in record.asked:
        return "of a sweep"
    return f"on {record.dataset} {'timed' if 'timed' in record.asked else 'with features as they are'}"


def _runs(records: Sequence[ClusteringRecord]) -> dict[str, dict[str, Runs]]:
    groups: dict[str, dict[str, list[ClusteringRecord]]] = {}
    for record in records:
        if record.finished:
            groups.setdefault(record.dataset, {}).setdefault(record.method, []).append(record)
    return {
        graph: {
            method: Runs(tuple(sorted(groups[graph][method], key=lambda one: one.seed)))
            for method in in_table_order(groups[graph], CLUSTERING_TITLES)
        }
        for graph in in_table_order(groups, GRAPH_TITLES)
    }
