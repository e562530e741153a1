"""Two cliques and a small network, for tests of `TVClustering`."""

import numpy as np
import scipy.sparse as sp

from tvgnn import TVClustering

CLIQUES = sp.block_diag([np.ones((6, 6)), np.ones((4, 4))]).tocsr()
BLOCKS = np.repeat([[0.0, 1.0], [1.0, 0.0]], [6, 4], axis=0)


def small(n_clusters=2, **options):
    settings = {"max_iter": 80, "hidden_channels": 32, "mlp_channels": 16, "random_state": 0}
    return TVClustering(n_clusters, **(settings | options))
