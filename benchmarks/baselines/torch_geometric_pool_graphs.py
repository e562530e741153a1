"""The hierarchical classifier built from torch-geometric-pool's own layers, where it is installed.

Batches come from PyTorch Geometric's loader. There are three ways to write the model, see `WAYS`; the first two are its
dense model, on padded adjacencies B x N x N. Deviations from ours, numbered:

1. The total variation of the second pooling is divided by the number of entries of the pooled adjacency other than
   zero, ours by their sum. They are compared on adjacencies whose mean entry is one, where both are the same.
2. By default its pooling clears the diagonal of the pooled adjacency and divides by degrees. Ours does neither, so
   both are switched off, which also spares it the work.
3. Its message passing computes ``(I - delta L) Z`` instead of differences, and so loses digits in float32: up to 5 % of
   a loss on NCI1. They are compared in float64.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn import functional

from tvgnn.graph.graph import Graph
from tvgnn.models.graph_network import GraphNetwork

__all__ = ["DENSE_WAYS", "WAYS", "PeerGraphs", "PeerNetwork"]

WAYS = {
    "": "message passing on edges, then pooling on padded adjacencies",
    "padded throughout": "message passing and pooling on padded adjacencies",
    "batched=False": "the first pooling graph by graph on edges",
}
DENSE_WAYS = ("", "padded throughout")


class PeerGraphs:
    """Graphs as its users hold them, and the loader that makes batches of them.

    Parameters:
        graphs: with features.
        targets: (n,) class of each.

    """

    def __init__(self, graphs: Sequence[Graph], targets: npt.NDArray[np.int64]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecations inside PyTorch Geometric's imports
            from torch_geometric.data import Data
        self._data = [
            Data(
                x=torch.tensor(graph.x.toarray() if sp.issparse(graph.x) else graph.x, dtype=torch.float32),
                edge_index=torch.tensor(
                    np.stack([np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr)), graph.indices]),
                    dtype=torch.int64,
                ),
                y=torch.tensor([target]),
            )
            for graph, target in zip(graphs, targets, strict=True)
        ]

    def batches(self, numbers: Sequence[npt.NDArray[np.int64]]) -> Iterator[object]:
        """Batches of the graphs of these numbers, made one at a time."""
        from torch_geometric.loader import DataLoader

        return iter(DataLoader(self._data, batch_sampler=numbers))


class PeerNetwork(nn.Module):
    """The same architecture and the same initial parameters as one of our networks with ``pooling="tvgnn"``.

    Parameters:
        network: whose configuration and parameters are copied.
        way: one of `WAYS`.

    """

    def __init__(self, network: GraphNetwork, way: str = "") -> None:
        super().__init__()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from tgp.mp import GTVConv
            from tgp.poolers import AsymCheegerCutPooling
        config, self.way = network.config, way
        self.blocks = nn.ModuleList()
        for block in network.blocks:
            convs = nn.ModuleList()
            for ours in block:
                conv = GTVConv(
                    ours.in_channels, ours.out_channels, delta_coeff=ours.delta_coeff, eps=ours.eps, act=config.act
                )
                conv.load_state_dict(ours.state_dict())
                convs.append(conv)
            self.blocks.append(convs)
        self.pools = nn.ModuleList()
        for number, ours in enumerate(network.pools):
            pool = AsymCheegerCutPooling(
                [config.hidden_channels] + [config.mlp_channels] * config.mlp_layers,
                ours.k,
                act=config.mlp_act,
                totvar_coeff=config.totvar_coeff,
                balance_coeff=config.balance_coeff,
                remove_self_loops=False,
                degree_norm=False,
                batched=number > 0 or way in DENSE_WAYS,
            )
            linears = [layer for layer in ours.mlp if isinstance(layer, nn.Linear)]
            for theirs, linear in zip(pool.selector.mlp.lins, linears, strict=True):
                theirs.load_state_dict(linear.state_dict())
            self.pools.append(pool)
        self.readout = nn.Linear(config.hidden_channels, config.out_channels)
        self.readout.load_state_dict(network.readout[0].state_dict())

    def losses(self, batch: object, comparable: bool = False) -> dict[str, Tensor]:
        """Loss terms of a batch, weighted, by our names; ``comparable`` undoes deviation 1."""
        out = self._first_pooling(batch)
        losses = {"total_variation_1": out.loss["total_variation_loss"], "balance_1": out.loss["balance_loss"]}
        x, adjacency = self._dense_block(1, out.x, out.edge_index)
        out = self.pools[1](x, adjacency)
        losses |= {"total_variation_2": out.loss["total_variation_loss"], "balance_2": out.loss["balance_loss"]}
        if comparable:
            losses["total_variation_2"] = self._total_variation(out.so.s, adjacency)
        x, _ = self._dense_block(2, out.x, out.edge_index)
        return {"cross_entropy": functional.cross_entropy(self.readout(x.mean(1)), batch.y)} | losses

    def _first_pooling(self, batch: object) -> object:
        x, pool = batch.x, self.pools[0]
        if self.way == "padded throughout":
            x, adjacency, mask = pool.preprocessing(x, batch.edge_index, batch=batch.batch)
            for conv in self.blocks[0]:
                x = conv(x, adjacency, mask=mask)
            return pool(x, adjacency, mask=mask)
        for conv in self.blocks[0]:
            x = conv(x, batch.edge_index)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's about sparse tensors, raised inside the peer
            return pool(x, batch.edge_index, batch=batch.batch)

    def _dense_block(self, number: int, x: Tensor, adjacency: Tensor) -> tuple[Tensor, Tensor]:
        for conv in self.blocks[number]:
            x = conv(x, adjacency)
        return x, adjacency

    def _total_variation(self, assignments: Tensor, adjacency: Tensor) -> Tensor:
        weight, entries = adjacency.sum((1, 2), keepdim=True), (adjacency != 0).sum((1, 2), keepdim=True)
        scaled = adjacency * entries / weight.clamp(min=torch.finfo(weight.dtype).tiny)
        return self.pools[1].compute_loss(scaled, assignments)["total_variation_loss"]
