"""Runs of experiments as records, and JSON-lines files of them that survive a crash."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tvgnn.errors import DataError

__all__ = ["RunRecord", "RunStore", "compact", "latest", "read_records"]

_DIGITS = 5  # of the numbers in a file that is committed
_DAY = len("2026-01-31")


@dataclass(frozen=True)
class RunRecord:
    """One run of one method on one fold of one dataset, finished or failed.

    Attributes
    ----------
    dataset, method, fold, run
        Which run; fold and run count from 0.
    fingerprint : str
        Hash of everything that decides the result: settings, hyper-parameters, labels.
    seed : int
        Seed of this run.
    settings : dict
        What all methods share, such as the readout and the largest number of epochs.
    n_graphs : int
        Graphs of the dataset.
    error : str or None
        Why the run failed, in one line; None where it finished.
    test_accuracy, validation_accuracy, train_accuracy : float or None
        Shares in [0, 1]; None where it failed.
    validation_loss : float or None
        The lowest, whose epoch was kept.
    epochs, best_epoch, seconds, seconds_per_epoch
        Length of the training.
    peak_rss_bytes : int or None
        Largest resident memory of the process during the run.
    parameters, k, features, notes
        Hyper-parameters, numbers of clusters, what the node features are, warnings.
    threads, device, backend, versions, commit, date
        Where, when and with what.

    Raises
    ------
    ValueError
        It has both a test accuracy and an error, or neither.

    """

    dataset: str
    method: str
    fold: int
    run: int
    fingerprint: str
    seed: int
    settings: dict[str, Any]
    n_graphs: int
    error: str | None = None
    test_accuracy: float | None = None
    validation_accuracy: float | None = None
    train_accuracy: float | None = None
    validation_loss: float | None = None
    epochs: int | None = None
    best_epoch: int | None = None
    seconds: float | None = None
    seconds_per_epoch: float | None = None
    peak_rss_bytes: int | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    k: list[int] = field(default_factory=list)
    features: str = ""
    notes: list[str] = field(default_factory=list)
    threads: int | None = None
    device: str | None = None
    backend: str | None = None
    versions: dict[str, str] = field(default_factory=dict)
    commit: str | None = None
    date: str = ""

    def __post_init__(self) -> None:
        if (self.test_accuracy is None) == (self.error is None):
            raise ValueError("expected either test_accuracy or error")

    @property
    def key(self) -> tuple[str, str, int, int, str]:
        """What a second record of the same run shares with the first."""
        return self.dataset, self.method, self.fold, self.run, self.fingerprint

    @property
    def finished(self) -> bool:
        """Whether it has a result."""
        return self.error is None


class RunStore:
    """A file to which one process at a time appends records, each on disk before the next run starts.

    A record counts once its line has ended: what a crash left of a last line is removed, and its run is repeated.

    Parameters
    ----------
    path : path
        The file; it and its folder are created.

    Attributes
    ----------
    records : list of RunRecord
        What is in the file, in its order.

    Raises
    ------
    DataError
        The file cannot be written, another process has it open, or a line in its middle is damaged.

    Examples
    --------
    >>> import tempfile
    >>> record = RunRecord("mutag", "tvgnn", 0, 0, "f", 1, {}, 135, test_accuracy=0.9)
    >>> path = Path(tempfile.mkdtemp()) / "runs" / "records.jsonl"
    >>> with RunStore(path) as store:
    ...     store.append(record)
    >>> read_records(path) == [record]
    True
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.records: list[RunRecord] = []

    def __enter__(self) -> Self:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("ab+", buffering=0)  # a line is one call to the system
        except OSError as error:
            raise DataError(f"{self.path}: cannot be written: {error.strerror}; choose another folder") from None
        try:
            _lock(self._file.fileno(), self.path)
            self._file.seek(0)
            content = self._file.read()
            self.records = _parse(content, self.path)
            self._file.truncate(content.rfind(b"\n") + 1)
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def append(self, record: RunRecord) -> None:
        """Add a record to the file.

        Raises
        ------
        ValueError
            A number is not finite.
        DataError
            The disk is full.

        """
        line = (json.dumps(asdict(record), allow_nan=False) + "\n").encode()
        if self._file.write(line) != len(line):
            raise DataError(f"{self.path}: only a part of a record could be written; make room on the disk, and go on")
        os.fsync(self._file.fileno())
        self.records.append(record)


def read_records(path: str | Path) -> list[RunRecord]:
    """Read what `RunStore` or `compact` wrote; a half-written last line is left out.

    Raises
    ------
    DataError
        The file is missing or damaged; names the line.
    """
    try:
        return _parse(Path(path).read_bytes(), Path(path))
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read: {error.strerror}; expected the records.jsonl of a benchmark"
        ) from None


def latest(records: Iterable[RunRecord]) -> list[RunRecord]:
    """One record a run: the last that finished, else the last that failed."""
    found: dict[tuple[str, str, int, int, str], RunRecord] = {}
    for record in records:
        if record.finished or record.key not in found or not found[record.key].finished:
            found[record.key] = record
    return list(found.values())


def compact(records: Iterable[RunRecord]) -> str:
    """Lines for a file that is committed: the latest of each run, sorted, numbers to five digits, days for dates.

    A field that equals that of the line before is left out.
    """
    lines: list[str] = []
    before: dict[str, Any] = {}
    ordered = sorted(latest(records), key=lambda one: (json.dumps(one.settings, sort_keys=True), *one.key))
    for record in ordered:
        fields = {name: _rounded(value) for name, value in asdict(replace(record, date=record.date[:_DAY])).items()}
        changed = {name: value for name, value in fields.items() if name not in before or before[name] != value}
        lines.append(json.dumps(changed, allow_nan=False) + "\n")
        before = fields
    return "".join(lines)


def _rounded(value: Any) -> Any:
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def _parse(content: bytes, path: Path) -> list[RunRecord]:
    fields: dict[str, Any] = {}
    records = []
    for number, line in enumerate(content.split(b"\n")[:-1], start=1):
        try:
            fields = fields | json.loads(line)
            records.append(RunRecord(**fields))
        except (ValueError, TypeError) as error:
            raise DataError(
                f"{path}, line {number}: expected the record of a run: {error}; remove the line to repeat its run"
            ) from None
    return records


def _lock(descriptor: int, path: Path) -> None:
    """Keep other processes out until the file is closed, where the system can."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise DataError(f"{path}: another process is writing there; wait for it or choose another folder") from None
    except OSError:
        return  # a file system without locks
