"""The contract of every method: ``fit(graph)``, then ``labels_`` and the embedding or assignments they come from."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from tvgnn.errors import ClusteringWarning, GraphError, TrainingError
from tvgnn.graph.graph import Graph
from tvgnn.graph.weight_scale import weight_scale, with_scaled_weights
from tvgnn.training.fitting import fitting

__all__ = ["EmbeddingClusterer", "GraphClusterer", "Labels", "at_least", "numbered_by_size", "seed_from"]

Labels = npt.NDArray[np.int64]


class GraphClusterer(ClusterMixin, BaseEstimator, ABC):
    """Base of the methods that cluster the nodes of a `tvgnn.Graph`.

    A constructor only stores its parameters; `fit` checks them. One ``random_state`` decides every random choice.

    Attributes:
        labels_: (N,) int64, clusters numbered by size, the largest first; equal sizes by their first node.
        n_clusters_found_: clusters in use, at most ``n_clusters``.

    """

    n_clusters: Any
    random_state: Any
    labels_: Labels
    n_clusters_found_: int

    def fit(self, graph: Graph, y: Any = None) -> Self:
        """Cluster the nodes of a graph; where this fails, what an earlier fit left stays whole.

        Weights whose mean is far from 1 are divided by it: several methods add loops of weight 1, beside which others
        would count for nothing or for all.

        Parameters:
            graph: N nodes, with features where the method reads them; several components and isolated nodes are fine.
            y: ignored, labels are never looked at.

        Returns:
            The fitted method.

        Raises:
            GraphError: not a `tvgnn.Graph`, or one without the features that the method reads.
            ValueError: a parameter is out of range, or more clusters than nodes.
            TrainingError: the method gave numbers that are not finite.

        Warns:
            ClusteringWarning: fewer clusters than asked for are in use.

        """
        if not isinstance(graph, Graph):
            raise GraphError(f"expected a tvgnn.Graph, got {type(graph).__name__}; build one with Graph.from_scipy()")
        if at_least(self, "n_clusters", 1) > graph.num_nodes:
            raise ValueError(
                f"expected n_clusters <= number of nodes, got n_clusters={self.n_clusters} and {graph.num_nodes} nodes"
                "; ask for fewer clusters"
            )
        self._check()
        with fitting(self):
            scaled = with_scaled_weights(graph, weight_scale(graph, about_one=True))
            self._fit(scaled, check_random_state(self.random_state))
            self.n_clusters_found_ = int(np.unique(self.labels_).size)
        if self.n_clusters_found_ < self.n_clusters:
            warnings.warn(
                f"asked for {self.n_clusters} clusters, {self.n_clusters_found_} are in use; ask for fewer clusters or "
                "try another random_state",
                ClusteringWarning,
                stacklevel=2,
            )
        return self

    def _check(self) -> None:
        """Raise a `ValueError` where a parameter is out of range."""

    @abstractmethod
    def _fit(self, graph: Graph, random: np.random.RandomState) -> None:
        """Set ``labels_`` and what they come from."""


class EmbeddingClusterer(GraphClusterer):
    """Base of the methods that embed the nodes, after which scikit-learn's k-means clusters them.

    Attributes:
        embedding_: (N, width) floating point.

    """

    embedding_: npt.NDArray[Any]

    def _fit(self, graph: Graph, random: np.random.RandomState) -> None:
        embedding = self._embed(graph, random)
        if not np.isfinite(embedding).all():
            raise TrainingError(
                f"expected a finite embedding, {type(self).__name__} gave NaN or infinity; the features or edge "
                "weights are probably too large: normalise or rescale them"
            )
        self.embedding_ = embedding
        self.labels_ = numbered_by_size(kmeans(embedding, int(self.n_clusters), random))

    @abstractmethod
    def _embed(self, graph: Graph, random: np.random.RandomState) -> npt.NDArray[Any]:
        """Embedding of the nodes (N, width)."""


def kmeans(points: npt.NDArray[Any], n_clusters: int, random: np.random.RandomState) -> Labels:
    """Labels (N,) of the best of ten runs; equal points share a label, so there may be fewer than asked for.

    One thread: with several the order of the sums, and with it the result, would depend on which is first.
    """
    with threadpool_limits(1, user_api="openmp"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Number of distinct clusters", ConvergenceWarning)
        return np.asarray(KMeans(n_clusters, n_init=10, random_state=random).fit_predict(points), dtype=np.int64)


def numbered_by_size(labels: npt.NDArray[Any]) -> Labels:
    """Renumber labels (N,): the largest cluster is 0, equal sizes stand in the order of their first nodes."""
    _, first, codes, sizes = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    number = np.empty(sizes.size, dtype=np.int64)
    number[np.lexsort((first, -sizes))] = np.arange(sizes.size)
    return number[codes.ravel()]


def at_least(estimator: Any, name: str, least: float) -> Any:
    """Return the parameter ``name``, a finite number >= ``least``; whole where ``least`` is an int."""
    value = getattr(estimator, name)
    kind = (int, np.integer) if isinstance(least, int) else (int, float, np.integer, np.floating)
    if isinstance(value, bool) or not isinstance(value, kind) or not least <= value < np.inf:
        what = "an integer" if isinstance(least, int) else "a number"
        raise ValueError(f"expected {name} to be {what} >= {least}, got {value!r}")
    return value


def seed_from(random: np.random.RandomState) -> int:
    """Draw a seed for another generator."""
    return int(random.randint(2**31 - 1))
