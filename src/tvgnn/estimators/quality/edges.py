"""Do the edges say anything about the features? What ``preset="quality"`` asks before it averages over neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from tvgnn.estimators.quality.directions import averaging_matrix, highest_ratio
from tvgnn.graph.graph import Graph

__all__ = [
    "closed_triangles",
    "independent_share",
    "neighbor_agreement",
    "own_share",
    "rewired",
    "without_edges",
]

_RANK = 32  # components that are looked at; chance correlates neighbours in some of many
_SAMPLE = 20_000  # edges whose ends are asked for common neighbours
_FEW = 0.02  # common neighbours by chance, that are not worth joining edges at random
_LOST = 1e-5  # of many edges, which are not worth another look at all
_ROUNDS = 20  # in which loops and double edges are dealt out again; few are left, but where hubs know nearly all


def neighbor_agreement(
    graph: Graph, x: Any, basis: np.ndarray, random: np.random.RandomState, known: np.ndarray | None = None
) -> float:
    """Signal-to-noise ratio of what neighbours have in common, in the direction where it is highest, beyond chance.

    Chance is the highest ratio when the nodes' features are dealt out anew (parallel analysis, Horn, 1965). About 0
    where edges are drawn without regard to the features.

    Parameters:
        graph: N nodes.
        x: (N, F) prepared features, dense or CSR.
        basis: (F, r) principal axes, that of the largest variance first.
        random: deals out the features.
        known: (N,) bool, nodes that have features; None for all.

    """
    averaging = averaging_matrix(graph, known=known)
    if known is not None:
        averaging, x = averaging[known][:, known], x[known]
    reduced = np.asarray(x @ basis[:, :_RANK], dtype=np.float32)
    centred = reduced - reduced.mean(0)
    found = highest_ratio(averaging, centred)
    chance = highest_ratio(averaging, centred[random.permutation(len(centred))])
    # A mean over n nodes keeps 1 / n of the noise
    kept = float(np.square(averaging.data, dtype=np.float64).sum()) / len(centred)
    return (found - chance) * (1 - kept)


def independent_share(graph: Graph) -> float:
    """Share of the edges that say something of their own, relative to those of a triangle: ``3 / (2 + T)``, at most 1.

    T is `closed_triangles`. In a clique of s nodes, where T is s - 2, s - 1 edges join them all and the other
    ``(s - 1) (s - 2) / 2`` follow
    from these, so a share of ``2 / (2 + T)`` is independent. Citation networks have a T of about 1 and count in full;
    joint purchases, nearest neighbours and everything else that joins all members of a group have about ten and more.
    Chance is what edges joined at random have in common, which is much where all know the same hubs.

    Parameters:
        graph: N nodes; weights of edges do not matter.

    Example:
        >>> clique = np.ones((6, 6)) - np.eye(6)
        >>> round(independent_share(Graph.from_scipy(sp.block_diag([clique] * 500, format="csr"))), 2)
        0.5

    """
    return min(1.0, 3 / (2 + max(closed_triangles(graph), 1.0)))


def closed_triangles(graph: Graph) -> float:
    """Number of neighbours that the two ends of an edge have in common beyond chance, on average over the edges."""
    common = _common_neighbors(graph)
    if common > 1 and _expected_by_chance(graph) > _FEW:
        random = rewired(graph, np.random.RandomState(0))
        common -= _common_neighbors(random) * _lost_when_rewired(graph, random) ** 2
    return common


def _lost_when_rewired(graph: Graph, random: Graph) -> float:
    """Edges for each that is left, more than 1 where nearly all nodes are joined and many would be double."""
    return graph.num_edges / max(random.num_edges, 1)


def _expected_by_chance(graph: Graph) -> float:
    """Common neighbours of both ends by degrees alone, too many where hubs know nearly all."""
    degrees = np.diff(graph.indptr).astype(np.float64)
    of_ends = float((degrees**2).sum() / degrees.sum())
    return of_ends**2 * (of_ends - 1) / float(degrees.sum())


def _common_neighbors(graph: Graph) -> float:
    """Mean number of neighbours that both ends of an edge have, of a sample of the edges, the same each time."""
    lists = sp.csr_array(graph.adjacency())
    if not lists.nnz:
        return 0.0
    sampled = np.arange(min(lists.nnz, _SAMPLE))
    if lists.nnz > _SAMPLE:
        sampled = np.random.default_rng(0).integers(0, lists.nnz, _SAMPLE)
    ends = np.stack([np.searchsorted(lists.indptr, sampled, "right") - 1, lists.indices[sampled]])
    degrees = np.diff(lists.indptr)[ends]
    few, many = np.take_along_axis(ends, np.argsort(degrees, axis=0, kind="stable"), 0)
    rows, of_row = np.unique(many, return_inverse=True)
    neighbors, listed = lists[few], lists[rows]  # only what hubs' neighbours list is looked up, and not what hubs list
    wanted = _numbered(of_row, neighbors)
    known = _numbered(np.arange(len(rows)), listed)
    place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return int(np.count_nonzero(known[place] == wanted)) / len(sampled)


def own_share(edge_share: float, agreement: float | None) -> float:
    """How many times the weight of all its edges a node counts itself: 0 where edges are independent, at most 1.

    ``min(1, 1 / edge_share - 1)``, shrunk by ``r / (1 + r)`` with r the signal-to-noise ratio of `neighbor_agreement`:
    members of a clique, which all have the same mean, would be the same after one step, and what each of them says by
    itself would be lost; if that is noise, it should be.

    Parameters:
        edge_share: see `independent_share`, in (0, 1].
        agreement: see `neighbor_agreement`; None without edges.

    Example:
        >>> own_share(0.5, agreement=1.0), own_share(1.0, agreement=1.0)
        (0.5, 0.0)

    """
    ratio = max(agreement or 0.0, 0.0)
    return min(1.0, 1 / edge_share - 1) * ratio / (1 + ratio)


def _numbered(rows: np.ndarray, lists: sp.csr_array) -> np.ndarray:
    """One number for each entry of lists (n, N), whose rows stand for these."""
    return np.repeat(rows.astype(np.int64), np.diff(lists.indptr)) * lists.shape[1] + lists.indices


def rewired(graph: Graph, random: np.random.RandomState) -> Graph:
    """Join the ends of the edges at random; degrees stay.

    Loops and double edges, of which the configuration model has many between hubs, are dealt out again together with
    as many other edges, a few times; those that are left are lost.
    """
    upper = sp.triu(graph.adjacency(), k=1).tocoo()
    ends = random.permutation(np.concatenate([upper.row, upper.col]).astype(np.int64)).reshape(2, -1)
    for _ in range(_ROUNDS):
        wrong = np.flatnonzero(_loops_and_doubles(ends, graph.num_nodes))
        if wrong.size <= _LOST * ends.shape[1]:
            break
        again = np.union1d(wrong, random.randint(0, ends.shape[1], wrong.size))
        ends[:, again] = random.permutation(ends[:, again].ravel()).reshape(2, -1)
    both = np.concatenate([ends, ends[::-1]], axis=1)
    weights = np.tile(upper.data, 2) if graph.is_weighted else None
    return Graph.from_edge_index(both, weights, num_nodes=graph.num_nodes)


def _loops_and_doubles(ends: np.ndarray, nodes: int) -> np.ndarray:
    """Whether each edge (2, E) is a loop or repeats another one, (E,) bool."""
    low, high = ends.min(0), ends.max(0)
    wrong = low == high
    pairs = low * nodes + high
    order = np.argsort(pairs, kind="stable")
    wrong[order[1:]] |= pairs[order[1:]] == pairs[order[:-1]]
    return wrong


def without_edges(graph: Graph) -> Graph:
    """The nodes alone, without features."""
    return Graph.from_scipy(sp.csr_array(graph.adjacency().shape))
