"""Measurements with heavy tails, such as incomes, counts of followers or slips of a sensor, by their ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import norm, rankdata
from sklearn.metrics import pairwise_distances

from tvgnn.estimators.feature_scaling import FeatureScaling, resolution, with_full_columns
from tvgnn.estimators.mixed_features import dummy_columns
from tvgnn.graph.column_moments import column_moments, row_blocks

__all__ = ["QUANTILES", "heavy_tailed", "normal_scores", "quantiles_of"]

QUANTILES = 257  # of each column; between these, ranks are interpolated
_KURTOSIS = 3.0  # beyond that of a Gaussian: that of Laplace's distribution
_SAMPLE = 1_000  # rows that are compared with their nearest, fewer where columns are many
_COMPARED = 3 * 10**7  # pairs of rows in all columns together
_NEAREST = 15
_ROUNDS = 5  # of looking at all columns, as each decides about the neighbours of the others


def heavy_tailed(x: Any) -> np.ndarray:
    """Say which columns of measurements x (N, F) say more by their ranks, (F,) bool; none that are dummies.

    A few rows far out take most of a column's variance, so that all others are the same after it is standardised. But
    so do the members of a small cluster, of which a column says just that. Columns of high kurtosis are told apart by
    the other columns: rows that are near in these have more in common by the ranks of a heavy-tailed column than by its
    values, and less by the ranks of one that marks a cluster.

    Parameters:
        x: dense or CSR.

    Example:
        >>> random = np.random.default_rng(0)
        >>> z = random.normal(size=(600, 4)) + 3 * np.eye(4)[np.arange(600) % 4]
        >>> heavy_tailed(np.column_stack([np.exp(2 * z[:, :2]), z[:, 2:]])).tolist()
        [True, True, False, False]

    """
    found = np.zeros(x.shape[1], bool)
    measured = np.flatnonzero(~dummy_columns(x))
    table = x if len(measured) == x.shape[1] else x[:, measured]
    candidates = measured[_excess_kurtosis(_dense(table)) > _KURTOSIS]
    size = min(x.shape[0], _SAMPLE, int(np.sqrt(_COMPARED / max(len(candidates), 1))))
    if not candidates.size or x.shape[1] < 2 or size <= _NEAREST:
        return found
    rows = np.sort(np.random.RandomState(0).permutation(x.shape[0])[:size])
    # By the deviation of all rows: what is far out may not be among these
    values = _dense(x[rows]).astype(np.float64) / np.asarray(FeatureScaling.fit(x, "standardize").scale)
    values = (values - values.mean(0)).astype(np.float32)
    ranks = norm.ppf((rankdata(values, axis=0) - 0.5) / size).astype(np.float32)
    ranks /= np.maximum(ranks.std(0), np.float32(1e-6))
    for _ in range(_ROUNDS):
        seen = np.where(found, ranks, values)
        apart = pairwise_distances(seen, metric="sqeuclidean")
        before, found = found, found.copy()
        for column in candidates:
            others = apart - np.square(seen[:, column, None] - seen[:, column])
            np.fill_diagonal(others, np.inf)
            nearest = np.argpartition(others, _NEAREST, axis=1)[:, :_NEAREST]
            by_ranks, by_values = (_in_common(part[:, column], nearest) for part in (ranks, values))
            found[column] = by_ranks > by_values
        if np.array_equal(before, found):
            break
    return found


def quantiles_of(x: Any, columns: np.ndarray) -> np.ndarray:
    """Quantiles of some columns (F,) bool of x (N, F), dense or CSR, (257, F), and nan for the others."""
    found = np.full((QUANTILES, x.shape[1]), np.nan)
    for column in np.flatnonzero(columns):
        found[:, column] = np.quantile(_column(x, column), np.linspace(0, 1, QUANTILES))
    return found


def normal_scores(x: Any, quantiles: np.ndarray) -> Any:
    """Replace columns of x (M, F) by the normal quantiles of their ranks; beyond the extremes nothing grows.

    Parameters:
        x: of any rows, dense or CSR.
        quantiles: (257, F), see `quantiles_of`; columns of nan stay as they are.

    Returns:
        The same kind as x, float32, or float64 where x is.

    """
    scores = norm.ppf((np.arange(len(quantiles)) + 0.5) / len(quantiles))
    columns = np.flatnonzero(~np.isnan(quantiles[0]))
    found = np.empty((x.shape[0], len(columns)), np.result_type(x.dtype, np.float32))
    for place, column in enumerate(columns):
        known, given = quantiles[:, column], _column(x, column)
        # Where many rows share a value, one of its ranks is the lowest and one the highest
        lowest = -np.interp(-given, -known[::-1], -scores[::-1])
        found[:, place] = (np.interp(given, known, scores) + lowest) / 2
    if sp.issparse(x):
        return with_full_columns(x.astype(found.dtype), columns, found)
    result = x.astype(found.dtype)
    result[:, columns] = found
    return result


def _excess_kurtosis(x: np.ndarray) -> np.ndarray:
    mean, variance = column_moments([x])
    sums, deviation = np.zeros(x.shape[1]), np.sqrt(variance)
    constant = deviation <= resolution(x.dtype) * np.abs(mean)
    for block in row_blocks(x.shape):
        sums += (((x[block] - mean) / np.where(constant, 1, deviation)) ** 4).sum(0)
    return np.where(constant, -np.inf, sums / max(len(x), 1) - 3)


def _dense(x: Any) -> np.ndarray:
    return x.toarray() if sp.issparse(x) else np.asarray(x)


def _column(x: Any, column: Any) -> np.ndarray:
    return _dense(x[:, [column]]).ravel().astype(np.float64)


def _in_common(column: np.ndarray, nearest: np.ndarray) -> Any:
    """Covariance of a column (n,) with its nearest rows, listed in (n, k)."""
    centred = column - column.mean()
    return (centred[:, None] * centred[nearest]).mean()
