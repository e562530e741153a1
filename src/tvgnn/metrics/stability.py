"""What a clustering is compared with where no classes are known: other runs, and graphs without communities."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, csr_matrix

from tvgnn.errors import GraphError
from tvgnn.metrics.labels import adjusted_rand_index

__all__ = ["mean_pairwise_ari", "pairwise_ari_error", "random_modularity"]

_GROUND_STATE = 0.97  # the largest over all numbers of clusters, Reichardt & Bornholdt (2006)


def mean_pairwise_ari(labelings: Sequence[ArrayLike]) -> float:
    """Return the mean adjusted Rand index over all pairs of labelings of the same nodes.

    1 where all agree, about 0 where they agree as much as random ones of the same sizes: unlike the share of agreeing
    pairs it does not rise by itself where there are few clusters.

    Parameters
    ----------
    labelings : sequence of array-like of int, shape (N,)
        At least two.

    Raises
    ------
    GraphError
        There are fewer than two, or their lengths differ.

    Examples
    --------
    >>> mean_pairwise_ari([[0, 0, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1]])
    1.0
    """
    if len(labelings) < 2:
        raise GraphError(f"expected at least two labelings to compare, got {len(labelings)}")
    pairs = combinations(labelings, 2)
    return float(np.mean([adjusted_rand_index(first, second) for first, second in pairs]))


def pairwise_ari_error(labelings: Sequence[ArrayLike]) -> float:
    """Return the standard error of :func:`mean_pairwise_ari` over other draws of labelings; 0 for two.

    By the jackknife, as the pairs share labelings: ``sqrt((R - 1) / R * sum_r (m_r - mean)^2)``, with ``m_r`` the mean
    over all pairs without labeling r.

    Parameters
    ----------
    labelings : sequence of array-like of int, shape (N,)
        R of them, at least two.

    Raises
    ------
    GraphError
        There are fewer than two, or their lengths differ.

    Examples
    --------
    >>> pairwise_ari_error([[0, 0, 1, 1], [1, 1, 0, 0], [0, 0, 1, 1]])
    0.0
    """
    count = len(labelings)
    if count < 3:
        mean_pairwise_ari(labelings)  # its checks
        return 0.0
    agreement = np.zeros((count, count))
    for (row, first), (column, second) in combinations(enumerate(labelings), 2):
        agreement[row, column] = agreement[column, row] = adjusted_rand_index(first, second)
    without = (agreement.sum() - 2 * agreement.sum(axis=1)) / ((count - 1) * (count - 2))
    return float(np.sqrt((count - 1) / count * np.square(without - without.mean()).sum()))


def random_modularity(adjacency: csr_array | csr_matrix) -> float:
    """Return about how large a modularity can be found in a random graph of the same degrees, in [0, 0.97].

    Random graphs too have partitions of positive modularity, the more so the sparser they are. The best one is the
    ground state of a Potts glass: ``0.97 * sum_i sigma_i / sum_i d_i``, with ``sigma_i^2`` the variance of the entries
    in row i, ``sum_j a_ij^2 - d_i^2 / (N - 1)`` (Reichardt & Bornholdt, Physica D 224:20, 2006; for any degrees,
    Phys. Rev. E 76:015102, 2007). 0.97 is the largest factor over all numbers of clusters. The formula holds for large
    graphs; the variance extends it to weights and to dense graphs. 0 without edges.

    Parameters
    ----------
    adjacency : scipy CSR, shape (N, N)
        Symmetric adjacency without a diagonal, ``Graph.adjacency()``.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> round(random_modularity(csr_array(np.ones((9, 9)) - np.eye(9))), 6)
    0.0
    """
    matrix = csr_array(adjacency).astype(np.float64)
    strengths = np.asarray(matrix.sum(axis=1)).ravel()
    total = strengths.sum()
    if total == 0:
        return 0.0
    squares = np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel()
    variances = np.maximum(squares - strengths**2 / (matrix.shape[0] - 1), 0)
    return float(min(_GROUND_STATE * np.sqrt(variances).sum() / total, _GROUND_STATE))
