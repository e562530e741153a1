"""What a careful user would try first, and methods of other packages, beside the recipe."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.utils.extmath import randomized_svd

from benchmarks.baselines import pyagc
from tvgnn import Graph
from tvgnn.baselines import BASELINES
from tvgnn.errors import DataError
from tvgnn.estimators.quality.directions import averaging_matrix
from tvgnn.estimators.quality.preparation import FeaturePreparation

__all__ = ["OTHERS", "check_installed", "labels_of"]

_COMPONENTS = 200


def check_installed(method: str) -> None:
    """Check that a method of another package can run.

    Raises:
        DataError: its package is not installed.

    """
    if method in pyagc.METHODS and not pyagc.AVAILABLE:
        raise DataError(f"expected the package pyagc for {method}, which is not installed; see benchmarks/README.md")


def labels_of(method: str, graph: Graph, n_clusters: int, seed: int) -> np.ndarray:
    """Cluster by one of `OTHERS`: labels (N,) in 0 .. n_clusters - 1.

    Raises:
        DataError: see `check_installed`.

    """
    check_installed(method)
    return OTHERS[method](graph, n_clusters, seed)


def _of_averages(steps: int) -> Callable[[Graph, int, int], np.ndarray]:
    """K-means of rows of length 1: principal components of the recipe's prepared features, averaged over neighbours."""

    def labels(graph: Graph, n_clusters: int, seed: int) -> np.ndarray:
        x = FeaturePreparation.fit(graph.x).transform(graph.x)
        rank = min(_COMPONENTS, *x.shape)
        left, values, _ = randomized_svd(x, rank, random_state=seed)
        z, averaging = left * values, averaging_matrix(graph)
        for _ in range(steps):
            z = (z + averaging @ z) / 2
        rows = z / np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1e-12)
        return KMeans(n_clusters, n_init=20, random_state=seed).fit_predict(rows)

    return labels


def _spectral(graph: Graph, n_clusters: int, seed: int) -> np.ndarray:
    """Normalised cuts of the graph alone."""
    adjacency = sp.csr_matrix(graph.adjacency())
    adjacency.indices, adjacency.indptr = adjacency.indices.astype(np.int32), adjacency.indptr.astype(np.int32)
    model = SpectralClustering(n_clusters, affinity="precomputed", assign_labels="cluster_qr", random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of graphs that are not connected
        return np.asarray(model.fit_predict(adjacency))


def _baseline(name: str) -> Callable[[Graph, int, int], np.ndarray]:
    """One of the project's baselines that look at the graph alone."""

    def labels(graph: Graph, n_clusters: int, seed: int) -> np.ndarray:
        return np.asarray(BASELINES[name](n_clusters, random_state=seed).fit(graph).labels_)

    return labels


OTHERS = {
    "k-means of features": _of_averages(0),
    "averages, k-means": _of_averages(8),
    "spectral clustering": _spectral,
    "regularised spectral": _baseline("spectral"),
    "NetMF": _baseline("netmf"),
    **pyagc.METHODS,
}
