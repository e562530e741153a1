"""Whether features are scores on principal components, read off the features themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tvgnn.graph.column_moments import column_moments, row_blocks

__all__ = ["are_component_scores"]

_FEWEST, _MOST = 5, 1000  # columns: fewer are in order of their variances by chance, more are no reduction
_CLEAR = 2.0  # ratio of the largest variance to the smallest, below which a common scale and one each are much alike
_ERRORS, _LOOSEST = 4.0, 0.1  # standard errors of a mean or correlation, and what few rows may not excuse


def are_component_scores(x: Any) -> bool:
    """Say whether the columns of x (N, F) are centred, uncorrelated and of falling variances, as scores of a PCA are.

    All of that up to sampling error, so that scores of most of the rows that a PCA saw are still known. Measurements
    are hardly ever centred, or are correlated; whitened scores and standardised columns have equal variances.

    Parameters:
        x: dense or CSR; sparse features are none, since scores have no zeros.

    Example:
        >>> random = np.random.default_rng(0)
        >>> mixed = random.normal(size=(200, 6)) @ random.normal(size=(6, 6))
        >>> scores = np.linalg.svd(mixed - mixed.mean(0), full_matrices=False)
        >>> are_component_scores(mixed), are_component_scores(scores[0] * scores[1])
        (False, True)

    """
    if sp.issparse(x) or not _FEWEST <= x.shape[1] <= min(_MOST, x.shape[0]):
        return False
    allowed = min(_LOOSEST, _ERRORS / np.sqrt(x.shape[0]))
    mean, variance = column_moments([x])
    deviation = np.sqrt(variance)
    if not (variance > 0).all() or not (np.abs(mean) <= allowed * deviation).all():
        return False
    falls = variance[1:] <= (1 + 2 * allowed) * variance[:-1]
    if not falls.all() or variance[0] < _CLEAR * variance[-1]:
        return False
    products = np.zeros((x.shape[1], x.shape[1]))
    for rows in row_blocks(x.shape):
        standardised = (x[rows] - mean) / deviation
        products += standardised.T @ standardised
    np.fill_diagonal(products, 0)
    return bool(np.abs(products).max() <= allowed * x.shape[0])
