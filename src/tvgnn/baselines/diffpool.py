"""DiffPool's assignments as a clustering method."""

from __future__ import annotations

from tvgnn.baselines._networks import PooledClusterer
from tvgnn.graph.graph import Graph
from tvgnn.pooling import DiffPooling

__all__ = ["DiffPool"]


class DiffPool(PooledClusterer):
    """Minimise the link prediction and the entropy loss of soft assignments.

    Ying et al., NeurIPS 2018 (auxiliary link prediction objective and entropy regularisation); without a task these two
    losses are all there is. The link loss is ``||A - S S^T||_F`` as there: divided by N^2, as in `DiffPooling`, it is
    lost beside the entropy and one cluster takes all nodes. The architecture is that of MinCutPool's experiment, as in
    the TVGNN paper (appendix B.3). Parameters, attributes and errors: see `PooledClusterer`.

    """

    def _pool(self, widths: list[int], graph: Graph) -> DiffPooling:
        return DiffPooling(self.n_clusters, widths, link_coeff=float(graph.num_nodes) ** 2)
