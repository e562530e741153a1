"""Self-supervised linear encoder in closed form: what a node has in common with its neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.utils.extmath import randomized_svd

from tvgnn.graph.graph import Graph

__all__ = [
    "Directions",
    "averaging_matrix",
    "highest_ratio",
    "mean_edge_weight",
    "neighborhood_directions",
    "number_of_encoders",
    "principal_components",
]

_RANKS = (32, 128, 256)  # of the features before the eigenproblem, whose time grows with the cube
_ROWS_PER_RANK = 4  # fewer rows do not determine a covariance of that rank
_FEW = 16  # components are always kept: a dozen nodes have many of equal variance, and a cut among those is arbitrary
_ROWS = 65_536  # components that are squared together, in float64
_BLOCK = 4096  # neighbourhoods that are looked at together, where not all are
_RIDGE = 0.1  # of the mean variance, added to the noise: no direction is trusted beyond a ratio of 10 to 1


@dataclass(frozen=True, eq=False)
class Directions:
    """A fitted encoder.

    Attributes:
        rank: number of principal components that the directions were found in.
        weight: (F, q) float32, features to directions.
        ratios: (q,) signal-to-noise ratio of each, falling.

    """

    rank: int
    weight: np.ndarray
    ratios: np.ndarray


def principal_components(x: Any, random: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Reduce features to the components that directions are looked for in.

    Chance correlates neighbours in some of many dimensions, so there are at most 256, and at least four nodes for each
    beyond the first 16.

    Parameters:
        x: (N, F) prepared features, dense or CSR.
        random: for the randomised SVD.

    Returns:
        The axes (F, r) and the components (N, r), float32, largest variance first.

    """
    highest = _highest_rank(*x.shape)
    axes = randomized_svd(x, highest, random_state=random)[2] if highest < x.shape[1] else _rotation(x)
    basis = axes.T.astype(np.float32)
    return basis, np.asarray(x @ basis, dtype=np.float32)


def number_of_encoders(nodes: int, features: int) -> int:
    """How many `neighborhood_directions` finds."""
    return len(_ranks(_highest_rank(nodes, features)))


def _highest_rank(nodes: int, features: int) -> int:
    determined = max(nodes // _ROWS_PER_RANK, min(_FEW, nodes - 1), 1)
    return min(_RANKS[-1], features, determined)


def _ranks(highest: int) -> list[int]:
    return sorted({min(rank, highest) for rank in _RANKS})


def neighborhood_directions(
    graph: Graph,
    x: Any,
    basis: np.ndarray,
    reduced: np.ndarray,
    width: int,
    nodes: np.ndarray | None = None,
    loop_share: float = 0.0,
    known: np.ndarray | None = None,
) -> list[Directions]:
    """Find the directions of the features in which neighbourhoods differ most, relative to what differs within them.

    Two views of a node, each the mean over a random part of its neighbourhood, share what the neighbourhood has in
    common; what differs between its members is noise. The linear encoder that maximises the correlation of the two
    views under decorrelated outputs (the objective that CCA-SSG trains by gradient, Zhang et al., NeurIPS 2021) solves
    an eigenproblem: ``B v = ratio W v``, with B the scatter of the neighbourhoods' means and W that within them. That
    is Fisher's discriminant with neighbourhoods for classes. No epochs, so nothing to stop.

    How many principal components is left to the caller: there is an encoder for each of a few ranks, which share all
    costly steps. Without edges a node is its own neighbourhood, and the directions are the components themselves.

    Parameters:
        graph: N nodes.
        x: (N, F) prepared features, dense or CSR.
        basis, reduced: see `principal_components`.
        width: q, at most; fewer where the features have a smaller rank.
        nodes: (n,) a random part of the nodes, whose components ``reduced`` has and whose neighbourhoods are looked
            at; None for all.
        loop_share, known: see `averaging_matrix`; ``nodes`` are all known.

    Returns:
        The encoders by rising rank.

    """
    highest = reduced.shape[1]
    mean = reduced.mean(0)
    variances = _squares(reduced, mean)
    averaging = averaging_matrix(graph, loop_share, known)
    if nodes is None:
        between, within = _scatters(averaging, reduced - mean)
    else:
        between, within = _scatters_a_block_at_a_time(averaging, x, basis, mean, nodes)
    found = []
    for rank in _ranks(highest):
        first = slice(rank)
        noise = _noise(within[first, first], variances[first])
        q = min(width, rank)
        ratios, vectors = scipy.linalg.eigh(between[first, first], noise, subset_by_index=(rank - q, rank - 1))
        vectors = vectors[:, ::-1] * np.sqrt(len(reduced))  # noise of variance 1 per node
        vectors *= np.sign(vectors[np.abs(vectors).argmax(0), np.arange(q)])  # the solver leaves signs open
        weight = (basis[:, first] @ vectors).astype(np.float32)
        found.append(Directions(rank, weight, np.maximum(ratios[::-1], 0)))
    return found


def highest_ratio(averaging: sp.csr_array, centred: np.ndarray) -> float:
    """Signal-to-noise ratio of the best direction in centred components (N, r)."""
    between, within = _scatters(averaging, centred)
    last = len(between) - 1
    noise = _noise(within, _squares(centred, np.zeros(len(between), np.float32)))
    return float(scipy.linalg.eigh(between, noise, eigvals_only=True, subset_by_index=(last, last))[0])


def _scatters(averaging: Any, centred: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of the neighbourhoods' means and within neighbourhoods, both (r, r)."""
    means = averaging @ centred
    between = (means.T @ means).astype(np.float64)
    del means
    listed = np.asarray(averaging.sum(0)).ravel()[:, None].astype(np.float32)
    within = (centred.T @ (listed * centred)).astype(np.float64) - between
    return between, within


def _scatters_a_block_at_a_time(
    averaging: Any, x: Any, basis: np.ndarray, mean: np.ndarray, nodes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Of the neighbourhoods of some nodes; components (r,) about ``mean`` are made of those that a block reads."""
    rank = len(mean)
    between, within = np.zeros((rank, rank)), np.zeros((rank, rank))
    for first in range(0, len(nodes), _BLOCK):
        rows = averaging[nodes[first : first + _BLOCK]]
        read, columns = np.unique(rows.indices, return_inverse=True)
        block = sp.csr_array((rows.data, columns, rows.indptr), shape=(rows.shape[0], len(read)))
        found = _scatters(block, np.asarray(x[read] @ basis, dtype=np.float32) - mean)
        between += found[0]
        within += found[1]
    return between, within


def _squares(components: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Sums of the squares about ``mean``, (r,) float64."""
    blocks = (components[first : first + _ROWS] for first in range(0, len(components), _ROWS))
    return np.sum([np.square(block - mean, dtype=np.float64).sum(0) for block in blocks], axis=0)


def _noise(within: np.ndarray, variances: np.ndarray) -> np.ndarray:
    rank = len(variances)
    ridge = _RIDGE * max(float(variances.sum()) / rank, float(np.finfo(np.float32).tiny))
    return np.asarray(within + ridge * np.eye(rank))


def _rotation(x: Any) -> np.ndarray:
    """Principal axes of few columns, (F, F), largest variance first."""
    product = np.asarray((x.T @ x).toarray() if sp.issparse(x) else x.T @ x, dtype=np.float64)
    return np.linalg.eigh(product)[1][:, ::-1].T


def averaging_matrix(graph: Graph, loop_share: float = 0.0, known: np.ndarray | None = None) -> sp.csr_array:
    """Mean over a node and its neighbours, (N, N), of those that are ``known``, (N,) bool, or all.

    The node itself weighs as much as the mean edge of the graph, and ``loop_share`` times what its own edges do. Rows
    without a known member are 0.
    """
    adjacency = sp.csr_array(graph.adjacency(), dtype=np.float32)
    degrees = np.asarray(adjacency.sum(1)).ravel()
    loops = mean_edge_weight(graph) + loop_share * degrees
    weighed = sp.csr_array(adjacency + sp.diags_array(loops.astype(np.float32)))  # float64 would double all products
    sums = degrees + loops
    if known is not None:
        weighed = sp.csr_array(weighed @ sp.diags_array(known.astype(np.float32)))
        weighed.eliminate_zeros()
        sums = np.asarray(weighed.sum(1)).ravel()
        sums[sums == 0] = 1
    return sp.csr_array(sp.diags_array((1 / sums).astype(np.float32)) @ weighed)


def mean_edge_weight(graph: Graph) -> float:
    """Mean weight of the edges, 1 where there are none."""
    return float(graph.weights.mean()) if graph.is_weighted and graph.weights.size else 1.0
