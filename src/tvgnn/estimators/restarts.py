"""Training from several initial weights, of which the lowest loss is kept."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from sklearn.utils import check_random_state

from tvgnn.estimators.inputs import NetworkInputs
from tvgnn.models.node_clustering import NodeClusteringConfig, NodeClusteringModel
from tvgnn.training.loop import TrainingConfig, TrainingResult, train
from tvgnn.training.progress import TrainingProgress
from tvgnn.training.seeding import torch_seeded

__all__ = ["EASED_SHARES", "network_config", "train_best"]

# Where all nodes have the same assignments the total variation is 0 and the balance loss 1. A small departure from
# there costs total variation in each of the K columns, but balances them by little more than the root of log K: with
# many clusters and noisy features, which neighbours do not share, every direction goes uphill and training ends where
# it began. Eased training first gives the total variation this share of its weight, then the full one: clusters that
# the graph supports stay. How small it has to be, and at which share arbitrary clusters form, depends on the data, so
# restarts take turns. One more layer, where the caller named no number, averages more of the noise.
EASED_SHARES = (0.3, 0.1)
_IN_VAIN = 0.9  # of the loss that equal assignments have: above it nearly nothing is told apart


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
    eased: NodeClusteringConfig | None = None,
    **network: Any,
) -> tuple[NodeClusteringModel, TrainingResult, dict[str, Any]]:
    """Train ``n_init`` networks and return the one of the lowest loss, and what the data chose.

    Parameters:
        inputs: features and adjacency.
        config: architecture.
        parameters: the estimator's resolved parameters.
        random_state: seeds the initial weights.
        device: where to train.
        verbose: show a progress line on a terminal.
        eased: architecture of as many further networks, trained where none told nodes apart, see `EASED_SHARES`; of
            all the lowest loss of the full objective is kept. None trains no further ones.
        network: backend, memory and precision of `NodeClusteringModel`.

    """
    training = TrainingConfig(**{name: parameters[name] for name in TrainingConfig.__dataclass_fields__})
    random, n_init = check_random_state(random_state), parameters["n_init"]

    def attempt(
        title: str, config: NodeClusteringConfig, shares: tuple[float, ...]
    ) -> tuple[NodeClusteringModel, TrainingResult]:
        with torch_seeded(int(random.randint(2**31 - 1))):
            model = NodeClusteringModel(config, **network).to(device)
        losses = partial(model.losses, inputs.features, inputs.adjacency)
        for share in shares:
            model.pool.totvar_coeff = share * config.totvar_coeff
            epochs = training.max_iter if share == 1 else -(-training.max_iter // 2)
            with TrainingProgress(epochs, config.n_clusters, title) as progress:
                result = train(
                    model,
                    losses,
                    replace(training, max_iter=epochs),
                    progress.update if verbose else None,
                    reuse_buffers=model.memory == "normal",
                    cuda_graph=model.can_be_recorded(device),
                )
        return model, result

    best: tuple[NodeClusteringModel, TrainingResult] | None = None
    choices: dict[str, Any] = {}
    for number in range(n_init):
        found = attempt("" if n_init == 1 else f"{number + 1}/{n_init}", config, (1.0,))
        best = found if best is None or found[1].loss < best[1].loss else best
    if best is None:
        raise ValueError(f"expected n_init >= 1, got {n_init}")
    if eased is not None and best[1].loss > _IN_VAIN * config.balance_coeff:
        for number in range(n_init):
            share = EASED_SHARES[number % len(EASED_SHARES)]
            found = attempt(f"eased {number + 1}/{n_init}", eased, (share, 1.0))
            if found[1].loss < best[1].loss:
                best, choices = found, {"totvar_share_at_first": share, "num_layers": eased.num_layers}
    return *best, choices
