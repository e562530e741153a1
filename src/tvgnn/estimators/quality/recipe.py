"""``preset="quality"``: closed-form encoder, smoothing chosen by the data, k-means, refinement by the paper's loss."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from tvgnn.errors import GraphError
from tvgnn.estimators.quality.candidates import Candidate, best_candidate
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
    """Fit the recipe ``n_init`` times and keep the run whose partition the others agree with most; no label is read.

    Agreement is the mean adjusted Rand index with the other runs. Equally good minima differ in what they split, and
    what most runs find does not hang on one start.

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
    random = check_random_state(random_state)
    with threadpool_limits(torch.get_num_threads()):
        runs = [_run(graph, x, n_clusters, parameters, random, device, backend) for _ in range(parameters["n_init"])]
    agreement = [
        float(np.mean([adjusted_rand_score(run.labels, other.labels) for other in runs if other is not run] or [1.0]))
        for run in runs
    ]
    kept = runs[int(np.argmax(agreement))]
    choices = kept.choices | {
        "agreement": round(max(agreement), 4),
        "nats_by_run": [run.choices["nats"] for run in runs],
    }
    best = kept.losses[kept.choices["refinement_steps"]]
    converged = len(kept.losses) <= parameters["max_iter"]
    steps = len(kept.losses) - 1  # the first loss is that of k-means
    return kept.model, TrainingResult(best, kept.losses, steps, converged, kept.seconds), choices


@dataclass(frozen=True, eq=False)
class _Run:
    """One pass: the network, its labels (N,), losses and seconds of the refinement, what the data chose."""

    model: SmoothedClusteringModel
    labels: np.ndarray
    losses: list[float]
    seconds: float
    choices: dict[str, Any]


def _run(
    graph: Graph,
    x: Any,
    n_clusters: int,
    parameters: dict[str, Any],
    random: np.random.RandomState,
    device: str,
    backend: str,
) -> _Run:
    encoders, reduced = neighborhood_directions(graph, x, parameters["hidden_channels"], random)
    information = PartitionInformation(graph.adjacency(), reduced)
    adjacency = Adjacency.from_graph(graph).to(device)
    loop = mean_edge_weight(graph)
    averaging = averaging_adjacency(adjacency, loop)
    best: _Run | None = None
    by_rank: dict[str, float] = {}
    for encoder in encoders:
        candidate, tried = best_candidate(
            torch.tensor(np.asarray(x @ encoder.weight, dtype=np.float32), device=device),
            encoder.ratios,
            averaging,
            information,
            n_clusters,
            num_layers=parameters["num_layers"],
            random=random,
            backend=backend,
        )
        model = _network(candidate, encoder.weight, n_clusters, loop, parameters, backend).to(device)
        embedding = torch.tensor(candidate.embedding, device=device)
        start = time.perf_counter()
        losses, judged, kept = refine(
            model.head,
            embedding,
            adjacency,
            model.config,
            lambda labels: information.of(labels.cpu().numpy(), n_clusters),
            max_iter=parameters["max_iter"],
            patience=parameters["patience"],
            tol=parameters["tol"],
            learning_rate=parameters["learning_rate"],
            backend=backend,
        )
        seconds = time.perf_counter() - start
        by_rank[str(encoder.rank)] = nats = round(float(judged[kept]), 1)
        if best is not None and nats <= best.choices["nats"]:
            continue
        with torch.no_grad():
            labels = model.head(embedding).argmax(1).cpu().numpy()
        choices = {
            "rank": encoder.rank,
            "smoothing_steps": len(candidate.thresholds),
            "unit_rows": candidate.unit_rows,
            "nats_by_steps": {str(steps): round(float(value), 1) for steps, value in tried.items()},
            "nats_kmeans": round(float(judged[0]), 1),
            "nats": nats,
            "refinement_steps": kept,
            "nats_by_rank": by_rank,
        }
        best = _Run(model, labels, losses, seconds, choices)
    if best is None:
        raise GraphError("expected features of at least one column, got none")
    return best


@torch.no_grad()
def _network(
    candidate: Candidate, weight: np.ndarray, n_clusters: int, loop: float, parameters: dict[str, Any], backend: str
) -> SmoothedClusteringModel:
    """Encoder, smoothing and soft k-means as one network."""
    config = SmoothedClusteringConfig(
        in_channels=weight.shape[0],
        n_clusters=n_clusters,
        hidden_channels=weight.shape[1],
        thresholds=candidate.thresholds,
        loop_weight=loop,
        unit_rows=candidate.unit_rows,
        totvar_coeff=parameters["totvar_coeff"],
        balance_coeff=parameters["balance_coeff"],
    )
    with torch.random.fork_rng(devices=[]):  # the initial weights are overwritten
        model = SmoothedClusteringModel(config, backend=backend)
    model.conv.weight.copy_(torch.tensor(weight))
    model.mean.copy_(torch.tensor(candidate.mean))
    model.scale.copy_(torch.tensor(candidate.scale))
    soft_kmeans(model.head, candidate.embedding, candidate.centers, candidate.labels)
    return model


def quality_bytes(graph: Graph, x: Any, width: int) -> int:
    """Estimated peak of what fitting adds to the memory of the process."""
    nodes, features = x.shape
    rank = min(256, features)
    floats = nodes * (3 * rank + 4 * width) + 3 * features * rank + 6 * rank * rank
    return 32 * 2**20 + 4 * floats + 24 * graph.indices.size
