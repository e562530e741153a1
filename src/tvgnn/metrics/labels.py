"""Agreement of a clustering with known classes: NMI, accuracy, adjusted Rand index, macro F1.

In every function ``y_true`` holds class codes of shape (N,), where -1 means *unknown*: those nodes are left out.
``y_pred`` holds cluster codes of shape (N,). No value depends on how clusters, classes or nodes are numbered.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from tvgnn.errors import GraphError
from tvgnn.metrics._checks import as_labels

__all__ = ["adjusted_rand_index", "clustering_accuracy", "macro_f1", "match_clusters", "normalized_mutual_info"]


def normalized_mutual_info(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Return the mutual information over the arithmetic mean of the two entropies, in [0, 1].

    Equal to :func:`sklearn.metrics.normalized_mutual_info_score`; 1 where both sides are a single group.

    Parameters
    ----------
    y_true, y_pred : array-like of int, shape (N,)
        Class codes (-1 = unknown, left out) and cluster codes.

    Raises
    ------
    GraphError
        If the arrays are no integer vectors of equal length or no class is known.

    Examples
    --------
    >>> normalized_mutual_info([0, 0, 1, 1, -1], [5, 5, 2, 2, 2])
    1.0
    """
    table = _contingency(y_true, y_pred)[0].tocoo()
    joint = table.data / table.data.sum()
    classes = np.bincount(table.row, weights=joint)
    clusters = np.bincount(table.col, weights=joint)
    if classes.size == 1 and clusters.size == 1:
        return 1.0
    information = np.sum(joint * (np.log(joint) - np.log(classes[table.row]) - np.log(clusters[table.col])))
    entropies = -np.sum(classes * np.log(classes)) - np.sum(clusters * np.log(clusters))
    return float(np.clip(2 * information / entropies, 0.0, 1.0))


def adjusted_rand_index(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Return the Rand index adjusted for chance: 1 for equal partitions, about 0 for independent ones, at least -0.5.

    Equal to :func:`sklearn.metrics.adjusted_rand_score`.

    Parameters
    ----------
    y_true, y_pred : array-like of int, shape (N,)
        Class codes (-1 = unknown, left out) and cluster codes.

    Raises
    ------
    GraphError
        If the arrays are no integer vectors of equal length or no class is known.

    Examples
    --------
    >>> adjusted_rand_index([0, 0, 1, 1], [0, 0, 1, 2])
    0.5714285714285714
    """
    table = _contingency(y_true, y_pred)[0]
    # Python integers: products of pair counts overflow int64 from about 10^5 nodes on.
    together = int((table.data**2).sum())
    in_class = int((np.asarray(table.sum(axis=1)) ** 2).sum())
    in_cluster = int((np.asarray(table.sum(axis=0)) ** 2).sum())
    n = int(table.data.sum())
    both, only_cluster, only_class = together - n, in_cluster - together, in_class - together
    neither = n * n - together - only_cluster - only_class
    if only_cluster == 0 and only_class == 0:
        return 1.0
    chance = (both + only_class) * (only_class + neither) + (both + only_cluster) * (only_cluster + neither)
    return 2 * (both * neither - only_class * only_cluster) / chance


def match_clusters(y_true: ArrayLike, y_pred: ArrayLike) -> NDArray[np.int64]:
    """Return ``y_pred`` renamed to the class that each cluster matches best (Kuhn-Munkres).

    The one-to-one matching maximises the number of nodes whose cluster is matched with their class; among equally good
    matchings the one with the largest sum of F1 scores is taken. Where there are more clusters than classes, the
    clusters left over get codes above every class, so that they stay distinct and agree with no class.

    Parameters
    ----------
    y_true, y_pred : array-like of int, shape (N,)
        Class codes (-1 = unknown, not used for matching) and cluster codes.

    Returns
    -------
    ndarray of int64, shape (N,)
        The matched class of each node's cluster, also for nodes whose own class is unknown.

    Raises
    ------
    GraphError
        If the arrays are no integer vectors of equal length or no class is known.

    Examples
    --------
    >>> match_clusters([0, 0, 1, 1], [2, 2, 0, 1]).tolist()
    [0, 0, 1, 2]
    """
    table, classes, clusters = _contingency(y_true, y_pred)
    predicted = as_labels(y_pred, "y_pred")
    rows, columns = _matching(table)
    names, codes = np.unique(predicted, return_inverse=True)
    matched = np.isin(names, clusters[columns])
    renamed = np.empty(names.size, dtype=np.int64)
    renamed[np.searchsorted(names, clusters[columns])] = classes[rows]
    renamed[~matched] = classes.max() + 1 + np.arange(names.size - columns.size)
    return renamed[codes]


def clustering_accuracy(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Return the share of nodes whose cluster is matched with their class, under the best one-to-one matching.

    The numbers of clusters and of classes may differ; nodes of a cluster or class left without partner count as wrong.

    Parameters
    ----------
    y_true, y_pred : array-like of int, shape (N,)
        Class codes (-1 = unknown, left out) and cluster codes.

    Raises
    ------
    GraphError
        If the arrays are no integer vectors of equal length or no class is known.

    Examples
    --------
    >>> clustering_accuracy([0, 0, 1, 1], [1, 1, 1, 0])
    0.75
    """
    table = _contingency(y_true, y_pred)[0]
    rows, columns = _matching(table)
    return float(table.toarray()[rows, columns].sum() / table.data.sum())


def macro_f1(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Return the mean over the classes of the F1 score, after the matching of :func:`match_clusters`.

    The mean runs over the classes of ``y_true``; a class that no cluster is matched with scores 0.

    Parameters
    ----------
    y_true, y_pred : array-like of int, shape (N,)
        Class codes (-1 = unknown, left out) and cluster codes.

    Raises
    ------
    GraphError
        If the arrays are no integer vectors of equal length or no class is known.

    Examples
    --------
    >>> macro_f1([0, 0, 1, 1], [3, 3, 3, 3])
    0.3333333333333333
    """
    table = _contingency(y_true, y_pred)[0]
    rows, columns = _matching(table)
    return float(_pairwise_f1(table)[rows, columns].sum() / table.shape[0])


def _contingency(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[csr_array, NDArray[np.int64], NDArray[np.int64]]:
    """Return the (classes, clusters) table of counts over nodes of known class, and its row and column codes."""
    true, predicted = as_labels(y_true, "y_true"), as_labels(y_pred, "y_pred")
    if true.size != predicted.size:
        raise GraphError(f"y_true and y_pred must have one label a node; got {true.size} and {predicted.size} labels")
    known = true != -1
    if not known.any():
        raise GraphError("every label in y_true is -1 (unknown); label metrics need at least one known class")
    classes, row = np.unique(true[known], return_inverse=True)
    clusters, column = np.unique(predicted[known], return_inverse=True)
    counts = np.ones(row.size, dtype=np.int64)
    return csr_array((counts, (row, column)), shape=(classes.size, clusters.size)), classes, clusters


def _pairwise_f1(table: csr_array) -> NDArray[np.float64]:
    counts = table.toarray()
    return 2.0 * counts / (counts.sum(axis=1, keepdims=True) + counts.sum(axis=0, keepdims=True))


def _matching(table: csr_array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    # F1 scores lie in [0, 1], so divided by the number of pairs + 1 their sum stays below 1 and can only break ties
    # between equal (integer) counts: the result does not depend on the numbering of nodes, classes or clusters.
    gain = table.toarray() + _pairwise_f1(table) / (min(table.shape) + 1)
    rows, columns = linear_sum_assignment(gain, maximize=True)
    return rows, columns
