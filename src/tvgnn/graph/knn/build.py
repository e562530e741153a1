"""Edges of a nearest-neighbour graph, and the neighbours of rows that came later."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tvgnn.graph.knn.connect import Edges, connecting_edges
from tvgnn.graph.knn.search import Lists, chosen_method, exact, neighbor_lists
from tvgnn.graph.knn.settings import NeighborSettings
from tvgnn.graph.knn.space import Space
from tvgnn.graph.knn.weights import SMALLEST_WEIGHT, heat_kernel, own_scales
from tvgnn.wording import setting

__all__ = ["NeighborEdges", "nearest_known_rows", "neighbor_edges"]


@dataclass(frozen=True, eq=False)
class NeighborEdges:
    """Edges of a nearest-neighbour graph.

    Attributes
    ----------
    source, target
        (E,) rows; an edge may be listed in both directions.
    weight
        (E,) float32, the same for both directions, or None where all weigh the same.
    notes
        How the graph was made and what is worth knowing, a line each.
    """

    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]
    weight: npt.NDArray[np.float32] | None
    notes: tuple[str, ...]


def neighbor_edges(x: Any, settings: NeighborSettings) -> NeighborEdges:
    """Join each row of x (N, F), finite, dense or CSR, to its nearest other rows.

    Raises
    ------
    GraphError
        A metric is unknown, or does not go with sparse rows or the method.

    Examples
    --------
    >>> edges = neighbor_edges(np.array([[0.0], [1.0], [5.0]]), NeighborSettings(1))
    >>> edges.source.tolist(), edges.target.tolist()
    ([0, 1, 2], [1, 0, 1])
    """
    space = Space.of(x, settings.metric)
    placed = np.arange(x.shape[0]) if space.has_place is None else np.flatnonzero(space.has_place)
    points = space.points if space.has_place is None else space.points[placed]
    k = min(int(settings.n_neighbors), max(len(placed) - 1, 0))
    how = chosen_method(points, space.metric, settings.method)
    notes = [_first_note(settings, k, how), *_notes_on_rows(settings, k, len(placed), x.shape[0])]
    if k == 0:
        empty = np.empty(0, dtype=np.int64)
        weight = None if settings.weights == "connectivity" else np.empty(0, dtype=np.float32)
        return NeighborEdges(empty, empty, weight, tuple(notes))
    lists = neighbor_lists(points, space.metric, k, how, settings.random_state)
    coinciding = int(np.count_nonzero(lists[1][:, -1] == 0))
    if coinciding:
        notes.append(f"{coinciding} of the rows coincide with {k} or more others, of which {k} are their neighbours")
    edges = Edges(np.repeat(np.arange(len(placed)), k), lists[0].ravel(), lists[1].ravel())
    if settings.mutual:
        edges = edges.take(_in_both_directions(edges, len(placed)))
    if settings.connect:
        added = connecting_edges(points, space.metric, lists, edges)
        edges += added
        if added.source.size:
            number = added.source.size
            notes.append(f"{number} {'edge' if number == 1 else 'edges'} added to connect {number + 1} components")
    weight = None
    if settings.weights == "heat_kernel":
        weight = _weights(settings, space, lists, edges, notes)
    return NeighborEdges(placed[edges.source], placed[edges.target], weight, tuple(notes))


def nearest_known_rows(x: Any, new: Any, settings: NeighborSettings) -> npt.NDArray[np.int64]:
    """Return for each new row (M, F) its nearest rows of x (N, F), ``min(n_neighbors, N)`` of them, nearest first.

    A row without neighbours, such as zeros by cosine, has -1 throughout; where fewer rows of x have neighbours the
    last entries are -1.
    """
    known, added = (Space.of(rows, settings.metric) for rows in (x, new))
    result = np.full((new.shape[0], min(int(settings.n_neighbors), x.shape[0])), -1, dtype=np.int64)
    candidates, queries = (
        np.arange(rows.shape[0]) if space.has_place is None else np.flatnonzero(space.has_place)
        for space, rows in ((known, x), (added, new))
    )
    k = min(result.shape[1], len(candidates))
    if k and queries.size:
        rows, _ = exact(known.points[candidates], known.metric, k, added.points[queries])
        result[queries, :k] = candidates[rows]
    return result


def _first_note(settings: NeighborSettings, k: int, how: str) -> str:
    kind = "mutual ones" if settings.mutual else "union"
    by = "" if how == "exact" else f", approximate by pynndescent with seed {settings.random_state}"
    return f"edges: {kind} of the {k} nearest neighbours of each row ({settings.metric}{by})"


def _notes_on_rows(settings: NeighborSettings, k: int, num_placed: int, num_rows: int) -> list[str]:
    notes = []
    if k < settings.n_neighbors:
        asked = setting("n_neighbors", settings.n_neighbors)
        notes.append(f"{asked} reduced to {k}: there are only {num_placed} nodes")
    if num_placed < num_rows:
        which = "zeros" if settings.metric == "cosine" else "one value throughout"
        many = num_rows - num_placed
        notes.append(f"{many} {'row' if many == 1 else 'rows'} of {which} without neighbours by {settings.metric}")
    return notes


def _in_both_directions(edges: Edges, num_rows: int) -> npt.NDArray[np.int64]:
    forth = edges.source * num_rows + edges.target
    return np.flatnonzero(np.isin(forth, edges.target * num_rows + edges.source))


def _weights(
    settings: NeighborSettings, space: Space, lists: Lists, edges: Edges, notes: list[str]
) -> npt.NDArray[np.float32]:
    if settings.bandwidth is None:
        notes.append("weights: heat kernel, each row's scale the distance to its last neighbour")
        scales: Any = own_scales(space.distances(lists[1]))
    else:
        notes.append(f"weights: heat kernel of bandwidth {settings.bandwidth:g}")
        scales = float(settings.bandwidth)
    weight = heat_kernel(space.distances(edges.length), edges.source, edges.target, scales)
    small = np.count_nonzero(weight <= SMALLEST_WEIGHT)
    if small > len(weight) // 2:
        notes.append("more than half of the weights are next to nothing: a larger bandwidth tells edges apart")
    return weight
