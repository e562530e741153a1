"""Every metric of one clustering at once, under the names of ``metrics.json``."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, csr_matrix
from scipy.special import entr

from tvgnn.errors import GraphError
from tvgnn.metrics._checks import as_labels, as_partition
from tvgnn.metrics.cuts import partition_cuts
from tvgnn.metrics.labels import adjusted_rand_index, clustering_accuracy, macro_f1, normalized_mutual_info

__all__ = ["cluster_sizes", "evaluate", "sharpness", "soft_entropy"]

_ROWS = 65_536  # of the assignments, whose logarithms are taken together


def cluster_sizes(labels: ArrayLike, n_clusters: int | None = None) -> NDArray[np.int64]:
    """Return the number of nodes in each cluster, empty ones included.

    Parameters
    ----------
    labels : array-like of int, shape (N,)
        Cluster of each node, from 0.
    n_clusters : int, optional
        Length of the result. Default: the largest label + 1.

    Raises
    ------
    GraphError
        If a label lies outside ``[0, n_clusters)``.

    Examples
    --------
    >>> cluster_sizes([0, 2, 2], n_clusters=4).tolist()
    [1, 0, 2, 0]
    """
    partition, n_clusters = as_partition(labels, n_clusters)
    return np.bincount(partition, minlength=n_clusters)


def sharpness(assignments: ArrayLike) -> float:
    """Return the mean over the nodes of the largest soft assignment: 1 if all are one-hot, 1/K if all are uniform.

    Parameters
    ----------
    assignments : array-like of float, shape (N, K)
        Soft assignments; rows sum to 1.

    Raises
    ------
    GraphError
        If it is not a non-empty (N, K) array of finite numbers.

    Examples
    --------
    >>> sharpness([[1.0, 0.0], [0.5, 0.5]])
    0.75
    """
    array = _as_assignments(assignments)
    return float(array.max(axis=1).mean(dtype=np.float64))


def soft_entropy(assignments: ArrayLike) -> float:
    """Return the mean over the nodes of the entropy of the soft assignment, as a share of log K.

    0 if all are one-hot, 1 if all are uniform; 0 for K = 1. Unlike `sharpness` it also sees how what is left is spread.

    Parameters
    ----------
    assignments : array-like of float, shape (N, K)
        Soft assignments; rows sum to 1.

    Raises
    ------
    GraphError
        If it is not a non-empty (N, K) array of finite numbers >= 0.

    Examples
    --------
    >>> soft_entropy([[1.0, 0.0], [0.5, 0.5]])
    0.5
    """
    array = _as_assignments(assignments)
    if array.shape[1] == 1:
        return 0.0
    total = 0.0
    for first in range(0, len(array), _ROWS):
        rows = array[first : first + _ROWS].astype(np.float64)
        if rows.min() < 0:
            node, cluster = (int(place) for place in np.argwhere(rows < 0)[0])
            raise GraphError(f"assignments must be >= 0; row {first + node} has {rows[node, cluster]} in {cluster}")
        total += float(entr(rows).sum())
    return total / (len(array) * float(np.log(array.shape[1])))


def _as_assignments(assignments: ArrayLike) -> NDArray[Any]:
    array = np.asarray(assignments)
    if array.ndim != 2 or 0 in array.shape:
        raise GraphError(f"assignments must have shape (N, K) with N, K >= 1; got shape {array.shape}")
    finite = np.isfinite(array).all(axis=1)
    if not finite.all():
        node = int(np.flatnonzero(~finite)[0])
        raise GraphError(f"assignments must be finite; row {node} is {array[node].tolist()}")
    return array


def evaluate(
    adjacency: csr_array | csr_matrix,
    labels: ArrayLike,
    assignments: ArrayLike | None = None,
    y: ArrayLike | None = None,
    n_clusters: int | None = None,
) -> dict[str, Any]:
    """Return the metrics of a clustering as a dictionary that JSON can hold.

    Parameters
    ----------
    adjacency : scipy CSR, shape (N, N)
        Symmetric adjacency, ``Graph.adjacency()``.
    labels : array-like of int, shape (N,)
        Cluster of each node, from 0.
    assignments : array-like of float, shape (N, K), optional
        Soft assignments; adds ``sharpness`` and ``soft_entropy``.
    y : array-like of int, shape (N,), optional
        Class codes, -1 = unknown; adds ``nmi``, ``acc``, ``ari``, ``macro_f1`` if any class is known.
    n_clusters : int, optional
        Number of clusters asked for. Default: the columns of ``assignments``, else the largest label + 1.

    Returns
    -------
    dict
        ``n_clusters``, ``n_clusters_found``, ``cluster_sizes``, ``modularity``, ``conductance``, ``cut_fraction``,
        and those named above.

    Raises
    ------
    GraphError
        If shapes disagree, a label lies outside ``[0, n_clusters)`` or an assignment is not finite.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> path = csr_array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> result = evaluate(path, [0, 0, 1, 1], y=[1, 1, 0, -1], n_clusters=3)
    >>> result["n_clusters_found"], result["cluster_sizes"], result["acc"]
    (2, [2, 2, 0], 1.0)
    """
    if assignments is not None:
        assignments = np.asarray(assignments)
        if n_clusters is None and assignments.ndim == 2:
            n_clusters = assignments.shape[1]
    partition, n_clusters = as_partition(labels, n_clusters)
    cuts = partition_cuts(adjacency, partition, n_clusters)
    result: dict[str, Any] = {
        "n_clusters": n_clusters,
        "n_clusters_found": int((cuts.sizes > 0).sum()),
        "cluster_sizes": cuts.sizes.tolist(),
        "modularity": cuts.modularity,
        "conductance": cuts.conductance,
        "cut_fraction": cuts.cut_fraction,
    }
    if assignments is not None:
        if assignments.shape != (partition.size, n_clusters):
            raise GraphError(
                f"assignments must have one row a node and one column a cluster, "
                f"shape ({partition.size}, {n_clusters}); got shape {assignments.shape}"
            )
        result["sharpness"], result["soft_entropy"] = sharpness(assignments), soft_entropy(assignments)
    if y is not None and (as_labels(y, "y") != -1).any():
        result["nmi"] = normalized_mutual_info(y, partition)
        result["acc"] = clustering_accuracy(y, partition)
        result["ari"] = adjusted_rand_index(y, partition)
        result["macro_f1"] = macro_f1(y, partition)
    return result
