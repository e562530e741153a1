"""JSON-lines files of records that survive a crash, and a compact form that is committed."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from tvgnn.errors import DataError
from tvgnn.records._fields import check_fields, not_a_number

__all__ = ["Record", "RunStore", "compact", "latest", "read_records"]

_DIGITS = 5  # of the numbers in a file that is committed
_DAY = len("2026-01-31")
_EXACT = ("settings", "parameters")  # they tell runs apart


class Record(Protocol):
    """What a store asks of a kind of record: a frozen dataclass of values that JSON can hold."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def settings(self) -> dict[str, Any]:
        """What the runs of a table share."""

    @property
    def date(self) -> str:
        """When it was made."""

    @property
    def key(self) -> tuple[Any, ...]:
        """What a second record of the same run shares with the first."""

    @property
    def finished(self) -> bool:
        """Whether the run has a result."""


R = TypeVar("R", bound=Record)


class RunStore(Generic[R]):
    """A file to which one process at a time appends records, each on disk before the next run starts.

    A record counts once its line has ended: what a crash left of a last line is removed, and its run is repeated.

    Parameters
    ----------
    path : path
        The file; it and its folder are created.
    kind : type
        Of its records.

    Attributes
    ----------
    records : list
        What is in the file, in its order.

    Raises
    ------
    DataError
        The file cannot be written, another process has it open, or a line in its middle is damaged.

    Examples
    --------
    >>> import tempfile
    >>> from tvgnn.records import RunRecord
    >>> record = RunRecord("mutag", "tvgnn", 0, 0, "f", 1, {}, 135, test_accuracy=0.9)
    >>> path = Path(tempfile.mkdtemp()) / "runs" / "records.jsonl"
    >>> with RunStore(path, RunRecord) as store:
    ...     store.append(record)
    >>> read_records(path, RunRecord) == [record]
    True
    """

    def __init__(self, path: str | Path, kind: type[R]) -> None:
        self.path, self.kind = Path(path), kind
        self.records: list[R] = []

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
            self.records = _parse(content, self.path, self.kind)
            self._file.truncate(content.rfind(b"\n") + 1)
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def append(self, record: R) -> None:
        """Add a record to the file.

        Raises
        ------
        ValueError
            A number is not finite.
        DataError
            It cannot be written, for example because the disk is full.

        """
        line = (json.dumps(asdict(record), allow_nan=False) + "\n").encode()
        try:
            if self._file.write(line) != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._file.fileno())
        except OSError as error:
            raise DataError(
                f"{self.path}: cannot be written: {error.strerror}; make room on the disk, and go on"
            ) from None
        self.records.append(record)


def read_records(path: str | Path, kind: type[R]) -> list[R]:
    """Read what `RunStore` or `compact` wrote; a half-written last line is left out.

    Raises
    ------
    DataError
        The file is missing or damaged; names the line.
    """
    try:
        return _parse(Path(path).read_bytes(), Path(path), kind)
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read: {error.strerror}; expected the records.jsonl of a benchmark"
        ) from None


def latest(records: Iterable[R]) -> list[R]:
    """One record a run: the last that finished, else the last that failed."""
    found: dict[tuple[Any, ...], R] = {}
    for record in records:
        if record.finished or record.key not in found or not found[record.key].finished:
            found[record.key] = record
    return list(found.values())


def compact(records: Iterable[Record]) -> str:
    """Lines for a file that is committed: the latest of each run, sorted, numbers to five digits, days for dates.

    A field that equals that of the line before is left out. A dictionary with the names of the one before is a list of
    its values.
    """
    lines: list[str] = []
    before: dict[str, Any] = {}
    ordered = sorted(latest(records), key=lambda one: (json.dumps(one.settings, sort_keys=True), *one.key))
    for record in ordered:
        fields = {
            name: value if name in _EXACT else _rounded(value)
            for name, value in asdict(replace(record, date=record.date[:_DAY])).items()
        }
        changed = {
            name: _without_names(value, before.get(name))
            for name, value in fields.items()
            if name not in before or before[name] != value
        }
        lines.append(json.dumps(changed, allow_nan=False) + "\n")
        before = fields
    return "".join(lines)


def _without_names(value: Any, before: Any) -> Any:
    same_names = isinstance(value, dict) and isinstance(before, dict) and list(value) == list(before)
    return list(value.values()) if same_names else value


def _with_names(value: Any, before: Any) -> Any:
    """Undo `_without_names`; no field that holds a dictionary ever holds a list."""
    if not (isinstance(value, list) and isinstance(before, dict)):
        return value
    if len(value) != len(before):
        raise ValueError(f"expected values of {', '.join(before)}, got {len(value)} of them")
    return dict(zip(before, value, strict=True))


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def _parse(content: bytes, path: Path, kind: type[R]) -> list[R]:
    fields: dict[str, Any] = {}
    records = []
    for number, line in enumerate(content.split(b"\n")[:-1], start=1):
        try:
            changed = json.loads(line, parse_constant=not_a_number)
            if not isinstance(changed, dict):
                raise ValueError(f"a line holds {type(changed).__name__}, not fields by name")
            fields = fields | {name: _with_names(value, fields.get(name)) for name, value in changed.items()}
            check_fields(fields, kind)
            records.append(kind(**fields))
        except (ValueError, TypeError, RecursionError) as error:
            raise DataError(
                f"{path}, line {number}: expected a {kind.__name__}: {error}; remove the line to repeat its run, or "
                "choose another file"
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
