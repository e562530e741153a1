"""Where the figures of a page come from, and how they get into it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from tvgnn.errors import DataError

__all__ = ["between_markers", "provenance"]

_SHORT_HASH = 7
_DAY = len("2026-01-31")


class _Measured(Protocol):
    @property
    def commit(self) -> str | None: ...
    @property
    def date(self) -> str: ...
    @property
    def versions(self) -> dict[str, str]: ...


def provenance(records: Sequence[_Measured]) -> str:
    """Return commits, days, threads, device, processor and version of torch of some runs, each once where known."""
    in_time = sorted(records, key=lambda record: (record.date[:_DAY], record.commit or ""))  # whatever came first
    dates = sorted(record.date[:_DAY] for record in records if record.date)
    threads = _values(getattr(record, "threads", None) for record in records)
    parts = [
        _values(f"commit `{record.commit[:_SHORT_HASH]}`" for record in in_time if record.commit),
        " to ".join(dict.fromkeys((dates[0], dates[-1]))) if dates else "",
        f"{threads} thread{'' if threads == '1' else 's'} a run" if threads else "",
        _values(getattr(record, "device", None) for record in records),
        _values(getattr(record, "processor", None) for record in records),
        _values(f"torch {record.versions['torch']}" for record in records if "torch" in record.versions),
    ]
    return ", ".join(part for part in parts if part)


def between_markers(page: str, name: str, text: str) -> str:
    """Return a page with what stands between its markers of this name replaced.

    Raises
    ------
    DataError
        It lacks the markers.

    Examples
    --------
    >>> between_markers("a <!-- begin t --> old <!-- end t --> b", "t", "new").split()
    ['a', '<!--', 'begin', 't', '-->', 'new', '<!--', 'end', 't', '-->', 'b']
    """
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(end) < page.index(begin):
        raise DataError(f"expected the lines {begin} and {end} once each in the page; add them where the table goes")
    before, after = page.partition(begin)[0], page.partition(end)[2]
    return f"{before}{begin}\n\n{text}\n\n{end}{after}"


def _values(found: Iterable[Any]) -> str:
    return ", ".join(dict.fromkeys(str(value) for value in found if value not in (None, "")))
