"""Colours and markers of every figure: told apart under the common colour vision deficiencies and in print."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tvgnn.colors import COLORS, UNKNOWN, color_of

__all__ = ["COLORS", "MARKERS", "UNKNOWN", "color_of", "marker_of", "mixed_colors"]

MARKERS = ("o", "s", "^", "D", "v", "P")
"""From the eleventh number on the colours repeat with the next marker."""


def marker_of(number: int) -> str:
    """Return the marker of a cluster or class.

    Examples
    --------
    >>> marker_of(9), marker_of(10)
    ('o', 's')
    """
    return MARKERS[max(number, 0) // len(COLORS) % len(MARKERS)]


def mixed_colors(shares: ArrayLike) -> NDArray[np.float64]:
    """Mix the colours of the columns by their shares; what is missing to one is white.

    A row that is 1 in one column has that column's own colour, smaller values are paler and a row of zeros is white.

    Parameters
    ----------
    shares : array-like of float, shape (N, K)
        Cut off at 0 and 1; rows that add up to more than one are divided by their sum.

    Returns
    -------
    ndarray of shape (N, 3), float64
        Red, green and blue, each in [0, 1].

    Examples
    --------
    >>> mixed_colors([[0.0, 0.0], [1.0, 0.0]]).round(2).tolist()
    [[1.0, 1.0, 1.0], [0.25, 0.56, 0.85]]
    """
    from matplotlib.colors import to_rgb

    kept = np.clip(np.asarray(shares, dtype=np.float64), 0, 1)
    kept = kept / np.maximum(kept.sum(axis=1, keepdims=True), 1)
    colors = np.array([to_rgb(color_of(column)) for column in range(kept.shape[1])]).reshape(-1, 3)
    # Taken from white downwards: exact for a row of zeros and for a single one
    mixed: NDArray[np.float64] = np.clip(1 - kept @ (1 - colors), 0, 1)
    return mixed
