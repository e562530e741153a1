"""Delimited text from outside: plain or gzip, any of four delimiters, with or without a header, checked line by line.

Lines that start with ``%``, or with ``#`` and a blank, are comments; ``#python`` is an id.
"""

import csv
import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, ClassVar, cast

from tvgnn.errors import DataError

__all__ = [
    "IdCache",
    "TextTable",
    "is_integer",
    "is_number",
    "open_bytes",
    "open_table",
    "open_text",
    "require_file",
    "text_suffix",
]

_COMMENT = re.compile(r"\s*(%|#(\s|#|!|$))")
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,4000}")
_SAMPLE_ROWS = 50
_HEAD_BYTES = 65536


class IdCache(dict[str, int | str]):
    """Node id of each text: integers become int, ``007`` and ``1.0`` stay text; one object per distinct id."""

    def __missing__(self, text: str) -> int | str:
        stripped = text.strip()
        result: int | str = int(stripped) if is_integer(stripped) else stripped
        self[text] = result
        return result


def is_integer(text: str) -> bool:
    """Say whether ``text`` is an integer as it would be printed: no plus sign, no leading zeros."""
    return _INTEGER.fullmatch(text) is not None


def is_number(text: str) -> bool:
    """Say whether ``text`` is a number, NaN and infinities included."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def require_file(path: str | Path) -> Path:
    """Return ``path`` as a Path after making sure that it is a file."""
    path = Path(path)
    if path.is_dir():
        raise DataError(f"{path}: expected a file, this is a folder")
    if not path.is_file():
        if path.exists():
            raise DataError(f"{path}: expected a file, this is a pipe or device; write its content to a file first")
        raise DataError(f"{path}: there is no such file; check the path")
    return path


def text_suffix(path: Path) -> str:
    """Return the suffix in lower case, looking through ``.gz``."""
    return (Path(path.stem) if path.suffix.lower() == ".gz" else path).suffix.lower()


def _open_binary(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        is_gzip = file.read(2) == b"\x1f\x8b"
    return cast(IO[bytes], gzip.open(path, "rb")) if is_gzip else path.open("rb")


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Open for reading, unpacking gzip whatever the name says; damage is a :class:`DataError`."""
    try:
        with _open_binary(path) as file:
            yield file
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(f"{path}: the gzip data is damaged or cut off ({error}); fetch the file again") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None


@contextmanager
def open_text(path: Path) -> Iterator[io.TextIOWrapper]:
    """Open UTF-8 text with or without a byte-order mark, any line ends."""
    with open_bytes(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig", errors="strict") as text:
        try:
            yield text
        except UnicodeDecodeError as error:
            raise DataError(
                f"{path}: expected UTF-8 text, got other bytes ({error.reason}); save it as UTF-8"
            ) from None
        except csv.Error as error:
            raise DataError(f"{path}: not readable as delimited text: {error}") from None


@dataclass(frozen=True)
class TextTable:
    """A delimited file after its format was found; rows are read when asked for.

    ``delimiter`` None means runs of blanks; ``skip`` lines come before the first row of data.
    """

    path: Path
    delimiter: str | None
    width: int
    header: tuple[str, ...] | None
    skip: int
    is_text: ClassVar[bool] = True

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield line number and fields of each row of data; every row must have ``width`` fields."""
        for line, fields in _iterate(self.path, self.delimiter):
            if line <= self.skip:
                continue
            if len(fields) != self.width:
                raise DataError(
                    f"{self.path}, line {line}: expected {self.width} columns as in the first row, got {len(fields)}"
                )
            yield line, fields

    def line_of(self, row: int) -> int:
        """Return the line number of data row ``row``, by reading up to it again."""
        return next(islice(self.rows(), row, None))[0]


def open_table(
    path: str | Path,
    looks_like_header: Callable[[list[list[str]]], bool],
    *,
    delimiter: str | None = None,
    header: bool | None = None,
) -> TextTable:
    """Find delimiter, width and header of a text file.

    Parameters
    ----------
    path
        The file, plain or gzip; or parquet, where delimiter and header have no meaning.
    looks_like_header
        Judges the first rows where ``header`` is None.
    delimiter
        One character; None finds tab, comma, semicolon or blanks in the first line.
    header
        Whether the first row holds names.

    Raises
    ------
    DataError
        If there is no file, it is empty, binary or a web page, or holds no row of data.
    """
    path = require_file(path)
    if text_suffix(path) == ".parquet":
        from tvgnn.io.parquet_table import open_parquet

        return open_parquet(path)
    _check_head(path)
    if delimiter is not None and len(delimiter) != 1:
        raise DataError(f"the delimiter must be one character, got {delimiter!r}")
    if delimiter is None:
        delimiter = _find_delimiter(path)
    elif delimiter == " ":
        delimiter = None
    sample = list(islice(_iterate(path, delimiter), _SAMPLE_ROWS))
    if not sample:
        raise DataError(f"{path}: expected rows of data, the file holds none")
    (first_line, first), rows = sample[0], [fields for _, fields in sample]
    if header is None:
        header = looks_like_header(rows)
    if header and len(rows) == 1:
        raise DataError(f"{path}: expected rows of data below the header in line {first_line}, there are none")
    names = tuple(name.strip() for name in first) if header else None
    skip = first_line if header else first_line - 1
    return TextTable(path, delimiter, len(rows[1] if header else first), names, skip)


def _iterate(path: Path, delimiter: str | None) -> Iterator[tuple[int, list[str]]]:
    with open_text(path) as text:
        lines = ("\n" if _COMMENT.match(line) else line for line in text)
        if delimiter is None:
            yield from ((number, fields) for number, line in enumerate(lines, 1) if (fields := line.split()))
            return
        reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
        for fields in reader:
            if len(fields) > 1 or (fields and fields[0].strip()):
                yield reader.line_num, fields


def _find_delimiter(path: Path) -> str | None:
    with open_text(path) as text:
        line = next((line for line in text if line.strip() and not _COMMENT.match(line)), "")
    unquoted = re.sub(r'"[^"]*"', "", line)
    if "\t" in unquoted:
        return "\t"
    commas, semicolons = unquoted.count(","), unquoted.count(";")
    if commas or semicolons:
        return "," if commas > semicolons else ";"
    return None


def _check_head(path: Path) -> None:
    with open_bytes(path) as file:
        head = file.read(_HEAD_BYTES)
    if not head.strip():
        raise DataError(f"{path}: the file is empty")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"{path}: expected UTF-8 text, got UTF-16; save it as UTF-8")
    if b"\0" in head:
        raise DataError(f"{path}: expected text, got binary data; known binary formats are .npz, .npy and .parquet")
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:64].lower()
    if start.startswith((b"<!doctype html", b"<html", b"<?xml")):
        raise DataError(f"{path}: expected delimited text, got a web page or XML; was the download an error page?")
