"""The vertex-clustering architecture with any message passing and any pooling (paper, fig. 3a)."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor, nn

from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.grouping import Grouping
from tvgnn.graph.sparse_matrix import SparseMatrix
from tvgnn.layers.activations import activation_function
from tvgnn.layers.gtv_conv import GTVConv
from tvgnn.ops.dense_linear import dense_linear
from tvgnn.ops.neighbor_sum import normalized_neighbor_sum
from tvgnn.ops.sparse_linear import sparse_linear
from tvgnn.pooling.base import DensePooling

__all__ = ["CONVOLUTIONS", "GraphConvolution", "PooledClusteringModel"]

CONVOLUTIONS = ("gcn", "skip", "gtv")


class GraphConvolution(nn.Module):
    """Message passing with a fixed normalised adjacency.

    ``"gcn"``: ``act(D~^-1/2 (A + I) D~^-1/2 X W + b)`` (Kipf & Welling, ICLR 2017, eq. 2; the paper's GCN layer).
    ``"skip"``: ``act(D^-1/2 A D^-1/2 X W + X W_skip + b)`` (Bianchi et al., ICML 2020, sec. 3). An isolated node keeps
    ``X W`` or ``X W_skip``.

    Parameters:
        in_channels: width of x.
        out_channels: width of the output.
        act: activation as in `GTVConv`.
        skip: the second form.
        backend: see `select_backend`.

    Shapes:
        x (N, in_channels) dense or `SparseMatrix`; adjacency of N nodes; output (N, out_channels). State: ``weight``,
        ``skip_weight`` (in_channels, out_channels), Glorot-uniform, and ``bias`` (out_channels,), zeros.

    Example:
        >>> conv = GraphConvolution(1, 1, act=None)
        >>> pair = Adjacency.from_edge_index(torch.tensor([[0, 1], [1, 0]]), None, 2)
        >>> out = conv(torch.tensor([[0.0], [2.0]]), pair)  # both nodes see the mean
        >>> bool(torch.isclose(out[0], out[1]).item())
        True

    """

    def __init__(
        self, in_channels: int, out_channels: int, act: Any = "relu", *, skip: bool = False, backend: str = "auto"
    ) -> None:
        super().__init__()
        self._act, self.backend = activation_function(act), backend
        self.weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(in_channels, out_channels)))
        self.skip_weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty_like(self.weight))) if skip else None
        self.bias = nn.Parameter(torch.zeros(out_channels))

    def forward(self, x: Tensor | SparseMatrix, adjacency: Adjacency) -> Tensor:
        """Apply the layer; see the class for shapes."""
        loop = 0.0 if self.skip_weight is not None else 1.0
        out = normalized_neighbor_sum(adjacency, self._linear(x, self.weight), loop=loop, backend=self.backend)
        if self.skip_weight is not None:
            out = out + self._linear(x, self.skip_weight)
        return self._act(out + self.bias)

    def _linear(self, x: Tensor | SparseMatrix, weight: Tensor) -> Tensor:
        if isinstance(x, SparseMatrix):
            return sparse_linear(x, weight, backend=self.backend)
        return dense_linear(x.to(weight.dtype), weight)


class PooledClusteringModel(nn.Module):
    """Message-passing layers, then the soft assignments of a pooling layer, trained on that layer's losses.

    Parameters:
        in_channels: width of the node features.
        pool: gives assignments and losses; its first width must be ``hidden_channels``.
        conv: ``"gcn"``, ``"skip"`` (see `GraphConvolution`) or ``"gtv"`` (`GTVConv`).
        hidden_channels: width of the layers.
        num_layers: their number.
        act: their activation.
        delta_coeff: step size of GTVConv.
        backend: see `select_backend`.

    Raises:
        ValueError: an unknown ``conv`` or no layers.

    Shapes:
        x (N, in_channels) dense or `SparseMatrix`; assignments (N, K); embedding (N, hidden_channels).

    """

    def __init__(
        self,
        in_channels: int,
        pool: DensePooling,
        *,
        conv: str = "gcn",
        hidden_channels: int = 16,
        num_layers: int = 1,
        act: str = "elu",
        delta_coeff: float = 0.311,
        backend: str = "auto",
    ) -> None:
        super().__init__()
        if conv not in CONVOLUTIONS:
            raise ValueError(f"expected conv to be one of {', '.join(CONVOLUTIONS)}, got {conv!r}")
        if num_layers < 1:
            raise ValueError(f"expected num_layers >= 1, got {num_layers}")

        def layer(width: int) -> nn.Module:
            if conv == "gtv":
                return GTVConv(width, hidden_channels, delta_coeff=delta_coeff, act=act, backend=backend)
            return GraphConvolution(width, hidden_channels, act, skip=conv == "skip", backend=backend)

        self.convs = nn.ModuleList(layer(width) for width in [in_channels] + [hidden_channels] * (num_layers - 1))
        self.pool = pool

    def embed(self, x: Tensor | SparseMatrix, adjacency: Adjacency) -> Tensor:
        """Output of the last convolution, (N, hidden_channels)."""
        hidden: Any = x
        for conv in self.convs:
            hidden = conv(hidden, adjacency)
        return cast(Tensor, hidden)

    def losses(self, x: Tensor | SparseMatrix, adjacency: Adjacency) -> tuple[dict[str, Tensor], Tensor]:
        """Loss terms, already multiplied by their coefficients, and the assignments (N, K)."""
        hidden = self.embed(x, adjacency)
        assignments, terms = self.pool.select_with_losses(hidden, adjacency, Grouping.of(None, hidden))
        return terms, assignments

    @torch.no_grad()
    def infer(self, x: Tensor | SparseMatrix, adjacency: Adjacency) -> tuple[Tensor, Tensor]:
        """Return (assignments, embedding) without recording gradients."""
        hidden = self.embed(x, adjacency)
        return self.pool.select(hidden, adjacency), hidden
