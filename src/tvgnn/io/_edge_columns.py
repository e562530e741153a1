"""Which columns of an edge list hold the ends and the weight, and whether its first row names them."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from tvgnn.errors import DataError
from tvgnn.io._cells import first_few, is_missing_mark, is_name, is_number, looks_numeric, remedy, shown
from tvgnn.io._id_column import is_unnamed
from tvgnn.io._table import TextTable, Verdict
from tvgnn.io._text import is_integer
from tvgnn.wording import setting

__all__ = ["LARGEST_WEIGHT", "Columns", "bad_weight", "choose_columns", "judge"]

LARGEST_WEIGHT = float(np.finfo(np.float32).max)  # graphs hold float32
_PAIRS = (
    ("source", "target"), ("src", "dst"), ("src", "dest"), ("source", "destination"), ("from", "to"),
    ("node1", "node2"), ("id1", "id2"), ("head", "tail"), ("start", "end"), ("u", "v"),
)  # fmt: skip
_ENDING = re.compile(r"(?<=.)(node|id|name)+$")  # FromNodeId, source_name
_NODE_LIKE_NAMES = frozenset(("u", "v", "head", "tail", "start", "end", "w"))  # nodes may well be called so
_WEIGHT_NAMES = frozenset(("weight", "weights", "w", "edgeweight"))


@dataclass(frozen=True)
class Columns:
    """Positions of source, target and weight, and what to tell of columns that are not used."""

    source: int
    target: int
    weight: int | None
    notes: tuple[str, ...] = ()


def judge(rows: list[list[str]]) -> Verdict:
    """Say whether the first row holds names; all of its cells must be able to be names."""
    first, others = rows[0], rows[1:]
    lowered = list(map(_plain, first))
    known = {cell for cell in lowered if cell in _WEIGHT_NAMES or any(cell in pair for pair in _PAIRS)}
    if _named_ends(lowered) is not None:
        sure = not known <= _NODE_LIKE_NAMES
        joined = [row for row in others if row != first] if sure else others  # files with headers may have been joined
        header = not any(cell in first for row in joined for cell in row)
        return Verdict(header, sure=sure or not header)
    # pandas writes no name over the numbers of the rows
    if len(first) < 2 or not all(map(is_name, first[1:])) or not (is_name(first[0]) or not first[0]):
        return Verdict(False)
    if is_unnamed(first[0]):
        return Verdict(len(first) > 2 and bool(others) and all(is_integer(row[0]) for row in others))
    if not others:
        return Verdict(len(first) > 2 and not _WEIGHT_NAMES.isdisjoint(lowered))
    below = list(zip(*others, strict=False))[: len(first)]
    weights = [all(map(looks_numeric, column)) for column in below]
    if any(name in _WEIGHT_NAMES and numeric for name, numeric in zip(lowered, weights, strict=False)):
        return Verdict(True, sure=not known <= _NODE_LIKE_NAMES)
    numbered = len(below) > 1 and all(map(is_integer, below[0])) and all(map(is_integer, below[1]))
    return Verdict(True, sure=False) if numbered or any(weights[2:]) else Verdict(False)


def choose_columns(table: TextTable, weight_column: str | int | None) -> Columns:
    """Find the columns by their names, the ends else as the first two that hold no weight.

    Raises
    ------
    DataError
        A column is missing or named twice, or too few are left for the ends.
    """
    names = ["" if is_unnamed(name) else _plain(name) for name in table.header or ()]
    if names and len(names) != table.width:
        raise table.wrong_header()
    weight = _weight(table, names, weight_column)
    ends = _named_ends(names)
    if ends is not None and weight in ends:
        raise DataError(
            f"{table.path}: {setting('weight_column', weight_column)} must be one of the {table.width} "
            f"columns, by name or position from 0, other than source ({ends[0]}) and target ({ends[1]})"
        )
    if ends is None:
        free = [column for column in range(table.width) if column != weight]
        # a column without a name holds the numbers of the rows; weights can be there and not be wanted
        named = [column for column in free if names and names[column] and names[column] not in _WEIGHT_NAMES]
        if len(free) < 2:
            raise DataError(
                f"{table.path}: expected two columns of node ids beside the weight, got {len(free)}; where there is no "
                f"weight, pass {setting('weight_column', None)}"
            )
        first, second = (named if len(named) > 1 else free)[:2]
        ends = first, second
    notes = () if weight_column is None else _unused(table, ends, weight, named=_named_ends(names) is not None)
    return Columns(*ends, weight, notes)


def _plain(name: str) -> str:
    """Return a name as names are compared: ``#From Node_Id`` is ``from``."""
    return _ENDING.sub("", re.sub(r"[\s_#-]", "", name.lower()))


def _named_ends(names: list[str]) -> tuple[int, int] | None:
    """Return where the ends are by name: those of a usual pair, else of two pairs."""
    for source, target in _PAIRS:
        if source in names and target in names:
            return names.index(source), names.index(target)
    source_at = next((names.index(pair[0]) for pair in _PAIRS if pair[0] in names), None)
    target_at = next((names.index(pair[1]) for pair in _PAIRS if pair[1] in names), None)
    return None if source_at is None or target_at is None else (source_at, target_at)


def _weight(table: TextTable, names: list[str], weight_column: str | int | None) -> int | None:
    if weight_column is None:
        return None
    if isinstance(weight_column, int):
        if not 0 <= weight_column < table.width:
            raise DataError(
                f"{table.path}: {setting('weight_column', weight_column)} must be one of the {table.width} "
                f"columns, by name or position from 0"
            )
        return weight_column
    if weight_column != "auto":
        header = table.header or ()
        if header.count(weight_column) != 1:
            found = "no column is" if weight_column not in header else "more than one column is"
            known = first_few(header, most=20)
            raise DataError(
                f"{table.path}: {found} named {weight_column!r}; the names are {known}; a position, from 0, does too"
            )
        return header.index(weight_column)
    if names:
        found_at = [column for column, name in enumerate(names) if name in _WEIGHT_NAMES]
        if len(found_at) > 1:
            raise DataError(
                f"{table.path}: {len(found_at)} columns could be the weight: {table.column_name(found_at[0])} and "
                f"{table.column_name(found_at[1])}; choose by position, such as {setting('weight_column', found_at[0])}"
            )
        return found_at[0] if found_at else None
    if table.width > 3:
        raise DataError(
            f"{table.path}: {table.width} columns and no header: say which holds the weight by its position from 0, "
            f"such as {setting('weight_column', table.width - 1)}, or pass {setting('weight_column', None)} for an "
            "unweighted graph"
        )
    return 2 if table.width == 3 else None


def _unused(table: TextTable, ends: tuple[int, int], weight: int | None, *, named: bool) -> tuple[str, ...]:
    """Tell of columns that were passed over, and where the ends are if their names do not say so."""
    left = [column for column in range(table.width) if column not in (*ends, weight)]
    if table.header is not None:
        left = [column for column in left if not is_unnamed(table.header[column])]
    if not left:
        return ()
    names = [table.column_name(column) for column in left]
    unused = f"not used: {', '.join(names[:5])}{', ...' if len(names) > 5 else ''}"
    joined = "" if named else f"an edge joins {table.column_name(ends[0])} and {table.column_name(ends[1])}, "
    hint = ""
    _, row = next(table.rows())
    numeric = [column for column in left if looks_numeric(row[column])]
    if weight is None and numeric:
        choice = table.header[numeric[0]] if table.header else numeric[0]
        hint = f"; where one is the weight: {setting('weight_column', choice)}"
    return (f"columns of {table.path.name}: {joined}{unused}{hint}",)


def bad_weight(table: TextTable, columns: Columns, line: int, text: str) -> DataError:
    """Say what is wrong with a weight, and what to do about it."""
    column = 0 if columns.weight is None else columns.weight
    start = f"{table.path}, line {line}"
    if is_number(text):
        value = float(text)
        if LARGEST_WEIGHT < value < float("inf"):
            what = "drop such edges, or divide all weights by the largest, as only their ratios matter"
        else:
            what = "drop such edges" + (", or map distances to similarities" if value < 0 else "")
        return DataError(f"{start}: expected a finite non-negative weight, got {text.strip()}; {what}")
    where = f"in column {table.column_name(column)}" if table.header else f"in column {column + 1}"
    if looks_numeric(text) or is_missing_mark(text):
        return DataError(f"{start}: expected a finite non-negative weight, got {shown(text)} {where}; {remedy(text)}")
    rows = table.rows()
    first = next(rows)
    second = next(rows, None)
    got = f"{shown(text)} {where}"
    hints = [f"pass {setting('weight_column', None)} where there is no weight"]
    others = [at for at in range(table.width) if at not in (columns.source, columns.target) and is_number(first[1][at])]
    if others:
        choice: Any = table.header[others[0]] if table.header else others[0]
        hints.append(f"{setting('weight_column', choice)} where that is the weight")
    if table.header is None and first[0] == line:
        hints.append(f"{setting('header', True)} where line {line} holds names")
        if second is not None and not looks_numeric(second[1][column]):
            start = f"{table.path}, line {second[0]}"
            got = f"{shown(second[1][column])} {where} (line {line}: {shown(text)})"
    return DataError(f"{start}: expected a finite non-negative weight, got {got}; {', '.join(hints)}")
