"""Numbers from the text files of TU datasets, a piece of the file at a time, with every line checked."""

import re
import warnings
from collections.abc import Iterator
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from tvgnn.datasets.tu_files import TUFiles
from tvgnn.errors import DataError

__all__ = ["count_lines", "read_table"]

_PIECE = 1 << 24  # bytes parsed at once
_BLANKS = b" \t\r"
_INTEGER_BYTES = b"0123456789+-" + _BLANKS
_REAL_BYTES = _INTEGER_BYTES + b".eE"
_INTEGER = re.compile(rb"\s*[+-]?[0-9]{1,18}\s*")
_REAL = re.compile(rb"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*")
_LARGEST_INTEGER = 10**18 - 1
_SHOWN = 60  # characters of a bad line in its message


def read_table(files: TUFiles, kind: str, *, columns: int | None = None, real: bool = False) -> npt.NDArray[Any]:
    """Read a file of comma-separated numbers.

    Parameters
    ----------
    files : TUFiles
        Where it lies.
    kind : str
        Which file.
    columns : int, optional
        Numbers in every line. Default None: as many as in the first.
    real : bool, default False
        Whether the numbers may have decimals; float64 then, else int32, or int64 where that is too narrow.

    Returns
    -------
    array of shape (lines, columns)
        Row i is line i + 1.

    Raises
    ------
    DataError
        If a line holds something else; names file and line.
    """
    files.require(kind)
    kept = _REAL_BYTES if real else _INTEGER_BYTES
    parts: list[npt.NDArray[Any]] = []
    line = 0
    with files.open(kind) as file:
        for text in _pieces(file, files.where(kind)):
            if columns is None:
                columns = text.count(b",", 0, text.index(b"\n")) + 1
            lines = text.count(b"\n")
            # what is left without the characters of numbers tells whether every line has its commas, and nothing else
            separators = text.translate(None, kept)
            values = None
            if len(separators) == columns * lines and separators == (b"," * (columns - 1) + b"\n") * lines:
                values = _parse(text, columns * lines, real)
            if values is None:
                raise DataError(_describe(text, columns, real, files.where(kind), line))
            parts.append(values)
            line += lines
    if not parts:
        return np.zeros((0, columns or 1), dtype=np.float64 if real else np.int32)
    return np.concatenate(parts).reshape(-1, columns or 1)


def count_lines(files: TUFiles, kind: str) -> int:
    """Return the number of lines of a file, reading it to the end; blank ones at the end do not count."""
    files.require(kind)
    with files.open(kind) as file:
        return sum(text.count(b"\n") for text in _pieces(file, files.where(kind)))


def _pieces(file: IO[bytes], where: str) -> Iterator[bytes]:
    """Yield whole lines, each with its end; blank lines at the end of the file are left out."""
    rest = b""
    first = True
    while piece := file.read(_PIECE):
        text = rest + (piece.removeprefix(b"\xef\xbb\xbf") if first else piece)
        first = False
        # the last line that is not blank waits, since only blank ones may follow it
        cut = text.rfind(b"\n", 0, len(text.rstrip())) + 1
        if cut:
            yield text[:cut]
        rest = text[cut:]
        if len(rest) > 2 * _PIECE:
            raise DataError(f"{where}: expected lines of text, got one of more than {_PIECE} bytes")
    if rest.strip():
        yield rest.rstrip() + b"\n"


def _parse(text: bytes, count: int, real: bool) -> npt.NDArray[Any] | None:
    """Return ``count`` numbers, or None where the text holds anything else."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # of text that is not a number
        try:
            values = np.fromstring(text[:-1].replace(b"\n", b","), np.float64 if real else np.int64, sep=" ,")
        except (DeprecationWarning, ValueError):
            return None
    if len(values) != count:
        return None
    if real:
        return values
    low, high = int(values.min()), int(values.max())
    if max(-low, high) > _LARGEST_INTEGER:
        return None  # the parser clips what is too large
    return values.astype(np.int32) if max(-low, high) <= np.iinfo(np.int32).max else values


def _describe(text: bytes, columns: int, real: bool, where: str, line: int) -> str:
    """Find the first bad line of ``text``, which follows ``line`` others, and say what is wrong with it."""
    cell = _REAL if real else _INTEGER
    noun = "number" if real else "integer"
    expected = f"one {noun}" if columns == 1 else f"{columns} {noun}s separated by commas"
    for number, row in enumerate(text.split(b"\n")[:-1], line + 1):
        cells = row.split(b",")
        if len(cells) != columns or not all(map(cell.fullmatch, cells)):
            shown = row.strip().decode("utf-8", "replace")
            shown = f"{shown[:_SHOWN]}..." if len(shown) > _SHOWN else shown
            return f"{where}, line {number}: expected {expected}, got {shown!r}"
    return f"{where}: expected {expected} in every line"
