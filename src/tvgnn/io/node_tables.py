"""Features and labels of nodes, keyed by node id in text files or in node order in array files."""

import re
from collections.abc import Container, Hashable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tvgnn.errors import DataError
from tvgnn.graph.column_moments import sufficient_dtype
from tvgnn.io._arrays import read_array, read_matrix
from tvgnn.io._cells import NUMBER_OF_TRUTH, is_missing_mark, is_name, is_number, is_truth, remedy, shown
from tvgnn.io._id_column import ID_NAMES, NODE_LIKE_NAMES, SURE_ID_NAMES, ChosenColumns, ids_first, plain_name
from tvgnn.io._node_table import NodeTable
from tvgnn.io._table import TextTable, Verdict, open_table
from tvgnn.io._text import IdCache, is_integer, text_suffix
from tvgnn.io.label_values import known_labels

__all__ = ["read_features", "read_labels"]

_LABEL_NAMES = frozenset(("label", "labels", "class", "class_label", "y", "target", "cluster", "category", "group"))


def read_features(
    path: str | Path, *, delimiter: str | None = None, header: bool | None = None, dtype: str = "auto"
) -> NodeTable:
    """Read node features.

    Parameters
    ----------
    path
        Text (CSV, TSV, semicolons, blanks; plain or gzip) with the node id in the first column and numbers in all
        others, rows in any order; or ``.npy``, ``.npz``, ``.mtx`` with one row per node, in node order. A column named
        ``node_id`` or ``id`` holds the ids wherever it stands, unless the first one holds text or is named so, too;
        numbers of rows without a name, as pandas and R write them beside it, are left out. Notes tell of both. True and
        false, yes and no are 1 and 0.
    delimiter, header
        As in :func:`tvgnn.io.edges.read_edges`; text only.
    dtype
        ``"auto"``, ``"float32"`` or ``"float64"``, as of `tvgnn.Graph`, for numbers in text.

    Returns
    -------
    NodeTable
        ``values`` (N, F), dense or sparse.

    Raises
    ------
    DataError
        If the file is missing or damaged, or a line has no id, an id twice, or anything but numbers.
    """
    positional = _read_positional(Path(path), "features")
    if positional is not None:
        return positional
    table = open_table(
        path,
        _judge_features,
        expected="a node id and its numbers",
        rows_are="nodes",
        delimiter=delimiter,
        header=header,
    )
    if table.width >= 2:
        _check_header(table)
    table, chosen = ids_first(table)
    if table.width < 2:
        raise DataError(
            f"{table.path}, line {table.skip + 1}: expected a node id and at least one number, separated by tabs, "
            f"commas, semicolons or blanks, got {table.width} column"
        )
    ids: list[int | str] = []
    try:
        first = "float64" if dtype == "auto" else dtype
        values = np.loadtxt(_without_ids(table, ids), dtype=first, delimiter=_BETWEEN, comments=None, ndmin=2)
    except DataError:
        raise
    except (ValueError, OverflowError) as error:
        raise _explain(table, error) from None
    node_ids = _unique(ids, table)
    if dtype == "auto":
        with np.errstate(over="ignore"):
            values = values.astype(sufficient_dtype(values), copy=False)
    _check_finite(values, node_ids, table)
    notes = table.note("a node", "begin it with node_id", "put a header above it that begins with node_id")
    return NodeTable(values, node_ids, table.path, table, (*chosen, *notes))


def read_labels(
    path: str | Path,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    known_ids: Container[Hashable] | None = None,
) -> NodeTable:
    """Read class labels: text with two columns, node id and label, or a ``.npy`` array in node order.

    Parameters
    ----------
    path, delimiter, header
        As in :func:`read_features`. Labels that look like integers become int; an empty one means unknown, as do
        ``NA``, ``nan``, ``NULL``, ``None``, ``?`` and the like, of which a note tells.
    known_ids
        The ids of the graph: a first row that names none of them is a header.

    Returns
    -------
    NodeTable
        ``values`` (N,), of objects where they come from text.

    Raises
    ------
    DataError
        If the file is missing or damaged, or a line has no id or an id twice.
    """
    positional = _read_positional(Path(path), "labels")
    if positional is not None:
        return positional

    cache = IdCache()

    def judge(rows: list[list[str]]) -> Verdict:
        first, others = rows[0], rows[1:]
        if known_ids is not None and cache[first[0]] in known_ids:
            return Verdict(False)
        if plain_name(first[0]) in ID_NAMES:
            return Verdict(True)
        if first[0].lower() in _LABEL_NAMES and plain_name(first[-1]) in SURE_ID_NAMES:
            return Verdict(True)
        if first[-1].lower() in _LABEL_NAMES and not any(row[-1] == first[-1] for row in others):
            return Verdict(True, sure=known_ids is not None or is_name(first[0]))
        named = all(map(is_name, first))
        below = any(bool(others) and all(is_integer(row[at]) for row in others) for at in (0, -1))
        return Verdict(True, sure=known_ids is not None) if named and below else Verdict(False)

    expected = "a node id and its label"
    table = open_table(path, judge, expected=expected, rows_are="labels", delimiter=delimiter, header=header)
    table, chosen = ids_first(table, _LABEL_NAMES)
    if table.width != 2:
        remedy = "leave the others out" if table.width > 2 else "add the ids, or save the labels as .npy in node order"
        raise DataError(f"{table.path}: expected two columns, node id and label, got {table.width}; {remedy}")
    ids: list[int | str] = []
    labels: list[int | str] = []
    for _, (node_id, label) in table.rows():
        ids.append(cache[node_id])
        labels.append(cache[label])
    notes = table.note("a node", "begin it with node_id", "put a header above it that begins with node_id")
    values, unknown = known_labels(np.array(labels, dtype=object), table.path.name)
    return NodeTable(values, _unique(ids, table), table.path, table, (*chosen, *notes, *unknown))


def _read_positional(path: Path, what: str) -> NodeTable | None:
    suffix = text_suffix(path)
    if what == "labels":
        return _positional_labels(path) if suffix == ".npy" else None
    if suffix == ".npy":
        values: Any = read_array(path)
    elif suffix in (".npz", ".mtx"):
        matrix = read_matrix(path)
        values = sp.csr_array(matrix) if sp.issparse(matrix) else matrix
    else:
        return None
    if values.dtype.kind not in "biuf" or values.ndim > 2 or 0 in values.shape[1:]:
        raise DataError(
            f"{path}: expected numbers of shape (nodes, features), got {values.dtype} of shape {values.shape}; "
            "give ids as text, and encode text as numbers"
        )
    return NodeTable(values, None, path)


def _positional_labels(path: Path) -> NodeTable:
    array = read_array(path)
    values, notes = known_labels(array, path.name) if array.ndim == 1 else (array, ())
    return NodeTable(values, None, path, notes=notes)


def _judge_features(rows: list[list[str]]) -> Verdict:
    """Say whether the first row holds names: of the id, or in place of all numbers, or of most and of other ids."""
    first, others = rows[0], rows[1:]
    cells = first[1:]
    numbers = sum(is_number(cell) or is_truth(cell) for cell in cells)
    decimals = any(is_number(cell) and not is_integer(cell) for cell in cells)
    if plain_name(first[0]) in ID_NAMES:
        return Verdict(bool(first[0]) or not decimals, sure=not decimals)
    if any(plain_name(cell) in SURE_ID_NAMES for cell in cells) or (cells and all(map(is_name, cells))):
        return Verdict(True)
    if others and len(first) == len(others[0]) - 1 and all(map(is_name, first)):
        return Verdict(True)
    if plain_name(first[0]) in NODE_LIKE_NAMES:
        return Verdict(True, sure=False)
    could_be = is_name(first[0]) and bool(others) and all(is_integer(row[0]) for row in others)
    if any(map(is_missing_mark, cells)):
        return Verdict(False)
    if not numbers or numbers < len(cells):
        header = could_be if numbers else any(map(is_name, cells))
        return Verdict(header, sure=not header)
    # a data frame names its columns 0, 1, 2, ... where nobody else does
    numbered = len(cells) > 1 and cells == [str(column) for column in range(len(cells))]
    return Verdict(could_be and numbered, sure=not could_be)


_BETWEEN = "\x1f"  # cells hold commas and blanks; this sign was made to stand between them

_TRUTH = re.compile("|".join(NUMBER_OF_TRUTH), re.IGNORECASE)


def _without_ids(table: TextTable, ids: list[int | str]) -> Iterator[str]:
    """Yield the numbers of each row for NumPy's parser and keep the id aside."""
    cache = IdCache()
    for line, fields in table.rows():
        ids.append(cache[fields[0]])
        row = _BETWEEN.join(fields[1:])
        if _TRUTH.search(row):
            row = _BETWEEN.join(NUMBER_OF_TRUTH.get(cell.strip().lower(), cell) for cell in fields[1:])
        if row.count(_BETWEEN) != table.width - 2:
            raise DataError(f"{table.path}, line {line}: expected numbers, got a control character (unit separator)")
        yield row if row.strip() else "missing"  # the parser would skip an empty line


def _check_header(table: TextTable) -> None:
    """Require a name for each column; R leaves out that of the ids."""
    if table.header is None or len(table.header) == table.width:
        return
    if len(table.header) != table.width - 1 or plain_name(table.header[0]) in ID_NAMES:
        raise table.wrong_header()


def _explain(table: TextTable, error: Exception) -> DataError:
    for line, fields in table.rows():
        for column, cell in enumerate(fields[1:], 1):
            if not is_number(cell) and not is_truth(cell):
                hint = remedy(cell)
                if table.header is None and line == table.skip + 1 and is_name(cell):
                    hint += "; where this line holds names, begin it with node_id"
                name = table.column_name(column)
                return DataError(
                    f"{table.path}, line {line}, column {name}: expected a number, got {shown(cell)}; {hint}"
                )
    return DataError(f"{table.path}: not readable as numbers: {error}")


def _check_finite(values: Any, node_ids: Sequence[Hashable], table: TextTable) -> None:
    if not values.size or (np.isfinite(values.min()) and np.isfinite(values.max())):
        return
    row, column = (int(at) for at in np.argwhere(~np.isfinite(values))[0])
    line, fields = next(islice(table.rows(), row, None))
    cell = fields[column + 1]
    if np.isnan(values[row, column]):
        hint = "fill in missing values, or leave such nodes out"
    else:
        hint = "leave such nodes out" if np.isinf(float(cell)) else "divide the column by a constant"
    raise DataError(
        f"{table.path}, line {line}, column {table.column_name(column + 1)}: expected a finite {values.dtype} number "
        f"for node {node_ids[row]!r}, got {cell!r}; {hint}"
    )


def _unique(ids: list[int | str], table: TextTable) -> tuple[Hashable, ...]:
    first: dict[Hashable, int] = {}
    for row, node_id in enumerate(ids):
        if node_id == "":
            raise DataError(
                f"{table.path}, line {table.line_of(row)}: expected a node id, got none; name the node or drop the row"
            )
        if node_id in first:
            where = f"column {table.column_name(0)}" if isinstance(table, ChosenColumns) else "the first column"
            raise DataError(
                f"{table.path}, line {table.line_of(row)}: node {node_id!r} is already in line "
                f"{table.line_of(first[node_id])}; keep one row per node, whose id stands in {where} (rows "
                "without ids: number them in a column before the others, or save them as .npy)"
            )
        first[node_id] = row
    return tuple(ids)
