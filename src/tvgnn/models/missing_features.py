"""Nodes whose features are missing, known by their neighbours alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.sparse_matrix import SparseMatrix, row_pointers
from tvgnn.ops.sparse_linear import sparse_linear

__all__ = ["farthest_lender", "propagate_features", "rows_with_features"]

_FARTHEST = 64  # edges from a node with features; what lies farther stays unknown, lest a long path cost its square


def rows_with_features(x: Tensor | SparseMatrix) -> Tensor:
    """Say which rows of x (N, F) have any number other than 0, (N,) bool.

    Example:
        >>> rows_with_features(torch.tensor([[0.0, 2.0], [0.0, 0.0]])).tolist()
        [True, False]

    """
    if isinstance(x, Tensor):
        return (x != 0).any(1)
    if x.values is None:
        return x.indptr.diff() > 0
    found = torch.zeros(x.num_rows, dtype=torch.bool, device=x.values.device)
    found[x.rows()[x.values != 0]] = True
    return found


def propagate_features(
    z: Tensor, known: Tensor, adjacency: Adjacency, *, backend: str = "auto"
) -> tuple[Tensor, Tensor]:
    """Give nodes without features the mean of their neighbours that have some; then their neighbours, and so on.

    As feature propagation (Rossi et al., LoG 2022), but each node is reached once, over the fewest edges: what follows
    smooths anyway.

    Parameters:
        z: (N, q) features.
        known: (N,) bool, whose rows say something.
        adjacency: N nodes.
        backend: see `select_backend`.

    Returns:
        The features (N, q), and which nodes were known or reached, (N,) bool.

    Example:
        >>> path = Adjacency.from_edge_index(torch.tensor([[0, 1, 1, 2, 3], [1, 0, 2, 1, 3]]), None, 4)
        >>> z, reached = propagate_features(torch.tensor([[4.0], [0], [0], [0]]), torch.arange(4) == 0, path)
        >>> z.flatten().tolist(), reached.tolist()
        ([4.0, 4.0, 4.0, 0.0], [True, True, True, False])

    """
    missing = ~known[adjacency.rows()]
    rows, columns = adjacency.rows()[missing], adjacency.indices[missing].long()
    weights = adjacency.weights(z.dtype)[missing]
    z, reached = z.clone(), known.clone()
    for _ in range(_FARTHEST):
        used = reached[columns] & ~reached[rows] & (weights > 0)
        if not used.any():
            break
        found, place = torch.unique(rows[used], return_inverse=True)  # sorted, so places are too
        sums = weights.new_zeros(len(found)).index_add_(0, place, weights[used])
        lists = row_pointers(place, len(found)), columns[used], weights[used] / sums[place]
        means = SparseMatrix.from_csr(*lists, adjacency.num_nodes, for_training=False)
        z[found] = sparse_linear(means, z, backend=backend)
        reached[found] = True
    return z, reached


def farthest_lender(known: np.ndarray, adjacency: Any) -> int:
    """Edges between a node without features and those that lend it some in `propagate_features`, for the farthest.

    Parameters:
        known: (N,) bool, whose rows say something.
        adjacency: (N, N) CSR without stored zeros.

    Example:
        >>> import scipy.sparse as sp
        >>> path = sp.csr_array(np.eye(5, k=1) + np.eye(5, k=-1))
        >>> farthest_lender(np.arange(5) < 2, path)
        3

    """
    reached, missing = known.copy(), np.flatnonzero(~known)
    rows = adjacency[missing]
    for rounds in range(_FARTHEST):
        found = rows @ reached > 0
        if not found.any():
            return rounds
        reached[missing[found]] = True
        missing, rows = missing[~found], rows[np.flatnonzero(~found)]
    return _FARTHEST
