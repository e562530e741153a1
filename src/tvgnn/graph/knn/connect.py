"""Edges that join the components of a nearest-neighbour graph: a minimum spanning tree of the components."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from tvgnn.graph.knn.search import EXACT_ROWS, Lists, chosen_method, exact, neighbor_lists

__all__ = ["Edges", "connecting_edges"]

_MOST_STEPS = 1000  # components that Prim's algorithm joins one by one


@dataclass(frozen=True, eq=False)
class Edges:
    """Source, target and length of edges, (E,) each."""

    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]
    length: npt.NDArray[np.float64]

    def __add__(self, other: "Edges") -> "Edges":
        """Return the edges of both."""
        return Edges(
            np.concatenate([self.source, other.source]),
            np.concatenate([self.target, other.target]),
            np.concatenate([self.length, other.length]),
        )

    def take(self, which: npt.NDArray[Any]) -> "Edges":
        """Return some of the edges."""
        return Edges(self.source[which], self.target[which], self.length[which])


def connecting_edges(points: Any, metric: str, lists: Lists, edges: Edges) -> Edges:
    """Return the edges of a minimum spanning tree of the components of a graph of N points.

    The distance of two components is that of their nearest points. Boruvka's algorithm reads what it can from the
    neighbour lists, which settles the many small components of a mutual graph; Prim's joins the others. Up to 20,000
    points the tree is exact where the lists are. Beyond, Prim's algorithm sees an even sample of 20,000 points, at
    least one a component, and the ends of each edge then move to the nearest points of the two components as long as
    that shortens it: never N x N. More than 1,000 components are first joined to near ones as if each were one of its
    points, which is close, for the members of so many components lie close together.

    Parameters
    ----------
    points
        (N, F) dense or CSR.
    metric
        Of the points.
    lists
        Neighbours (N, k) of each point and their distances, ascending.
    edges
        Of the graph.
    """
    added = edges.take(np.empty(0, np.int64))
    while True:
        count, component = _components(edges + added, points.shape[0])
        if count == 1:
            return added
        certain = _nearest_by_lists(lists, component, count)
        if certain.source.size:
            added += certain
        elif count > _MOST_STEPS:
            added += _forest_of_representatives(points, metric, component, count)
        else:
            return added + _tree_of_components(points, metric, component, count)


def _components(edges: Edges, num_nodes: int) -> tuple[int, npt.NDArray[np.int32]]:
    ones = np.ones(len(edges.source), dtype=np.int8)
    pattern = sp.coo_array((ones, (edges.source, edges.target)), shape=(num_nodes, num_nodes))
    count, component = connected_components(pattern, directed=False)
    return int(count), component


def _nearest_by_lists(lists: Lists, component: npt.NDArray[Any], count: int) -> Edges:
    """Return the shortest edge out of each component for which the lists prove it, without closing a cycle.

    A list proves that what it leaves out is no nearer than its last entry.
    """
    rows, distances = lists
    outside = component[rows] != component[:, None]
    leaves = outside.any(axis=1)
    first = outside.argmax(axis=1)
    every = np.arange(len(rows))
    nearest = np.where(leaves, distances[every, first], np.inf)
    least = np.full(count, np.inf)
    np.minimum.at(least, component, np.where(leaves, nearest, distances[:, -1]))
    proven = np.flatnonzero(leaves & (nearest <= least[component]))
    _, one_each = np.unique(component[proven], return_index=True)
    proven = proven[one_each]
    found = Edges(proven, rows[proven, first[proven]], nearest[proven])
    return _without_cycles(found, component[found.source], component[found.target], count)


def _forest_of_representatives(points: Any, metric: str, component: npt.NDArray[Any], count: int) -> Edges:
    """Join each component to a near one, by the first point of each."""
    _, first = np.unique(component, return_index=True)
    chosen = points[first]
    rows, distances = neighbor_lists(chosen, metric, 1, chosen_method(chosen, metric, "auto"))
    every = np.arange(count)
    edges = Edges(first, first[rows[:, 0]], distances[:, 0])
    return _without_cycles(edges, every, rows[:, 0], count)


def _without_cycles(edges: Edges, one: npt.NDArray[Any], other: npt.NDArray[Any], count: int) -> Edges:
    """Keep a spanning forest of edges between the components ``one`` and ``other``: equally short ones close cycles."""
    parent = np.arange(count)

    def root(of: int) -> int:
        while parent[of] != of:
            parent[of] = parent[parent[of]]
            of = parent[of]
        return of

    kept = []
    for at in np.argsort(edges.length, kind="stable"):
        if (a := root(one[at])) != (b := root(other[at])):
            parent[a] = b
            kept.append(at)
    return edges.take(np.array(kept, dtype=np.int64))


def _tree_of_components(points: Any, metric: str, component: npt.NDArray[Any], count: int) -> Edges:
    """Prim's algorithm from the largest component on, over a sample of the points where there are many."""
    by_component = np.argsort(component, kind="stable")
    members = np.split(by_component, np.cumsum(np.bincount(component, minlength=count))[:-1])
    most = len(component) if len(component) <= EXACT_ROWS else max(1, EXACT_ROWS // count)
    sample = [rows[:: -(-len(rows) // most)] for rows in members]
    start = max(range(count), key=lambda one: len(members[one]))
    left = np.sort(np.concatenate([sample[one] for one in range(count) if one != start]))
    nearest, length = np.zeros(len(left), np.int64), np.full(len(left), np.inf)
    joined, result = start, []
    while left.size:
        found, apart = _nearest_of(points, metric, sample[joined], left)
        closer = apart < length
        nearest[closer], length[closer] = found[closer], apart[closer]
        best = int(np.argmin(length))
        joined = component[left[best]]
        result.append(
            _shortened(points, metric, (left[best], nearest[best], length[best]), members, component)
            if len(component) > EXACT_ROWS
            else (left[best], nearest[best], length[best])
        )
        keep = component[left] != joined
        left, nearest, length = left[keep], nearest[keep], length[keep]
    source, target, lengths = zip(*result, strict=True)
    return Edges(np.array(source, np.int64), np.array(target, np.int64), np.array(lengths, np.float64))


def _nearest_of(
    points: Any, metric: str, among: npt.NDArray[np.int64], of: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return for each row ``of`` the nearest row ``among`` some, and its distance."""
    rows, distances = exact(points[among], metric, 1, points[of])
    return among[rows[:, 0]], distances[:, 0]


def _shortened(
    points: Any,
    metric: str,
    edge: tuple[int, int, float],
    members: list[npt.NDArray[np.int64]],
    component: npt.NDArray[Any],
) -> tuple[int, int, float]:
    """Move one end after the other to the nearest point of its component while that shortens the edge."""
    one, other, length = edge
    while True:
        (moved,), (shorter,) = _nearest_of(points, metric, members[component[one]], np.array([other]))
        (opposite,), (shortest,) = _nearest_of(points, metric, members[component[other]], np.array([moved]))
        if not shortest < length * (1 - 1e-9):  # the same distance in another order of summation is no gain
            return (moved, other, shorter) if shorter < length else (one, other, length)
        one, other, length = moved, opposite, shortest
