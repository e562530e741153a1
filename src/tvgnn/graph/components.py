"""Connected components as eigenvectors of the normalised adjacency: they are known, so no solver looks for them."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

__all__ = ["component_vectors", "default_width"]

Floats = npt.NDArray[np.float64]

_LEAST = 4.0  # a component of N / (4 width) nodes has a vector of its own


def component_vectors(adjacency: Any, root_degrees: Floats, width: int) -> tuple[Floats, sp.csr_array]:
    """Eigenvectors of the largest eigenvalue, 1, of ``D^-1/2 A D^-1/2``.

    Their space is spanned by ``sqrt(d)`` on each component, and any rotation of it is as good an answer. The vectors
    that are returned say something: each is one component of a fair size against all larger ones. Where these are too
    many, they are packed into groups of like size. Dust is zero, as isolated nodes are: vectors that tell it apart
    would leave none for what is within large components, and would make clusters of it.

    Parameters:
        adjacency: (N, N) symmetric CSR.
        root_degrees: (N,) ``sqrt(d)``.
        width: largest number of vectors.

    Returns:
        At most ``width`` orthonormal vectors orthogonal to ``sqrt(d)``, (N, m), and a basis of the whole space, (N, C)
        for C components with edges.

    """
    nodes = np.flatnonzero(root_degrees)
    labels = np.unique(connected_components(adjacency, directed=False)[1][nodes], return_inverse=True)[1]
    sizes = np.bincount(labels)
    volumes = np.bincount(labels, root_degrees[nodes] ** 2)
    shape = len(root_degrees), len(sizes)
    basis = sp.csr_array((root_degrees[nodes] / np.sqrt(volumes)[labels], (nodes, labels)), shape=shape)
    group = _groups(sizes, width)
    group_volumes = np.bincount(group[group >= 0], volumes[group >= 0])
    contrasts = np.zeros((len(sizes), max(len(group_volumes) - 1, 0)))
    for number in range(1, len(group_volumes)):
        own, before = group == number, (group >= 0) & (group < number)
        contrasts[own, number - 1] = 1 / group_volumes[number]
        contrasts[before, number - 1] = -1 / group_volumes[:number].sum()
    contrasts *= np.sqrt(volumes)[:, None]
    contrasts /= np.linalg.norm(contrasts, axis=0)
    return np.asarray(basis @ contrasts), basis


def default_width(adjacency: Any, least: int, most: int) -> int:
    """Number of vectors where none is asked for: one for each component of a fair size, within these bounds.

    Parameters:
        adjacency: (N, N) symmetric CSR.
        least, most: bounds.

    """
    labels = connected_components(adjacency, directed=False)[1]
    sizes = np.bincount(labels[np.diff(adjacency.indptr) > 0])
    return min(max(least, _fair(sizes, most)), most)


def _fair(sizes: npt.NDArray[np.int64], width: int) -> int:
    """Number of components of a fair size."""
    return int(np.count_nonzero(sizes >= sizes.sum() / (_LEAST * width)))


def _groups(sizes: npt.NDArray[np.int64], width: int) -> npt.NDArray[np.int64]:
    """Group of each component, at most ``width + 1`` of them, the largest components first; -1 for dust."""
    order = np.argsort(-sizes, kind="stable")
    fair = order[: _fair(sizes, width)]
    grouped = fair if len(fair) else order
    group = np.full_like(sizes, -1)
    if len(grouped) <= width + 1:
        group[grouped] = np.arange(len(grouped))
        return group
    bins = [(0, number) for number in range(width + 1)]
    for component in grouped:
        filled, number = bins[0]
        group[component] = number
        heapq.heapreplace(bins, (filled + int(sizes[component]), number))
    return group
