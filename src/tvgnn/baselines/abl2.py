"""ABL2: a GCN with the paper's loss."""

from __future__ import annotations

from typing import Any

from tvgnn.baselines._base import at_least
from tvgnn.baselines._networks import PooledClusterer
from tvgnn.graph.graph import Graph
from tvgnn.pooling import AsymCheegerCutPooling

__all__ = ["GCNTotalVariation"]


class GCNTotalVariation(PooledClusterer):
    """GCN layers trained on TVGNN's loss, the paper's ABL2 (ablation experiment).

    Widths, loss coefficients and learning rate are TVGNN's (table 5). Other parameters, attributes and errors: see
    `PooledClusterer`.

    Parameters:
        totvar_coeff: weight of the total variation loss, alpha_1.
        balance_coeff: weight of the balance loss, alpha_2.

    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        random_state: Any = None,
        hidden_channels: int = 512,
        num_layers: int = 2,
        mlp_channels: int = 256,
        totvar_coeff: float = 0.785,
        balance_coeff: float = 0.514,
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
        self.totvar_coeff = totvar_coeff
        self.balance_coeff = balance_coeff
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.patience = patience
        self.tol = tol

    def _check(self) -> None:
        super()._check()
        for name in ("totvar_coeff", "balance_coeff"):
            at_least(self, name, 0.0)

    def _pool(self, widths: list[int], graph: Graph) -> AsymCheegerCutPooling:
        return AsymCheegerCutPooling(
            self.n_clusters, widths, totvar_coeff=self.totvar_coeff, balance_coeff=self.balance_coeff
        )

    def _options(self) -> dict[str, Any]:
        return {"conv": "gcn"}
