"""The vertex-clustering architecture of the paper (fig. 3a): GTVConv layers, then an MLP with softmax."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.sparse_matrix import SparseMatrix
from tvgnn.layers.gtv_conv import GTVConv
from tvgnn.pooling.asym_cheeger_cut import AsymCheegerCutPooling

__all__ = ["NodeClusteringConfig", "NodeClusteringModel"]


@dataclass(frozen=True)
class NodeClusteringConfig:
    """Architecture and objective; the defaults are the paper's vertex-clustering column (table 5).

    Attributes:
        in_channels: width of the node features.
        n_clusters: K, an upper bound on the clusters in use.
        hidden_channels: width of the GTVConv layers.
        num_layers: number of GTVConv layers.
        mlp_channels: width of the hidden layer between the convolutions and the assignments.
        delta_coeff: step size of GTVConv, the paper's ``2 * delta``.
        totvar_coeff: weight of the total variation loss, alpha_1.
        balance_coeff: weight of the balance loss, alpha_2.
        rho: asymmetry of the balance loss, K - 1 where None.
        eps: smallest distance that divides in GTVConv.

    Raises:
        ValueError: a value is out of range.

    """

    in_channels: int
    n_clusters: int
    hidden_channels: int = 512
    num_layers: int = 2
    mlp_channels: int = 256
    delta_coeff: float = 0.311
    totvar_coeff: float = 0.785
    balance_coeff: float = 0.514
    rho: float | None = None
    eps: float = 1e-3

    def __post_init__(self) -> None:
        if self.num_layers < 1:
            raise ValueError(f"expected num_layers >= 1, got {self.num_layers}")
        for name in ("delta_coeff", "totvar_coeff", "balance_coeff"):
            value = getattr(self, name)
            if not 0 <= value < math.inf:
                raise ValueError(f"expected {name} to be a number >= 0, got {value}")
        if self.rho is not None and not 0 < self.rho < math.inf:
            raise ValueError(
                f"expected rho > 0, got {self.rho}; leave it None for K - 1, which asks for equal clusters"
            )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


class NodeClusteringModel(nn.Module):
    """GTVConv layers with ELU, then soft assignments by an MLP with ReLU.

    Parameters:
        config: architecture and objective.
        backend: see `select_backend`.

    Shapes:
        x (N, in_channels) dense or `SparseMatrix`; adjacency of N nodes; assignments (N, K); embedding
        (N, hidden_channels), the output of the last convolution.

    Example:
        >>> model = NodeClusteringModel(NodeClusteringConfig(3, 2, hidden_channels=8, mlp_channels=4))
        >>> path = Adjacency.from_edge_index(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), None, 3)
        >>> assignments, embedding = model(torch.randn(3, 3), path)
        >>> assignments.shape, embedding.shape
        (torch.Size([3, 2]), torch.Size([3, 8]))

    """

    pool: AsymCheegerCutPooling

    def __init__(self, config: NodeClusteringConfig, *, backend: str = "auto") -> None:
        super().__init__()
        self.config = config
        widths = [config.in_channels] + [config.hidden_channels] * config.num_layers
        self.convs = nn.ModuleList(
            GTVConv(
                width,
                config.hidden_channels,
                delta_coeff=config.delta_coeff,
                eps=config.eps,
                act="elu",
                backend=backend,
            )
            for width in widths[:-1]
        )
        self.pool = AsymCheegerCutPooling(
            config.n_clusters,
            [config.hidden_channels, config.mlp_channels],
            totvar_coeff=config.totvar_coeff,
            balance_coeff=config.balance_coeff,
            rho=config.rho,
            backend=backend,
        )

    def forward(self, x: Tensor | SparseMatrix, adjacency: Adjacency) -> tuple[Tensor, Tensor]:
        """Return (assignments, embedding)."""
        hidden = self.embed(x, adjacency)
        return self.pool.select(hidden), hidden

    def embed(self, x: Tensor | SparseMatrix, adjacency: Adjacency) -> Tensor:
        """Output of the last convolution, (N, hidden_channels)."""
        first, *others = self.convs
        hidden: Tensor = first(x, adjacency)
        for conv in others:
            hidden = conv(hidden, adjacency)
        return hidden

    def losses(self, x: Tensor | SparseMatrix, adjacency: Adjacency) -> tuple[dict[str, Tensor], Tensor]:
        """Loss terms, already multiplied by their coefficients, and the assignments (N, K)."""
        assignments, terms = self.pool.select_with_losses(self.embed(x, adjacency), adjacency, None, None)
        return terms, assignments

    @torch.no_grad()
    def infer(self, x: Tensor | SparseMatrix, adjacency: Adjacency) -> tuple[Tensor, Tensor]:
        """Return (assignments, embedding) without recording gradients."""
        return self(x, adjacency)
