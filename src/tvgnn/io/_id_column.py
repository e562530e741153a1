"""Which column of a table of nodes holds the ids, where it is not simply the first: numbers of rows are no ids."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

from tvgnn.io._cells import is_number, is_truth
from tvgnn.io._delimiters import SAMPLE_ROWS
from tvgnn.io._table import TextTable
from tvgnn.io._text import is_integer

__all__ = ["ID_NAMES", "NODE_LIKE_NAMES", "SURE_ID_NAMES", "ChosenColumns", "ids_first", "is_unnamed", "plain_name"]

SURE_ID_NAMES = ("node_id", "nodeid", "id")
ID_NAMES = frozenset(("", *SURE_ID_NAMES, "index"))
NODE_LIKE_NAMES = frozenset(("node", "name", "vertex", "cell", "barcode"))  # of a node, too

_BY_PANDAS = re.compile(r"unnamed: ?[0-9]+(_level_[0-9]+)?|__index_level_[0-9]+__", re.IGNORECASE)


def plain_name(name: str) -> str:
    """Return the name of a column as names are compared."""
    return name.lower().lstrip("#").strip()


def is_unnamed(name: str) -> bool:
    """Say whether a column has no name, or that which pandas gives to columns without.

    Examples
    --------
    >>> is_unnamed("Unnamed: 0"), is_unnamed("__index_level_0__"), is_unnamed(" "), is_unnamed("index")
    (True, True, True, False)
    """
    return not name.strip() or _BY_PANDAS.fullmatch(name.strip()) is not None


@dataclass(frozen=True)
class ChosenColumns(TextTable):
    """Some columns of another table, in another order; positions are those of the new one."""

    base: TextTable
    order: tuple[int, ...]
    is_text: ClassVar[bool] = False

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield line number and chosen fields of each row of data."""
        for line, fields in self.base.rows():
            yield line, [fields[at] for at in self.order]


def ids_first(table: TextTable, value_names: Collection[str] = ()) -> tuple[TextTable, tuple[str, ...]]:
    """Return a table with the ids in its first column and without numbers of rows, and notes of what was changed.

    The ids are in the first column, unless it is unnamed or named like a value, and could be values, and the name of
    another one says that it holds ids. Left out are integers without a name, as pandas and R write for numbers of rows.

    Parameters
    ----------
    table
        With a header, else it is returned as it is.
    value_names
        Names of columns that hold no ids, whatever their values.
    """
    if table.header is None or len(table.header) not in (table.width, table.width - 1):
        return table, ()
    names = ("",) * (table.width - len(table.header)) + table.header  # R writes no name over the row names
    rows = [fields for _, fields in islice(table.rows(), SAMPLE_ROWS)]
    columns = [[cell.strip() for cell in column] for column in zip(*rows, strict=True)]
    at = _id_column(names, columns, value_names)
    first_is_unnamed = is_unnamed(names[0]) or plain_name(names[0]) == "index"
    left_out = [
        column
        for column in range(table.width)
        if column != at
        and (first_is_unnamed if column == 0 else _BY_PANDAS.fullmatch(names[column].strip()))
        and all(map(is_integer, columns[column]))
    ]
    if at == 0 and not left_out:
        return table, ()
    order = (at, *(column for column in range(table.width) if column != at and column not in left_out))
    chosen = tuple(names[column] for column in order)
    result = ChosenColumns(
        table.path, table.delimiter, len(order), chosen, table.skip, table.first, table.sure, table, order
    )
    notes = []
    if at:
        instead = "" if 0 in left_out else f", not the first one, {names[0]!r}, which holds values"
        notes.append(f"node ids: the column {names[at]!r} of {table.path.name}{instead}")
    if left_out:
        shown = ", ".join(repr(names[column]) if names[column] else "the first, without a name" for column in left_out)
        notes.append(f"left out of {table.path.name}, as numbers of its rows: {shown}")
    return result, tuple(notes)


def _id_column(names: Sequence[str], columns: Sequence[Sequence[str]], value_names: Collection[str]) -> int:
    """Return where the ids are, by names and the first rows."""
    plain = [plain_name(name) for name in names]
    first = plain[0]
    if first in SURE_ID_NAMES or first in NODE_LIKE_NAMES:
        return 0
    if not all(is_number(cell) or is_truth(cell) for cell in columns[0]) and first not in value_names:
        return 0  # text is no value of features
    sure = next((plain.index(name) for name in SURE_ID_NAMES if name in plain), None)
    if sure is not None:
        return sure
    could_be = all(map(is_integer, columns[0])) and len(set(columns[0])) == len(columns[0])
    if could_be and not is_unnamed(names[0]) and first not in value_names:
        return 0
    distinct = [
        column
        for column in range(1, len(plain))
        if len(set(columns[column])) == len(columns[column])
        and not any(is_number(cell) and not is_integer(cell) for cell in columns[column])
    ]
    likely = [column for column in distinct if plain[column] in NODE_LIKE_NAMES]
    if not likely and is_unnamed(names[0]):  # numbers of rows, so that the ids are elsewhere
        likely = [column for column in distinct if plain[column].endswith(("_id", " id"))] or [
            column for column in distinct if not any(map(is_number, columns[column]))
        ]
    return likely[0] if len(likely) == 1 else 0
