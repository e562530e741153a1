"""Clusters that are none: a few nodes that training left over, with more edges to another cluster than inside."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, csr_matrix

from tvgnn.metrics.cuts import partition_cuts

__all__ = ["stray_clusters"]


def stray_clusters(
    adjacency: csr_array | csr_matrix, labels: ArrayLike, n_clusters: int | None = None
) -> NDArray[np.bool_]:
    """Say of each cluster whether it has nodes, yet no more edge weight inside than to some other cluster.

    An edge inside counts for both of its ends, one to another cluster for the end that is here. So a node alone is a
    stray, and so are nodes without any edge; the clusters of a graph whose nodes have most neighbours among their own
    are not, whatever their sizes.

    Parameters
    ----------
    adjacency : scipy CSR, shape (N, N)
        Symmetric adjacency; the diagonal is ignored.
    labels : array-like of int, shape (N,)
        Cluster of each node, from 0.
    n_clusters : int, optional
        K. Default: the largest label + 1.

    Returns
    -------
    ndarray of bool, shape (K,)

    Raises
    ------
    GraphError
        If the shapes disagree or a label lies outside ``[0, n_clusters)``.

    Examples
    --------
    >>> path = csr_array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> stray_clusters(path, [0, 0, 0, 1]).tolist(), stray_clusters(path, [0, 0, 1, 1]).tolist()
    ([False, True], [False, False])
    """
    cuts = partition_cuts(adjacency, labels, n_clusters)
    partition, k = np.asarray(labels), len(cuts.sizes)
    nodes = np.arange(len(partition))
    member: Any = csr_array((np.ones(len(partition)), (nodes, partition)), shape=(len(partition), k))
    between = (member.T @ csr_array(adjacency).astype(np.float64) @ member).toarray()
    np.fill_diagonal(between, 0)
    strays: NDArray[np.bool_] = (cuts.sizes > 0) & (cuts.inside <= between.max(axis=1, initial=0))
    return strays
