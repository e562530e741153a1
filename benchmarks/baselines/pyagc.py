"""Two methods of PyAGC, where it is installed, by the settings that its benchmark publishes for Cora.

They are the fastest trained encoder of that benchmark and the one that agrees best with the classes of Cora. Both train
for a fixed number of epochs; then k-means clusters the rows, divided by their length.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.cluster import KMeans
from torch.nn.functional import normalize

from tvgnn import Graph

__all__ = ["AVAILABLE", "METHODS"]

AVAILABLE = importlib.util.find_spec("pyagc") is not None


def _cca_ssg(graph: Graph, n_clusters: int, seed: int) -> np.ndarray:
    def model(features: int) -> Any:
        from pyagc.encoders import create_tuned_gnn
        from pyagc.models import CCASSG
        from pyagc.transforms import GSSLTransform

        encoder = create_tuned_gnn("gcn", features, 512, 2)
        return CCASSG(encoder, GSSLTransform(0.1, 0.4), GSSLTransform(0.1, 0.4), lam=1e-3)

    return _labels(model, graph, n_clusters, seed, epochs=50, weight_decay=0.0)


def _ns4gc(graph: Graph, n_clusters: int, seed: int) -> np.ndarray:
    def model(features: int) -> Any:
        from pyagc.encoders import create_tuned_gnn
        from pyagc.models import NS4GC
        from pyagc.transforms import GSSLTransform

        encoder = create_tuned_gnn("gcn", features, 256, 2, out_channels=64)
        return NS4GC(encoder, GSSLTransform(0.2, 0.3), GSSLTransform(0.2, 0.3), s=0.6, tau=0.1, lam=1.0, gam=1.0)

    return _labels(model, graph, n_clusters, seed, epochs=200, weight_decay=1e-5)


def _labels(
    build: Callable[[int], Any], graph: Graph, n_clusters: int, seed: int, *, epochs: int, weight_decay: float
) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecations inside the peer's imports
        torch.manual_seed(seed)
        data = _data(graph)
        model = build(graph.num_features)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=weight_decay)
        model.train()
        for _ in range(epochs):
            optimizer.zero_grad()
            model.loss(data.x, data.edge_index).total.backward()
            optimizer.step()
        model.eval()
        rows = normalize(model.infer_full(data), dim=1).numpy()
    return KMeans(n_clusters, n_init=10, random_state=seed).fit_predict(rows)


def _data(graph: Graph) -> Any:
    from torch_geometric.data import Data

    adjacency = graph.adjacency().tocoo()
    edges = np.stack([adjacency.row, adjacency.col]).astype(np.int64)
    x = graph.x.toarray() if sp.issparse(graph.x) else graph.x
    return Data(x=torch.tensor(x, dtype=torch.float32), edge_index=torch.tensor(edges))


METHODS = {"PyAGC CCA-SSG": _cca_ssg, "PyAGC NS4GC": _ns4gc}
