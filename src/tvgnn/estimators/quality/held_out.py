"""Do clusters of short texts say anything about words that had no part in finding them?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from tvgnn.estimators.quality.candidates import GRID, QUICK, Smoothing, clustered
from tvgnn.estimators.quality.directions import Directions, neighborhood_directions, principal_components
from tvgnn.estimators.quality.edges import without_edges
from tvgnn.estimators.quality.information import PartitionInformation, edge_information
from tvgnn.estimators.quality.missing import nodes_with_features, projected
from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.graph import Graph

__all__ = ["PARTS", "SAMPLE", "HeldOutWords", "are_short_texts"]

_SHORT = 20  # words; of graphs with longer texts none was seen whose nats prefer clusters of single words
PARTS = 4  # of the vocabulary, each held out in turn
SAMPLE = 20_000  # nodes whose words are looked at
_FAR = (8, 24)  # numbers of GTV steps after which clusters are no longer those of single words
_WORSE = 0.25  # share that edges and held-out words may say less than after those
_BETTER = 1.1  # times as much of held-out words as without edges; over random ones it is up to 1.06


def are_short_texts(x: Any) -> bool:
    """Whether prepared features (N, F) are sparse with fewer than twenty entries a row that has any, on average."""
    return bool(sp.issparse(x) and x.shape[1] >= PARTS and x.nnz < _SHORT * np.count_nonzero(np.diff(x.indptr)))


@dataclass(frozen=True, eq=False)
class _Part:
    """Encoders of the other words, what a partition says of these, and the share of the texts that have any."""

    encoders: list[Directions]
    information: PartitionInformation
    share: float


class HeldOutWords:
    """Cross-validation over the vocabulary: what is found in three quarters of the words is judged by the last quarter.

    The fewer words a text has, the more do clusters explain that stand for one frequent word each, of the words that
    they were found in. Topics are known by words that come together, so they explain others as well. Parts of which at
    most K texts have any word are left out; without any part, nothing is contradicted.

    Parameters:
        graph: N nodes.
        x: (N, F) prepared features, CSR.
        n_clusters: K.
        averaging: see `averaging_adjacency`, a node counting once.
        width, loop_share: see `neighborhood_directions`.
        edge_share: see `independent_share`.
        backend: see `select_backend`.

    """

    def __init__(
        self,
        graph: Graph,
        x: Any,
        n_clusters: int,
        averaging: Adjacency,
        *,
        width: int,
        loop_share: float,
        edge_share: float,
        backend: str = "auto",
    ) -> None:
        self._graph, self._x, self._n_clusters, self._averaging = graph, x, n_clusters, averaging
        self._options: dict[str, Any] = {"width": width, "loop_share": loop_share, "edge_share": edge_share}
        self._adjacency, self._edge_share, self._backend = graph.adjacency(), edge_share, backend
        random = np.random.RandomState(0)  # of its own, as this is no part of the runs
        self._far: dict[int, float] = {}
        self._known = nodes_with_features(x)
        nodes = None if self._known is None else np.flatnonzero(self._known)
        number = x.shape[0] if nodes is None else len(nodes)
        if number > SAMPLE:
            nodes = random.choice(number if nodes is None else nodes, SAMPLE, replace=False)
        words = sp.csc_array(x if nodes is None else x[nodes])
        part_of = random.permutation(np.arange(x.shape[1]) % PARTS)
        self._parts = []
        for part in range(PARTS):
            others = part_of != part
            held_out = sp.csr_array(words[:, ~others])
            # Whether a text has any of them says how long it is, and how it was scaled
            some = np.flatnonzero(abs(held_out).sum(1) > 0)
            if len(some) <= n_clusters:
                continue
            axes, reduced = principal_components(sp.csr_array(words[:, others]), random)
            basis = np.zeros((x.shape[1], axes.shape[1]), np.float32)
            basis[others] = axes
            encoders = neighborhood_directions(graph, x, basis, reduced, width, nodes, loop_share, self._known)
            held_out = principal_components(normalize(held_out[some]), random)[1]
            seen = some if nodes is None else nodes[some]
            information = PartitionInformation(self._adjacency, held_out, seen, number=number)
            self._parts.append(_Part(encoders, information, len(some) / words.shape[0]))

    def contradict(self, encoder: int, averaging: Adjacency, steps: int) -> bool:
        """Whether edges and held-out words say clearly less after so many steps than after many.

        Parameters:
            encoder: its place by rising rank.
            averaging: of those steps, see `averaging_adjacency`.
            steps: number of GTV steps.

        """
        if not self._parts:
            return False
        if encoder not in self._far:
            self._far[encoder] = self._nats(encoder, self._averaging, _FAR).sum(1).max()
        return bool(self._nats(encoder, averaging, (steps,)).sum() < (1 - _WORSE) * self._far[encoder])

    def best_steps(self, encoder: int) -> int:
        """Number of GTV steps after which edges and held-out words say most."""
        return GRID[int(self._nats(encoder, self._averaging, GRID).sum(1).argmax())]

    def favor_edges(self) -> bool:
        """Whether partitions over edges say clearly more of held-out words than partitions of the nodes alone."""
        nodes = without_edges(self._graph)
        averaging = Adjacency.from_graph(nodes).to(self._averaging.indices.device)
        alone = HeldOutWords(nodes, self._x, self._n_clusters, averaging, backend=self._backend, **self._options)
        return self._most_of_words((GRID[1], *_FAR)) > _BETTER * alone._most_of_words((0,))

    def _most_of_words(self, numbers: tuple[int, ...]) -> float:
        encoders = range(max((len(part.encoders) for part in self._parts), default=0))
        return max(
            (float(self._nats(encoder, self._averaging, numbers)[:, 1].max()) for encoder in encoders), default=0.0
        )

    def _nats(self, encoder: int, averaging: Adjacency, numbers: tuple[int, ...]) -> np.ndarray:
        """Nats of all edges and of all words, by held-out ones, after each number of steps, (len(numbers), 2)."""
        found = np.zeros((len(numbers), 2))
        for part in self._parts:
            one = part.encoders[min(encoder, len(part.encoders) - 1)]
            on: dict[str, Any] = {"device": averaging.indices.device, "backend": self._backend}
            seen = projected(self._x, one, self._known, averaging, **on)
            path = Smoothing(seen, one.ratios, averaging, self._backend)
            for row, steps in enumerate(numbers):
                path.go_on(steps)
                embedding = path.embedding(unit_rows=True)[2]
                random = np.random.RandomState(0)  # the same nodes and starts, so that differences have less noise
                labels = clustered(embedding, self._n_clusters, random, **QUICK)[1]
                edges = self._edge_share * edge_information(self._adjacency, labels, self._n_clusters)
                words = part.share * part.information.feature_information(labels, self._n_clusters)
                found[row] += edges / len(self._parts), words
        return found
