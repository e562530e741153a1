"""k-nearest-neighbour graph of feature rows."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.neighbors import NearestNeighbors

from tvgnn.errors import GraphError

__all__ = ["nearest_neighbor_edges"]


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
    if n_neighbors < 1:
        raise GraphError(f"n_neighbors must be at least 1, got {n_neighbors}")
    num_nodes = x.shape[0]
    taken = min(n_neighbors, num_nodes - 1)
    notes: tuple[str, ...] = (f"edges: union of the {taken} nearest neighbours of each row ({metric})",)
    if taken < n_neighbors:
        notes += (f"n_neighbors={n_neighbors} reduced to {taken}: there are only {num_nodes} nodes",)
    if taken == 0:
        empty = np.empty(0, dtype=np.int64)
        return empty, empty, notes
    try:
        # without an argument, kneighbors leaves out the row itself even where rows coincide
        neighbors = NearestNeighbors(n_neighbors=taken, metric=metric).fit(x).kneighbors(return_distance=False)
    except ValueError as error:
        raise GraphError(f"scikit-learn could not find neighbours with metric={metric!r}: {error}") from None
    return np.repeat(np.arange(num_nodes), taken), neighbors.astype(np.int64).ravel(), notes
