"""Nearest neighbours of points: exact by scikit-learn, approximate by pynndescent."""

import warnings
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning
from sklearn.neighbors import NearestNeighbors

from tvgnn.errors import GraphError
from tvgnn.wording import setting

__all__ = ["EXACT_ROWS", "Lists", "chosen_method", "exact", "neighbor_lists"]

Lists = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]
"""Rows (M, k) of the neighbours, nearest first, and their distances (M, k)."""

EXACT_ROWS = 20_000  # up to here all pairs take seconds
_TREE_COLUMNS = 3  # up to here scikit-learn's trees are fast: docs/performance.md
_TREE_METRICS = frozenset(("euclidean", "manhattan", "chebyshev"))
_APPROXIMATE_METRICS = _TREE_METRICS | {"canberra", "braycurtis"}  # the same in both libraries
_SPARSE_APPROXIMATE_METRICS = frozenset(("euclidean", "manhattan"))
_SPARE = 8  # candidates beyond k, among which ties are settled
_MOST_SPARE = 50  # of pynndescent, which misses fewer of the nearest k among three times as many
_BLOCK_ELEMENTS = 2**22  # 32 MB of float64 differences at a time


def chosen_method(points: Any, metric: str, method: str) -> Literal["exact", "approximate"]:
    """Return how to search.

    Raises
    ------
    GraphError
        ``"approximate"`` is asked for and pynndescent has no such metric.
    """
    sparse = sp.issparse(points)
    known = metric in (_SPARSE_APPROXIMATE_METRICS if sparse else _APPROXIMATE_METRICS)
    if method == "approximate":
        if not known:
            names = ", ".join(sorted(_SPARSE_APPROXIMATE_METRICS if sparse else _APPROXIMATE_METRICS))
            raise GraphError(
                f"method='approximate' knows the metrics cosine, correlation (dense rows only), {names}, "
                f"got {metric!r}; take method='exact'"
            )
        return "approximate"
    by_tree = not sparse and metric in _TREE_METRICS and points.shape[1] <= _TREE_COLUMNS
    if method == "exact" or points.shape[0] <= EXACT_ROWS or by_tree or not known:
        return "exact"
    return "approximate"


def neighbor_lists(points: Any, metric: str, k: int, how: str, random_state: int = 0) -> Lists:
    """Find the k nearest other points of each of N points, ``1 <= k < N``; ``how`` is that of `chosen_method`.

    Equally near ones are taken by index, which makes exact results by euclidean distance the same for any number of
    threads, but where more than a few points are equally near at the k-th place.

    Raises
    ------
    GraphError
        scikit-learn does not know the metric.
    """
    if how == "exact":
        return exact(points, metric, k)
    rows, distances = _approximate(points, metric, min(k + min(2 * k, _MOST_SPARE), points.shape[0] - 1), random_state)
    return _settled(points, points, metric, (rows, distances), k)


def exact(points: Any, metric: str, k: int, queries: Any = None) -> Lists:
    """Return the k nearest points of each query; without queries those of each point, itself left out.

    Raises
    ------
    GraphError
        scikit-learn does not know the metric.
    """
    candidates = min(k + _SPARE, points.shape[0] - (queries is None))
    try:
        with warnings.catch_warnings():
            # that a metric of booleans reads other numbers than 0 as true
            warnings.simplefilter("ignore", DataConversionWarning)
            # without an argument, kneighbors leaves out the row itself even where rows coincide
            distances, rows = NearestNeighbors(n_neighbors=candidates, metric=metric).fit(points).kneighbors(queries)
    except (ValueError, TypeError) as error:  # a metric that needs an argument is a TypeError
        raise GraphError(f"scikit-learn could not find neighbours with {setting('metric', metric)}: {error}") from None
    lists = rows.astype(np.int64, copy=False), distances.astype(np.float64, copy=False)
    return _settled(points, points if queries is None else queries, metric, lists, k)


def _settled(points: Any, queries: Any, metric: str, candidates: Lists, k: int) -> Lists:
    """Keep the k nearest candidates, equally near ones by index.

    The order in which libraries give equally near rows depends on the number of threads.
    """
    rows, distances = candidates
    if metric == "euclidean":
        distances = _pair_distances(points, queries, rows)
    order = np.lexsort((rows, distances), axis=1)[:, :k]
    return np.take_along_axis(rows, order, axis=1), np.take_along_axis(distances, order, axis=1)


def _approximate(points: Any, metric: str, k: int, random_state: int) -> Lists:
    from pynndescent import NNDescent  # imported here: it takes seconds, and few callers need it

    if sp.issparse(points):
        points = sp.csr_matrix(points)  # earlier versions know no csr_array
    # One of the neighbours is the row itself. One thread: with more, what is found depends on their number.
    index = NNDescent(points, metric=metric, n_neighbors=k + 1, random_state=int(random_state), n_jobs=1)
    rows, distances = (part.copy() for part in index.neighbor_graph)
    rows, distances = rows.astype(np.int64), distances.astype(np.float64)
    unusable = (rows == np.arange(len(rows))[:, None]) | (rows < 0)
    distances[unusable] = np.inf
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    rows, distances = np.take_along_axis(rows, order, axis=1), np.take_along_axis(distances, order, axis=1)
    short = np.flatnonzero(np.isinf(distances).any(axis=1))
    if short.size:  # it gives up on some rows, for example where many coincide
        found, apart = exact(points, metric, k + 1, points[short])
        apart[found == short[:, None]] = np.inf  # where more than k coincide, the row itself may not be among them
        order = np.argsort(apart, axis=1, kind="stable")[:, :k]
        rows[short], distances[short] = np.take_along_axis(found, order, 1), np.take_along_axis(apart, order, 1)
    return rows, distances


def _pair_distances(points: Any, queries: Any, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Euclidean distance of each query to its candidates ``rows`` (M, k), pair by pair in float64, a block at a time.

    Libraries expand the square, which rounds: coinciding rows get distances above 0, and ties any order.
    """
    result = np.empty(rows.shape)
    block = max(1, _BLOCK_ELEMENTS // max(1, rows.shape[1] * points.shape[1]))
    for start in range(0, len(rows), block):
        part = rows[start : start + block]
        if sp.issparse(points):
            own = np.repeat(np.arange(start, start + len(part)), part.shape[1])
            difference = (points[part.ravel()].astype(np.float64) - queries[own].astype(np.float64)).tocsr()
            squares = np.asarray(difference.multiply(difference).sum(axis=1)).reshape(part.shape)
        else:
            difference = points[part].astype(np.float64) - queries[start : start + block, None]
            squares = np.einsum("nkf,nkf->nk", difference, difference)
        result[start : start + block] = np.sqrt(squares)
    return result
