"""Skip-gram on random walks, by gensim."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from tvgnn.baselines._base import EmbeddingClusterer, at_least, seed_from
from tvgnn.baselines._walks import random_walks
from tvgnn.graph.graph import Graph

__all__ = ["WalkClusterer", "word2vec"]

_LONGEST = 10_000  # words of a sentence, gensim's MAX_SENTENCE_LEN: what follows is dropped without a word


class WalkClusterer(EmbeddingClusterer):
    """Base of the methods that read random walks as sentences.

    Parameters:
        n_clusters: K.
        random_state: seeds walks, word vectors and k-means.
        dimensions: width of the embedding.
        walks_per_node: walks that start at each node.
        walk_length: nodes of a walk.
        window: largest distance in a walk of two nodes that count as neighbours.
        epochs: passes over the walks.
        learning_rate: of the first step; it falls linearly.

    Attributes:
        embedding_: (N, dimensions) float32; an isolated node keeps its random initial vector, and so does every node
            where no walk takes a step.

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

    def _check(self) -> None:
        for name in ("dimensions", "walks_per_node", "walk_length", "window", "epochs"):
            at_least(self, name, 1)
        if self.walk_length > _LONGEST:
            raise ValueError(
                f"expected walk_length <= {_LONGEST}, the nodes of a walk that gensim reads, got {self.walk_length}; "
                "raise walks_per_node instead"
            )
        if not at_least(self, "learning_rate", 0.0) > 0:
            raise ValueError(f"expected learning_rate > 0, got {self.learning_rate}")

    def _bias(self) -> tuple[float, float]:
        """Parameters p and q of the walks."""
        return 1.0, 1.0

    def _embed(self, graph: Graph, random: np.random.RandomState) -> npt.NDArray[np.float32]:
        _gensim()  # before the walks, which take a while
        walks = random_walks(graph, self.walks_per_node, self.walk_length, seed_from(random), *self._bias())
        return word2vec(
            walks,
            graph.num_nodes,
            dimensions=self.dimensions,
            window=self.window,
            epochs=self.epochs,
            learning_rate=self.learning_rate,
            seed=seed_from(random),
        )


class _Sentences:
    """Walks as lists of words, made when they are read: all at once would take many times their memory."""

    def __init__(self, walks: npt.NDArray[np.int32]) -> None:
        self.walks = walks

    def __iter__(self) -> Iterator[list[str]]:
        for walk in self.walks:
            yield [str(node) for node in walk.tolist() if node >= 0]


def word2vec(
    walks: npt.NDArray[np.int32],
    num_nodes: int,
    *,
    dimensions: int,
    window: int,
    epochs: int,
    learning_rate: float,
    seed: int,
) -> npt.NDArray[np.float32]:
    """Skip-gram with hierarchical softmax (Mikolov et al., 2013) on one thread, which makes it reproducible.

    Parameters:
        walks: (walks, length) nodes, -1 after the end of a walk; every node occurs.
        num_nodes: N.
        dimensions, window, epochs, learning_rate: see `WalkClusterer`.
        seed: of the initial vectors and window sizes.

    Returns:
        (N, dimensions) float32.

    Raises:
        ImportError: gensim is not installed.

    """
    sentences = _Sentences(walks)
    model = _gensim()(
        vector_size=dimensions,
        window=window,
        min_count=1,
        sg=1,
        hs=1,
        negative=0,
        sample=0,  # nodes are not dropped for being frequent
        alpha=learning_rate,
        epochs=epochs,
        workers=1,
        seed=seed,
    )
    model.build_vocab(sentences)
    # Without a step there is nothing to predict; and on a single node gensim's thread fails, for which it waits forever
    if (walks[:, 1:] >= 0).any():
        model.train(sentences, total_examples=model.corpus_count, epochs=epochs)
    place = [model.wv.key_to_index[str(node)] for node in range(num_nodes)]
    return np.asarray(model.wv.vectors[place], dtype=np.float32)


def _gensim() -> Any:
    try:
        from gensim.models import Word2Vec
    except ImportError as error:
        raise ImportError(
            "expected gensim, which DeepWalk and node2vec train on; install it with: pip install 'tvgnn[baselines]'"
        ) from error
    return Word2Vec
