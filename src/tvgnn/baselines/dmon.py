"""DMoN as a clustering method."""

from __future__ import annotations

from typing import Any

from tvgnn.baselines._base import at_least
from tvgnn.baselines._networks import PooledClusterer
from tvgnn.graph.graph import Graph
from tvgnn.pooling import DMoNPooling

__all__ = ["DMoN"]


class DMoN(PooledClusterer):
    """Maximise the modularity of soft assignments, with a collapse loss.

    Tsitsulin et al., JMLR 2023; the TVGNN paper's eq. 9, whose misprint is not followed (see `modularity_loss`). As in
    the TVGNN paper (appendix B.3) the architecture is MinCutPool's and the collapse loss is weighted 0.1; DMoN's own
    code has a GCN of 64 channels with SELU, dropout on the assignments and weight 1. Other parameters, attributes and
    errors: see `PooledClusterer`.

    Parameters:
        collapse_coeff: weight of the collapse loss.

    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        random_state: Any = None,
        conv: str = "skip",
        hidden_channels: int = 16,
        num_layers: int = 1,
        mlp_channels: int = 0,
        collapse_coeff: float = 0.1,
        learning_rate: float = 5e-4,
        max_iter: int = 10_000,
        patience: int = 100,
        tol: float = 1e-5,
    ) -> None:
        super().__init__(
            n_clusters,
            random_state=random_state,
            conv=conv,
            hidden_channels=hidden_channels,
            num_layers=num_layers,
            mlp_channels=mlp_channels,
            learning_rate=learning_rate,
            max_iter=max_iter,
            patience=patience,
            tol=tol,
        )
        self.collapse_coeff = collapse_coeff

    def _check(self) -> None:
        super()._check()
        at_least(self, "collapse_coeff", 0.0)

    def _pool(self, widths: list[int], graph: Graph) -> DMoNPooling:
        return DMoNPooling(self.n_clusters, widths, collapse_coeff=self.collapse_coeff)
