"""The released formulation of the clustering model: gather, scatter, `I - delta L`, and an N x N x K loss.

Written from the paper's formulas and from what the released PyTorch code computes; shares the parameters of our model,
so that both can be checked against each other. Unweighted graphs only.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from tvgnn.models.node_clustering import NodeClusteringModel

__all__ = ["ReleasedFormulation"]


class ReleasedFormulation:
    """Loss of a `NodeClusteringModel` by the released arithmetic.

    Parameters:
        model: whose parameters are used, shared and not copied.
        edge_index: (2, E), both directions of every edge.
        pairwise: total variation over all N x N pairs, as released; otherwise over the E edges.

    """

    def __init__(self, model: NodeClusteringModel, edge_index: Tensor, pairwise: bool) -> None:
        self.model, self.edge_index = model, edge_index
        nodes = int(edge_index.max()) + 1
        self.adj = None
        if pairwise:
            self.adj = torch.zeros(nodes, nodes)
            self.adj[edge_index[0], edge_index[1]] = 1

    def loss(self, x: Tensor) -> Tensor:
        """Weighted sum of both terms for dense features (N, F)."""
        config = self.model.config
        for conv in self.model.convs:
            x = torch.nn.functional.elu(self._convolve(x @ conv.weight) + conv.bias)
        s = torch.softmax(self.model.pool.mlp(x), dim=-1)
        return config.totvar_coeff * self._total_variation(s) + config.balance_coeff * self._balance(s)

    def _convolve(self, z: Tensor) -> Tensor:
        config = self.model.config
        rows, columns = self.edge_index
        gamma = 1 / (z[rows] - z[columns]).abs().sum(-1).clamp(min=config.eps)
        degree = gamma.new_zeros(z.shape[0]).index_add(0, rows, gamma)
        spread = torch.zeros_like(z).index_add(0, rows, config.delta_coeff * gamma[:, None] * z[columns])
        return spread + (1 - config.delta_coeff * degree)[:, None] * z

    def _total_variation(self, s: Tensor) -> Tensor:
        rows, columns = self.edge_index
        if self.adj is None:
            return (s[rows] - s[columns]).abs().sum() / (2 * rows.shape[0])
        distance = (s[:, None] - s[None]).abs().sum(-1)
        return (self.adj * distance).sum() / (2 * rows.shape[0])

    def _balance(self, s: Tensor) -> Tensor:
        nodes, clusters = s.shape
        quantile = torch.sort(s, dim=0, descending=True).values[math.floor(nodes / clusters)]
        difference = s - quantile
        rho = clusters - 1
        norm = torch.where(difference >= 0, rho * difference, -difference).sum()
        return (nodes * rho - norm) / (nodes * rho)
