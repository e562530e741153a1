"""The order in which clusters are numbered."""

import numpy as np

__all__ = ["largest_first"]


def largest_first(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Clusters (n_clusters,) by size, the largest first; equal sizes by their first node, empty ones last.

    Examples
    --------
    >>> largest_first(np.array([2, 0, 0]), 3).tolist()
    [0, 2, 1]
    """
    sizes = np.bincount(labels, minlength=n_clusters)
    first = np.full(n_clusters, labels.size)
    np.minimum.at(first, labels, np.arange(labels.size))
    return np.lexsort((first, -sizes))
