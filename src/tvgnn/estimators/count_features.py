"""Whether features are counts in one unit, such as molecules of genes, or their logarithms, read off the features."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["are_counts", "are_log_counts", "have_one_size"]

_FEWEST = 32  # columns; tables of a few counts have other units, such as visits and children
_LEVELS = 16  # different values; codes and genotypes have fewer
_ROWS = 200  # that are looked at
_MULTIPLES = 20  # of the least entry of a row, up to which they are looked at
_DIFFERENT = 4  # of these, in a row that says whether all are multiples
_MOST = 0.9  # share of such rows that have to be so, as the least may stand for two molecules
# A row's highest value exceeds the first; if all are small, as shares of words are, logarithms are multiples as well
_LARGE = 1.0
_HIGHEST = 64.0  # no logarithm is higher
_ERROR = 0.05  # of a multiple; logarithms may be written with three decimals
_SAME = 1e-3  # as such logarithms
_BASES = (np.e, 2.0, 10.0)


def are_counts(x: Any) -> bool:
    """Say whether x (N, F) are counts in one unit: many columns of whole numbers, of which 1 is the most frequent.

    Parameters:
        x: dense or CSR.

    Example:
        >>> random = np.random.default_rng(0)
        >>> cells = random.poisson(random.gamma(0.5, 3, (100, 40)))
        >>> are_counts(cells), are_counts(cells[:, :10]), are_counts(cells + 0.5), are_counts(np.minimum(cells, 2))
        (True, False, False, False)

    """
    positive = _positive(x)
    if positive is None:
        return False
    values, number = np.unique(positive, return_counts=True)
    return bool(len(values) >= _LEVELS and values[number.argmax()] == 1 and (values == np.round(values)).all())


def are_log_counts(x: Any) -> bool:
    """Say whether x (N, F) are ``log(1 + counts / size)`` with a size for each row, as scanpy's ``log1p`` leaves them.

    Then what the logarithms stand for are multiples of the least in a row, that of one molecule.

    Parameters:
        x: dense or CSR.

    Example:
        >>> random = np.random.default_rng(0)
        >>> cells = random.poisson(random.gamma(0.5, 3, (100, 40)))
        >>> shares = cells / cells.sum(1, keepdims=True)
        >>> are_log_counts(np.log1p(1e4 * shares)), are_log_counts(shares), are_log_counts(cells)
        (True, False, False)

    """
    positive = _positive(x)
    if positive is None or positive.max(initial=0) > _HIGHEST or (positive == np.round(positive)).all():
        return False
    rows = _positive_by_row(x)
    for base in _BASES:
        found = [_multiples(base**row - 1) for row in rows if row.max(initial=0) > _LARGE]
        told = [one for one in found if one is not None]
        if 2 * len(told) > len(rows) and sum(told) > _MOST * len(told):
            return True
    return False


def have_one_size(x: Any) -> bool:
    """Say whether the least positive value is the same in most rows of x (N, F), as ``log(1 + counts)`` leaves it.

    Parameters:
        x: dense or CSR, with a positive value; what `are_log_counts` knows has one.

    """
    least = np.array([row.min() for row in _positive_by_row(x) if row.size])
    return bool((np.abs(least - np.median(least)) < _SAME).mean() > _MOST)


def _positive_by_row(x: Any) -> list[np.ndarray]:
    """Positive values of each of some rows, float64."""
    some = x[:: -(-x.shape[0] // _ROWS)]
    return [row[row > 0].astype(np.float64) for row in (some.toarray() if sp.issparse(some) else some)]


def _positive(x: Any) -> np.ndarray | None:
    """Positive values of some rows; None where there are few columns, or negative numbers."""
    if x.shape[1] < _FEWEST or not x.shape[0]:
        return None
    values = x.data if sp.issparse(x) else x
    if not values.size or values.min() < 0:
        return None
    some = x[:: -(-x.shape[0] // _ROWS)]
    values = some.data if sp.issparse(some) else some
    return np.asarray(values[values > 0])


def _multiples(values: np.ndarray) -> bool | None:
    """Whether positive values are multiples of the least; None where too few are different."""
    ratios = values / values.min()
    low = np.unique(ratios[ratios < _MULTIPLES])
    return None if len(low) < _DIFFERENT else bool((np.abs(low - np.round(low)) < _ERROR).all())
