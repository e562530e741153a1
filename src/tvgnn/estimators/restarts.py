"""Training from several initial weights, of which the lowest loss is kept."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from sklearn.utils import check_random_state

from tvgnn.estimators.inputs import NetworkInputs
from tvgnn.models.node_clustering import NodeClusteringConfig, NodeClusteringModel
from tvgnn.training.loop import TrainingConfig, TrainingResult, train
from tvgnn.training.progress import TrainingProgress

__all__ = ["network_config", "train_best"]


def network_config(n_features: int, n_clusters: int, parameters: dict[str, Any]) -> NodeClusteringConfig:
    """Architecture from the estimator's resolved parameters."""
    names = NodeClusteringConfig.__dataclass_fields__
    given = {name: value for name, value in parameters.items() if name in names}
    return NodeClusteringConfig(n_features, n_clusters, **given)


def train_best(
    inputs: NetworkInputs,
    config: NodeClusteringConfig,
    parameters: dict[str, Any],
    *,
    random_state: Any,
    device: str,
    verbose: bool,
    **network: Any,
) -> tuple[NodeClusteringModel, TrainingResult]:
    """Train ``n_init`` networks and return the one of the lowest loss.

    Parameters:
        inputs: features and adjacency.
        config: architecture.
        parameters: the estimator's resolved parameters.
        random_state: seeds the initial weights.
        device: where to train.
        verbose: show a progress line on a terminal.
        network: backend, memory and precision of `NodeClusteringModel`.

    """
    training = TrainingConfig(**{name: parameters[name] for name in TrainingConfig.__dataclass_fields__})
    random, n_init = check_random_state(random_state), parameters["n_init"]
    best: tuple[NodeClusteringModel, TrainingResult] | None = None
    for attempt in range(n_init):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(random.randint(2**31 - 1)))
            model = NodeClusteringModel(config, **network).to(device)
        losses = partial(model.losses, inputs.features, inputs.adjacency)
        title = "" if n_init == 1 else f"{attempt + 1}/{n_init}"
        with TrainingProgress(training.max_iter, config.n_clusters, title) as progress:
            watch = progress.update if verbose else None
            result = train(
                model,
                losses,
                training,
                watch,
                reuse_buffers=model.memory == "normal",
                cuda_graph=model.can_be_recorded(device),
            )
        if best is None or result.loss < best[1].loss:
            best = model, result
    if best is None:
        raise ValueError(f"expected n_init >= 1, got {n_init}")
    return best
