"""Tables of record files of any kind, and the blocks of a page that they fill."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tvgnn.errors import DataError
from tvgnn.records import ClusteringRecord, DatasetRecord, RunRecord, latest, read_records

if TYPE_CHECKING:
    from rich.table import Table

    from tvgnn.report.cells import Cell

__all__ = ["Classification", "Clustering", "Datasets", "read_kind"]

_SYNTHETIC = {"sbm-denoising": "denoising", "ring": "ring", "grid": "grid"}
_Part = tuple[str, Sequence[Sequence["Cell"]]]


@dataclass(frozen=True)
class Kind(ABC):
    """Records of one kind.

    Attributes
    ----------
    records : sequence
        The latest of each run.

    """

    records: Sequence[Any]

    @abstractmethod
    def tables(self) -> list[Table]:
        """Return them for a terminal."""

    def note(self) -> str:
        """Say what the tables leave out; empty where that is nothing."""
        return ""

    @abstractmethod
    def blocks(self) -> Mapping[str, str]:
        """Return the Markdown of each block of a page that these records fill, by the name of its markers."""

    def written(self, page: str) -> str:
        """Return a page with the tables between their markers.

        Raises
        ------
        DataError
            It lacks markers.
        """
        from tvgnn.report.provenance import between_markers

        for name, text in self.blocks().items():
            page = between_markers(page, name, text)
        return page


class Classification(Kind):
    """Records of graph classification, timed ones apart."""

    def tables(self) -> list[Table]:
        """Return them for a terminal."""
        from tvgnn.report.classification_table import classification_tables

        trained, timed = _timed(self.records)
        return [*classification_tables(trained), *(_rich(part) for part in self._times(timed))]

    def blocks(self) -> Mapping[str, str]:
        """Return the blocks ``classification`` and ``classification-times``, those that have records."""
        from tvgnn.report.classification_table import markdown

        trained, timed = _timed(self.records)
        found = {"classification": markdown(trained)} if trained or not timed else {}
        for part in self._times(timed):
            found["classification-times"] = _measured(part, timed)
        return found

    def _times(self, timed: Sequence[RunRecord]) -> list[_Part]:
        from tvgnn.report.times_table import classification_time_rows

        return [("Graph classification, time of training", classification_time_rows(timed))] if timed else []


class Clustering(Kind):
    """Records of vertex clustering: graphs of table 1, synthetic ones and timed runs each in a block of their own."""

    def note(self) -> str:
        """Say what the tables leave out; empty where that is nothing."""
        from tvgnn.report.clustering_statistics import of_table_1

        return of_table_1(self._groups().get("clustering", []))[1]

    def tables(self) -> list[Table]:
        """Return them for a terminal."""
        from tvgnn.report.clustering_table import clustering_tables

        groups = self._groups()
        own = groups.pop("clustering", [])
        return [*clustering_tables(own), *(_rich(self._part(name, group)) for name, group in groups.items())]

    def blocks(self) -> Mapping[str, str]:
        """Return the blocks ``clustering``, ``denoising``, ``ring``, ``grid`` and ``clustering-times`` with records."""
        from tvgnn.report.clustering_statistics import of_table_1
        from tvgnn.report.clustering_table import clustering_markdown

        groups = self._groups() or {"clustering": []}
        if len(groups) > 1 and not of_table_1(groups.get("clustering", []))[0]:
            groups.pop("clustering", None)  # all of it is left out
        return {
            name: clustering_markdown(group) if name == "clustering" else _measured(self._part(name, group), group)
            for name, group in groups.items()
        }

    def _groups(self) -> dict[str, list[ClusteringRecord]]:
        """Records by block; what fits none stays with table 1, which names what it leaves out."""
        groups: dict[str, list[ClusteringRecord]] = {}
        for record in self.records:
            name = _SYNTHETIC.get(record.dataset) if record.settings.get("standardize") else None
            name = "clustering-times" if record.settings.get("timed") else name
            groups.setdefault(name or "clustering", []).append(record)
        return groups

    def _part(self, name: str, group: Sequence[ClusteringRecord]) -> _Part:
        from tvgnn.report.clustering_statistics import Runs
        from tvgnn.report.sharpness_table import by_title, sharpness_rows
        from tvgnn.report.times_table import clustering_time_rows

        if name == "clustering-times":
            return "Vertex clustering, time of training", clustering_time_rows(group)
        epochs = max(record.settings["max_epochs"] for record in group)
        longest = [record for record in group if record.settings["max_epochs"] == epochs]
        rows = sharpness_rows({title: Runs(tuple(runs)) for title, runs in by_title(longest).items()})
        return f"{name}, at most {epochs:,} epochs: mean ± deviation (lowest to highest) over the seeds", rows


class Datasets(Kind):
    """Records of the sizes of datasets."""

    def tables(self) -> list[Table]:
        """Return them for a terminal."""
        from tvgnn.report.dataset_table import dataset_parts

        return [_rich(part) for part in dataset_parts(self.records)]

    def blocks(self) -> Mapping[str, str]:
        """Return the block ``datasets``."""
        from tvgnn.report.cells import markdown_table
        from tvgnn.report.dataset_table import DATASET_NOTES, dataset_parts
        from tvgnn.report.provenance import provenance

        parts = [f"### {title}\n\n{markdown_table(rows)}" for title, rows in dataset_parts(self.records)]
        return {"datasets": "\n\n".join([*parts, f"{DATASET_NOTES} Loaded: {provenance(self.records)}."])}


def read_kind(paths: Sequence[Path]) -> Kind:
    """Read files of one kind of records, the latest of each run.

    Raises
    ------
    DataError
        A file is missing or damaged, there is no record, or the files are of two kinds.
    """
    kinds = {_kind(path) for path in paths} - {None}
    if len(kinds) > 1:
        raise DataError(f"expected files of one kind, got some of {' and some of '.join(sorted(map(str, kinds)))}")
    record, kind = _KINDS[kinds.pop() or _CLASSIFICATION] if kinds else _KINDS[_CLASSIFICATION]
    found = [one for path in paths for one in read_records(path, record)]
    if not found:
        raise DataError(f"{', '.join(map(str, paths))}: expected a record a line, found none; make runs first")
    return kind(latest(sorted(found, key=lambda one: one.date)))


_CLASSIFICATION = "graph classification"
_KINDS: Mapping[str, tuple[type[Any], type[Kind]]] = {
    _CLASSIFICATION: (RunRecord, Classification),
    "vertex clustering": (ClusteringRecord, Clustering),
    "sizes of datasets": (DatasetRecord, Datasets),
}
_MARKS = {"fold": _CLASSIFICATION, "n_clusters": "vertex clustering", "sizes": "sizes of datasets"}


def _kind(path: Path) -> str | None:
    """Tell the kind by the first record; None without one, or where the reader will say why it is unreadable."""
    try:
        with path.open(encoding="utf-8") as file:
            first: Any = json.loads(file.readline())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(first, dict):
        return None
    return next((kind for field, kind in _MARKS.items() if field in first), None)


def _timed(records: Sequence[RunRecord]) -> tuple[list[RunRecord], list[RunRecord]]:
    """Part runs whose result is in question from those that were only timed."""
    timed = [record for record in records if record.settings.get("timed")]
    return [record for record in records if not record.settings.get("timed")], timed


def _is_a_time_alone(record: RunRecord | ClusteringRecord) -> bool:
    """Whether it holds no other result, as a figure that was taken over from a page; its notes say where from."""
    result = record.metrics if isinstance(record, ClusteringRecord) else record.test_accuracy
    return record.finished and not result


def _rich(part: _Part) -> Table:
    from tvgnn.report.cells import rich_table

    title, rows = part
    return rich_table(rows, title)


def _measured(part: _Part, records: Sequence[Any]) -> str:
    """Markdown of a table, what its runs note, and what it was measured with."""
    from tvgnn.report.cells import markdown_table, plain
    from tvgnn.report.provenance import provenance

    title, rows = part
    failures = [f"{one.method} on {one.dataset} failed: {one.error}." for one in records if not one.finished]
    notes = dict.fromkeys(note for one in records if _is_a_time_alone(one) for note in one.notes)
    known = provenance(records)
    lines = [*(plain(text) for text in (*failures, *notes)), *([f"Measured: {known}."] if known else [])]
    return f"### {plain(title)}\n\n{markdown_table(rows)}\n\n" + "\n".join(f"{line}  " for line in lines)
