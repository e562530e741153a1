"""Whether features are a table of measurements and dummies of categories, read off the features themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["are_mixed", "dummy_columns"]

_DENSE = 0.5  # share of the rows in which a measurement is not 0; the median over them


def are_mixed(x: Any) -> bool:
    """Say whether columns of x (N, F) with nothing but 0 and 1 stand beside measurements.

    Such a table is mostly zero when its categories are many, and yet no bag: of its columns with other values most are
    not 0 in most rows, while in counts of words only the few most frequent ones are. Those are told by their zeros and
    by the number 1, which they take most often.

    Parameters:
        x: dense or CSR.

    Example:
        >>> random = np.random.default_rng(0)
        >>> color, price = np.eye(8)[random.integers(8, size=50)], random.gamma(2, 30, (50, 1))
        >>> are_mixed(np.hstack([color, price])), are_mixed(color), are_mixed(random.poisson(0.1, (50, 40)))
        (True, False, False)

    """
    dummies, nonzero, others = _counts(x)
    measured = others > 0
    if not dummies.any() or not measured.any() or np.median(nonzero[measured]) < _DENSE * x.shape[0]:
        return False
    if np.median(nonzero[measured]) == x.shape[0]:
        return True
    columns = x[:, np.flatnonzero(measured)]
    values = columns.data if sp.issparse(x) else columns
    levels, number = np.unique(values[values != 0], return_counts=True)
    return bool(levels[number.argmax()] != 1)


def dummy_columns(x: Any) -> np.ndarray:
    """Columns of x (N, F), dense or CSR, with 0, with 1, and with nothing else, (F,) bool."""
    return _counts(x)[0]


def _counts(x: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which columns are dummies, the entries of each that are not 0, and of these those that are not 1, all (F,)."""
    if sp.issparse(x):
        nonzero, ones = (np.bincount(x.indices[found], minlength=x.shape[1]) for found in (x.data != 0, x.data == 1))
    else:
        nonzero, ones = np.count_nonzero(x, axis=0), np.count_nonzero(x == 1, axis=0)
    return np.asarray((ones > 0) & (ones < x.shape[0]) & (nonzero == ones)), nonzero, nonzero - ones
