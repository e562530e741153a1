"""The vertex-clustering model built from torch-geometric-pool's own layers, where it is installed.

Installing it compiles torch-scatter; `benchmarks/README.md` says how. Its sparse path (``batched=False``) is used: the
dense one does not fit beyond a few thousand nodes.
"""

from __future__ import annotations

import importlib.util
import warnings

import torch
from torch import Tensor

from tvgnn.models.node_clustering import NodeClusteringModel

__all__ = ["AVAILABLE", "NAME", "PeerModel"]

NAME = "torch-geometric-pool"
AVAILABLE = importlib.util.find_spec("tgp") is not None


class PeerModel:
    """The same architecture and the same initial parameters as one of our models.

    Parameters:
        model: whose configuration and parameters are copied.
        losses_only: skip the pooled features and adjacency, which the layer computes as well.

    """

    def __init__(self, model: NodeClusteringModel, losses_only: bool) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecations inside PyTorch Geometric's imports
            from tgp.mp import GTVConv
            from tgp.poolers import AsymCheegerCutPooling
        config = model.config
        self.losses_only = losses_only
        self.convs = []
        for ours in model.convs:
            conv = GTVConv(
                ours.in_channels, ours.out_channels, delta_coeff=config.delta_coeff, eps=config.eps, act="elu"
            )
            conv.load_state_dict(ours.state_dict())
            self.convs.append(conv)
        self.pool = AsymCheegerCutPooling(
            [config.hidden_channels, config.mlp_channels],
            config.n_clusters,
            act="relu",
            totvar_coeff=config.totvar_coeff,
            balance_coeff=config.balance_coeff,
            batched=False,
        )
        linears = [layer for layer in model.pool.mlp if isinstance(layer, torch.nn.Linear)]
        for theirs, ours in zip(self.pool.selector.mlp.lins, linears, strict=True):
            theirs.load_state_dict(ours.state_dict())

    def ordered_parameters(self) -> list[Tensor]:
        """Parameters in the order of our model's."""
        modules = [*self.convs, *self.pool.selector.mlp.lins]
        return [parameter for module in modules for parameter in module.parameters()]

    def loss(self, x: Tensor, edge_index: Tensor) -> Tensor:
        """Sum of the loss terms, already weighted."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's about sparse tensors, raised inside the peer
            return self._loss(x, edge_index)

    def _loss(self, x: Tensor, edge_index: Tensor) -> Tensor:
        for conv in self.convs:
            x = conv(x, edge_index)
        if self.losses_only:
            assignments = self.pool.select(x=x).s
            terms = self.pool.compute_sparse_loss(edge_index, None, assignments, None)
        else:
            terms = self.pool(x, edge_index).loss
        return sum(terms.values())
