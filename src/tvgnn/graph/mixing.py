"""Several graphs on the same nodes as one, and neighbours in space that never join two slides."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tvgnn.errors import GraphError

__all__ = ["edges_in_space", "mix_adjacencies", "shares_of"]


def mix_adjacencies(adjacencies: Sequence[Any], weights: Sequence[float], names: Sequence[str]) -> Any:
    """Return the weighted sum of several adjacencies, each of them first scaled to the same total weight.

    ``A = sum_g w_g (T / t_g) A_g`` with the total weight ``t_g`` of a graph and ``w_g`` scaled to the sum 1. So graph
    g holds the share ``w_g`` of all edge weight, whatever its number of edges and the unit of its own weights, and the
    total ``T = sum_g w_g t_g`` lies between those of the graphs.

    Parameters
    ----------
    adjacencies
        G symmetric (N, N) sparse arrays without negative entries.
    weights
        G finite numbers >= 0, not all of them 0; only their ratios matter.
    names
        What errors call the graphs.

    Returns
    -------
    (N, N) float64 ``csr_array``, symmetric.

    Raises
    ------
    GraphError
        Weights are negative, not finite, all 0 or not one a graph; or a graph that counts has no edges.

    Examples
    --------
    >>> heavy = sp.csr_array([[0, 30, 0], [30, 0, 0], [0, 0, 0]])
    >>> light = sp.csr_array([[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    >>> mix_adjacencies([heavy, light], [1, 1], ["expression", "spatial"]).toarray().tolist()
    [[0.0, 8.0, 4.0], [8.0, 0.0, 4.0], [4.0, 4.0, 0.0]]
    """
    shares = shares_of(weights, len(adjacencies))
    totals = np.array([float(adjacency.sum()) for adjacency in adjacencies])
    for name, total, share in zip(names, totals, shares, strict=True):
        if share > 0 and total == 0:
            raise GraphError(f"{name} has no edges, so it cannot be weighed against others; leave it out")
    target = float(shares @ totals)
    mixed = sp.csr_array(adjacencies[0].shape, dtype=np.float64)
    for adjacency, total, share in zip(adjacencies, totals, shares, strict=True):
        if share > 0:
            mixed = mixed + adjacency.astype(np.float64) * (share * target / total)
    return mixed


def shares_of(weights: Sequence[float], count: int) -> npt.NDArray[np.float64]:
    """Weights of ``count`` graphs, divided by their sum.

    Raises
    ------
    GraphError
        Negative, not finite, all 0, or not one a graph.
    """
    try:
        values = np.array([float(weight) for weight in weights])
    except (TypeError, ValueError):
        raise GraphError(f"expected weights as a list of numbers, one a graph, got {weights!r}") from None
    if len(values) != count:
        raise GraphError(f"expected one weight a graph, {count} in all, got {len(values)}: {values.tolist()}")
    if not (np.isfinite(values).all() and (values >= 0).all() and values.any()):
        raise GraphError(f"expected finite weights >= 0, one of them above 0, got {values.tolist()}")
    return values / values.sum()


def edges_in_space(
    positions: npt.NDArray[np.float64], slides: npt.NDArray[np.int64] | None, n_neighbors: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], tuple[str, ...]]:
    """Return source and target of the edges to the nearest nodes in space, within each slide only, and notes.

    Parameters
    ----------
    positions
        (N, D) finite coordinates; those of different slides are never compared.
    slides
        (N,) number of each node's slide from 0 on, or None where there is one.
    n_neighbors
        k; on a slide of fewer nodes all others.

    Examples
    --------
    >>> source, target, _ = edges_in_space(np.array([[0.0], [1.0], [0.5], [3.0]]), np.array([0, 0, 1, 1]), 1)
    >>> list(zip(source.tolist(), target.tolist()))
    [(0, 1), (1, 0), (2, 3), (3, 2)]
    """
    from tvgnn.graph.knn import NeighborSettings, neighbor_edges  # scikit-learn: only where it is needed

    settings = NeighborSettings(n_neighbors)
    if slides is None:
        edges = neighbor_edges(positions, settings)
        return edges.source, edges.target, edges.notes
    order = np.argsort(slides, kind="stable")
    parts, notes = [], {}
    for rows in np.split(order, np.flatnonzero(np.diff(slides[order])) + 1):
        edges = neighbor_edges(positions[rows], settings)
        parts.append((rows[edges.source], rows[edges.target]))
        notes.update(dict.fromkeys(edges.notes))
    source, target = (np.concatenate(ends) for ends in zip(*parts, strict=True))
    return source, target, (*notes, f"neighbours in space within each of {len(parts)} slides")
