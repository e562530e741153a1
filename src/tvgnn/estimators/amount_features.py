"""Whether features are amounts, most of them zero, such as spending by category, read off the features themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

__all__ = ["are_amounts", "median_amounts"]

_FEWEST = 20  # positive values of a column that tell how far they spread
_WIDE = 5.0  # ratio of the 95th percentile to the median; 4.3 in an exponential, up to 4 in shares of words
_UNITS = 8.0  # ratio of high medians of columns to low ones (9th and 1st decile); those of TF-IDF differ by up to 4
_MOST = 1_000  # columns that are asked
_SEEN = 5  # positive values that give a column a median of its own


def are_amounts(x: Any) -> bool:
    """Say whether positive values of x (N, F), mostly zero, are so unlike that few of them outweigh the rest.

    That is so in most columns, or medians of columns are as unlike. Neither holds for shares of words in a document and
    for TF-IDF; whole numbers are counts.

    Parameters:
        x: dense or CSR, without negative values.

    Example:
        >>> random = np.random.default_rng(0)
        >>> bought = random.random((500, 10)) < 0.2
        >>> spent = bought * random.lognormal(3, 1.5, (500, 10))
        >>> are_amounts(spent), are_amounts(np.ceil(spent)), are_amounts(bought * random.random((500, 10)))
        (True, False, False)

    """
    values = x.data if sp.issparse(x) else x
    if (values == np.round(values)).all():
        return False
    columns = [values for values in _positive_by_column(x) if len(values) >= _FEWEST]
    some = columns[:: -(-len(columns) // _MOST) or 1]
    quantiles = np.array([np.quantile(values, (0.5, 0.95)) for values in some])
    if not len(quantiles):
        return False
    low, high = np.quantile(quantiles[:, 0], (0.1, 0.9))
    return bool(np.median(quantiles[:, 1] / quantiles[:, 0]) > _WIDE or high > _UNITS * low)


def median_amounts(x: Any) -> np.ndarray:
    """Median of the positive values of each column of x (N, F), dense or CSR, (F,); that of all where it has few."""
    columns = _positive_by_column(x)
    every = np.concatenate(columns)
    common = float(np.median(every)) if every.size else 1.0
    return np.array([np.median(values) if len(values) >= _SEEN else common for values in columns], np.float64)


def _positive_by_column(x: Any) -> list[np.ndarray]:
    columns = sp.csc_array(x)
    parts = np.split(columns.data, columns.indptr[1:-1])
    return [part[part > 0] for part in parts]
