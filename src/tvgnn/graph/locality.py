"""An order of the nodes in which neighbours lie close together, so that gathered rows are found in the cache."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np
import scipy.sparse as sp
import torch
from scipy.sparse.csgraph import reverse_cuthill_mckee
from torch import Tensor

if TYPE_CHECKING:
    from tvgnn.graph.adjacency import Adjacency

__all__ = ["CACHE_BYTES", "Relabelled", "relabel_by_locality"]

CACHE_BYTES = 2**20  # rows that fit are found there in any order


@dataclass(frozen=True, eq=False)
class Relabelled:
    """The same graph with its nodes in another order.

    Attributes:
        adjacency: in the new order.
        nodes: (N,) int64, the node at each place of the new order.
        places: (N,) int64, the place of each node.
        entries: (E,) int64, where the entries of the new adjacency stood in the old one.

    """

    adjacency: Adjacency
    nodes: Tensor
    places: Tensor
    entries: Tensor

    def with_values(self, values: Tensor | None) -> Self:
        """Give the entries other values, (E,) in the old order."""
        moved = None if values is None else values[self.entries]
        return replace(self, adjacency=self.adjacency.with_values(moved))

    def to(self, device: torch.device | str | None = None, dtype: torch.dtype | None = None) -> Self:
        """Move to a device, values also to ``dtype``."""
        index = {name: getattr(self, name).to(device) for name in ("nodes", "places", "entries")}
        return replace(self, adjacency=self.adjacency.to(device, dtype), **index)


def relabel_by_locality(
    adjacency: Adjacency, width: int, least_bytes: int = CACHE_BYTES, closer: float = 0.9
) -> Relabelled | None:
    """Reverse Cuthill-McKee order, or None where it would not pay.

    It does not where the rows are few or where the given order is about as good.

    Parameters:
        adjacency: N nodes.
        width: number of float32 columns of the rows that will be gathered.
        least_bytes: of all rows, for which the order as given does.
        closer: the mean distance between the numbers of neighbours must fall to this part of what it was.

    """
    nodes = adjacency.num_nodes
    if nodes * width * 4 <= least_bytes:
        return None
    indptr, indices = adjacency.indptr.cpu().numpy(), adjacency.indices.cpu().numpy()
    entries = np.arange(indices.size, dtype=indices.dtype)
    matrix = sp.csr_matrix((entries, indices, indptr), shape=adjacency.shape)
    both_ways = matrix if adjacency.symmetric else _with_both_directions(matrix)
    order = reverse_cuthill_mckee(both_ways, symmetric_mode=True).astype(np.int64)
    places = np.empty(nodes, np.int64)
    places[order] = np.arange(nodes)
    rows = np.repeat(np.arange(nodes), np.diff(indptr))
    if np.abs(places[rows] - places[indices]).sum() > closer * np.abs(rows - indices).sum():
        return None
    matrix = matrix[order]
    matrix.indices = places[matrix.indices].astype(indices.dtype)
    matrix.has_sorted_indices = False
    matrix.sort_indices()
    moved = torch.tensor(matrix.data.astype(np.int64))
    values = None if adjacency.values is None else adjacency.values.cpu()[moved]
    lists = (torch.tensor(matrix.indptr), torch.tensor(matrix.indices), values)
    if adjacency.symmetric:
        relabelled = replace(adjacency, indptr=lists[0], indices=lists[1], values=values)
    else:
        relabelled = replace(adjacency.from_csr(*lists, nodes), loops_count=adjacency.loops_count)
    made = Relabelled(relabelled, torch.tensor(order), torch.tensor(places), moved)
    return made.to(adjacency.indptr.device)


def _with_both_directions(matrix: sp.csr_matrix) -> sp.csr_matrix:
    pattern = sp.csr_matrix((np.ones(matrix.nnz, np.float32), matrix.indices, matrix.indptr), shape=matrix.shape)
    return sp.csr_matrix(pattern + pattern.T)
