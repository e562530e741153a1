"""DiffPool's assignments as a clustering method."""

from __future__ import annotations

from tvgnn.baselines._networks import PooledClusterer
from tvgnn.pooling import DiffPooling

__all__ = ["DiffPool"]


class DiffPool(PooledClusterer):
    """Minimise the link prediction and the entropy loss of soft assignments.

    Ying et al., NeurIPS 2018 (auxiliary link prediction objective and entropy regularisation); without a task these two
    losses are all there is. The architecture is that of MinCutPool's experiment, as in the TVGNN paper
    (hyperparameters). Parameters, attributes and errors: see `PooledClusterer`.

    """

    def _pool(self, widths: list[int]) -> DiffPooling:
        return DiffPooling(self.n_clusters, widths)
