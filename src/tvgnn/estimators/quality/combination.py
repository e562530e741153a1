"""One network of what all runs have found."""

from __future__ import annotations

from typing import cast

import numpy as np
import torch

from tvgnn.estimators.quality.agreement import set_discriminant
from tvgnn.estimators.quality.inputs import FitInputs
from tvgnn.estimators.quality.preparation import MANY_COLUMNS
from tvgnn.estimators.quality.runs import Found, refined
from tvgnn.layers.gtv_conv import GTVConv
from tvgnn.models.smoothed_clustering import SmoothedClusteringConfig, SmoothedClusteringModel, SmoothedView

__all__ = ["combined"]


def combined(
    inputs: FitInputs, found: Found, loop_share: float, labels: np.ndarray, random: np.random.RandomState
) -> tuple[SmoothedClusteringModel, list[float], dict[int, float], int, float]:
    """The network of the encoders of all ranks, each from the run whose partition explains most, with a refined head.

    Parameters:
        inputs: with N nodes.
        found: by the runs.
        loop_share: see `own_share`.
        labels: (N,) int64, that the head is set to before it is refined.
        random: draws batches.

    Returns:
        The network and what `refined` returns.

    """
    views = found.views
    candidates = [one.candidate for one in views if one.candidate is not None]
    config = SmoothedClusteringConfig(
        in_channels=inputs.x.shape[1],
        n_clusters=inputs.n_clusters,
        views=tuple(SmoothedView(len(one.mean), one.thresholds, one.unit_rows, one.self_weight) for one in candidates),
        loop_weight=inputs.loop,
        loop_share=loop_share,
        propagate_missing=inputs.x.shape[1] >= MANY_COLUMNS,
        totvar_coeff=inputs.parameters["totvar_coeff"],
        balance_coeff=inputs.parameters["balance_coeff"],
    )
    with torch.random.fork_rng(devices=[]):  # the initial weights are overwritten
        model = SmoothedClusteringModel(config, backend=inputs.backend)
    embeddings = [one.embedding for one in candidates]
    with torch.no_grad():
        for conv, view in zip(model.convs, views, strict=True):
            cast(GTVConv, conv).weight.copy_(torch.tensor(view.weight))
        model.mean.copy_(torch.tensor(np.concatenate([one.mean for one in candidates])))
        model.scale.copy_(torch.tensor(np.concatenate([one.scale for one in candidates])))
        set_discriminant(model.head, embeddings, labels)
        model.to(inputs.device)
    embedding = torch.from_numpy(np.concatenate(embeddings, axis=1)).to(inputs.device)
    return model, *refined(inputs, found.components.information, model.head, embedding, random)
