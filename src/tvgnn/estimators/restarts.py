"""Training from several initial weights, of which the lowest loss is kept."""

from __future__ import annotations

from dataclasses import replace
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

    With a parameter ``pilot_iter``, each is trained for so many epochs only, and the one of the lowest loss then goes
    on: which basin a network has fallen into shows early.

    Parameters:
        inputs: features and adjacency.
        config: architecture.
        parameters: the estimator's resolved parameters.
        random_state: seeds the initial weights.
        device: where to train.
        verbose: show a progress line on a terminal.
        network: backend, memory and precision of `NodeClusteringModel`.

    """
    full = TrainingConfig(**{name: parameters[name] for name in TrainingConfig.__dataclass_fields__})
    pilot = parameters.get("pilot_iter")
    training = full if pilot is None else replace(full, max_iter=min(pilot, full.max_iter))
    random, n_init = check_random_state(random_state), parameters["n_init"]

    def run(model: NodeClusteringModel, training: TrainingConfig, title: str) -> TrainingResult:
        losses = partial(model.losses, inputs.features, inputs.adjacency)
        with TrainingProgress(training.max_iter, config.n_clusters, title) as progress:
            return train(
                model,
                losses,
                training,
                progress.update if verbose else None,
                reuse_buffers=model.memory == "normal",
                cuda_graph=model.can_be_recorded(device),
            )

    best: tuple[NodeClusteringModel, TrainingResult] | None = None
    for attempt in range(n_init):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(random.randint(2**31 - 1)))
            model = NodeClusteringModel(config, **network).to(device)
        result = run(model, training, "" if n_init == 1 else f"{attempt + 1}/{n_init}")
        if best is None or result.loss < best[1].loss:
            best = model, result
    if best is None:
        raise ValueError(f"expected n_init >= 1, got {n_init}")
    left = full.max_iter - best[1].n_iter
    if pilot is None or left < 1:
        return best
    model, started = best
    rest = run(model, replace(full, max_iter=left), "")
    return model, TrainingResult(
        rest.loss,  # it starts from the pilot's best state
        started.loss_history + rest.loss_history,
        started.n_iter + rest.n_iter,
        rest.converged,
        started.seconds + rest.seconds,
    )
