"""``preset="quality"``: closed-form encoder, smoothing chosen by the data, k-means, refinement by the paper's loss."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import torch
from sklearn.utils import check_random_state

from tvgnn.estimators.quality.candidates import best_candidate
from tvgnn.estimators.quality.directions import mean_edge_weight, neighborhood_directions
from tvgnn.estimators.quality.information import PartitionInformation
from tvgnn.estimators.quality.refinement import refine, soft_kmeans
from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.graph import Graph
from tvgnn.models.smoothed_clustering import (
    SmoothedClusteringConfig,
    SmoothedClusteringModel,
    averaging_adjacency,
)
from tvgnn.training.loop import TrainingResult

__all__ = ["fit_quality", "quality_bytes"]


def fit_quality(
    graph: Graph,
    x: Any,
    n_clusters: int,
    parameters: dict[str, Any],
    *,
    random_state: Any,
    device: str,
    backend: str,
) -> tuple[SmoothedClusteringModel, TrainingResult, dict[str, Any]]:
    """Fit the recipe; no label is read.

    Parameters:
        graph: N nodes.
        x: (N, F) prepared features, dense or CSR.
        n_clusters: K.
        parameters: the preset's, resolved.
        random_state: seeds the SVD and k-means.
        device: where smoothing and refinement run.
        backend: see `select_backend`.

    Returns:
        The network, the course of the refinement, and what the data chose, for the record.

    """
    start = time.perf_counter()
    random = check_random_state(random_state)
    directions = neighborhood_directions(graph, x, parameters["hidden_channels"], random)
    information = PartitionInformation(graph.adjacency(), directions.reduced)
    adjacency = Adjacency.from_graph(graph).to(device)
    loop = mean_edge_weight(graph)
    weight = torch.tensor(directions.weight, device=device)
    projected = torch.tensor(np.asarray(x @ directions.weight, dtype=np.float32), device=device)
    candidate, tried = best_candidate(
        projected,
        directions.ratios,
        averaging_adjacency(adjacency, loop),
        information,
        n_clusters,
        n_init=parameters["n_init"],
        num_layers=parameters["num_layers"],
        random=random,
        backend=backend,
    )
    config = SmoothedClusteringConfig(
        in_channels=x.shape[1],
        n_clusters=n_clusters,
        hidden_channels=weight.shape[1],
        thresholds=candidate.thresholds,
        loop_weight=loop,
        totvar_coeff=parameters["totvar_coeff"],
        balance_coeff=parameters["balance_coeff"],
    )
    with torch.random.fork_rng(devices=[]):  # the initial weights are overwritten
        model = SmoothedClusteringModel(config, backend=backend).to(device)
    with torch.no_grad():
        model.conv.weight.copy_(weight)
        model.mean.copy_(torch.tensor(candidate.mean))
        model.scale.copy_(torch.tensor(candidate.scale))
    head = model.head
    soft_kmeans(head, candidate.embedding, candidate.centers, candidate.labels)
    losses, judged, kept = refine(
        head,
        torch.tensor(candidate.embedding, device=device),
        adjacency,
        config,
        lambda labels: information.of(labels.cpu().numpy(), n_clusters),
        max_iter=parameters["max_iter"],
        patience=parameters["patience"],
        tol=parameters["tol"],
        learning_rate=parameters["learning_rate"],
        backend=backend,
    )
    choices = {
        "rank": int(directions.reduced.shape[1]),
        "smoothing_steps": len(candidate.thresholds),
        "nats_by_smoothing_steps": {str(steps): round(float(nats), 1) for steps, nats in tried.items()},
        "nats_kmeans": round(float(judged[0]), 1),
        "nats": round(float(judged[kept]), 1),
        "refinement_steps": kept,
    }
    converged = len(judged) <= parameters["max_iter"]
    seconds = time.perf_counter() - start
    return model, TrainingResult(losses[kept], losses, len(losses), converged, seconds), choices


def quality_bytes(graph: Graph, x: Any, width: int) -> int:
    """Estimated peak of what fitting adds to the memory of the process."""
    nodes, features = x.shape
    rank = min(256, features)
    floats = nodes * (3 * rank + 4 * width) + 3 * features * rank + 6 * rank * rank
    return 32 * 2**20 + 4 * floats + 24 * graph.indices.size
