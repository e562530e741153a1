"""node2vec: node vectors from random walks of the second order."""

from __future__ import annotations

from typing import Any

from tvgnn.baselines._base import at_least
from tvgnn.baselines._word2vec import WalkClusterer

__all__ = ["Node2Vec"]


class Node2Vec(WalkClusterer):
    """Embed by skip-gram with hierarchical softmax on biased random walks, then k-means.

    Grover & Leskovec, KDD 2016, sec. 3.2 and alg. 1. With the default ``p = q = 1``, which the TVGNN paper used, it is
    DeepWalk. The objective is the hierarchical softmax of those settings; node2vec's own paper has negative sampling.
    Needs ``pip install 'tvgnn[baselines]'``. Attributes, errors and other parameters: see
    `WalkClusterer` and `GraphClusterer`.

    Parameters:
        p: return parameter: small values stay close to the start.
        q: in-out parameter: small values move away.

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
        p: float = 1.0,
        q: float = 1.0,
    ) -> None:
        super().__init__(
            n_clusters,
            random_state=random_state,
            dimensions=dimensions,
            walks_per_node=walks_per_node,
            walk_length=walk_length,
            window=window,
            epochs=epochs,
            learning_rate=learning_rate,
        )
        self.p = p
        self.q = q

    def _check(self) -> None:
        super()._check()
        for name in ("p", "q"):
            if not at_least(self, name, 0.0) > 0:
                raise ValueError(f"expected {name} > 0, got {getattr(self, name)}")

    def _bias(self) -> tuple[float, float]:
        return self.p, self.q
