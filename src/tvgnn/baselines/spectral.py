"""Spectral clustering of the graph alone."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence
from sklearn.cluster import k_means
from sklearn.manifold import spectral_embedding
from sklearn.utils import check_random_state

from tvgnn.baselines._base import GraphClusterer, at_least, kmeans, numbered_by_size, seed_from
from tvgnn.baselines._linear_algebra import Floats, unit_rows
from tvgnn.errors import TrainingError
from tvgnn.graph.graph import Graph
from tvgnn.graph.leading_eigenvectors import leading_eigenvectors

__all__ = ["SpectralBaseline"]


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
        embedding_: (N, K) float64, the rows given to k-means.

    Raises (in `fit`): see `GraphClusterer`; also TrainingError: the eigensolver does not converge.

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
        k = int(self.n_clusters)
        if self.regularization == 0:
            self.embedding_, labels = _plain(graph, k, seed_from(random))
        else:
            self.embedding_ = _leading_rows(graph.adjacency(), k, float(self.regularization), random)
            labels = kmeans(self.embedding_, k, random)
        self.labels_ = numbered_by_size(labels)


def _leading_rows(adjacency: Any, k: int, regularization: float, random: np.random.RandomState) -> Floats:
    degrees = np.asarray(adjacency.astype(np.float64).sum(axis=1)).ravel()
    tau = regularization * max(degrees.mean(), np.finfo(np.float64).tiny)
    scaling = sp.diags_array(1 / np.sqrt(degrees + tau))
    matrix = sp.csr_array(scaling @ adjacency.astype(np.float64) @ scaling)
    try:
        vectors = leading_eigenvectors(matrix, k, random)
    except ArpackNoConvergence as error:
        raise TrainingError(
            f"expected {k} leading eigenvectors, the eigensolver did not converge ({error}); try another n_clusters or "
            f"a regularization above {regularization:g}"
        ) from None
    return unit_rows(np.where((degrees > 0)[:, None], vectors, 0))


def _plain(graph: Graph, k: int, seed: int) -> tuple[Floats, Any]:
    """What scikit-learn's ``SpectralClustering`` does, which keeps no embedding."""
    if not graph.num_edges or k >= graph.num_nodes:  # no eigenvectors to speak of, or more than Lanczos can find
        labels = np.minimum(np.arange(graph.num_nodes), k - 1)
        return np.eye(k)[labels], labels
    random = check_random_state(seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Graph is not fully connected", UserWarning)
        adjacency = sp.csr_matrix(graph.adjacency().astype(np.float64))
        rows = spectral_embedding(adjacency, n_components=k, random_state=random, drop_first=False)
    return rows, k_means(rows, k, random_state=random, n_init=10)[1]
