"""Which delimiter a text file has."""

import csv
import re
from itertools import islice
from pathlib import Path

from tvgnn.io._cells import looks_numeric
from tvgnn.io._text import open_text

__all__ = ["COMMENT", "SAMPLE_ROWS", "find_delimiter"]

COMMENT = re.compile(r"\s*(%|#(\s|#|!|$)|sep=[;,\t|]\s*$)")
"""Lines that are passed over; spreadsheets write ``sep=;``."""
SAMPLE_ROWS = 50
"""Rows from which a format is judged."""
_DELIMITERS = ("\t", ";", ",")


def find_delimiter(path: Path) -> str | None:
    """Choose what the first line has most of, unless only another delimiter splits all lines alike; None: blanks."""
    with open_text(path) as text:
        rows = (line for line in text if line.strip() and not COMMENT.match(line))
        lines = list(islice(rows, SAMPLE_ROWS))
        if not lines:
            return None
        widths = {mark: [len(row) for row in csv.reader(lines, delimiter=mark)] for mark in _DELIMITERS}
    unquoted = re.sub(r'"[^"]*"', "", lines[0])
    chosen = max(_DELIMITERS, key=unquoted.count) if "\t" not in unquoted else "\t"
    if chosen not in unquoted:
        return None
    if chosen == "\t":
        return _beside_tabs(lines, widths["\t"])
    if _all_numbers_by_blanks(lines, widths[chosen]):  # 0 1 0,5 with a decimal comma
        return None
    if not _alike(widths[chosen]):
        return next((mark for mark in _DELIMITERS if _alike(widths[mark])), chosen)
    return chosen


def _alike(widths: list[int]) -> bool:
    """Say whether all rows have the same width, but for a header without a name over the first column."""
    body = set(widths[1:] or widths)
    return len(body) == 1 and max(body) > 1 and widths[0] in (max(body), max(body) - 1) and widths[0] > 1


def _beside_tabs(lines: list[str], widths: list[int]) -> str | None:
    """Find the delimiter of lines with tabs: those can be the blanks beside another one, or mixed with blanks."""
    for mark in (";", ","):
        if all(re.search(rf"{mark}\s*\t|\t\s*{mark}", line) for line in lines):
            return mark
    return None if _all_numbers_by_blanks(lines, widths) else "\t"


def _all_numbers_by_blanks(lines: list[str], widths: list[int]) -> bool:
    """Say whether blanks split all lines into as many numbers, more than the delimiter of ``widths`` into cells."""
    words = [line.split() for line in lines]
    same = len({len(row) for row in words}) == 1 and len(words[0]) > max(widths)
    return same and all(looks_numeric(word) and word[-1] != "," for row in words for word in row)
