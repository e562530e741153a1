"""Edge lists in text files."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tvgnn.errors import DataError
from tvgnn.io._text import IdCache, TextTable, is_integer, is_number, open_bytes, open_table, open_text

__all__ = ["EdgeTable", "read_edges", "unknown_row"]

_SOURCE_NAMES = frozenset(
    ("source", "src", "from", "fromnodeid", "node1", "node_1", "id1", "id_1", "u", "head", "start")
)
_TARGET_NAMES = frozenset(
    ("target", "dst", "dest", "destination", "to", "tonodeid", "node2", "node_2", "id2", "id_2", "v", "tail", "end")
)
_WEIGHT_NAMES = frozenset(("weight", "weights", "w", "edge_weight"))
_LARGEST = float(np.finfo(np.float32).max)  # graphs hold float32
_CHUNK = 1 << 24


@dataclass(frozen=True)
class EdgeTable:
    """Edges as a file lists them: two columns of ids (int64 array, or list of int and text) and weights or None."""

    source: npt.NDArray[np.int64] | list[int | str]
    target: npt.NDArray[np.int64] | list[int | str]
    weight: npt.NDArray[np.float64] | None
    table: TextTable

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
        The file; ``.parquet`` is read too. Ids that look like integers become int; ``007`` stays text.
    delimiter
        One character, found in the first line by default.
    header
        Whether the first row holds column names; judged from the rows by default.
    weight_column
        Name, or position from 0, of the column of weights. ``"auto"``: the column named ``weight`` or ``w``; without
        a header the third of three columns. None: unweighted.

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
    table = open_table(path, _looks_like_header, delimiter=delimiter, header=True if named else header)
    if table.width < 2:
        raise DataError(
            f"{table.path}, line {table.skip + 1}: expected at least two columns (source, target), got {table.width}; "
            "name the delimiter if it is not a tab, comma, semicolon or blank"
        )
    columns = _choose_columns(table, weight_column)
    return _read_integers(table, columns) or _read_any(table, columns)


def _looks_like_header(rows: list[list[str]]) -> bool:
    first, others = [cell.strip() for cell in rows[0]], rows[1:]
    if len(first) < 2:
        return False
    if others and all(len(row) > 1 and is_integer(row[0].strip()) and is_integer(row[1].strip()) for row in others):
        return not (is_integer(first[0]) or is_integer(first[1]))
    weighted = bool(others) and all(len(row) > 2 and is_number(row[2]) for row in others)
    if weighted and len(first) > 2 and not is_number(first[2]):
        return True  # where a weight is bad the names decide
    lowered = [cell.lower().lstrip("#") for cell in first]
    if not (_SOURCE_NAMES.intersection(lowered) and _TARGET_NAMES.intersection(lowered)):
        return False
    # nodes may well be called "u" and "v"
    return not any(cell.strip() in first for row in others for cell in row)


def _choose_columns(table: TextTable, weight_column: str | int | None) -> tuple[int, int, int | None]:
    """Return the positions of source, target and weight."""
    names = [] if table.header is None else [name.lower().lstrip("#") for name in table.header]
    if names and len(names) != table.width:
        raise DataError(f"{table.path}: the header names {len(names)} columns, the rows below have {table.width}")
    source = next((i for i, name in enumerate(names) if name in _SOURCE_NAMES), None)
    target = next((i for i, name in enumerate(names) if name in _TARGET_NAMES), None)
    if source is None or target is None:
        source, target = 0, 1
    if weight_column is None:
        return source, target, None
    if isinstance(weight_column, int):
        if not 0 <= weight_column < table.width or weight_column in (source, target):
            raise DataError(
                f"{table.path}: weight_column={weight_column} must be the position (from 0) of one of the "
                f"{table.width} columns other than source ({source}) and target ({target})"
            )
        return source, target, weight_column
    if weight_column != "auto":
        if table.header is None or weight_column not in table.header:
            raise DataError(f"{table.path}: no column is named {weight_column!r}; the names are {table.header}")
        return source, target, table.header.index(weight_column)
    if names:
        return source, target, next((i for i, name in enumerate(names) if name in _WEIGHT_NAMES), None)
    if table.width > 3:
        raise DataError(
            f"{table.path}: {table.width} columns and no header: say which holds the weight by weight_column "
            "(position from 0), or pass None for an unweighted graph"
        )
    return source, target, 2 if table.width == 3 else None


def _read_integers(table: TextTable, columns: tuple[int, int, int | None]) -> EdgeTable | None:
    """Read by NumPy's parser where all ids are integers; None where they are not, or anything else is unusual."""
    source, target, weight = columns
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
    if weights is not None and not (weights.min() >= 0 and weights.max() <= _LARGEST):
        row = int(np.argmax(~((weights >= 0) & (weights <= _LARGEST))))
        raise _bad_weight(result.where(row), f"{weights[row]:g}")
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


def _read_any(table: TextTable, columns: tuple[int, int, int | None]) -> EdgeTable:
    """Read row by row, naming the line of whatever is wrong."""
    at_source, at_target, at_weight = columns
    source: list[int | str] = []
    target: list[int | str] = []
    weights: list[float] = []
    ids = IdCache()
    for line, fields in table.rows():
        source.append(ids[fields[at_source]])
        target.append(ids[fields[at_target]])
        if source[-1] == "" or target[-1] == "":
            raise DataError(f"{table.path}, line {line}: expected two node ids, one is empty; drop such rows")
        if at_weight is not None:
            text = fields[at_weight]
            weight = float(text) if is_number(text) else -1.0
            if not 0 <= weight <= _LARGEST:
                raise _bad_weight(f"{table.path}, line {line}", repr(text))
            weights.append(weight)
    return EdgeTable(source, target, None if at_weight is None else np.array(weights), table)


def _bad_weight(where: str, value: str) -> DataError:
    return DataError(
        f"{where}: expected a finite non-negative weight, got {value}; drop such edges, rescale weights above 3.4e38, "
        "or pass weight_column=None if this is no weight"
    )


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
