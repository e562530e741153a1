"""Whether features are intensities on one bounded scale, such as pixels, read off the features themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from tvgnn.graph.column_moments import row_blocks

__all__ = ["are_intensities"]

_FEWEST = 16  # columns: four by four pixels
_LEVELS = 16  # different values; ratings and codes have fewer, and what they say is another matter
_SAMPLE = 100_000  # entries among which these are looked for
_NEAR = 0.02  # of the range: as good as the highest value, which not every picture reaches exactly
_SATURATED = 0.05  # share of what exceeds the lowest value that is as good as the highest; 0.02 if all were as frequent
_MOST = 0.5  # share of the columns that have to be alike; those at the border of pictures are always dark


def are_intensities(x: Any) -> bool:
    """Say whether the columns of x (N, F) are read off the same bounded scale, as pixels are.

    Most of those that have values in between reach the lowest value of all and the highest, and many entries are as
    good as the highest: pictures have a background and are saturated. Neither counts, which are rarely as high as any,
    nor columns whose user brought their least to 0 and their highest to 1, which they take once, are like that.

    Parameters:
        x: dense or CSR.

    Example:
        >>> random = np.random.default_rng(0)
        >>> pictures = np.clip(random.normal(size=(100, 20)), 0, 1)
        >>> are_intensities(pictures), are_intensities(pictures > 0), are_intensities(random.uniform(size=(100, 20)))
        (True, False, False)

    """
    if x.shape[1] < _FEWEST or x.shape[0] < 2 or _levels(x) < _LEVELS:
        return False
    lowest, highest = float(x.min()), float(x.max())
    top = highest - _NEAR * (highest - lowest)
    rows = x.shape[0]
    low = _entries(x, lambda values: values <= lowest)
    high = _entries(x, lambda values: values >= top)
    varies, pictured = (low < rows) & (high < rows), low + high < rows
    if pictured.sum() < max(_FEWEST, _MOST * varies.sum()):
        return False
    reaching = pictured & (low > 0) & (high > 0)
    saturated = high.sum() > _SATURATED * (rows - low).sum()
    return bool(saturated and reaching.sum() >= _MOST * pictured.sum())


def _levels(x: Any) -> int:
    """Different values in some of the rows."""
    some = x[:: max(1, x.shape[0] * x.shape[1] // _SAMPLE)]
    return int(np.unique(some.data if sp.issparse(some) else some).size)


def _entries(x: Any, hold: Callable[[Any], Any]) -> np.ndarray:
    """How many entries of each column the condition holds for, (F,)."""
    if not sp.issparse(x):
        return np.sum([hold(x[rows]).sum(0) for rows in row_blocks(x.shape)], axis=0)
    found = np.bincount(x.indices[hold(x.data)], minlength=x.shape[1])
    absent = x.shape[0] - np.bincount(x.indices, minlength=x.shape[1])
    return found + absent * int(hold(0))
