"""ABL1: the paper's message passing with MinCutPool's loss."""

from __future__ import annotations

from tvgnn.baselines._networks import GTVClusterer
from tvgnn.graph.graph import Graph
from tvgnn.pooling import MinCutPooling

__all__ = ["GTVMinCut"]


class GTVMinCut(GTVClusterer):
    """GTVConv layers trained on MinCutPool's loss, the paper's ABL1 (ablation experiment).

    Parameters, attributes and errors: see `GTVClusterer` and `PooledClusterer`.

    """

    def _pool(self, widths: list[int], graph: Graph) -> MinCutPooling:
        return MinCutPooling(self.n_clusters, widths)
