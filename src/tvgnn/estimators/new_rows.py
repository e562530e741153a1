"""Rows that come after training: what is stored for equal ones, and how others are attached to the graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
import torch

from tvgnn.estimators.coordinates import coordinate_units
from tvgnn.estimators.quality.counted_edges import counted_edges
from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.column_moments import row_blocks
from tvgnn.graph.feature_tensor import feature_tensor
from tvgnn.graph.graph import Graph
from tvgnn.graph.knn import NeighborSettings, nearest_known_rows
from tvgnn.graph.weight_scale import trained_scale, with_scaled_weights

if TYPE_CHECKING:
    from tvgnn.estimators.clustering import TVClustering

__all__ = ["RowIndex", "adjacency_with_new_rows", "infer_rows", "network_graph"]


_DIGEST = 16  # bytes


def infer_rows(estimator: TVClustering, x: Any, settings: NeighborSettings) -> tuple[np.ndarray, np.ndarray]:
    """Assignments (M, K) and embedding (M, H) of rows x (M, F), which are of the type of the training rows.

    A row that equals a training row gets what is stored for it, others pass through the network beside the training
    graph. Where edges were made of coordinates, which are no features then, so are those of new rows.
    """
    graph, scaling = estimator.graph_, estimator.feature_scaling_
    x = _same_kind(x, graph.x)
    known = _index_of(graph).find(x)
    assignments, embedding = estimator.assignments_[known], estimator.embedding_[known]
    new = np.flatnonzero(known < 0)
    if new.size:
        trained, added = (scaling.transform(part) for part in (graph.x, x[new]))
        near = trained, added
        if places := getattr(scaling, "left_out", []):
            units = coordinate_units(graph, places)
            near = graph.x[:, places] / units, x[new][:, places] / units
            settings = replace(settings, metric="euclidean")
        adjacency = adjacency_with_new_rows(network_graph(estimator, graph), *near, settings)
        both = [trained, added]
        together = sp.vstack(both, "csr") if sp.issparse(x) else np.concatenate(both)
        features = feature_tensor(together, for_training=False)
        device = estimator.device_
        new_assignments, new_embedding = estimator.model_.infer(features.to(device), adjacency.to(device))
        assignments[new] = new_assignments[graph.num_nodes :].cpu().numpy()
        embedding[new] = new_embedding[graph.num_nodes :].cpu().numpy()
    return assignments, embedding


def network_graph(estimator: TVClustering, graph: Graph) -> Graph:
    """What the network reads of a graph: weights of ordinary size, and the edges that count."""
    return counted_edges(with_scaled_weights(graph, trained_scale(estimator)), estimator.choices_)


def _index_of(graph: Graph) -> RowIndex:
    """Index of the rows of a graph, made once and kept as long as the graph."""
    found = _INDICES.get(graph)
    if found is None:
        found = _INDICES[graph] = RowIndex(graph.x)
    return found


class RowIndex:
    """Find rows that equal a training row; among equal training rows the first counts.

    Rows are known by a cryptographic digest, which takes less memory than they do.

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


def _same_kind(x: Any, like: Any) -> Any:
    """Features x (M, F) as CSR or dense, whichever ``like`` is."""
    if sp.issparse(like):
        return sp.csr_array(x)
    return x.toarray() if sp.issparse(x) else x


def _row_keys(x: Any) -> Iterator[bytes]:
    # -0.0 and 0.0 are equal numbers with different bytes: the sum is 0.0 for both
    if sp.issparse(x):
        for a, b in zip(x.indptr[:-1], x.indptr[1:], strict=True):
            data = x.data[a:b] + np.float32(0)
            yield blake2b(x.indices[a:b].astype(np.int64).tobytes() + data.tobytes(), digest_size=_DIGEST).digest()
        return
    for rows in row_blocks(x.shape):
        for row in np.ascontiguousarray(x[rows]) + np.float32(0):
            yield blake2b(row.tobytes(), digest_size=_DIGEST).digest()


_INDICES: WeakKeyDictionary[Graph, RowIndex] = WeakKeyDictionary()


def adjacency_with_new_rows(graph: Graph, x: Any, new: Any, settings: NeighborSettings) -> Adjacency:
    """Attach new rows one-way to their nearest training rows.

    Training nodes see each other as before and no new row, new rows see no new row: what a row gets never depends on
    the other rows passed. A new edge weighs as much as the mean edge of the graph.

    Parameters:
        graph: training graph of N nodes.
        x: (N, F) scaled training features, or coordinates.
        new: (M, F) the same of new rows.
        settings: metric and number of neighbours; whether edges are mutual is a question of training rows.

    Returns:
        Adjacency of N + M nodes, new rows last; not symmetric, for inference only.

    """
    nearest = nearest_known_rows(x, new, settings)
    there = nearest >= 0
    indptr = np.concatenate([graph.indptr, graph.indptr[-1] + np.cumsum(there.sum(axis=1))])
    indices = np.concatenate([graph.indices, nearest[there]])
    values = None
    if graph.is_weighted:
        mean = graph.weights.mean() if graph.weights.size else 1.0
        values = torch.tensor(np.concatenate([graph.weights, np.full(int(there.sum()), mean, np.float32)]))
    return Adjacency.from_csr(torch.tensor(indptr), torch.tensor(indices), values, len(indptr) - 1)
