"""Which columns of a table are one category, so that a partition which only repeats it is not taken for a finding."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tvgnn.estimators.binary_features import has_equal_rows
from tvgnn.estimators.intensity_features import are_intensities
from tvgnn.estimators.mixed_features import are_mixed, dummy_columns
from tvgnn.estimators.quality.preparation import rows_with

__all__ = ["category_columns", "levels"]

_LEVELS = 32  # different values, of which a column with more is no code of categories
_OFTEN = 20  # rows a value, with fewer of which the values may be rounded measurements
_FIRST = 1000  # rows that are looked at first


def category_columns(x: Any) -> list[np.ndarray]:
    """Columns of each category of a table: dummies that stand side by side, of which no row has two, or one code.

    Dummies have measurements beside them (`are_mixed`), or nothing else and one level of each category in every row:
    words of documents are no categories. Codes are columns of at most 32 different values that occur often, as of
    classes of age; those of pictures are none.

    Parameters:
        x: (N, F) features as given, dense or CSR.

    Returns:
        Numbers of columns, an array for each category; none where features are no such table.

    Example:
        >>> random = np.random.default_rng(0)
        >>> color, price = np.eye(3)[random.integers(3, size=50)], random.gamma(2, 30, (50, 1))
        >>> [columns.tolist() for columns in category_columns(np.hstack([color, price]))]
        [[0, 1, 2]]

    """
    found = [*_dummies(x), *_codes(x)]
    return found if found and not are_intensities(x) else []


def levels(x: Any, columns: np.ndarray) -> np.ndarray:
    """Read one category of a table.

    Parameters:
        x: (N, F) features as given, dense or CSR.
        columns: of the category, see `category_columns`.

    Returns:
        (N,) int64 for dummies: the place of the level among the columns, or their number for a row without any. For a
        code its values, (N, 1) float32.

    Example:
        >>> levels(np.array([[3.0, 0, 1], [5, 0, 0], [4, 1, 0]]), np.array([1, 2])).tolist()
        [1, 2, 0]

    """
    of_category = sp.csr_array(x[:, columns])
    of_category.eliminate_zeros()
    if (of_category.data != 1).any():
        return of_category.toarray().astype(np.float32)
    places = np.full(x.shape[0], len(columns))
    places[np.repeat(np.arange(x.shape[0]), np.diff(of_category.indptr))] = of_category.indices
    return places


def _codes(x: Any) -> list[np.ndarray]:
    """Columns of few different values that are not dummies, one by one; none in sparse features."""
    if sp.issparse(x) or not x.size:
        return []
    most = min(_LEVELS, x.shape[0] // _OFTEN)
    few = [j for j in np.flatnonzero(~dummy_columns(x)) if 1 < _number(x[:_FIRST, j]) <= most]
    return [np.array([j]) for j in few if _number(x[:, j]) <= most]


def _number(values: np.ndarray) -> int:
    return len(np.unique(values))


def _dummies(x: Any) -> list[np.ndarray]:
    """Dummies of each category."""
    present = np.flatnonzero(rows_with(x))
    if len(present) < x.shape[1]:  # levels that do not occur
        return [present[columns] for columns in _dummies(x[:, present])]
    dummies = dummy_columns(x)
    if not dummies.any() or not (has_equal_rows(x) if dummies.all() else are_mixed(x)):
        return []
    ones = sp.csc_array(x, copy=True)
    ones.eliminate_zeros()
    found: list[list[int]] = [[]]
    seen = np.zeros(x.shape[0], bool)  # rows that have a level of the category so far
    complete = []
    for column in np.flatnonzero(dummies):
        rows, last = ones.indices[ones.indptr[column] : ones.indptr[column + 1]], found[-1]
        if last and (last[-1] != column - 1 or seen[rows].any() or seen.all()):
            complete.append(bool(seen.all()))
            found.append([])
            seen[:] = False
        found[-1].append(int(column))
        seen[rows] = True
    complete.append(bool(seen.all()))
    if dummies.all() and not all(complete):
        return []
    return [np.array(columns) for columns in found]
