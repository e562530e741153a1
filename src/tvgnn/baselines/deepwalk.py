"""DeepWalk: node vectors from uniform random walks."""

from __future__ import annotations

from tvgnn.baselines._word2vec import WalkClusterer

__all__ = ["DeepWalk"]


class DeepWalk(WalkClusterer):
    """Embed by skip-gram with hierarchical softmax on random walks, then k-means.

    Perozzi et al., KDD 2014, alg. 1 and 2. The settings are the defaults of the library that the TVGNN paper used; what
    gensim does by default where that library says nothing, CBOW and dropping frequent nodes, is not DeepWalk, which is
    defined on skip-gram. Needs ``pip install 'tvgnn[baselines]'``. Parameters, attributes and errors: see
    `WalkClusterer` and `GraphClusterer`.

    """
