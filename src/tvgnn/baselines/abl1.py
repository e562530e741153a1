"""ABL1: the paper's message passing with MinCutPool's loss."""

from __future__ import annotations

from typing import Any

from tvgnn.baselines._base import at_least
from tvgnn.baselines._networks import PooledClusterer
from tvgnn.graph.graph import Graph
from tvgnn.pooling import MinCutPooling

__all__ = ["GTVMinCut"]


class GTVMinCut(PooledClusterer):
    """GTVConv layers trained on MinCutPool's loss, the paper's ABL1 (ablation experiment).

    Widths, step size and learning rate are TVGNN's (table 5). Other parameters, attributes and errors: see
    `PooledClusterer`.

    Parameters:
        delta_coeff: step size of GTVConv, the paper's ``2 * delta``.


    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        random_state: Any = None,
        hidden_channels: int = 512,
        num_layers: int = 2,
        mlp_channels: int = 256,
        delta_coeff: float = 0.311,
        learning_rate: float = 1e-3,
        max_iter: int = 10_000,
        patience: int = 100,
        tol: float = 1e-5,
    ) -> None:
        self.n_clusters = n_clusters
        self.random_state = random_state
        self.hidden_channels = hidden_channels
        self.num_layers = num_layers
        self.mlp_channels = mlp_channels
        self.delta_coeff = delta_coeff
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.patience = patience
        self.tol = tol

    def _check(self) -> None:
        super()._check()
        for name in ("delta_coeff",):
            at_least(self, name, 0.0)

    def _pool(self, widths: list[int], graph: Graph) -> MinCutPooling:
        return MinCutPooling(self.n_clusters, widths)

    def _options(self) -> dict[str, Any]:
        return {"conv": "gtv", "delta_coeff": self.delta_coeff}
