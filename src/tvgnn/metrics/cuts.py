"""Quality of a partition as seen by the graph alone: modularity, conductance, and the cuts of the paper's section 2.

Conventions. ``adjacency`` is a symmetric scipy sparse matrix as returned by ``Graph.adjacency()``; a diagonal is
ignored. The volume of a set is its sum of degrees. An undirected edge counts once in a cut. Sums run over the clusters
in use: an empty cluster adds nothing. Where a denominator is 0 (a cluster of isolated nodes, or one that holds every
node) the cut above it is 0 too, and the term is taken as 0. So a partition collapsed into one cluster scores 0: read
these values beside the number of clusters found. Sums are in float64 and take time O(E).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, csr_matrix, issparse

from tvgnn.errors import GraphError
from tvgnn.metrics._checks import as_partition

__all__ = [
    "PartitionCuts",
    "asymmetric_cheeger_cut",
    "cheeger_cut",
    "conductance",
    "cut",
    "cut_fraction",
    "modularity",
    "normalized_cut",
    "partition_cuts",
    "ratio_cut",
]

_BLOCK_ENTRIES = 1 << 22  # adjacency entries handled at once: bounds the temporaries to about 100 MB


@dataclass(frozen=True)
class PartitionCuts:
    """Sizes and cuts of the clusters of one partition, gathered in one pass over the edges.

    Attributes
    ----------
    sizes : ndarray of int64, shape (K,)
        Nodes in each cluster.
    cuts : ndarray of float64, shape (K,)
        ``cut(C_k, complement of C_k)``.
    inside : ndarray of float64, shape (K,)
        Sum of ``a_ij`` with i and j in C_k: twice the weight of its inner edges.
    """

    sizes: NDArray[np.int64]
    cuts: NDArray[np.float64]
    inside: NDArray[np.float64]

    @cached_property
    def volumes(self) -> NDArray[np.float64]:
        """Sum of degrees of each cluster, shape (K,)."""
        return self.cuts + self.inside

    @cached_property
    def total(self) -> float:
        """Volume of the graph, twice the weight of its edges."""
        return float(self.volumes.sum())

    @property
    def cut(self) -> float:
        """See :func:`cut`."""
        return float(self.cuts.sum() / 2)

    @property
    def cut_fraction(self) -> float:
        """See :func:`cut_fraction`."""
        return float(self.cuts.sum() / self.total) if self.total > 0 else 0.0

    @property
    def modularity(self) -> float:
        """See :func:`modularity`."""
        if self.total == 0:
            return 0.0
        return float(self.inside.sum() / self.total - np.square(self.volumes / self.total).sum())

    @property
    def conductance(self) -> float:
        """See :func:`conductance`."""
        smaller_side = np.minimum(self.volumes, self.total - self.volumes)
        # Both sides hold every edge of the cut; the maximum keeps rounding from pushing a ratio above 1.
        return self._sum_of_ratios(np.maximum(smaller_side, self.cuts)) / int((self.sizes > 0).sum())

    @property
    def ratio_cut(self) -> float:
        """See :func:`ratio_cut`."""
        return self._sum_of_ratios(self.sizes)

    @property
    def normalized_cut(self) -> float:
        """See :func:`normalized_cut`."""
        return self._sum_of_ratios(self.volumes)

    @property
    def cheeger_cut(self) -> float:
        """See :func:`cheeger_cut`."""
        return self._sum_of_ratios(np.minimum(self.sizes, self.sizes.sum() - self.sizes))

    @property
    def asymmetric_cheeger_cut(self) -> float:
        """See :func:`asymmetric_cheeger_cut`."""
        return self._sum_of_ratios(np.minimum((self.sizes.size - 1) * self.sizes, self.sizes.sum() - self.sizes))

    def _sum_of_ratios(self, denominators: NDArray[Any]) -> float:
        return float(np.divide(self.cuts, denominators, out=np.zeros(self.cuts.size), where=denominators > 0).sum())


def partition_cuts(
    adjacency: csr_array | csr_matrix, labels: ArrayLike, n_clusters: int | None = None
) -> PartitionCuts:
    """Gather what every cut metric of a partition needs, in one pass over the edges.

    Parameters
    ----------
    adjacency : scipy CSR, shape (N, N)
        Symmetric adjacency; the diagonal is ignored.
    labels : array-like of int, shape (N,)
        Cluster of each node, from 0.
    n_clusters : int, optional
        K, the number of clusters asked for, also those left empty. Default: the largest label + 1.

    Raises
    ------
    GraphError
        If the shapes disagree or a label lies outside ``[0, n_clusters)``.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> path = csr_array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> partition_cuts(path, [0, 0, 0, 1]).volumes.tolist()
    [5.0, 1.0]
    """
    if not issparse(adjacency):
        raise GraphError(
            f"adjacency must be a scipy sparse matrix; got {type(adjacency).__name__}. "
            f"Pass graph.adjacency() or scipy.sparse.csr_array(adjacency)"
        )
    partition, n_clusters = as_partition(labels, n_clusters)
    if adjacency.shape != (partition.size, partition.size):
        raise GraphError(
            f"adjacency must be (N, N) with N = {partition.size}, the number of labels; got shape {adjacency.shape}"
        )
    inside, cuts = np.zeros(n_clusters), np.zeros(n_clusters)
    for row, column, weight in _entries(csr_array(adjacency)):
        of_row = partition[row]
        same = of_row == partition[column]
        cuts += np.bincount(of_row[~same], weights=weight[~same], minlength=n_clusters)
        same &= row != column
        inside += np.bincount(of_row[same], weights=weight[same], minlength=n_clusters)
    return PartitionCuts(np.bincount(partition, minlength=n_clusters), cuts, inside)


def cut(adjacency: csr_array | csr_matrix, labels: ArrayLike) -> float:
    """Return the weight of the edges whose ends lie in different clusters, each edge once.

    Parameters
    ----------
    adjacency : scipy CSR, shape (N, N)
        Symmetric adjacency; the diagonal is ignored.
    labels : array-like of int, shape (N,)
        Cluster of each node, from 0.

    Raises
    ------
    GraphError
        If the shapes disagree or a label is negative.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> path = csr_array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> cut(path, [0, 0, 1, 1])
    1.0
    """
    return partition_cuts(adjacency, labels).cut


def cut_fraction(adjacency: csr_array | csr_matrix, labels: ArrayLike) -> float:
    """Return the weight of the edges between clusters over the weight of all edges, in [0, 1]; 0 without edges.

    Equals the total variation loss of the hard assignments. Parameters and errors are those of :func:`cut`.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> cut_fraction(csr_array([[0, 1, 0], [1, 0, 3], [0, 3, 0]]), [0, 1, 1])
    0.25
    """
    return partition_cuts(adjacency, labels).cut_fraction


def modularity(adjacency: csr_array | csr_matrix, labels: ArrayLike) -> float:
    """Return Newman's modularity ``sum_k inside_k / 2m - (vol_k / 2m)^2``, in [-1/2, 1); 0 without edges.

    ``2m`` is the volume of the graph, ``inside_k`` twice the weight of the edges inside cluster k.
    Parameters and errors are those of :func:`cut`.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> modularity(csr_array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]), [0, 0, 1, 1])
    0.5
    """
    return partition_cuts(adjacency, labels).modularity


def conductance(adjacency: csr_array | csr_matrix, labels: ArrayLike) -> float:
    """Return the mean over the clusters in use of ``cut(C) / min(vol(C), vol(complement of C))``, in [0, 1].

    Clusters whose denominator is 0 count as 0 in the mean. Parameters and errors are those of :func:`cut`.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> path = csr_array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> round(conductance(path, [0, 0, 1, 1]), 4)
    0.3333
    """
    return partition_cuts(adjacency, labels).conductance


def ratio_cut(adjacency: csr_array | csr_matrix, labels: ArrayLike) -> float:
    """Return ``sum_k cut(C_k) / |C_k|`` (paper, eq. balanced K-cut, without von Luxburg's factor 1/2).

    Parameters and errors are those of :func:`cut`.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> path = csr_array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> ratio_cut(path, [0, 0, 1, 1])
    1.0
    """
    return partition_cuts(adjacency, labels).ratio_cut


def normalized_cut(adjacency: csr_array | csr_matrix, labels: ArrayLike) -> float:
    """Return ``sum_k cut(C_k) / vol(C_k)`` (paper, eq. balanced K-cut), in [0, K].

    Parameters and errors are those of :func:`cut`.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> path = csr_array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> round(normalized_cut(path, [0, 0, 1, 1]), 4)
    0.6667
    """
    return partition_cuts(adjacency, labels).normalized_cut


def cheeger_cut(adjacency: csr_array | csr_matrix, labels: ArrayLike) -> float:
    """Return ``sum_k cut(C_k) / min(|C_k|, |complement of C_k|)`` (paper, section 2: Cheeger cut).

    Parameters and errors are those of :func:`cut`.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> path = csr_array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> cheeger_cut(path, [0, 1, 1, 1])
    2.0
    """
    return partition_cuts(adjacency, labels).cheeger_cut


def asymmetric_cheeger_cut(
    adjacency: csr_array | csr_matrix, labels: ArrayLike, n_clusters: int | None = None
) -> float:
    """Return ``sum_k cut(C_k) / min((K - 1) |C_k|, |complement of C_k|)`` (paper, section 2; Bresson et al. 2013).

    Parameters
    ----------
    adjacency : scipy CSR, shape (N, N)
        Symmetric adjacency; the diagonal is ignored.
    labels : array-like of int, shape (N,)
        Cluster of each node, from 0.
    n_clusters : int, optional
        K, the number of clusters asked for, also those left empty. Default: the largest label + 1.

    Raises
    ------
    GraphError
        If the shapes disagree or a label lies outside ``[0, n_clusters)``.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> path = csr_array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> asymmetric_cheeger_cut(path, [0, 0, 1, 1])
    1.0
    """
    return partition_cuts(adjacency, labels, n_clusters).asymmetric_cheeger_cut


def _entries(adjacency: csr_array) -> Iterator[tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.floating]]]:
    """Yield (row, column, weight) of the stored entries, whole rows at a time."""
    start, n = 0, adjacency.shape[0]
    while start < n:
        limit = int(adjacency.indptr[start]) + _BLOCK_ENTRIES
        stop = max(start + 1, int(np.searchsorted(adjacency.indptr, limit, side="right")) - 1)
        entries = slice(adjacency.indptr[start], adjacency.indptr[stop])
        row = np.repeat(np.arange(start, stop), np.diff(adjacency.indptr[start : stop + 1]))
        yield row, adjacency.indices[entries], adjacency.data[entries]
        start = stop
