"""Spectral clustering of the graph alone."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import eigsh
from sklearn.cluster import SpectralClustering

from tvgnn.baselines._base import GraphClusterer, at_least, kmeans, numbered_by_size, seed_from
from tvgnn.baselines._linear_algebra import Floats, unit_rows
from tvgnn.graph.graph import Graph

__all__ = ["SpectralBaseline"]

_DENSE_LIMIT = 256  # below this a dense eigensolver is faster than Lanczos and always converges


class SpectralBaseline(GraphClusterer):
    """Spectral clustering, regularised so that small components do not use up the clusters.

    Qin & Rohe, NIPS 2013, sec. 2, RSC: the K leading eigenvectors of ``D_tau^-1/2 A D_tau^-1/2`` with
    ``D_tau = D + tau I``, rows scaled to length 1, then k-means. ``tau`` is ``regularization`` times the mean degree.
    With ``tau = 0`` every component, however small, has the leading eigenvalue 1, and on Cora (78 components, 7
    clusters) nearly all nodes fall into one cluster. Isolated nodes have zero rows.

    Parameters:
        n_clusters: K.
        random_state: seeds the eigensolver and k-means.
        regularization: tau in mean degrees, 1 as in their sec. 2; 0 runs scikit-learn's ``SpectralClustering`` as it
            is (von Luxburg, 2007).

    Attributes:
        embedding_: (N, K) float64, the rows given to k-means; with ``regularization`` above 0 only.

    Raises (in `fit`): see `GraphClusterer`.

    Example:
        >>> cliques = sp.block_diag([np.ones((4, 4)), np.ones((5, 5))])
        >>> SpectralBaseline(2, random_state=0).fit(Graph.from_scipy(cliques)).labels_.tolist()
        [1, 1, 1, 1, 0, 0, 0, 0, 0]

    """

    def __init__(self, n_clusters: int = 8, *, random_state: Any = None, regularization: float = 1.0) -> None:
        self.n_clusters = n_clusters
        self.random_state = random_state
        self.regularization = regularization

    def _check(self) -> None:
        at_least(self, "regularization", 0.0)

    def _fit(self, graph: Graph, random: np.random.RandomState) -> None:
        if self.regularization == 0:
            self.labels_ = numbered_by_size(_plain(graph, int(self.n_clusters), seed_from(random)))
            return
        self.embedding_ = _leading_rows(graph.adjacency(), int(self.n_clusters), float(self.regularization), random)
        self.labels_ = numbered_by_size(kmeans(self.embedding_, int(self.n_clusters), random))


def _leading_rows(adjacency: Any, k: int, regularization: float, random: np.random.RandomState) -> Floats:
    degrees = np.asarray(adjacency.astype(np.float64).sum(axis=1)).ravel()
    tau = regularization * max(degrees.mean(), np.finfo(np.float64).tiny)
    scaling = sp.diags_array(1 / np.sqrt(degrees + tau))
    matrix = sp.csr_array(scaling @ adjacency.astype(np.float64) @ scaling)
    nodes = degrees.size
    if nodes <= max(_DENSE_LIMIT, 2 * k + 1):
        vectors = np.linalg.eigh(matrix.toarray())[1][:, -k:]
    else:
        vectors = eigsh(matrix, k=k, which="LA", v0=random.standard_normal(nodes))[1]
    return unit_rows(np.where((degrees > 0)[:, None], vectors, 0))


def _plain(graph: Graph, k: int, seed: int) -> Any:
    if not graph.num_edges or k >= graph.num_nodes:  # no eigenvectors to speak of, or more than Lanczos can find
        return np.minimum(np.arange(graph.num_nodes), k - 1)
    method = SpectralClustering(k, affinity="precomputed", assign_labels="kmeans", random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Graph is not fully connected", UserWarning)
        return method.fit_predict(sp.csr_matrix(graph.adjacency().astype(np.float64)))
