"""Whether features are shares of a whole, such as mixtures of topics or of types of cells, read off the features."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tvgnn.graph.column_moments import column_moments

__all__ = ["are_shares"]

_FEWEST = 3  # columns; of two shares one says it all
_ROUNDED = 0.02  # of the whole, by which rounded percentages may miss it
_MOST = 0.99  # share of the rows in which they do not miss it by more
_TIED = 0.01  # variance of the sums, as a share of what they would have if columns were independent


def are_shares(x: Any) -> bool:
    """Say whether the rows of x (N, F) are parts of the same whole: non-negative, with sums that do not vary.

    In very many columns sums vary little anyway, so they also have to vary much less than those of independent ones.

    Parameters:
        x: dense or CSR.

    Example:
        >>> parts = np.random.default_rng(0).gamma(0.5, size=(100, 5))
        >>> shares = parts / parts.sum(1, keepdims=True)
        >>> are_shares(parts), are_shares(shares), are_shares(np.round(100 * shares)), are_shares(np.eye(5))
        (False, True, True, False)

    """
    if x.shape[1] < _FEWEST or x.shape[0] < 2:
        return False
    values = x.data if sp.issparse(x) else x
    if values.min(initial=0) < 0:
        return False
    sums = np.asarray(x.sum(1), np.float64).ravel()
    whole = np.median(sums)
    if not whole > 0 or (np.abs(sums - whole) <= _ROUNDED * whole).mean() < _MOST:
        return False
    tied = np.square(sums - whole).mean() <= _TIED * _variances(x).sum()
    return bool(tied and np.ptp(values) > 0 and _divided(values, whole))


def _divided(values: np.ndarray, whole: float) -> bool:
    """Whether most positive entries are parts rather than the whole: a row with one entry names a category."""
    positive = values[values > 0]
    return bool((positive < (1 - _ROUNDED) * whole).mean() > 0.5)


def _variances(x: Any) -> np.ndarray:
    """Of each column, (F,)."""
    if not sp.issparse(x):
        return column_moments([x])[1]
    mean = np.asarray(x.mean(0), np.float64).ravel()
    return np.asarray(x.multiply(x).mean(0), np.float64).ravel() - np.square(mean)
