"""Features and labels of nodes, keyed by node id in text files or in node order in array files."""

from collections.abc import Container, Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from tvgnn.errors import DataError
from tvgnn.io._arrays import read_array, read_matrix
from tvgnn.io._text import IdCache, TextTable, is_integer, is_number, open_table, text_suffix

__all__ = ["NodeTable", "read_feature_names", "read_features", "read_labels"]

_ID_NAMES = frozenset(("", "node_id", "nodeid", "node", "id", "name", "index", "vertex", "cell", "barcode"))
_LABEL_NAMES = frozenset(("label", "labels", "class", "class_label", "y", "target", "cluster", "category", "group"))


@dataclass(frozen=True)
class NodeTable:
    """One row (features) or entry (labels) per node; ``node_ids`` None means that rows are in node order."""

    values: Any
    node_ids: tuple[Hashable, ...] | None
    path: Path
    table: TextTable | None = None

    def where(self, row: int) -> str:
        """Name file and line of ``row`` for a message."""
        return str(self.path) if self.table is None else f"{self.path}, line {self.table.line_of(row)}"

    def aligned(self, node_ids: Sequence[Hashable], *, partial: bool = False) -> Any:
        """Return the values in the order of ``node_ids``.

        Parameters
        ----------
        node_ids
            The ids of the graph.
        partial
            Nodes without an entry get None instead of raising.

        Raises
        ------
        DataError
            If rows are missing or belong to no node, listing the first few.
        """
        if self.node_ids is None:
            if self.values.shape[0] != len(node_ids):
                raise DataError(
                    f"{self.path}: expected one row per node, {len(node_ids)} in all, got {self.values.shape[0]}"
                )
            return self.values
        known = set(node_ids)
        unknown = [node_id for node_id in self.node_ids if node_id not in known]
        if unknown:
            first = self.node_ids.index(unknown[0])
            raise DataError(
                f"{self.where(first)}: {len(unknown)} of {len(self.node_ids)} ids are no nodes of the graph, first "
                f"{_first_few(unknown)}; a header line must start with 'node_id'"
            )
        row = {node_id: index for index, node_id in enumerate(self.node_ids)}
        missing = [node_id for node_id in node_ids if node_id not in row]
        if missing and not partial:
            raise DataError(
                f"{self.path}: {len(missing)} of {len(node_ids)} nodes have no row, first {_first_few(missing)}"
            )
        if missing:
            values = self.values.tolist()
            return np.array([values[row[key]] if key in row else None for key in node_ids], dtype=object)
        return self.values[np.fromiter((row[node_id] for node_id in node_ids), np.int64, len(node_ids))]


def read_features(
    path: str | Path, *, delimiter: str | None = None, header: bool | None = None, dtype: str = "float32"
) -> NodeTable:
    """Read node features.

    Parameters
    ----------
    path
        Text (CSV, TSV, semicolons, blanks; plain or gzip) with the node id in the first column and numbers in all
        others, rows in any order; or ``.npy``, ``.npz``, ``.mtx`` with one row per node, in node order.
    delimiter, header
        As in :func:`tvgnn.io.edges.read_edges`; text only.
    dtype
        ``"float32"`` or ``"float64"``, for numbers in text.

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
    table = open_table(path, _looks_like_feature_header, delimiter=delimiter, header=header)
    if table.width < 2:
        raise DataError(f"{table.path}, line {table.skip + 1}: expected a node id and at least one number")
    ids: list[int | str] = []
    try:
        values = np.loadtxt(_without_ids(table, ids), dtype=dtype, delimiter=",", comments=None, ndmin=2)
    except DataError:
        raise
    except ValueError as error:
        raise _explain(table, error) from None
    if len(values) != len(ids):
        raise DataError(f"{table.path}: {len(ids)} ids but {len(values)} rows of numbers; is there a quoted line end?")
    return NodeTable(values, _unique(ids, table), table.path, table)


def read_feature_names(path: str | Path) -> list[str] | None:
    """Return the names that the header of a features file gives its columns; None where there is no such header."""
    if _is_positional(Path(path)):
        return None
    table = open_table(path, _looks_like_feature_header)
    return list(table.header[1:]) if table.header and len(table.header) == table.width else None


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
        As in :func:`read_features`. Labels that look like integers become int; an empty one means unknown.
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

    def looks_like_header(rows: list[list[str]]) -> bool:
        first = [cell.strip() for cell in rows[0]]
        if known_ids is not None and cache[first[0]] in known_ids:
            return False
        named = first[0].lower().lstrip("#") in _ID_NAMES or first[-1].lower() in _LABEL_NAMES
        return named or any(
            len(rows) > 1 and not is_integer(first[at]) and all(is_integer(row[at].strip()) for row in rows[1:])
            for at in (0, -1)
        )

    table = open_table(path, looks_like_header, delimiter=delimiter, header=header)
    if table.width != 2:
        raise DataError(f"{table.path}: expected two columns, node id and label, got {table.width}")
    ids: list[int | str] = []
    labels: list[int | str] = []
    for _, (node_id, label) in table.rows():
        ids.append(cache[node_id])
        labels.append(cache[label])
    return NodeTable(np.array(labels, dtype=object), _unique(ids, table), table.path, table)


def _is_positional(path: Path) -> bool:
    return text_suffix(path) in (".npy", ".npz", ".mtx")


def _read_positional(path: Path, what: str) -> NodeTable | None:
    suffix = text_suffix(path)
    if suffix == ".npy":
        return NodeTable(read_array(path), None, path)
    if suffix in (".npz", ".mtx") and what == "features":
        matrix = read_matrix(path)
        return NodeTable(sp.csr_array(matrix) if sp.issparse(matrix) else matrix, None, path)
    return None


def _looks_like_feature_header(rows: list[list[str]]) -> bool:
    first, others = [cell.strip() for cell in rows[0]], rows[1:]
    if first[0].lower().lstrip("#") in _ID_NAMES:
        return True
    if len(first) > 1 and not any(is_number(cell) for cell in first[1:]):
        return True
    return bool(others) and not is_integer(first[0]) and all(is_integer(row[0].strip()) for row in others)


def _without_ids(table: TextTable, ids: list[int | str]) -> Iterator[str]:
    """Yield the numbers of each row for NumPy's parser and keep the id aside."""
    cache = IdCache()
    for _, fields in table.rows():
        ids.append(cache[fields[0]])
        yield ",".join(fields[1:]).strip() or "missing"  # the parser would skip an empty line


def _explain(table: TextTable, error: ValueError) -> DataError:
    for line, fields in table.rows():
        for column, cell in enumerate(fields[1:], 1):
            if not is_number(cell):
                name = table.header[column] if table.header and len(table.header) == table.width else str(column)
                return DataError(
                    f"{table.path}, line {line}, column {name!r}: expected a number, got {cell!r}; "
                    "fill in missing values and encode text; a header line must start with 'node_id'"
                )
    return DataError(f"{table.path}: not readable as numbers: {error}")


def _unique(ids: list[int | str], table: TextTable) -> tuple[Hashable, ...]:
    first: dict[Hashable, int] = {}
    for row, node_id in enumerate(ids):
        if node_id == "":
            raise DataError(f"{table.path}, line {table.line_of(row)}: expected a node id, got none")
        if node_id in first:
            raise DataError(
                f"{table.path}, line {table.line_of(row)}: node {node_id!r} is already in line "
                f"{table.line_of(first[node_id])}; keep one row per node"
            )
        first[node_id] = row
    return tuple(ids)


def _first_few(values: list[Any]) -> str:
    return ", ".join(map(repr, values[:5])) + (", ..." if len(values) > 5 else "")
