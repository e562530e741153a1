"""Batches of nodes with their neighbours, for graphs that are too large to be looked at whole in each step."""

from __future__ import annotations

import numpy as np
import torch
from sklearn.utils.random import sample_without_replacement
from torch import Tensor

from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.graph import Graph

__all__ = ["NodeBatches"]


class NodeBatches:
    """Random batches of the nodes of a graph, each with all edges of its nodes.

    Sums over the nodes of a batch, and over their edges, estimate those over all without bias, up to the batch's share
    of the nodes.

    Parameters:
        graph: N nodes.
        size: nodes of a batch, at most N.
        random: draws the nodes.
        device: of the tensors.

    """

    def __init__(self, graph: Graph, size: int, random: np.random.RandomState, device: str) -> None:
        self.graph, self.size, self.random, self.device = graph, size, random, device

    def nodes(self) -> np.ndarray:
        """Draw ``size`` different nodes."""
        return np.asarray(sample_without_replacement(self.graph.num_nodes, self.size, random_state=self.random))

    def draw(self) -> tuple[Tensor, Adjacency]:
        """Nodes (M,) int64, those of a batch first, then their neighbours; and the edges of the former among the M.

        Only the first ``size`` rows of the adjacency have entries.
        """
        chosen = self.nodes()
        rows = self.graph.adjacency()[chosen]
        read = np.zeros(self.graph.num_nodes, bool)
        read[rows.indices] = True
        read[chosen] = False
        nodes = np.concatenate([chosen, np.flatnonzero(read)])
        places = np.empty(self.graph.num_nodes, rows.indices.dtype)
        places[nodes] = np.arange(len(nodes))
        indptr = np.pad(rows.indptr, (0, len(nodes) - self.size), mode="edge")
        values = torch.from_numpy(rows.data) if self.graph.is_weighted else None
        edges = Adjacency.from_csr(torch.from_numpy(indptr), torch.from_numpy(places[rows.indices]), values, len(nodes))
        return torch.from_numpy(nodes).to(self.device), edges.to(self.device)
