"""Means and variances of columns in float64 whatever holds them, and which width of numbers a matrix needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

__all__ = ["column_moments", "full_columns", "row_blocks", "sufficient_dtype"]

_BLOCK = 2**20  # entries that are float64 at a time
_OFFSET = 100  # standard deviations between a column and 0, from which on float32 blurs it by 6e-6 of one
_CONSTANT, _SMALL = 1e-12, 1e4  # deviation and size of a column whose last digits mean nothing


def row_blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    """Give slices of rows that hold about a million entries each."""
    step = max(1, _BLOCK // max(1, shape[1]))
    return (slice(start, start + step) for start in range(0, shape[0], step))


def column_moments(parts: Sequence[npt.NDArray[Any]]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Mean and variance (F,) of the columns of dense arrays (n_i, F) laid end to end, of at least one row in all.

    Two passes in float64: squares of large numbers are never taken, and the second pass corrects the first's rounding.
    """
    rows = sum(len(part) for part in parts)
    mean = np.sum([part.sum(0, dtype=np.float64) for part in parts], axis=0) / rows
    sums, squares = np.zeros_like(mean), np.zeros_like(mean)
    for part in parts:
        for block in row_blocks(part.shape):
            centred = part[block] - mean
            sums += centred.sum(0)
            squares += np.einsum("ij,ij->j", centred, centred)
    shift = sums / rows
    return mean + shift, np.maximum(squares / rows - shift * shift, 0)


def full_columns(x: Any) -> npt.NDArray[np.intp]:
    """Columns of a CSR matrix in which every entry is stored."""
    stored = np.bincount(x.indices, minlength=x.shape[1])
    return np.flatnonzero(stored == x.shape[0])


def sufficient_dtype(x: Any) -> np.dtype[Any]:
    """Return float32 for features (N, F), or float64 where float32 would blur differences between the rows.

    That is where some column lies so far from 0, relative to its spread, that rounding changes it: Unix times,
    coordinates of a national grid, counters beyond 2^24.

    Parameters
    ----------
    x
        Dense or CSR, real numbers. Sparse columns that hold a zero spread as far as they lie from it.

    Examples
    --------
    >>> sufficient_dtype(np.array([[1e7 + 0.25], [1e7 + 0.5]])), sufficient_dtype(np.array([[0.1], [0.2]]))
    (dtype('float64'), dtype('float32'))
    """
    narrow = np.dtype(np.float32)
    if np.result_type(x.dtype, narrow) == narrow or 0 in x.shape:
        return narrow
    if sp.issparse(x):
        full = full_columns(x)
        return sufficient_dtype(x[:, full].toarray()) if full.size else narrow
    if x.dtype.kind in "iu" and max(int(x.max()), -int(x.min())) <= 2**24:
        return narrow
    with np.errstate(over="ignore", invalid="ignore"):
        mean, variance = column_moments([x])
        distance, spread = np.abs(mean), np.sqrt(variance)
        told = (spread > _CONSTANT * distance) | (distance > _SMALL)
        far = np.flatnonzero((distance > _OFFSET * spread) & told & (distance <= np.finfo(narrow).max))
        changed = any((x[:, column] != x[:, column].astype(narrow)).any() for column in far)
    return np.dtype(np.float64) if changed else narrow
