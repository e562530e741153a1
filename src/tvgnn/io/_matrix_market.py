"""Matrix Market files. scipy's own reader is not used: on damaged files it can bring the process down."""

from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tvgnn.errors import DataError
from tvgnn.io._text import open_text
from tvgnn.io.machine_memory import check_file_fits

__all__ = ["read_matrix_market"]

_MAX_COMMENTS = 100_000


def read_matrix_market(path: Path) -> Any:
    """Read a real, integer or pattern matrix, plain or gzip.

    Returns
    -------
    matrix
        ``scipy.sparse.coo_array`` for the coordinate layout, a dense array for the array layout.

    Raises
    ------
    DataError
        If the file is not Matrix Market, holds complex numbers, or has other entries than its header announces.
    """
    with open_text(path) as text:
        layout, field, symmetry = _read_banner(text, path)
        sizes = _read_sizes(text, path, 3 if layout == "coordinate" else 2)
        if layout == "array":
            return _read_array(text, path, sizes, symmetry)
        rows, columns, entries = sizes
        check_file_fits(16 * max(rows, columns), path)
        kinds = [("row", np.int64), ("column", np.int64), ("value", np.float64)]
        body = _load(text, path, np.dtype(kinds[: 2 if field == "pattern" else 3]), entries)
    row, column = body["row"] - 1, body["column"] - 1
    inside = (row >= 0) & (row < rows) & (column >= 0) & (column < columns)
    if not inside.all():
        first = int(np.argmin(inside))
        place = f"({row[first] + 1}, {column[first] + 1})"
        raise DataError(f"{path}: entry {first + 1} is at {place}, outside the {rows} x {columns} matrix")
    value = np.ones(entries, dtype=bool) if field == "pattern" else body["value"]
    if symmetry == "symmetric":  # only one triangle is stored
        mirrored = row != column
        row, column = np.concatenate([row, column[mirrored]]), np.concatenate([column, row[mirrored]])
        value = np.concatenate([value, value[mirrored]])
    return sp.coo_array((value, (row, column)), shape=(rows, columns))


def _read_banner(text: TextIO, path: Path) -> tuple[str, str, str]:
    words = text.readline(1024).lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"] or words[2] not in ("coordinate", "array"):
        raise DataError(
            f"{path}: not a Matrix Market file: expected '%%MatrixMarket matrix coordinate real general' or the like "
            "in line 1"
        )
    layout, field, symmetry = words[2:]
    if field not in ("real", "double", "integer", "pattern") or symmetry not in ("general", "symmetric"):
        raise DataError(
            f"{path}: expected a real, integer or pattern matrix, general or symmetric, got {field} {symmetry}"
        )
    return layout, field, symmetry


def _read_sizes(text: TextIO, path: Path, count: int) -> list[int]:
    for line in islice(text, _MAX_COMMENTS):
        if line.strip() and not line.startswith("%"):
            words = line.split()
            if len(words) != count or not all(word.isdecimal() and len(word) < 19 for word in words):
                raise DataError(f"{path}: not a Matrix Market file: expected {count} sizes, got {line.strip()[:80]!r}")
            return [int(word) for word in words]
    raise DataError(f"{path}: not a Matrix Market file: there is no line of sizes below the comments")


def _read_array(text: TextIO, path: Path, sizes: list[int], symmetry: str) -> npt.NDArray[np.float64]:
    if symmetry != "general":
        raise DataError(f"{path}: a {symmetry} matrix in the array layout is not supported; save it as coordinates")
    check_file_fits(8 * sizes[0] * sizes[1], path)
    values = _load(text, path, np.dtype([("value", np.float64)]), sizes[0] * sizes[1])["value"]
    return values.reshape(sizes, order="F")


def _load(text: TextIO, path: Path, record: np.dtype[Any], entries: int) -> npt.NDArray[Any]:
    """Parse the entries and check their number; nothing is allocated from the announced number."""
    first = next((line for line in text if line.strip()), None)
    if first is None:
        body = np.empty(0, dtype=record)
    else:
        try:
            body = np.loadtxt(chain((first,), text), dtype=record, comments="%", ndmin=1)
        except UnicodeDecodeError:
            raise
        except (ValueError, OverflowError) as error:
            raise DataError(f"{path}: damaged Matrix Market data: {error}") from None
    if len(body) != entries:
        raise DataError(f"{path}: the header announces {entries} entries, there are {len(body)}; it is damaged")
    return body
