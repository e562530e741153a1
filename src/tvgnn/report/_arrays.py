"""Checks of what the figures are given, and the rows that are drawn where there are too many."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tvgnn.errors import GraphError

__all__ = ["as_edges", "as_panels", "as_rows", "as_vector", "evenly"]

_K = TypeVar("_K")
_V = TypeVar("_V")


def evenly(total: int, most: int) -> NDArray[np.intp]:
    """Positions of at most ``most`` of ``total`` rows, evenly spaced."""
    return np.arange(total) if total <= most else np.linspace(0, total - 1, most).astype(np.intp)


def as_panels(panels: Mapping[_K, _V], what: str) -> dict[_K, _V]:
    """Return the panels by title, or say what to pass where there is none."""
    if not isinstance(panels, Mapping) or not panels:
        raise GraphError(f"expected panels as {{{what}}} with at least one entry, got {panels!r}")
    return dict(panels)


def as_rows(
    values: ArrayLike, name: str, *, rows: int | None = None, columns: int | None = None, shares: bool = False
) -> NDArray[np.float64]:
    """Return an (N, K) float64 array of finite numbers, not negative where they are shares, or say why it is none."""
    array = np.asarray(values)
    wanted = f"({'N' if rows is None else rows}, {'K' if columns is None else columns})"
    fits = array.ndim == 2 and array.shape[0] > 0 and array.shape[1] > 0
    if not fits or (rows not in (None, array.shape[0])) or (columns not in (None, array.shape[1])):
        raise GraphError(f"expected {name} of shape {wanted}, one row a node, got {array.shape}")
    if array.dtype.kind not in "biuf":
        raise GraphError(f"expected numbers in {name}, got dtype {array.dtype}")
    array = array.astype(np.float64)
    bad = ~np.isfinite(array) | (array < 0 if shares else False)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        kind = "finite numbers that are not negative" if shares else "finite numbers"
        raise GraphError(f"expected {kind} in {name}, got {array[row, column]} in row {row}, column {column}")
    return array


def as_vector(values: ArrayLike, name: str, length: int) -> NDArray[np.int64]:
    """Return an (N,) int64 array of codes, or say why it is none."""
    array = np.asarray(values)
    if array.shape != (length,):
        raise GraphError(f"expected {name} of shape ({length},), one integer a node, got {array.shape}")
    if array.dtype.kind not in "iub":
        raise GraphError(
            f"expected integer codes in {name}, got dtype {array.dtype}; "
            "convert names with np.unique(names, return_inverse=True)[1]"
        )
    return array.astype(np.int64)


def as_edges(edges: ArrayLike | None, num_nodes: int) -> NDArray[np.int64]:
    """Return (E, 2) edges, each undirected one once and no self-loop, in ascending order; None is no edge."""
    array: NDArray[Any] = np.empty((2, 0), dtype=np.int64) if edges is None else np.asarray(edges)
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[0] != 2 or array.dtype.kind not in "iu":
        raise GraphError(f"expected edges as integers of shape (2, E), got {array.dtype} of shape {array.shape}")
    if array.min() < 0 or array.max() >= num_nodes:
        raise GraphError(
            f"expected edges between nodes 0 to {num_nodes - 1}, got node {array.min()} to node {array.max()}"
        )
    low, high = array.min(axis=0).astype(np.int64), array.max(axis=0).astype(np.int64)
    code = np.unique(low[low < high] * num_nodes + high[low < high])
    return np.stack([code // num_nodes, code % num_nodes], axis=1)
