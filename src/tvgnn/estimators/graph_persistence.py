"""Saving and loading a fitted estimator of graph-level tasks; the training graphs are not stored."""

from __future__ import annotations

import inspect
import os
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch

from tvgnn.estimators._model_files import (
    device_here,
    expect,
    fitted_parameters,
    known,
    plain,
    read_model,
    write_model,
)
from tvgnn.estimators.graph_inputs import ColumnScaling
from tvgnn.graph.weight_scale import checked_scale, trained_scale
from tvgnn.models.graph_network import KEEPING_NODES, GraphNetwork, GraphNetworkConfig

if TYPE_CHECKING:
    from tvgnn.estimators.graph_estimator import GraphEstimator

__all__ = ["load", "save"]

_FORMAT = 1
_LEARNED: dict[str, type] = {
    "n_iter_": int,
    "best_epoch_": int,
    "stopped_early_": bool,
    "fit_seconds_": float,
    "seconds_per_epoch_": float,
    "backend_": str,
    "device_": str,
    "loss_history_": list,
    "validation_loss_history_": list,
}

_PAIRS = "pairs"

AnyEstimator = TypeVar("AnyEstimator", bound="GraphEstimator")


def save(estimator: GraphEstimator, folder: str | os.PathLike[str]) -> None:
    """Write ``model.safetensors`` and ``model.json``; each appears under its name only when it is complete."""
    arrays = {f"model.{name}": value for name, value in estimator.model_.state_dict().items()}
    scaling = estimator.feature_scaling_
    arrays |= {"scaling.mean": torch.tensor(scaling.mean), "scaling.scale": torch.tensor(scaling.scale)}
    description = {
        "format": _FORMAT,
        "estimator": type(estimator).__name__,
        "parameters": {name: _parameter(value) for name, value in fitted_parameters(estimator).items()},
        "config": estimator.model_.config.to_dict(),
        "label_columns": estimator.label_columns_,
        "weight_scale": trained_scale(estimator),
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
    estimator = cls(**_given(known(description, "parameters", inspect.signature(cls).parameters)))
    estimator._fitted_parameters = estimator.get_params(deep=False)
    given = known(description, "config", GraphNetworkConfig.__dataclass_fields__)
    pairs = {name: tuple(given[name]) for name in ("clusters", "kept") if given.get(name) is not None}
    expect("lengths of clusters and kept", {len(pair) for pair in pairs.values()}, {2})
    config = GraphNetworkConfig(**{**given, **pairs})
    estimator.n_features_in_ = config.in_channels
    estimator.k_ = config.kept if config.pooling in KEEPING_NODES else config.clusters
    estimator.label_columns_ = description.get("label_columns")  # files of earlier versions have none
    if not isinstance(estimator.label_columns_, str | None):
        raise ValueError(f"expected label_columns to be text or null, got {estimator.label_columns_!r}")
    estimator._weight_scale = checked_scale(description)
    for name in ("mean", "scale"):
        expect(f"shape of scaling.{name}", tuple(arrays[f"scaling.{name}"].shape), (config.in_channels,))
    if not (arrays["scaling.scale"] > 0).all():
        raise ValueError("expected scaling.scale > 0")
    estimator.feature_scaling_ = ColumnScaling(arrays["scaling.mean"].numpy(), arrays["scaling.scale"].numpy())
    expect("number of outputs", estimator.restore_targets(description["targets"]), config.out_channels)
    prefix = "model."
    state = {name[len(prefix) :]: value.float() for name, value in arrays.items() if name.startswith(prefix)}
    _check_depth(config, state)
    with torch.device("meta"):  # takes no memory and no random numbers before the sizes are known to fit
        estimator.model_ = GraphNetwork(config, backend=estimator.backend)
    estimator.model_.load_state_dict(state, assign=True)
    for name, kind in _LEARNED.items():
        value = description["learned"][name]
        if not _is_kind(value, kind):
            raise ValueError(f"expected {name} to be of type {kind.__name__}, got {value!r}")
        setattr(estimator, name, value)
    estimator.device_ = device_here(estimator.device_)
    estimator.model_.to(estimator.device_)
    return estimator


def _given(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters as the estimator takes them: JSON has lists for tuples, and text for the keys of a table."""
    values = dict(parameters)
    if isinstance(values.get("n_clusters"), list):
        values["n_clusters"] = tuple(values["n_clusters"])
    weights = values.get("class_weight")
    if isinstance(weights, dict) and isinstance(weights.get(_PAIRS), list):
        values["class_weight"] = dict(weights[_PAIRS])
    return values


def _check_depth(config: GraphNetworkConfig, state: dict[str, torch.Tensor]) -> None:
    """Refuse more layers than there are arrays before any is made."""
    if 3 * config.num_layers > len(state) or config.mlp_layers > len(state):
        raise ValueError(f"expected layers for {len(state)} arrays, got num_layers {config.num_layers}")


def _is_kind(value: Any, kind: type) -> bool:
    if kind is list:
        return isinstance(value, list) and all(isinstance(item, int | float) for item in value)
    return isinstance(value, (int, float) if kind is float else kind)


def _parameter(value: Any) -> Any:
    """Value for JSON: lists and tables of plain values too."""
    if isinstance(value, list | tuple | np.ndarray):
        return [_parameter(item) for item in value]
    if isinstance(value, dict):
        return {_PAIRS: [[plain(key), _parameter(item)] for key, item in value.items()]}  # keys of JSON are text
    return plain(value)
