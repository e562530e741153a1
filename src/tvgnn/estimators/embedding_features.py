"""Whether features are embeddings, such as word or sentence vectors, read off the features themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tvgnn.graph.column_moments import column_moments

__all__ = ["are_embeddings"]

_FEWEST = 32  # columns: models give no fewer, tables of signed measurements seldom have as many
_SIGNED = 0.9  # share of the columns that have both signs; what is measured in units is mostly positive
_SPREAD = 5.0  # ratio of high deviations to low ones (9th and 1st decile); units differ by more
_ERRORS, _LOOSEST = 8.0, 0.2  # over the root of N: relative difference of deviations that were equal in more rows


def are_embeddings(x: Any) -> bool:
    """Say whether the columns of x (N, F) are directions of one space, as those of word vectors are, without units.

    They are many, of both signs, and of comparable deviations, but not of equal ones up to sampling error, which
    columns have that their user standardised. Rows' length and common mean say little (Mu & Viswanath, ICLR 2018), and
    columns of small deviation matter less.

    Parameters:
        x: dense or CSR; sparse features are none, since embeddings have no zeros.

    Example:
        >>> random = np.random.default_rng(0)
        >>> vectors = 1 + random.normal(size=(200, 40)) * random.uniform(0.5, 2, size=40)
        >>> are_embeddings(vectors), are_embeddings(np.abs(vectors)), are_embeddings(vectors[:, :20])
        (True, False, False)

    """
    if sp.issparse(x) or x.shape[1] < _FEWEST or x.shape[0] < 2:
        return False
    signed = (x.min(0) < 0) & (x.max(0) > 0)
    if signed.mean() < _SIGNED:
        return False
    deviation = np.sqrt(column_moments([x])[1])
    low, high = np.quantile(deviation, (0.1, 0.9))
    alike = min(_LOOSEST, _ERRORS / np.sqrt(x.shape[0])) * deviation.max()
    return bool(low > 0 and high <= _SPREAD * low and np.ptp(deviation) > alike)
