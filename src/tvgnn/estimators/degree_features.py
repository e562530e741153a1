"""Whether features are nothing but the number of neighbours, one-hot, as graphs without attributes get."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tvgnn.graph.graph import Graph

__all__ = ["are_one_hot_degrees", "log_positions"]

_FIRST = 1000  # rows that are looked at first
_FEWEST = 3  # different degrees; of fewer, a category may follow the order by chance


def are_one_hot_degrees(graph: Graph) -> bool:
    """Say whether the features of a graph are one-hot and their columns follow the number of neighbours.

    The last column may stand for that many and more, and loops may have counted: that the order is the same suffices.

    Example:
        >>> path = Graph.from_edges([0, 1, 1, 3], [1, 2, 3, 4])
        >>> are_one_hot_degrees(path.with_structural_features("degree"))
        True
        >>> are_one_hot_degrees(path.with_features(np.eye(5)))
        False

    """
    columns = _positions(graph.x)
    if columns is None or len(np.unique(columns)) < _FEWEST:
        return False
    degrees = np.diff(graph.indptr)
    order = np.lexsort((columns, degrees))
    same_degree = np.diff(degrees[order]) == 0
    steps = np.diff(columns[order])
    return bool((steps >= 0).all() and (steps[same_degree] == 0).all())


def log_positions(x: Any) -> np.ndarray:
    """``log(1 + j)`` for one-hot rows with a 1 in column j, (M, 1) float32.

    Parameters:
        x: (M, F), dense or CSR.

    Raises:
        ValueError: rows that are not one-hot.

    """
    columns = _positions(x)
    if columns is None:
        raise ValueError(
            "expected one-hot rows for the step log-degree of feature_norm, with a single 1 in the column of the "
            "degree, got others; take feature_norm='auto', or features='degree' with a graph that has no features"
        )
    return np.log1p(columns, dtype=np.float32)[:, None]


def _positions(x: Any) -> np.ndarray | None:
    """Column of the only number of each row, (M,) int64; None where rows have others than a single 1."""
    if not sp.issparse(x):
        first = x[:_FIRST]
        if (np.count_nonzero(first, axis=1) != 1).any() or (np.count_nonzero(x, axis=1) != 1).any():
            return None
        columns = np.asarray((x != 0).argmax(1))
        return columns if (x[np.arange(len(x)), columns] == 1).all() else None
    found = x.data != 0
    if np.count_nonzero(found) != x.shape[0] or (x.data[found] != 1).any():
        return None
    positions = np.full(x.shape[0], -1, np.int64)
    positions[np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))[found]] = x.indices[found]
    return positions if (positions >= 0).all() else None
