"""The vertex-clustering architecture of the paper (fig. 3a): GTVConv layers, then an MLP with softmax."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from tvgnn.checks import check_rho
from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.grouping import Grouping
from tvgnn.graph.sparse_matrix import SparseMatrix
from tvgnn.layers.gtv_conv import GTVConv
from tvgnn.ops import select_backend
from tvgnn.pooling.asym_cheeger_cut import AsymCheegerCutPooling

__all__ = ["MEMORY", "PRECISIONS", "NodeClusteringConfig", "NodeClusteringModel"]

MEMORY = ("normal", "low")
PRECISIONS = {"float32": None, "bfloat16": torch.bfloat16}


@dataclass(frozen=True)
class NodeClusteringConfig:
    """Architecture and objective; the defaults are the paper's vertex-clustering column (table 5).

    Attributes:
        in_channels: width of the node features.
        n_clusters: K, an upper bound on the clusters in use.
        hidden_channels: width of the GTVConv layers.
        num_layers: number of GTVConv layers.
        mlp_channels: width of the hidden layer between the convolutions and the assignments, 0 for none.
        delta_coeff: step size of GTVConv, the paper's ``2 * delta``.
        totvar_coeff: weight of the total variation loss, alpha_1.
        balance_coeff: weight of the balance loss, alpha_2.
        rho: asymmetry of the balance loss, K - 1 where None.
        eps: smallest distance that divides in GTVConv.
        fan: of the initial weights of GTVConv, see `GTVLayer.reset_parameters`.

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
    fan: str = "in"

    def __post_init__(self) -> None:
        if self.num_layers < 1:
            raise ValueError(f"expected num_layers >= 1, got {self.num_layers}")
        if self.mlp_channels < 0:
            raise ValueError(f"expected mlp_channels >= 0, got {self.mlp_channels}; 0 leaves the hidden layer out")
        if self.fan not in ("in", "out"):
            raise ValueError(f'expected fan to be "in" or "out", got {self.fan!r}')
        for name in ("delta_coeff", "totvar_coeff", "balance_coeff"):
            value = getattr(self, name)
            if not 0 <= value < math.inf:
                raise ValueError(f"expected {name} to be a number >= 0, got {value}")
        if self.rho is not None:
            check_rho(self.rho)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


class NodeClusteringModel(nn.Module):
    """GTVConv layers with ELU, then soft assignments by an MLP with ReLU.

    Parameters:
        config: architecture and objective.
        backend: see `select_backend`.
        memory: ``"normal"``, or ``"low"`` to keep only the outputs of the convolutions for the backward pass and
            compute the rest again.
        precision: ``"float32"``, or ``"bfloat16"`` for dense products of rounded numbers that are summed in float32;
            GTV steps, losses and parameters stay in float32 on the cpu, GTV steps store bfloat16 on a GPU.

    Raises:
        ValueError: an unknown ``memory`` or ``precision``.

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

    def __init__(
        self,
        config: NodeClusteringConfig,
        *,
        backend: str = "auto",
        memory: str = "normal",
        precision: str = "float32",
    ) -> None:
        super().__init__()
        if memory not in MEMORY:
            raise ValueError(f"expected memory to be one of {', '.join(MEMORY)}, got {memory!r}")
        if precision not in PRECISIONS:
            hint = "; its gradients of this loss would underflow to zero" if precision == "float16" else ""
            raise ValueError(f"expected precision to be one of {', '.join(PRECISIONS)}, got {precision!r}{hint}")
        self.memory, self.precision = memory, precision
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
        if config.fan == "out":  # else they are drawn already, and a second draw would change the results of a seed
            for conv in self.convs:
                cast(GTVConv, conv).reset_parameters("out")
        self.pool = AsymCheegerCutPooling(
            config.n_clusters,
            [config.hidden_channels] + [config.mlp_channels] * (config.mlp_channels > 0),
            totvar_coeff=config.totvar_coeff,
            balance_coeff=config.balance_coeff,
            rho=config.rho,
            backend=backend,
            low_memory=memory == "low",
        )

    @property
    def hops(self) -> int:
        """Edges that lie between a node and the farthest one its results depend on."""
        return self.config.num_layers

    @property
    def floats_per_node(self) -> int:
        """Numbers that `infer` holds for each node, features left out."""
        return 3 * self.config.hidden_channels

    def forward(self, x: Tensor | SparseMatrix, adjacency: Adjacency) -> tuple[Tensor, Tensor]:
        """Return (assignments, embedding)."""
        with self._autocast(adjacency.indptr.device):
            hidden = self.embed(x, adjacency)
            return self.pool.select(hidden), hidden

    def _autocast(self, device: torch.device) -> torch.autocast:
        dtype = PRECISIONS[self.precision]
        return torch.autocast(device.type, dtype, enabled=dtype is not None)

    def embed(self, x: Tensor | SparseMatrix, adjacency: Adjacency) -> Tensor:
        """Output of the last convolution, (N, hidden_channels)."""
        hidden: Any = x
        for conv in self.convs:
            if self.memory == "low" and torch.is_grad_enabled():
                hidden = checkpoint(conv, hidden, adjacency, use_reentrant=False, preserve_rng_state=False)
            else:
                hidden = conv(hidden, adjacency)
        return cast(Tensor, hidden)

    def losses(self, x: Tensor | SparseMatrix, adjacency: Adjacency) -> tuple[dict[str, Tensor], Tensor]:
        """Loss terms, already multiplied by their coefficients, and the assignments (N, K)."""
        with self._autocast(adjacency.indptr.device):
            hidden = self.embed(x, adjacency)
            assignments, terms = self.pool.select_with_losses(hidden, adjacency, Grouping.of(None, hidden))
        return terms, assignments

    def can_be_recorded(self, device: torch.device | str) -> bool:
        """Whether a CUDA graph can record a training step there: only our kernels never make the host wait."""
        on_gpu = torch.device(device).type == "cuda"
        return on_gpu and select_backend(self.pool.backend, device, torch.float32) == "gpu"

    @torch.no_grad()
    def infer(self, x: Tensor | SparseMatrix, adjacency: Adjacency) -> tuple[Tensor, Tensor]:
        """Return (assignments, embedding) without recording gradients."""
        return self(x, adjacency)

    @torch.no_grad()
    def assign(self, embedding: Tensor) -> Tensor:
        """Assignments (N, K) of an embedding (N, hidden_channels) that `infer` gave."""
        with self._autocast(embedding.device):
            return self.pool.select(embedding)
