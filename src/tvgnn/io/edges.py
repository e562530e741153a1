"""Edge lists in text files."""

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tvgnn.errors import DataError
from tvgnn.io._cells import is_name, is_number
from tvgnn.io._delimiters import SAMPLE_ROWS
from tvgnn.io._edge_columns import LARGEST_WEIGHT, Columns, bad_weight, choose_columns, judge
from tvgnn.io._table import TextTable, open_table
from tvgnn.io._text import IdCache, open_bytes, open_text
from tvgnn.wording import setting

__all__ = ["EdgeTable", "read_edges", "unknown_row"]

_CHUNK = 1 << 24
_ARROW = re.compile(r"<?[-=]{1,2}>|<[-=]{1,2}|--")
_LEAST_COUNTED = 3  # rows; of fewer it is likely by chance


@dataclass(frozen=True)
class EdgeTable:
    """Edges as a file lists them: two columns of ids (int64 array, or list of int and text) and weights or None.

    ``notes`` say what a reader should know of how the file was read; ``doubt`` says so where the first line, read as an
    edge, looks like a header.
    """

    source: npt.NDArray[np.int64] | list[int | str]
    target: npt.NDArray[np.int64] | list[int | str]
    weight: npt.NDArray[np.float64] | None
    table: TextTable
    notes: tuple[str, ...] = ()
    doubt: str | None = None

    def where(self, row: int) -> str:
        """Name file and line of edge ``row`` for a message."""
        return f"{self.table.path}, line {self.table.line_of(row)}"


def read_edges(
    path: str | Path,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    weight_column: str | int | Literal["auto"] | None = "auto",
) -> EdgeTable:
    """Read an edge list: CSV, TSV, semicolons or blanks, plain or gzip.

    Parameters
    ----------
    path
        The file, text or ``.parquet``. Ids that look like integers become int; ``007`` stays text. The ends of an edge
        are the columns named ``source`` and ``target`` or alike, else the first two that hold no weight and, below a
        header, have a name.
    delimiter
        One character, found in the first line by default.
    header
        Whether the first row holds column names; judged from the rows by default.
    weight_column
        Name (which makes the first row a header), or position from 0, of the column of weights. ``"auto"``: the column
        named ``weight`` or ``w``; without a header the third of three columns. None: unweighted.

    Returns
    -------
    EdgeTable
        For :meth:`tvgnn.Graph.from_edges`.

    Raises
    ------
    DataError
        If the file is missing, damaged or not an edge list; names the line and what was expected.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "edges.csv"
    >>> _ = path.write_text("source,target,weight\\nann,bob,2\\n")
    >>> edges = read_edges(path)
    >>> edges.source, edges.target, edges.weight.tolist()
    (['ann'], ['bob'], [2.0])
    """
    named = isinstance(weight_column, str) and weight_column != "auto"
    if named and header is False:
        raise DataError(
            f"{path}: expected names of columns for {setting('weight_column', weight_column)}, got "
            f"{setting('header', False)}; give the position of the weights, from 0, or leave one of them out"
        )
    expected = "two node ids and optionally a weight"
    first = True if named else header
    table = open_table(path, judge, expected=expected, rows_are="edges", delimiter=delimiter, header=first)
    if table.width < 2:
        raise DataError(
            f"{table.path}, line {table.skip + 1}: expected at least two columns (source, target), got {table.width}; "
            "separate them by tabs, commas, semicolons or blanks, or name another delimiter, such as "
            f"{setting('delimiter', '|')}"
        )
    _refuse_arrows(table)
    columns = choose_columns(table, weight_column)
    edges = _read_integers(table, columns) or _read_any(table, columns, doubtful=header is None)
    notes = table.note("an edge", f"pass {setting('header', True)}", f"pass {setting('header', False)}")
    return replace(edges, notes=(*notes, *columns.notes, *_counted_note(edges, columns)))


def _refuse_arrows(table: TextTable) -> None:
    """Refuse lines like ``ann -> bob``, whose arrow would be a node of its own."""
    rows = [fields for _, fields in islice(table.rows(), SAMPLE_ROWS)]
    if table.width > 2 and all(_ARROW.fullmatch(fields[1].strip()) for fields in rows):
        raise DataError(
            f"{table.path}, line {table.skip + 1}: expected two node ids, got {rows[0][1]!r} between them; take "
            "it out of every line"
        )


def _counted_note(edges: EdgeTable, columns: Columns) -> tuple[str, ...]:
    """Tell where the first of three columns without names counts the rows: the weights are rather targets then."""
    table, weight, n = edges.table, edges.weight, len(edges.source)
    if table.header is not None or table.width != 3 or columns.source != 0 or weight is None or n < _LEAST_COUNTED:
        return ()
    first = edges.source[0]
    if first not in (0, 1) or edges.source[-1] != first + n - 1:
        return ()
    if not np.array_equal(edges.source, np.arange(first, first + n)) or not np.array_equal(weight, np.round(weight)):
        return ()
    return (
        f"the first column of {table.path.name} counts the rows and was read as source, the third as weight; if it "
        "only numbers the rows, put the header row,source,target above it, with the delimiter of the file",
    )


def _read_integers(table: TextTable, columns: Columns) -> EdgeTable | None:
    """Read by NumPy's parser where all ids are integers; None where they are not, or anything else is unusual."""
    source, target, weight = columns.source, columns.target, columns.weight
    if not table.is_text or table.width > 3 or _has_unusual_numbers(table.path):
        return None
    kinds = [np.int64 if i in (source, target) else np.float64 for i in range(table.width)]
    record = np.dtype([(f"c{i}", kind) for i, kind in enumerate(kinds)])
    with open_text(table.path) as text, warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # rows that the parser takes for empty lines
        for _ in islice(text, table.skip):
            pass
        try:
            rows = np.loadtxt(text, dtype=record, delimiter=table.delimiter, comments=None, ndmin=1)
        except UnicodeDecodeError:
            raise
        except (ValueError, OverflowError, UserWarning):
            return None
    weights = None if weight is None else np.ascontiguousarray(rows[f"c{weight}"])
    result = EdgeTable(rows[f"c{source}"].copy(), rows[f"c{target}"].copy(), weights, table)
    if weights is not None and not (weights.min() >= 0 and weights.max() <= LARGEST_WEIGHT):
        row = int(np.argmax(~((weights >= 0) & (weights <= LARGEST_WEIGHT))))
        raise bad_weight(table, columns, table.line_of(row), f"{weights[row]:g}")
    return result


def _has_unusual_numbers(path: Path) -> bool:
    """Find numbers that a parser of integers would accept and change: ``007``, ``+7`` and ``-0``."""
    kind = np.zeros(256, dtype=np.uint8)
    kind[list(b"0123456789")] = 1
    kind[list(b".eE")] = 2
    kind[list(b"+-")] = 3
    with open_bytes(path) as file:
        tail = b"\n\n"
        while block := file.read(_CHUNK):
            data = np.frombuffer(tail + block, dtype=np.uint8)
            tail = bytes(data[-3:])
            kinds = kind[data]
            zeros = np.flatnonzero(data[2:-1] == ord("0")) + 2
            before, sign_before = kinds[zeros - 1], kinds[zeros - 2]
            starts = (before == 0) | ((before == 3) & (sign_before != 2))
            if np.any(starts & (kinds[zeros + 1] == 1)) or np.any(
                starts & (before == 3) & (data[zeros + 1] != ord("."))
            ):
                return True
            plus = np.flatnonzero(data[1:] == ord("+")) + 1
            if np.any(kinds[plus - 1] != 2):
                return True
    return False


def _read_any(table: TextTable, columns: Columns, *, doubtful: bool) -> EdgeTable:
    """Read row by row, naming the line of whatever is wrong."""
    source: list[int | str] = []
    target: list[int | str] = []
    weights: list[float] = []
    ids = IdCache()
    for line, fields in table.rows():
        source.append(ids[fields[columns.source]])
        target.append(ids[fields[columns.target]])
        if source[-1] == "" or target[-1] == "":
            raise DataError(f"{table.path}, line {line}: expected two node ids, one is empty; drop such rows")
        if columns.weight is not None:
            text = fields[columns.weight]
            weight = float(text) if is_number(text) else -1.0
            if not 0 <= weight <= LARGEST_WEIGHT:
                raise bad_weight(table, columns, line, text)
            weights.append(weight)
    doubt = _first_line_doubt(table, source, target, len(set(ids.values()))) if doubtful else None
    return EdgeTable(source, target, None if columns.weight is None else np.array(weights), table, doubt=doubt)


def _first_line_doubt(table: TextTable, source: list[int | str], target: list[int | str], num_ids: int) -> str | None:
    """Say so where the first edge looks like names: both occur nowhere else, while most ids occur more than once."""
    ends = {source[0], target[0]}
    others = len(source) - 1
    if table.header is not None or others < 2 or len(ends) < 2 or 2 * (num_ids - 2) > 3 * others:
        return None
    if not all(map(is_name, table.first)):
        return None
    if any(end in ends for column in (source, target) for end in islice(column, 1, None)):
        return None
    return f"{table.first_line()} was read as an edge; pass {setting('header', True)} if it is a header"


def unknown_row(column: Sequence[Any] | npt.NDArray[np.int64], known: Sequence[Any]) -> int | None:
    """Return the first row of ``column`` whose id is not among ``known``, or None."""
    if isinstance(column, np.ndarray) and isinstance(known, range):
        outside = (column < 0) | (column >= len(known))
        return int(np.argmax(outside)) if outside.any() else None
    values = column.tolist() if isinstance(column, np.ndarray) else column
    ids = set(known)
    if ids.issuperset(values):
        return None
    return next(row for row, value in enumerate(values) if value not in ids)
