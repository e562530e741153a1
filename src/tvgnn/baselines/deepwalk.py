"""DeepWalk: node vectors from uniform random walks."""

from __future__ import annotations

from typing import Any

from tvgnn.baselines._word2vec import WalkClusterer

__all__ = ["DeepWalk"]


class DeepWalk(WalkClusterer):
    """Embed by skip-gram with hierarchical softmax on random walks, then k-means.

    Perozzi et al., KDD 2014, alg. 1 and 2. The settings are the defaults of the library that the TVGNN paper used; what
    gensim does by default where that library says nothing, CBOW and dropping frequent nodes, is not DeepWalk, which is
    defined on skip-gram. Needs ``pip install 'tvgnn[baselines]'``. Parameters, attributes and errors: see
    `WalkClusterer` and `GraphClusterer`.

    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        random_state: Any = None,
        dimensions: int = 128,
        walks_per_node: int = 10,
        walk_length: int = 80,
        window: int = 5,
        epochs: int = 1,
        learning_rate: float = 0.05,
    ) -> None:
        self.n_clusters = n_clusters
        self.random_state = random_state
        self.dimensions = dimensions
        self.walks_per_node = walks_per_node
        self.walk_length = walk_length
        self.window = window
        self.epochs = epochs
        self.learning_rate = learning_rate
