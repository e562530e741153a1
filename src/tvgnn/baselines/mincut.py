"""MinCutPool as a clustering method."""

from __future__ import annotations

from tvgnn.baselines._networks import PooledClusterer
from tvgnn.graph.graph import Graph
from tvgnn.pooling import MinCutPooling

__all__ = ["MinCut"]


class MinCut(PooledClusterer):
    """Minimise the relaxed normalised cut and the orthogonality loss of soft assignments.

    Bianchi et al., ICML 2020, sec. 3 (the TVGNN paper's eq. 8 is its loss), with the settings of their released
    clustering experiment. Parameters, attributes and errors: see `PooledClusterer`.

    Example:
        >>> import numpy as np, scipy.sparse as sp
        >>> from tvgnn import Graph
        >>> cliques = sp.block_diag([np.ones((4, 4)), np.ones((5, 5))])
        >>> graph = Graph.from_scipy(cliques, x=np.repeat(np.eye(2), [4, 5], axis=0))
        >>> MinCut(2, random_state=0, max_iter=300, learning_rate=1e-2).fit(graph).labels_.tolist()
        [1, 1, 1, 1, 0, 0, 0, 0, 0]

    """

    def _pool(self, widths: list[int], graph: Graph) -> MinCutPooling:
        return MinCutPooling(self.n_clusters, widths)
