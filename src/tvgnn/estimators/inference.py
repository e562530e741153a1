"""What a trained network says: the results that `TVClustering` keeps of its graph, and those of other input."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import nn

from tvgnn.errors import ClusteringWarning, GraphError
from tvgnn.estimators.filling import Filled, fill_empty_clusters
from tvgnn.estimators.inputs import NetworkInputs, checked_rows, neighbor_settings, refuse_other_graphs
from tvgnn.estimators.new_rows import infer_rows, network_graph
from tvgnn.estimators.numbering import largest_first
from tvgnn.estimators.pieces import Wanted, infer_graph
from tvgnn.graph.feature_tensor import with_chosen_features
from tvgnn.graph.graph import Graph
from tvgnn.losses import asymmetric_norm_loss, total_variation_loss
from tvgnn.training.fitting import default_torch
from tvgnn.training.memory_estimate import parse_bytes
from tvgnn.wording import setting

if TYPE_CHECKING:
    from tvgnn.estimators.clustering import TVClustering
    from tvgnn.training.loop import TrainingResult

__all__ = ["infer", "store_results"]


_UNKNOWN = 0.01  # share of the nodes of which nothing is known, above which that is said
_UNSHARED = 0.05  # signal-to-noise ratio of neighbours' features below which they hardly agree


def store_results(estimator: TVClustering, inputs: NetworkInputs, result: TrainingResult) -> None:
    """Set the fitted attributes of an estimator whose ``model_`` is trained.

    Clusters are renumbered by size inside the last linear layer, so that every later result carries the same numbers.

    Warns:
        ClusteringWarning: fewer clusters than asked for are in use, the edges were left aside, or nothing is known of
            some nodes.

    """
    model = estimator.model_
    assignments, embedding = model.infer(inputs.features, inputs.adjacency)
    labels = inputs.given_order(assignments).argmax(1)
    filled = Filled()
    if estimator.empty_clusters == "split" and np.unique(labels).size < estimator.n_clusters:
        filled = fill_empty_clusters(model, embedding)
        labels = inputs.given_order(model.assign(embedding)).argmax(1)
    order = torch.tensor(largest_first(labels, estimator.n_clusters), device=estimator.device_)
    last = cast(nn.Linear, model.pool.mlp[-1])
    with torch.no_grad():
        last.weight.copy_(last.weight[order])
        last.bias.copy_(last.bias[order])
    assignments = model.assign(embedding)
    backend = estimator.backend
    estimator.loss_terms_ = {
        "total_variation": total_variation_loss(assignments, inputs.adjacency, backend=backend).item(),
        "balance": asymmetric_norm_loss(assignments, rho=estimator.rho, backend=backend).item(),
    }
    estimator.assignments_, estimator.embedding_ = inputs.given_order(assignments), inputs.given_order(embedding)
    estimator.labels_ = estimator.assignments_.argmax(1).astype(np.int64)
    estimator.n_clusters_found_ = int(np.unique(estimator.labels_).size)
    estimator.loss_, estimator.loss_history_ = result.loss, result.loss_history
    estimator.n_iter_, estimator.converged_ = result.n_iter, result.converged
    estimator.ms_per_epoch_ = 1000 * result.seconds / max(result.n_iter, 1)  # 0: k-means is left as it is
    if estimator.preset == "quality":
        estimator.choices_["coordinates"] = getattr(estimator.feature_scaling_, "left_out", [])
    origin = estimator.choices_.get("features_made_of")
    if origin == "identity":
        found = (
            "no two nodes have a feature in common, so clusters are of the edges alone; give features that nodes "
            f"share, or a graph without any and {setting('features', 'spectral')}, which takes less time"
        )
        warnings.warn(found, ClusteringWarning, stacklevel=4)
    if estimator.choices_.get("over_edges") is False and origin != "degrees":
        found = f"edges join nodes as good as at random, so they were left aside; {_by_edges()}"
        warnings.warn(found, ClusteringWarning, stacklevel=4)
    unknown, nodes = estimator.choices_.get("nothing_known", 0), estimator.labels_.size
    if unknown > _UNKNOWN * nodes:
        aside = estimator.choices_.get("over_edges") is False
        why = (
            "no features, and no edges that lend them any" if aside else "neither features nor a way to any over edges"
        )
        found = (
            f"{unknown} of {nodes} nodes have {why}; all are in the cluster of the mean node, which says nothing about "
            "them; leave them out, or add features or edges"
        )
        warnings.warn(found, ClusteringWarning, stacklevel=4)
    if filled.clusters:
        estimator.choices_["filled_clusters"] = filled.clusters
        found = (
            f"{filled.clusters} of the {estimator.n_clusters} clusters asked for were empty and were made by splitting "
            f"others, as {setting('empty_clusters', 'split')} says: these borders are of k-means, and the data may "
            "have fewer"
        )
        if filled.moved:
            found += f"; nodes at the borders of other clusters changed theirs, {filled.moved} times in all"
        warnings.warn(found, ClusteringWarning, stacklevel=4)
    if estimator.n_clusters_found_ < estimator.n_clusters:
        remedy = (
            "ask for fewer" if estimator.preset == "quality" else f"try the preset quality, or more {setting('n_init')}"
        )
        if estimator.empty_clusters == "keep":
            remedy += f", or {setting('empty_clusters', 'split')}, which splits others"
        else:
            remedy += "; nodes that look the same to the network cannot be split"
        batch_size = estimator.batch_size
        if batch_size is not None and batch_size < estimator.assignments_.shape[0]:
            remedy += f", or take batches of more than {batch_size} nodes"
        agreement = estimator.choices_.get("neighbor_agreement")
        if agreement is not None and agreement < _UNSHARED:
            remedy += f". Neighbours hardly agree in their features: {_by_edges()}"
        found = f"{estimator.n_clusters_found_} of the {estimator.n_clusters} clusters asked for are in use; {remedy}"
        warnings.warn(found, ClusteringWarning, stacklevel=4)


@default_torch()
def infer(estimator: TVClustering, X: Any, wanted: Wanted) -> np.ndarray:
    """Labels (M,) int64 or embedding (M, hidden_channels) of rows or of a graph.

    Raises:
        GraphError: a graph of other features, or a graph or list of another kind.
        ValueError: rows where features are computed from graphs.
        MemoryLimitError: a graph does not fit into the estimator's ``max_memory``, not even by pieces.

    """
    check_is_fitted(estimator)
    trained = estimator.graph_
    if isinstance(X, Graph):
        graph = with_chosen_features(X, estimator.features, trained)
        if graph.num_features != estimator.n_features_in_:
            raise GraphError(f"expected a graph with {estimator.n_features_in_} features, got {graph.num_features}")
        return infer_graph(estimator, network_graph(estimator, graph), wanted, parse_bytes(estimator.max_memory))
    refuse_other_graphs(X)
    if estimator.features is not None:
        raise ValueError(f"expected a tvgnn.Graph, as features={estimator.features!r} are computed from one, got rows")
    x = checked_rows(estimator, X, reset=False)
    rows = Graph.from_edge_index(np.empty((2, 0), np.int64), x=x, dtype=trained.x.dtype).x
    assignments, embedding = infer_rows(estimator, rows, neighbor_settings(estimator.get_params(deep=False)))
    return assignments.argmax(1).astype(np.int64) if wanted == "labels" else embedding


def _by_edges() -> str:
    return f"for clusters of the edges, leave the features out and pass {setting('features', 'spectral')}"
