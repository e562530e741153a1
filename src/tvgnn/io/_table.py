"""Tables of text: delimiter, width and header are found, and every row is checked.

Lines that start with ``%``, or with ``#`` and a blank, are comments, and so is the ``sep=;`` of spreadsheets;
``#python`` is an id. Rows without any content and
empty cells behind the last column are passed over.
"""

import csv
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import ClassVar, NamedTuple

from tvgnn.errors import DataError
from tvgnn.io._delimiters import COMMENT, SAMPLE_ROWS, find_delimiter
from tvgnn.io._text import check_head, open_text, require_file, text_suffix

__all__ = ["TextTable", "Verdict", "open_table"]

_BETWEEN_BLANKS = re.compile(r'"((?:[^"]|"")*)"(?=\s|$)|(\S+)')
_WORDS = {None: "blanks", "\t": "tabs", ";": "semicolons", ",": "commas"}


class Verdict(NamedTuple):
    """Whether the first row holds names, and whether that is sure."""

    header: bool
    sure: bool = True


@dataclass(frozen=True)
class TextTable:
    """A delimited file after its format was found; rows are read when asked for.

    Attributes
    ----------
    path
        The file.
    delimiter
        None means runs of blanks.
    width
        Number of columns.
    header
        Names in the first row, None where it is one of data.
    skip
        Lines before the first row of data.
    first
        Cells of the first row.
    sure
        False where the first row could also be what it was not taken for.
    """

    path: Path
    delimiter: str | None
    width: int
    header: tuple[str, ...] | None
    skip: int
    first: tuple[str, ...]
    sure: bool
    is_text: ClassVar[bool] = True

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield line number and fields of each row of data; every row must have ``width`` fields."""
        width, names = self.width, [] if self.header is None else list(self.header)
        for line, fields in _iterate(self.path, self.delimiter):
            if line <= self.skip:
                continue
            if len(fields) != width:
                if len(fields) < width or any(map(str.strip, fields[width:])):
                    raise self._ragged(line, len(fields))
                del fields[width:]
            if fields == names:
                raise DataError(f"{self.path}, line {line}: the header again; were files joined? Take this line out")
            yield line, fields

    def line_of(self, row: int) -> int:
        """Return the line number of data row ``row``, by reading up to it again."""
        return next(islice(self.rows(), row, None))[0]

    def column_name(self, column: int) -> str:
        """Name a column for a message: by the header, else by its position from 0."""
        if self.header is None or len(self.header) > self.width:
            return repr(str(column))
        unnamed = self.width - len(self.header)  # R writes no name over the row names
        return repr(self.header[column - unnamed]) if column >= unnamed else repr("")

    def wrong_header(self) -> DataError:
        """Say that header and rows have other numbers of columns."""
        return DataError(
            f"{self.path}, line {self.skip + 1}: the header names {len(self.header or ())} columns, the rows below "
            f"have {self.width}; complete the rows, or name all columns"
        )

    def note(self, row: str, if_names: str, if_row: str) -> tuple[str, ...]:
        """Tell a reader of a first row that could be either: names, or ``row``; and how to say which it is."""
        if self.sure:
            return ()
        if self.header is None:
            return (f"{self.first_line()} was read as {row}; if it holds names, {if_names}",)
        return (f"{self.first_line()} was taken for names of columns; if it is {row}, {if_row}",)

    def first_line(self) -> str:
        """Name the first line and show its beginning."""
        cells = [" ".join(cell.split())[:40] for cell in self.first[:5]]
        return f"the first line of {self.path.name} ({', '.join(cells)}{', ...' if len(self.first) > 5 else ''})"

    def _ragged(self, line: int, found: int) -> DataError:
        """Too many or too few columns."""
        separator = _WORDS.get(self.delimiter, repr(self.delimiter))
        return DataError(
            f"{self.path}, line {line}: expected {self.width} columns as in the first row, got {found}; columns are "
            f"separated by {separator}: complete the line, or put a cell that holds one in double quotes"
        )


def open_table(
    path: str | Path,
    judge: Callable[[list[list[str]]], Verdict],
    *,
    expected: str,
    rows_are: str,
    delimiter: str | None = None,
    header: bool | None = None,
) -> TextTable:
    """Find delimiter, width and header of a text file.

    Parameters
    ----------
    path
        The file, plain or gzip; or parquet, where delimiter and header have no meaning.
    judge
        Says from the first rows, stripped of blanks, whether the first holds names, where ``header`` is None.
    expected, rows_are
        What a row holds, and what rows are, for messages.
    delimiter
        One character; None finds tab, comma, semicolon or blanks in the first lines.
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
    check_head(path, expected)
    if delimiter is not None and len(delimiter) != 1:
        raise DataError(f"the delimiter must be one character, got {delimiter!r}")
    if delimiter is None:
        delimiter = find_delimiter(path)
    elif delimiter == " ":
        delimiter = None
    sample = list(islice(_iterate(path, delimiter), SAMPLE_ROWS))
    if not sample:
        raise DataError(f"{path}: expected {expected} in each line, the file holds comments and empty rows only")
    rows = _without_padding([[cell.strip() for cell in fields] for _, fields in sample])
    if all(re.fullmatch(r"[\[(][^\])]*", row[0]) and row[-1].endswith(("]", ")")) for row in rows):
        raise DataError(f"{path}: expected {expected} in each line, got brackets around it; take them away")
    verdict = judge(rows) if header is None else Verdict(header)
    if verdict.header and len(rows) == 1:
        raise DataError(
            f"{path}: a header in line {sample[0][0]} and no {rows_are} below it; expected {expected} in each line"
        )
    if not verdict.header and any("\n" in cell for cell in rows[0]):
        raise _wrapped(path, sample[0][0])
    names = tuple(" ".join(name.split()) if "\n" in name else name for name in rows[0]) if verdict.header else None
    skip = sample[0][0] if verdict.header else sample[0][0] - 1
    if verdict.header and len(sample) > 1:
        skip = sample[1][0] - 1  # a name may go over several lines
    width = len(rows[1] if verdict.header else rows[0])
    return TextTable(path, delimiter, width, names, skip, tuple(rows[0]), verdict.sure)


def _without_padding(rows: list[list[str]]) -> list[list[str]]:
    """Take away columns at the end that are empty in every row, down to two."""
    while max(map(len, rows)) > 2:
        width = max(map(len, rows))
        if any(len(row) == width and row[-1] for row in rows):
            break
        rows = [row[: width - 1] for row in rows]
    return rows


def _iterate(path: Path, delimiter: str | None) -> Iterator[tuple[int, list[str]]]:
    """Yield rows with the number of the line in which each begins; only the first, of names, may go over several."""
    with open_text(path) as text:
        lines = ("\n" if COMMENT.match(line) else line for line in text)
        if delimiter is None:
            yield from ((number, fields) for number, line in enumerate(lines, 1) if (fields := _split(line)))
            return
        reader, before, first = csv.reader(lines, delimiter=delimiter, skipinitialspace=True), 0, True
        for fields in reader:
            start, before = before + 1, reader.line_num
            if not any(map(str.strip, fields)):
                continue
            if before > start and not first:
                raise _wrapped(path, start)
            yield start, fields
            first = False


def _wrapped(path: Path, line: int) -> DataError:
    return DataError(
        f"{path}, line {line}: a quoted cell goes on in the next line, which only names may; is a quote missing?"
    )


def _split(line: str) -> list[str]:
    if '"' not in line:
        return line.split()
    return [word or quoted.replace('""', '"') for quoted, word in _BETWEEN_BLANKS.findall(line)]
