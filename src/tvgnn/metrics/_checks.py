"""Checks of label arrays shared by the label metrics and the cut metrics."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tvgnn.errors import GraphError


def as_labels(labels: ArrayLike, name: str) -> NDArray[np.int64]:
    """Return ``labels`` as a one-dimensional int64 array, or say why it is none."""
    array = np.asarray(labels)
    if array.ndim != 1:
        raise GraphError(f"{name} must have one label a node, shape (N,); got shape {array.shape}")
    if array.size == 0:
        raise GraphError(f"{name} is empty; pass the label of at least one node")
    if array.dtype.kind not in "iub":
        raise GraphError(
            f"{name} must hold integer codes; got dtype {array.dtype}. "
            f"Convert names to codes with np.unique(names, return_inverse=True)[1]"
        )
    return array.astype(np.int64, copy=False)


def as_partition(labels: ArrayLike, n_clusters: int | None = None) -> tuple[NDArray[np.int64], int]:
    """Return ``labels`` checked to lie in ``[0, n_clusters)``, and ``n_clusters`` (default: largest label + 1)."""
    array = as_labels(labels, "labels")
    lowest, highest = int(array.min()), int(array.max())
    if n_clusters is None:
        n_clusters = highest + 1
    if lowest < 0 or highest >= n_clusters:
        node = int(np.flatnonzero((array < 0) | (array >= n_clusters))[0])
        raise GraphError(f"labels must lie in [0, {n_clusters}); node {node} has label {array[node]}")
    return array, n_clusters
