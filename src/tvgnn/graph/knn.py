"""k-nearest-neighbour graph of feature rows."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from tvgnn.errors import GraphError

__all__ = ["nearest_neighbor_edges"]

_SPARE = 8  # candidates beyond k, among which ties are settled
_BLOCK_ELEMENTS = 2**22  # 32 MB of float64 differences at a time


def nearest_neighbor_edges(
    x: Any, n_neighbors: int, metric: str = "euclidean"
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], tuple[str, ...]]:
    """Return source and target (N * k,) of the edges from each row to its nearest other rows, and notes.

    Parameters
    ----------
    x
        (N, F) finite dense or CSR features.
    n_neighbors
        k; where fewer than k other rows exist, all of them are taken and a note says so.
    metric
        Any metric name of :class:`sklearn.neighbors.NearestNeighbors`.

    Raises
    ------
    GraphError
        If k is below 1 or scikit-learn does not know the metric.
    """
    if not hasattr(n_neighbors, "__index__") or n_neighbors < 1:
        raise GraphError(f"n_neighbors must be an integer of at least 1, got {n_neighbors!r}")
    num_nodes = x.shape[0]
    taken = min(n_neighbors, num_nodes - 1)
    notes: tuple[str, ...] = (f"edges: union of the {taken} nearest neighbours of each row ({metric})",)
    if taken < n_neighbors:
        notes += (f"n_neighbors={n_neighbors} reduced to {taken}: there are only {num_nodes} nodes",)
    if taken == 0:
        empty = np.empty(0, dtype=np.int64)
        return empty, empty, notes
    candidates = min(taken + _SPARE, num_nodes - 1)
    try:
        # without an argument, kneighbors leaves out the row itself even where rows coincide
        neighbors = NearestNeighbors(n_neighbors=candidates, metric=metric).fit(x).kneighbors(return_distance=False)
    except ValueError as error:
        raise GraphError(f"scikit-learn could not find neighbours with metric={metric!r}: {error}") from None
    if metric == "euclidean" and not sp.issparse(x):
        neighbors = _settle_ties(x, neighbors)
    return np.repeat(np.arange(num_nodes), taken), neighbors[:, :taken].astype(np.int64).ravel(), notes


def _settle_ties(x: npt.NDArray[Any], neighbors: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Order each row's candidates by distance, equal ones by index.

    scikit-learn's own order of equally near rows depends on the number of threads. Distances are computed anew, pair by
    pair in float64, a block of rows at a time.
    """
    neighbors = np.sort(neighbors, axis=1)
    block = max(1, _BLOCK_ELEMENTS // max(1, neighbors.size // x.shape[0] * x.shape[1]))
    for start in range(0, x.shape[0], block):
        rows = neighbors[start : start + block]
        difference = x[rows].astype(np.float64) - x[start : start + block, None]
        order = np.argsort(np.einsum("nkf,nkf->nk", difference, difference), axis=1, kind="stable")
        neighbors[start : start + block] = np.take_along_axis(rows, order, axis=1)
    return neighbors
