"""Saving and loading a fitted estimator of graph-level tasks; the training graphs are not stored."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch

from tvgnn.estimators._model_files import expect, plain, read_model, write_model
from tvgnn.estimators.graph_inputs import ColumnScaling
from tvgnn.models.graph_network import GraphNetwork, GraphNetworkConfig
from tvgnn.ops._backends import resolve_device

if TYPE_CHECKING:
    from tvgnn.estimators.graph_estimator import GraphEstimator

__all__ = ["load", "save"]

_FORMAT = 1
_LEARNED = (
    "n_iter_",
    "best_epoch_",
    "stopped_early_",
    "fit_seconds_",
    "seconds_per_epoch_",
    "backend_",
    "device_",
    "loss_history_",
    "validation_loss_history_",
)

AnyEstimator = TypeVar("AnyEstimator", bound="GraphEstimator")


def save(estimator: GraphEstimator, folder: str | os.PathLike[str]) -> None:
    """Write ``model.safetensors`` and ``model.json``; each appears under its name only when it is complete."""
    arrays = {f"model.{name}": value for name, value in estimator.model_.state_dict().items()}
    scaling = estimator.feature_scaling_
    arrays |= {"scaling.mean": torch.tensor(scaling.mean), "scaling.scale": torch.tensor(scaling.scale)}
    description = {
        "format": _FORMAT,
        "estimator": type(estimator).__name__,
        "parameters": {name: _parameter(value) for name, value in estimator.get_params(deep=False).items()},
        "config": estimator.model_.config.to_dict(),
        "targets": estimator.described_targets(),
        "learned": {name: _parameter(getattr(estimator, name)) for name in _LEARNED},
    }
    write_model(folder, arrays, description)


def load(cls: type[AnyEstimator], folder: str | os.PathLike[str]) -> AnyEstimator:
    """Read what `save` wrote; the network is put on the device that trained it or, where that is missing, on the CPU.

    Raises:
        DataError: a file is missing, damaged, of another format or of another estimator.

    """
    return read_model(folder, _FORMAT, cls.__name__, lambda description, arrays: _rebuild(cls, description, arrays))


def _rebuild(cls: type[AnyEstimator], description: dict[str, Any], arrays: dict[str, torch.Tensor]) -> AnyEstimator:
    estimator = cls(**description["parameters"])
    given = dict(description["config"])
    config = GraphNetworkConfig(**{**given, "clusters": tuple(given["clusters"])})
    estimator.n_features_in_, estimator.k_ = config.in_channels, config.clusters
    for name in ("mean", "scale"):
        expect(f"shape of scaling.{name}", tuple(arrays[f"scaling.{name}"].shape), (config.in_channels,))
    estimator.feature_scaling_ = ColumnScaling(arrays["scaling.mean"].numpy(), arrays["scaling.scale"].numpy())
    expect("number of outputs", estimator.restore_targets(description["targets"]), config.out_channels)
    prefix = "model."
    state = {name[len(prefix) :]: value.float() for name, value in arrays.items() if name.startswith(prefix)}
    estimator.model_ = GraphNetwork(config, backend=estimator.backend)
    estimator.model_.load_state_dict(state)
    for name in _LEARNED:
        setattr(estimator, name, description["learned"][name])
    try:
        estimator.device_ = resolve_device(estimator.device_)
    except ValueError:
        estimator.device_ = "cpu"
    estimator.model_.to(estimator.device_)
    return estimator


def _parameter(value: Any) -> Any:
    """Value for JSON: lists and tables of plain values too."""
    if isinstance(value, list | tuple | np.ndarray):
        return [_parameter(item) for item in value]
    if isinstance(value, dict):
        return {str(plain(key)): _parameter(item) for key, item in value.items()}
    return plain(value)
