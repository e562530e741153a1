"""Tables of record files of either kind."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from tvgnn.errors import DataError
from tvgnn.records import ClusteringRecord, RunRecord, latest, read_records

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["Classification", "Clustering", "read_kind"]

R = TypeVar("R", RunRecord, ClusteringRecord)


@dataclass(frozen=True)
class Classification:
    """Records of graph classification."""

    records: Sequence[RunRecord]

    def note(self) -> str:
        """Say what the tables leave out: nothing."""
        return ""

    def tables(self) -> list[Table]:
        """Return them for a terminal."""
        from tvgnn.report.classification_table import classification_tables

        return classification_tables(self.records)

    def written(self, page: str) -> str:
        """Return a page with the tables between its markers."""
        from tvgnn.report.classification_table import written

        return written(page, self.records)


@dataclass(frozen=True)
class Clustering:
    """Records of vertex clustering."""

    records: Sequence[ClusteringRecord]

    def note(self) -> str:
        """Say what the tables leave out; empty where that is nothing."""
        from tvgnn.report.clustering_statistics import of_table_1

        return of_table_1(self.records)[1]

    def tables(self) -> list[Table]:
        """Return them for a terminal."""
        from tvgnn.report.clustering_table import clustering_tables

        return clustering_tables(self.records)

    def written(self, page: str) -> str:
        """Return a page with the tables between its markers."""
        from tvgnn.report.clustering_table import clustering_markdown
        from tvgnn.report.provenance import between_markers

        return between_markers(page, "clustering", clustering_markdown(self.records))


def read_kind(paths: Sequence[Path]) -> Classification | Clustering:
    """Read files of one kind of records, in any order, the latest of each run.

    Raises
    ------
    DataError
        A file is missing or damaged, there is no record, or the files are of two kinds.
    """
    kinds = {_is_classification(path) for path in paths}
    if {True, False} <= kinds:
        raise DataError("expected files of one kind, got some of graph classification and some of vertex clustering")
    if False not in kinds:
        return Classification(_latest(paths, RunRecord))
    return Clustering(_latest(paths, ClusteringRecord))


def _latest(paths: Sequence[Path], kind: type[R]) -> list[R]:
    records = [record for path in paths for record in read_records(path, kind)]
    if not records:
        raise DataError(f"{', '.join(map(str, paths))}: expected a record a line, found none; make runs first")
    return latest(sorted(records, key=lambda record: record.date))


def _is_classification(path: Path) -> bool | None:
    """Whether the first record has a fold; None where there is none, or the reader will say why it is unreadable."""
    try:
        with path.open(encoding="utf-8") as file:
            first: Any = json.loads(file.readline())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(first, dict):
        return None
    return True if "fold" in first else False if "n_clusters" in first else None
