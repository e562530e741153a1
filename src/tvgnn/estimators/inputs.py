"""From what a caller passes to tensors, and from new rows to a graph that the trained model can read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_array
from torch import Tensor

from tvgnn.estimators.feature_scaling import FeatureScaling
from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.feature_tensor import feature_tensor, nonzeros, require_features
from tvgnn.graph.graph import Graph
from tvgnn.graph.locality import relabel_by_locality
from tvgnn.graph.sparse_matrix import SparseMatrix
from tvgnn.graph.validation import as_array, torch_to_scipy
from tvgnn.models.node_clustering import NodeClusteringConfig
from tvgnn.training.memory_estimate import training_bytes

__all__ = [
    "NetworkInputs",
    "RowIndex",
    "adjacency_with_new_rows",
    "as_graph",
    "same_kind",
]


@dataclass(frozen=True, eq=False)
class NetworkInputs:
    """What the network reads, its nodes in the order in which it is fastest.

    Attributes:
        features: (N, F) dense or `SparseMatrix`.
        adjacency: of N nodes.
        places: (N,) where each node of the caller's graph stands, or None where its order was kept.

    """

    features: Tensor | SparseMatrix
    adjacency: Adjacency
    places: Tensor | None

    @classmethod
    def from_graph(cls, graph: Graph, x: Any, width: int, device: str) -> Self:
        """Take a graph and its scaled features for layers of ``width`` columns."""
        adjacency = Adjacency.from_graph(graph)
        relabelled = relabel_by_locality(adjacency, width)
        if relabelled is None:
            return cls(feature_tensor(x).to(device), adjacency.to(device), None)
        features = feature_tensor(x[relabelled.nodes.numpy()])
        return cls(features.to(device), relabelled.adjacency.to(device), relabelled.places.to(device))

    def given_order(self, rows: Tensor) -> np.ndarray:
        """Rows (N, width) of a result in the order of the caller's graph."""
        return (rows if self.places is None else rows[self.places]).cpu().numpy()


def as_graph(X: Any, adjacency: Any, *, n_neighbors: int, norm: str | None) -> Graph:
    """Graph on which `TVClustering.fit` trains for X and ``adjacency``, built once where many fits share it.

    Raises:
        ValueError: X and adjacency do not fit.
        GraphError: X holds no features or is not valid.

    """
    if isinstance(X, Graph):
        if adjacency is not None:
            raise ValueError("expected the adjacency inside the Graph, got adjacency too; pass one of them")
        require_features(X)
        return X
    x = check_array(detached(X), accept_sparse="csr", dtype=[np.float32, np.float64])
    if adjacency is not None:
        return Graph.from_scipy(adjacency, x=x)
    nodes = Graph.from_edge_index(np.empty((2, 0), np.int64), x=x)
    scaled = FeatureScaling.fit(nodes.x, norm).transform(nodes.x)
    return Graph.from_features(scaled, n_neighbors).with_features(nodes.x)


def estimated_bytes(graph: Graph, config: NodeClusteringConfig, memory: str, precision: str) -> int:
    """See `tvgnn.training.memory_estimate.training_bytes`."""
    return training_bytes(
        config,
        graph.num_nodes,
        graph.indices.size,
        nonzeros(graph.x),
        weighted=graph.is_weighted,
        memory=memory,
        precision=precision,
    )


class RowIndex:
    """Find rows that equal a training row; among equal training rows the first counts.

    Parameters:
        x: (N, F) float32, dense or CSR without stored zeros.

    """

    def __init__(self, x: Any) -> None:
        self._first: dict[bytes, int] = {}
        for row, key in enumerate(_row_keys(x)):
            self._first.setdefault(key, row)

    def find(self, x: Any) -> np.ndarray:
        """Index of the equal training row for each row of x (M, F), -1 where there is none; (M,) int64."""
        return np.array([self._first.get(key, -1) for key in _row_keys(x)], dtype=np.int64)


def same_kind(x: Any, like: Any) -> Any:
    """Features x (M, F) as CSR or dense, whichever ``like`` is."""
    if sp.issparse(like):
        return sp.csr_array(x)
    return x.toarray() if sp.issparse(x) else x


def _row_keys(x: Any) -> list[bytes]:
    if sp.issparse(x):
        data = x.data + np.float32(0)  # -0.0 and 0.0 are equal numbers with different bytes
        return [
            x.indices[a:b].astype(np.int64).tobytes() + data[a:b].tobytes()
            for a, b in zip(x.indptr[:-1], x.indptr[1:], strict=True)
        ]
    return [row.tobytes() for row in np.ascontiguousarray(x) + np.float32(0)]


def adjacency_with_new_rows(graph: Graph, x: Any, new: Any, n_neighbors: int) -> Adjacency:
    """Attach new rows one-way to their nearest training rows.

    Training nodes see each other as before and no new row, new rows see no new row: what a row gets never depends on
    the other rows passed. A new edge weighs as much as the mean edge of the graph.

    Parameters:
        graph: training graph of N nodes.
        x: (N, F) scaled training features.
        new: (M, F) scaled new rows.
        n_neighbors: neighbours of a new row, at most N.

    Returns:
        Adjacency of N + M nodes, new rows last; not symmetric, for inference only.

    """
    k = min(n_neighbors, graph.num_nodes)
    nearest = NearestNeighbors(n_neighbors=k).fit(x).kneighbors(new, return_distance=False)
    indptr = np.concatenate([graph.indptr, graph.indptr[-1] + k * np.arange(1, new.shape[0] + 1)])
    indices = np.concatenate([graph.indices, nearest.ravel()])
    values = None
    if graph.is_weighted:
        mean = graph.weights.mean() if graph.weights.size else 1.0
        values = torch.tensor(np.concatenate([graph.weights, np.full(nearest.size, mean, np.float32)]))
    return Adjacency.from_csr(torch.tensor(indptr), torch.tensor(indices), values, len(indptr) - 1)


def detached(X: Any) -> Any:
    """X, or where it is a tensor of any device, dtype and layout its values as an array or sparse matrix."""
    if not isinstance(X, Tensor):
        return X
    return as_array(X, "X") if X.layout == torch.strided else torch_to_scipy(X)
