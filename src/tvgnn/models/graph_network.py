"""The hierarchical network for graph-level tasks: [message passing x L, pool] twice, message passing x L, readout."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, cast

from torch import Tensor, nn

from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.collection import GraphBatch
from tvgnn.graph.grouping import Grouping
from tvgnn.layers.dense_gtv_conv import DenseGTVConv
from tvgnn.layers.gtv_conv import GTVConv, GTVLayer, apply_in_turn
from tvgnn.layers.mlp import Activation, assignment_mlp
from tvgnn.pooling import (
    AsymCheegerCutPooling,
    DiffPooling,
    DMoNPooling,
    MinCutPooling,
    PoolingOutput,
    SAGPooling,
    TopKPooling,
)
from tvgnn.pooling.sparse import NodePooling

__all__ = ["KEEPING_NODES", "POOLINGS", "READOUTS", "GraphNetwork", "GraphNetworkConfig"]

POOLINGS = ("tvgnn", "mincut", "dmon", "diffpool", "topk", "sag")
READOUTS = ("linear", "mlp")
KEEPING_NODES = {"topk": TopKPooling, "sag": SAGPooling}
_WITH_ASSIGNMENTS: dict[str, Callable[..., nn.Module]] = {
    "mincut": MinCutPooling,
    "dmon": DMoNPooling,
    "diffpool": DiffPooling,
}


@dataclass(frozen=True)
class GraphNetworkConfig:
    """Architecture and objective of a `GraphNetwork`.

    Attributes:
        in_channels: width of the node features.
        out_channels: number of classes, or of regression targets.
        pooling: ``"tvgnn"``, ``"mincut"``, ``"dmon"``, ``"diffpool"``, ``"topk"`` or ``"sag"``.
        clusters: clusters of the first and of the second pooling; not used by Top-K and SAG.
        ratio: part of the nodes that Top-K and SAG keep.
        kept: how many nodes of every graph they keep in the first and in the second pooling, instead of ``ratio``.
        num_layers: message-passing layers L in each of the three blocks.
        hidden_channels: their width.
        act: their activation.
        delta_coeff: step size of GTVConv, the paper's ``2 * delta``.
        mlp_layers: hidden layers of the MLP that gives the assignments, and of ``readout="mlp"``.
        mlp_channels: their width.
        mlp_act: their activation.
        totvar_coeff: weight of the total variation loss, alpha_1.
        balance_coeff: weight of the balance loss, alpha_2.
        readout: ``"linear"``, or ``"mlp"`` with hidden layers as in the pooling.

    Raises:
        ValueError: a value is out of range or unknown.

    """

    in_channels: int
    out_channels: int
    pooling: str = "tvgnn"
    clusters: tuple[int, int] = (16, 8)
    ratio: float = 0.5
    num_layers: int = 3
    hidden_channels: int = 64
    act: str = "elu"
    delta_coeff: float = 2.073
    mlp_layers: int = 1
    mlp_channels: int = 16
    mlp_act: str = "elu"
    totvar_coeff: float = 0.985
    balance_coeff: float = 0.751
    readout: str = "linear"
    kept: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        for name, values in (("pooling", POOLINGS), ("readout", READOUTS)):
            if getattr(self, name) not in values:
                raise ValueError(f"expected {name} to be one of {', '.join(values)}, got {getattr(self, name)!r}")
        for name in ("num_layers", "hidden_channels", "mlp_channels"):
            if getattr(self, name) < 1:
                raise ValueError(f"expected {name} >= 1, got {getattr(self, name)}")
        if self.mlp_layers < 0 or min(self.clusters) < 1:
            raise ValueError(f"expected mlp_layers >= 0 and clusters >= 1, got {self.mlp_layers} and {self.clusters}")
        if self.kept is not None and min(self.kept) < 1:
            raise ValueError(f"expected kept to be a pair of integers >= 1 or None, got {self.kept}")
        for name in ("delta_coeff", "totvar_coeff", "balance_coeff"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"expected {name} to be a number >= 0, got {getattr(self, name)}")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


class GraphNetwork(nn.Module):
    """Classify or measure whole graphs (paper, fig. 3b).

    Message passing is GTVConv for ``pooling="tvgnn"`` and the graph convolution of Kipf & Welling for the other
    methods, on the sparse graphs and then, except for Top-K and SAG, on the small dense graphs that pooling leaves.

    Parameters:
        config: architecture and objective.
        backend: see `select_backend`.

    Shapes:
        a batch of B graphs; `forward` gives outputs (B, out_channels) and a dict of scalar losses, `embed` gives
        embeddings (B, hidden_channels).

    """

    def __init__(self, config: GraphNetworkConfig, *, backend: str = "auto") -> None:
        super().__init__()
        self.config, self.backend = config, backend
        width = config.hidden_channels
        layers = [[config.in_channels] + [width] * config.num_layers] + [[width] * (config.num_layers + 1)] * 2
        dense = config.pooling not in KEEPING_NODES
        self.blocks = nn.ModuleList(
            nn.ModuleList(self._conv(a, b, dense and number > 0) for a, b in pairwise(widths))
            for number, widths in enumerate(layers)
        )
        self.pools = nn.ModuleList(self._pool(number) for number in range(len(config.clusters)))
        hidden = [config.mlp_channels] * (config.mlp_layers if config.readout == "mlp" else 0)
        self.readout = assignment_mlp([width, *hidden], config.out_channels, config.mlp_act)
        self._act = Activation(config.act)

    def forward(self, batch: GraphBatch) -> tuple[Tensor, dict[str, Tensor]]:
        """Return (outputs (B, out_channels), losses of the poolings)."""
        embedding, losses = self.embed(batch)
        return self.readout(embedding), losses

    def embed(self, batch: GraphBatch) -> tuple[Tensor, dict[str, Tensor]]:
        """Return (mean of the last layer's features over each graph (B, hidden_channels), losses of the poolings)."""
        if self.config.pooling in KEEPING_NODES:
            return self._embed_kept_nodes(batch)
        return self._embed_clusters(batch)

    def undecayed_parameters(self) -> list[nn.Parameter]:
        """Weight matrices that weight decay must leave alone."""
        return [direction for pool in self.pools if isinstance(pool, NodePooling) for direction in pool.directions()]

    def _embed_clusters(self, batch: GraphBatch) -> tuple[Tensor, dict[str, Tensor]]:
        x, convs = batch.x, self._block(0)
        if self.config.pooling == "tvgnn":
            x = apply_in_turn(cast(Sequence[GTVLayer], convs), x, batch.adjacency)
        else:
            for conv in convs:
                x = self._act(conv(x, batch.edge_index, batch.edge_weight))
        out: PoolingOutput = self.pools[0](x, batch.adjacency, batch=batch.groups)
        losses = {f"{name}_1": loss for name, loss in out.losses.items()}
        x, adjacency = self._dense_block(1, out)
        out = self.pools[1](x, adj=adjacency)
        losses |= {f"{name}_2": loss for name, loss in out.losses.items()}
        x, _ = self._dense_block(2, out)
        return x.mean(1), losses

    def _dense_block(self, number: int, out: PoolingOutput) -> tuple[Tensor, Adjacency]:
        """Message passing on pooled graphs: features (B, K, width) and the adjacencies, ready for the next pooling."""
        x, adj = out.x, cast(Tensor, out.adj)
        shared = Adjacency.from_dense(adj, symmetric=True)  # S^T A S of a symmetric A, scaled alike on both sides
        convs = self._block(number)
        if self.config.pooling == "tvgnn":
            return apply_in_turn(cast(Sequence[GTVLayer], convs), x, shared), shared
        for conv in convs:
            x = self._act(conv(x, adj))
        return x, shared

    def _embed_kept_nodes(self, batch: GraphBatch) -> tuple[Tensor, dict[str, Tensor]]:
        x, edges, weights, groups = batch.x, batch.edge_index, batch.edge_weight, batch.groups
        for number, pool in enumerate([*self.pools, None]):
            for conv in self._block(number):
                x = self._act(conv(x, edges, weights))
            if pool is not None:
                out = pool(x, edges, weights, groups)
                x, edges, weights = out.x, out.edge_index, out.edge_weight
                groups = Grouping.of(out.batch, x, groups.size)
        counts = groups.pointers.diff().clamp(min=1).to(x.dtype)
        return groups.sum(x) / counts[:, None], {}

    def _block(self, number: int) -> nn.ModuleList:
        return cast(nn.ModuleList, self.blocks[number])

    def _conv(self, in_channels: int, out_channels: int, dense: bool) -> nn.Module:
        config = self.config
        if config.pooling == "tvgnn":
            layer = DenseGTVConv if dense else GTVConv
            return layer(
                in_channels, out_channels, delta_coeff=config.delta_coeff, act=config.act, backend=self.backend
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # raised by the imports of PyTorch Geometric itself
            from torch_geometric.nn import DenseGCNConv, GCNConv
        return cast(nn.Module, (DenseGCNConv if dense else GCNConv)(in_channels, out_channels))

    def _pool(self, number: int) -> nn.Module:
        config = self.config
        width, k = config.hidden_channels, config.clusters[number]
        if config.pooling in KEEPING_NODES:
            kept = config.ratio if config.kept is None else config.kept[number]
            return KEEPING_NODES[config.pooling](width, kept)
        channels = [width] + [config.mlp_channels] * config.mlp_layers
        if config.pooling == "tvgnn":
            return AsymCheegerCutPooling(
                k,
                channels,
                config.mlp_act,
                totvar_coeff=config.totvar_coeff,
                balance_coeff=config.balance_coeff,
                backend=self.backend,
            )
        return _WITH_ASSIGNMENTS[config.pooling](k, channels, config.mlp_act, backend=self.backend)
