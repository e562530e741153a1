"""Matrices that a page is given, dense or sparse: checked without a copy in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tvgnn.errors import GraphError

__all__ = ["as_adjacency", "as_finite"]

_BLOCK = 8_192  # rows that are looked at together
_NUMBERS = "biuf"


def as_finite(values: Any, name: str, shape: tuple[int, str]) -> Any:
    """Return a matrix of finite numbers as an array or in CSR format, or name the entry that is none.

    Parameters
    ----------
    values : array-like or scipy sparse, shape (N, F)
        Any type of number.
    name : str
        What it is, for the message.
    shape : (int, str)
        Number of rows, and the letter of the columns.

    Returns
    -------
    ndarray or csr_array
        Of the type that came; entries of a sparse one are sorted, each place once.

    Raises
    ------
    GraphError
        Another shape, no numbers, NaN or infinity.

    Examples
    --------
    >>> as_finite([[1, 2], [3, 4]], "features", (2, "F")).shape
    (2, 2)
    """
    matrix = _matrix(values, name)
    if matrix.ndim != 2 or matrix.shape[0] != shape[0]:
        raise GraphError(f"expected {name} of shape ({shape[0]}, {shape[1]}), got {matrix.shape}")
    if matrix.dtype.kind not in _NUMBERS:
        raise GraphError(f"expected {name} of numbers, got dtype {matrix.dtype}; turn text into numbers first")
    if sp.issparse(matrix):
        matrix = _canonical(matrix)
    bad = _first_not_finite(matrix)
    if bad is not None:
        row, column = bad
        raise GraphError(
            f"expected {name} of finite numbers, got {matrix[row, column]} in row {row}, column {column}; "
            "fill in or leave out what is missing"
        )
    return matrix


def as_adjacency(values: Any, n: int) -> sp.csr_array:
    """Return a symmetric adjacency in CSR format without self-loops and stored zeros.

    Raises
    ------
    GraphError
        Another shape, weights that are negative or not finite, or edges of one direction only.

    Examples
    --------
    >>> as_adjacency([[5, 1], [1, 0]], 2).nnz
    2
    """
    matrix = _matrix(values, "an adjacency")
    if matrix.shape != (n, n):
        raise GraphError(f"expected an adjacency of shape ({n}, {n}), got {matrix.shape}")
    adjacency = sp.csr_array(as_finite(matrix, "an adjacency", (n, str(n))))
    if adjacency.dtype.kind != "f":
        adjacency = adjacency.astype(np.float32)  # differences of unsigned integers would wrap around
    rows = np.repeat(np.arange(n), np.diff(adjacency.indptr))
    kept = (rows != adjacency.indices) & (adjacency.data != 0)
    if not kept.all():
        adjacency = sp.csr_array((adjacency.data[kept], (rows[kept], adjacency.indices[kept])), shape=(n, n))
        rows = rows[kept]
    below = np.flatnonzero(adjacency.data < 0)
    if below.size:
        at = below[0]
        raise GraphError(
            f"expected weights of edges that are not negative, got {adjacency.data[at]} in row {rows[at]}, "
            f"column {adjacency.indices[at]}"
        )
    one_way = abs(adjacency - adjacency.T).tocoo()
    largest = float(adjacency.data.max(initial=0))
    apart = np.flatnonzero(one_way.data > 1e-5 * largest)  # sums of float32 in another order differ a little
    if apart.size:
        row, column = one_way.coords[0][apart[0]], one_way.coords[1][apart[0]]
        raise GraphError(
            f"expected a symmetric adjacency, got {adjacency[row, column]} in row {row}, column {column} and "
            f"{adjacency[column, row]} the other way; pass adjacency.maximum(adjacency.T)"
        )
    return adjacency


def _matrix(values: Any, name: str) -> Any:
    if sp.issparse(values):
        return values
    try:
        return np.asarray(values)
    except ValueError:  # rows of different lengths
        raise GraphError(f"expected {name} as a matrix, got rows of different lengths") from None


def _canonical(matrix: Any) -> sp.csr_array:
    csr = sp.csr_array(matrix)
    if csr.has_canonical_format:
        return csr
    csr = csr.copy()  # summing would change what the caller holds
    csr.sum_duplicates()
    return csr


def _first_not_finite(matrix: Any) -> tuple[int, int] | None:
    if sp.issparse(matrix):
        bad = np.flatnonzero(~np.isfinite(matrix.data))
        if not bad.size:
            return None
        return int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1, int(matrix.indices[bad[0]])
    for start in range(0, len(matrix), _BLOCK):
        finite: NDArray[np.bool_] = np.isfinite(matrix[start : start + _BLOCK])
        if not finite.all():
            row, column = np.argwhere(~finite)[0]
            return start + int(row), int(column)
    return None
