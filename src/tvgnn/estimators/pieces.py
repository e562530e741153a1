"""What a trained network says of a graph, within so much memory: whole, or some nodes and all they read at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from torch import Tensor

from tvgnn.errors import MemoryLimitError
from tvgnn.estimators.inputs import NetworkInputs
from tvgnn.graph.column_moments import row_blocks
from tvgnn.graph.feature_tensor import feature_tensor, nonzeros
from tvgnn.graph.neighborhoods import Neighborhood, Neighborhoods
from tvgnn.models.missing_features import farthest_lender, rows_with_features
from tvgnn.training.memory import returned_buffers
from tvgnn.training.memory_estimate import readable

if TYPE_CHECKING:
    from tvgnn.estimators.clustering import TVClustering
    from tvgnn.graph.adjacency import Adjacency
    from tvgnn.graph.graph import Graph

__all__ = ["Wanted", "infer_graph", "inference_bytes"]

Wanted = Literal["labels", "embedding"]

_FLOAT = 4
_SLACK, _LEAST = 1.15, 32 * 2**20  # the allocator's, and bytes of what is too small to list; fitted to peaks
_PER_ENTRY = 40  # bytes of a directed edge: itself, its weight, and its row, places and distance as int64
_PER_NODE = 24  # bytes of the order, places and marks of `Neighborhoods`
_MOST_READ = 20  # times that pieces may read a node, on average, before they count as too slow
_SPARE = 0.9  # of the room that the next piece is made for, as neighbourhoods differ


def infer_graph(estimator: TVClustering, graph: Graph, wanted: Wanted, limit: int | None) -> np.ndarray:
    """Run the network on a graph: whole, or in pieces where that would take more memory than there may be.

    Parameters:
        estimator: fitted.
        graph: N nodes as the network reads them (`network_graph`), but for the features, which are not scaled yet.
        wanted: labels or the embedding.
        limit: bytes that may be added to the process, None for any number.

    Returns:
        (N,) int64, or (N, hidden_channels) float32. Pieces differ from the whole by rounding.

    Raises:
        MemoryLimitError: pieces that fit would read each node too often.

    """
    columns = 2 if wanted == "labels" else estimator.model_.config.hidden_channels
    results = _FLOAT * columns * graph.num_nodes
    if limit is None or results + inference_bytes(estimator, graph, graph.num_nodes, graph.indices.size) <= limit:
        width = estimator.model_.config.hidden_channels
        scaled = estimator.feature_scaling_.transform(graph.x)
        inputs = NetworkInputs.from_graph(graph, scaled, width, estimator.device_, for_training=False)
        return inputs.given_order(_read(wanted, *estimator.model_.infer(inputs.features, inputs.adjacency)))
    neighborhoods = Neighborhoods(graph, _hops(estimator, graph))
    if wanted == "labels":
        found = np.empty(graph.num_nodes, np.int64)
    else:
        found = np.empty((graph.num_nodes, columns), np.float32)
    room = limit - results - _PER_NODE * graph.num_nodes
    for first, last, part in _pieces(estimator, graph, neighborhoods, room, limit):
        with returned_buffers():
            adjacency = neighborhoods.adjacency(part)
            rows = _run(estimator, _scaled(estimator, graph.x, part.nodes), adjacency, wanted)[part.asked]
            found[neighborhoods.order[first:last]] = rows.cpu().numpy()
            del adjacency, rows
    return found


def _run(estimator: TVClustering, scaled: Any, adjacency: Adjacency, wanted: Wanted) -> Tensor:
    features = feature_tensor(scaled, for_training=False).to(estimator.device_)
    return _read(wanted, *estimator.model_.infer(features, adjacency.to(estimator.device_)))


def inference_bytes(estimator: TVClustering, graph: Graph, nodes: int, entries: int) -> int:
    """Estimated peak of what the network adds to the memory of the process, its results left out.

    Parameters:
        estimator: fitted.
        graph: whose rows of features are like those that are read.
        nodes: number of nodes that are read.
        entries: their directed edges.

    """
    stored = nonzeros(graph.x)
    features = graph.num_features if stored is None else 3 * stored / max(graph.num_nodes, 1)
    # While they are scaled and put into another order there are up to three copies of the features
    row = max(3 * features, features + estimator.model_.floats_per_node + 4 * estimator.n_clusters)
    return _LEAST + int(_SLACK * (nodes * row * _FLOAT + _PER_ENTRY * entries))


def _pieces(
    estimator: TVClustering, graph: Graph, neighborhoods: Neighborhoods, room: int, limit: int
) -> Iterator[tuple[int, int, Neighborhood]]:
    """Ranges of `Neighborhoods.order` and what they read, each as large as there is room for."""
    nodes = graph.num_nodes
    whole = inference_bytes(estimator, graph, nodes, graph.indices.size)
    first = read = 0
    size = largest = max(1, nodes * max(room, 0) // whole)
    while first < nodes:
        last = min(first + size, nodes)
        part = neighborhoods.around(first, last)
        need = inference_bytes(estimator, graph, len(part.nodes), part.entries)
        too_much = need > room
        if not too_much:
            read += len(part.nodes)
        if (too_much and size == 1) or read > _MOST_READ * last:
            raise MemoryLimitError(
                f"expected a graph that can be read within max_memory, {readable(limit)}, but whole these {nodes} "
                f"nodes are estimated to take {readable(whole)}, and what lies {neighborhoods.hops} edges around a "
                "part of them is too much, too; raise it with set_params(max_memory=...)"
            )
        if too_much:
            size = max(1, (last - first) // 2)
            continue
        yield first, last, part
        first, size = last, max(1, min(largest, int(_SPARE * size * room / need)))


def _hops(estimator: TVClustering, graph: Graph) -> int:
    """Edges to the farthest node that any result depends on."""
    model = estimator.model_
    if not getattr(model.config, "propagate_missing", False) or not model.hops:
        return model.hops
    blocks = row_blocks(graph.x.shape)
    scaled = (feature_tensor(_scaled(estimator, graph.x, rows), for_training=False) for rows in blocks)
    known = [rows_with_features(rows).numpy() for rows in scaled]
    return model.hops + farthest_lender(np.concatenate(known), graph.adjacency())


def _scaled(estimator: TVClustering, x: Any, rows: Any) -> Any:
    try:
        return estimator.feature_scaling_.transform(x[rows])
    except ValueError:
        estimator.feature_scaling_.transform(x)  # names a row by its number among all
        raise


def _read(wanted: Wanted, assignments: Tensor, embedding: Tensor) -> Tensor:
    return assignments.argmax(1) if wanted == "labels" else embedding
