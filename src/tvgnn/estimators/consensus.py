"""One clustering out of several runs with the same number of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from tvgnn.errors import GraphError
from tvgnn.estimators.numbering import largest_first

__all__ = ["Consensus", "consensus"]

_MAX_ROUNDS = 20


@dataclass(frozen=True, eq=False)
class Consensus:
    """What several runs agree on.

    Attributes
    ----------
    labels : ndarray of shape (N,), int64
        Largest mean assignment of each node; numbered by size, the largest first, equal sizes by their first node.
    assignments : ndarray of shape (N, K), float32
        Mean of the matched soft assignments; a row sums to 1, and its maximum says how far the runs agree.

    """

    labels: NDArray[np.int64]
    assignments: NDArray[np.float32]


def consensus(runs: Sequence[ArrayLike]) -> Consensus:
    """Average the soft assignments of several runs, the clusters of each matched with those of the others.

    The clusters of a run are numbered at will. Each is therefore matched, one to one, with that cluster of the mean of
    the runs before it with which it shares most (``S_mean^T S_run``, Kuhn-Munkres). Then all are matched with the mean
    of all, until no number changes. Every matching raises the agreement ``sum <S_mean, S_run>``, so this ends. Takes
    O(N K) memory beside the runs, never N x N.

    Parameters
    ----------
    runs : sequence of array-like of float, shape (N, K)
        Soft assignments, or one-hot labels; the first decides where the others are undecided, so put the best one
        there. Runs are read one at a time, several times over: a sequence that reads files is fine.

    Raises
    ------
    GraphError
        There is no run, or their shapes differ.

    Examples
    --------
    >>> first = [[0.9, 0.1], [0.8, 0.2], [0.1, 0.9]]
    >>> second = [[0.2, 0.8], [0.1, 0.9], [0.9, 0.1]]
    >>> consensus([first, second]).labels.tolist()
    [0, 0, 1]
    """
    if not len(runs):
        raise GraphError("expected the assignments of at least one run, got none")
    mean = _as_assignments(runs[0], None).astype(np.float64)
    orders = [np.arange(mean.shape[1])]
    for number in range(1, len(runs)):
        run = _as_assignments(runs[number], mean.shape)
        orders.append(_best_order(mean, run))
        mean += (run[:, orders[-1]] - mean) / (number + 1)
    for _ in range(_MAX_ROUNDS):
        found, total = [], np.zeros_like(mean)
        for run in map(np.asarray, runs):
            found.append(_best_order(mean, run))
            total += run[:, found[-1]]
        mean = total / len(runs)
        if all(np.array_equal(one, other) for one, other in zip(found, orders, strict=True)):
            break
        orders = found
    mean = mean[:, largest_first(mean.argmax(axis=1), mean.shape[1])]
    return Consensus(mean.argmax(axis=1).astype(np.int64), mean.astype(np.float32))


def _as_assignments(values: ArrayLike, shape: tuple[int, ...] | None) -> NDArray[np.floating]:
    array = np.asarray(values)
    if array.ndim != 2 or 0 in array.shape or shape not in (None, array.shape):
        wanted = "(N, K)" if shape is None else str(shape)
        raise GraphError(f"expected soft assignments of shape {wanted}, the same in every run, got {array.shape}")
    return array


def _best_order(mean: NDArray[np.float64], run: NDArray[np.floating]) -> NDArray[np.intp]:
    """Columns of ``run`` in the order of the columns of ``mean`` with which they share most."""
    order: NDArray[np.intp] = linear_sum_assignment(mean.T @ run, maximize=True)[1]
    return order
