"""What a user is told of the runs behind a table or figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from tvgnn.cli.run import say
from tvgnn.errors import TrainingError
from tvgnn.records import ClusteringRecord, Record, RunRecord

__all__ = ["Keyed", "tell"]


class Keyed(Protocol):
    """Something that has the key of a record."""

    @property
    def key(self) -> tuple[Any, ...]:
        """That of its record."""


def tell(
    records: Sequence[Record],
    left: Sequence[Keyed],
    how: str = "the same command makes them",
) -> None:
    """Say which runs failed, and how many are left.

    Parameters
    ----------
    records : sequence of records
        The latest of each run.
    left : sequence of jobs
        Those without a result, failed ones included.
    how : str
        What makes them.

    Raises
    ------
    TrainingError
        Every run failed.
    """
    runs = [record for record in records if isinstance(record, RunRecord | ClusteringRecord)]
    failures = [record for record in runs if not record.finished]
    if failures and len(failures) == len(records):
        raise TrainingError(f"every run failed, the last one: {failures[-1].error}")
    for record in failures:
        say("warning", f"{_title(record)} failed: {record.error}")
    if left:
        total = len({one.key for one in records} | {one.key for one in left})
        say("note", f"{len(left)} of {total} runs are left; {how}")


def _title(record: RunRecord | ClusteringRecord) -> str:
    which = f"fold {record.fold}, run {record.run}" if isinstance(record, RunRecord) else f"seed {record.seed}"
    return f"{record.method} on {record.dataset}, {which}"
