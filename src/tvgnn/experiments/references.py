"""What the features alone and the graph alone would give, to say what drives a clustering."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.linalg import LinAlgError
from scipy.sparse.linalg import ArpackError
from sklearn.cluster import KMeans, MiniBatchKMeans
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from tvgnn.baselines import BASELINES
from tvgnn.errors import ClusteringWarning, TVGNNError
from tvgnn.estimators.clustering import TVClustering
from tvgnn.estimators.quality.origin import origin_of_features
from tvgnn.graph.graph import Graph
from tvgnn.metrics import adjusted_rand_index, evaluate, normalized_mutual_info

__all__ = ["are_quick", "references"]

_COMPONENTS = 50  # of the features, where there are more columns
_MANY_ROWS = 20_000  # above them k-means looks at batches
_QUICK = 50_000, 1_000_000  # nodes and edges, up to which both take seconds, a fifth of a fit at most
_BATCH = 4096
_STARTS = 10


def are_quick(estimator: TVClustering) -> bool:
    """Whether `references` of a fitted estimator take no more than a few seconds."""
    graph = estimator.graph_
    return bool(graph.num_nodes <= _QUICK[0] and graph.num_edges <= _QUICK[1])


def references(estimator: TVClustering, random_state: int = 0) -> dict[str, dict[str, Any]]:
    """Cluster the features alone and the graph alone into as many clusters, and compare.

    Parameters:
        estimator: fitted.
        random_state: seeds both.

    Returns:
        ``"features"``: k-means of the features as they were prepared, reduced to 50 components where there are more;
        absent where they were made of the edges, as by ``features="spectral"``. ``"graph"``: regularised spectral
        clustering of the edges; absent without edges, and said to be of nearest neighbours where rows were joined so.
        Each has ``method``, ``agreement`` and ``agreement_ari`` (NMI and ARI with ``labels_``), ``seconds``, and the
        metrics of `tvgnn.metrics.evaluate`; or ``method`` and ``error`` where it fails on the graph. Of neither
        anything where one cluster holds all nodes.

    Example:
        >>> import numpy as np
        >>> x = np.repeat([[0.0, 0], [9, 9]], 30, axis=0) + np.random.default_rng(0).normal(size=(60, 2))
        >>> found = references(TVClustering(2, preset="quality", n_init=1, random_state=0).fit(x))
        >>> {name: one["agreement"] for name, one in found.items()}
        {'features': 1.0, 'graph': 1.0}

    """
    check_is_fitted(estimator)
    graph, k = estimator.graph_, int(estimator.n_clusters)
    if estimator.n_clusters_found_ < 2:  # nothing agrees with that or differs from it
        return {}
    scaled = estimator.feature_scaling_.transform(graph.x)
    methods: dict[str, tuple[str, Callable[[], np.ndarray]]] = {}
    if estimator.features is None and origin_of_features(graph, scaled) is None:
        methods["features"] = "k-means", lambda: _of_features(scaled, k, random_state)
    if graph.num_edges:
        methods["graph"] = f"spectral clustering{_of_neighbours(graph)}", lambda: _of_graph(graph, k, random_state)
    found: dict[str, dict[str, Any]] = {}
    for name, (method, cluster) in methods.items():
        start = time.perf_counter()
        try:
            with warnings.catch_warnings():  # fewer distinct rows than clusters are told of by the fit itself
                warnings.simplefilter("ignore", ConvergenceWarning)
                warnings.simplefilter("ignore", ClusteringWarning)
                labels = cluster()
        except (TVGNNError, ArpackError, LinAlgError, ValueError, MemoryError) as error:  # keep the clustering
            found[name] = {"method": method, "error": str(error) or type(error).__name__}
            continue
        seconds = time.perf_counter() - start
        found[name] = {
            "method": method,
            "agreement": normalized_mutual_info(estimator.labels_, labels),
            "agreement_ari": adjusted_rand_index(estimator.labels_, labels),
            **evaluate(graph.adjacency(), labels, y=graph.y, n_clusters=k),
            "seconds": seconds,
        }
    return found


def _of_neighbours(graph: Graph) -> str:
    """Return what to add to the method where edges join nearest neighbours, whether in the features or in space."""
    notes = graph.report.notes
    near = any(note.startswith("edges: ") and "nearest neighbours of each row" in note for note in notes)
    return " of nearest neighbours" if near and not any(note.startswith("graphs mixed") for note in notes) else ""


def _of_features(x: Any, k: int, random_state: int) -> np.ndarray:
    if min(x.shape) > _COMPONENTS:
        x = TruncatedSVD(_COMPONENTS, random_state=random_state).fit_transform(x)
    elif sp.issparse(x):
        x = x.toarray()
    if x.shape[0] > _MANY_ROWS:
        model = MiniBatchKMeans(k, batch_size=_BATCH, n_init=_STARTS, random_state=random_state)
    else:
        model = KMeans(k, n_init=_STARTS, random_state=random_state)
    return np.asarray(model.fit_predict(x), dtype=np.int64)


def _of_graph(graph: Graph, k: int, random_state: int) -> np.ndarray:
    return np.asarray(BASELINES["spectral"](k, random_state=random_state).fit(graph).labels_)
