"""What a preset of `TVClustering` prepares, needs and trains."""

from __future__ import annotations

from typing import Any, Protocol

from torch import Tensor

from tvgnn.estimators.coordinates import coordinate_columns
from tvgnn.estimators.degree_features import are_one_hot_degrees
from tvgnn.estimators.feature_scaling import FeatureScaling
from tvgnn.estimators.inputs import NetworkInputs, estimated_bytes
from tvgnn.estimators.quality.counted_edges import choose_edges, counted_edges
from tvgnn.estimators.quality.memory import quality_bytes
from tvgnn.estimators.quality.preparation import FeaturePreparation
from tvgnn.estimators.quality.recipe import fit_quality
from tvgnn.estimators.restarts import network_config, train_best
from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.graph import Graph
from tvgnn.graph.sparse_matrix import SparseMatrix
from tvgnn.models.node_clustering import NodeClusteringConfig
from tvgnn.training.loop import TrainingResult

__all__ = ["ClusteringNetwork", "Preparation", "expected_bytes", "prepare", "train_network"]

Preparation = FeatureScaling | FeaturePreparation


class ClusteringNetwork(Protocol):
    """What the estimator needs of a trained network."""

    config: Any
    pool: Any

    @property
    def hops(self) -> int:
        """Edges that lie between a node and the farthest one its results depend on."""
        ...

    @property
    def floats_per_node(self) -> int:
        """Numbers that `infer` holds for each node, features left out."""
        ...

    def infer(self, x: Tensor | SparseMatrix, adjacency: Adjacency) -> tuple[Tensor, Tensor]:
        """Return (assignments, embedding)."""
        ...

    def assign(self, embedding: Tensor) -> Tensor:
        """Return the assignments of an embedding that `infer` gave."""
        ...

    def state_dict(self) -> dict[str, Tensor]:
        """Parameters and buffers by name."""
        ...


def prepare(preset: str, graph: Graph, feature_norm: str | None) -> Preparation:
    """Fit the preparation of the features of a graph."""
    if preset != "quality":
        return FeatureScaling.fit(graph.x, feature_norm)
    if feature_norm == "auto" and are_one_hot_degrees(graph):
        feature_norm = "log-degree"
    preparation = FeaturePreparation.fit(graph.x, feature_norm)
    left_out = coordinate_columns(graph, preparation.transform) if feature_norm == "auto" else []
    return FeaturePreparation.fit(graph.x, feature_norm, left_out) if left_out else preparation


def expected_bytes(
    preset: str, graph: Graph, n_clusters: int, parameters: dict[str, Any], memory: str, precision: str
) -> int:
    """Peak of what training will add to the memory of the process.

    Raises:
        ValueError: a value is out of range.

    """
    if preset == "quality":
        return quality_bytes(graph, n_clusters, parameters)
    extra = {"num_layers": parameters["num_layers"] + 1} if preset == "quick" else {}
    config = network_config(graph.num_features, n_clusters, parameters | extra)
    return estimated_bytes(graph, config, memory, precision)


def _eased(graph: Graph, n_clusters: int, parameters: dict[str, Any], free_layers: bool) -> NodeClusteringConfig:
    """Architecture of the further networks of ``preset="quick"``."""
    layers = parameters["num_layers"] + free_layers
    return network_config(graph.num_features, n_clusters, parameters | {"num_layers": layers})


def train_network(
    preset: str,
    graph: Graph,
    x: Any,
    n_clusters: int,
    parameters: dict[str, Any],
    *,
    free_layers: bool,
    random_state: Any,
    device: str,
    verbose: bool,
    backend: str,
    memory: str,
    precision: str,
) -> tuple[Any, NetworkInputs, TrainingResult, dict[str, Any]]:
    """Train on prepared features x (N, F); ``free_layers`` allows another number of layers than the preset's.

    Returns:
        The network, its inputs, the course of training, and what the data chose.

    """
    if preset == "quality":
        of_edges = choose_edges(graph, x)
        graph = counted_edges(graph, of_edges)
        model, result, choices = fit_quality(
            graph,
            x,
            n_clusters,
            parameters,
            random_state=random_state,
            device=device,
            backend=backend,
            verbose=verbose,
        )
        inputs = NetworkInputs.from_graph(graph, x, model.config.hidden_channels, device, for_training=False)
        return model, inputs, result, choices | of_edges
    config = network_config(graph.num_features, n_clusters, parameters)
    inputs = NetworkInputs.from_graph(graph, x, config.hidden_channels, device)
    network, result, choices = train_best(
        inputs,
        config,
        parameters,
        random_state=random_state,
        device=device,
        verbose=verbose,
        eased=_eased(graph, n_clusters, parameters, free_layers) if preset == "quick" else None,
        backend=backend,
        memory=memory,
        precision=precision,
    )
    return network, inputs, result, choices
