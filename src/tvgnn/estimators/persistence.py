"""Saving and loading a fitted `TVClustering`: safetensors for arrays, JSON for everything else, no pickle."""

from __future__ import annotations

import inspect
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
import torch

from tvgnn.estimators._graph_files import described_graph, graph_arrays, graph_from
from tvgnn.estimators._model_files import (
    device_here,
    expect,
    fitted_parameters,
    known,
    plain,
    read_model,
    write_model,
)
from tvgnn.estimators.feature_scaling import FEATURE_NORMS, FeatureScaling
from tvgnn.estimators.heavy_tails import QUANTILES
from tvgnn.estimators.inputs import GRAPH_MAKING
from tvgnn.estimators.quality.preparation import FeaturePreparation, arrays_of_steps, prepared_columns
from tvgnn.graph.weight_scale import checked_scale, trained_scale
from tvgnn.models.node_clustering import NodeClusteringConfig, NodeClusteringModel
from tvgnn.models.smoothed_clustering import SmoothedClusteringConfig, SmoothedClusteringModel

if TYPE_CHECKING:
    from tvgnn.estimators.clustering import TVClustering

__all__ = ["load", "save"]

_FORMAT = 1
_OF_ROWS = {"n_neighbors", "metric", *GRAPH_MAKING}  # how new rows are joined, and how those of the graph were
_SCALING = ("mean", "scale", "quantiles", "medians", "kept")
_SCALARS = {
    "n_clusters_found_": int,
    "loss_": float,
    "n_iter_": int,
    "converged_": bool,
    "fit_seconds_": float,
    "ms_per_epoch_": float,
    "estimated_bytes_": int,
    "backend_": str,
    "device_": str,
}


def save(estimator: TVClustering, folder: str | os.PathLike[str]) -> None:
    """Write ``model.safetensors`` and ``model.json``; each appears under its name only when it is complete."""
    arrays = {f"model.{name}": value for name, value in estimator.model_.state_dict().items()}
    arrays |= {f"graph.{name}": value for name, value in graph_arrays(estimator.graph_).items()}
    for name in ("labels_", "assignments_", "embedding_"):
        arrays[name] = torch.tensor(getattr(estimator, name))
    arrays["loss_history_"] = torch.tensor(estimator.loss_history_, dtype=torch.float64)
    scaling = estimator.feature_scaling_
    for name in _SCALING:
        if getattr(scaling, name, None) is not None:
            arrays[f"scaling.{name}"] = torch.tensor(getattr(scaling, name))
    description = {
        "format": _FORMAT,
        "estimator": type(estimator).__name__,
        "parameters": {k: plain(v) for k, v in fitted_parameters(estimator, _OF_ROWS).items()},
        "config": estimator.model_.config.to_dict(),
        "feature_norm": scaling.kind,
        "n_features_in": estimator.n_features_in_,
        "feature_names_in": [str(name) for name in getattr(estimator, "feature_names_in_", [])] or None,
        **described_graph(estimator.graph_),
        "weight_scale": trained_scale(estimator),
        "loss_terms": estimator.loss_terms_,
        "choices": estimator.choices_,
        "learned": {name: plain(getattr(estimator, name)) for name in _SCALARS},
    }
    write_model(folder, arrays, description)


def load(cls: type[TVClustering], folder: str | os.PathLike[str]) -> TVClustering:
    """Read what `save` wrote; the network is put on the device that trained it or, where that is missing, on the CPU.

    Raises:
        DataError: a file is missing, damaged or of another format.

    """
    unbounded = ("scaling.scale", "scaling.quantiles")
    return read_model(
        folder, _FORMAT, cls.__name__, lambda description, arrays: _rebuild(cls, description, arrays), unbounded
    )


def _rebuild(cls: type[TVClustering], description: dict[str, Any], arrays: dict[str, torch.Tensor]) -> TVClustering:
    estimator = cls(**known(description, "parameters", inspect.signature(cls).parameters))
    estimator._fitted_parameters = estimator.get_params(deep=False)
    estimator.graph_ = graph_from(arrays, description)
    estimator._weight_scale = checked_scale(description)
    estimator.n_features_in_ = description["n_features_in"]
    expect("n_features_in", estimator.n_features_in_, estimator.graph_.num_features)
    names = description.get("feature_names_in")  # files of earlier versions have none
    if names is not None:
        expect("types of feature_names_in", {type(name) for name in names}, {str})
        expect("number of feature_names_in", len(names), estimator.n_features_in_)
        estimator.feature_names_in_ = np.array(names, dtype=object)
    quality = estimator.preset == "quality"
    kind = SmoothedClusteringConfig if quality else NodeClusteringConfig
    config = kind(**known(description, "config", kind.__dataclass_fields__))
    kept = arrays.get("scaling.kept")
    used = estimator.n_features_in_ if kept is None else int(kept.sum())
    columns = prepared_columns(description["feature_norm"], used)
    expect("config.in_channels", config.in_channels, columns)
    with torch.device("meta"):  # takes no memory and no random numbers before the sizes are known to fit
        if isinstance(config, SmoothedClusteringConfig):
            estimator.model_ = SmoothedClusteringModel(config, backend=estimator.backend)
        else:
            estimator.model_ = NodeClusteringModel(
                config, backend=estimator.backend, memory=estimator.memory, precision=estimator.precision
            )
    prefix = "model."
    state = {name[len(prefix) :]: value.float() for name, value in arrays.items() if name.startswith(prefix)}
    estimator.model_.load_state_dict(state, assign=True)
    _restore_scaling(estimator, description["feature_norm"], arrays)
    _restore_results(estimator, config, description, arrays)
    return estimator


def _restore_scaling(estimator: TVClustering, kind: str | None, arrays: dict[str, torch.Tensor]) -> None:
    quality = estimator.preset == "quality"
    if not quality and kind not in FEATURE_NORMS:
        raise ValueError(f"unknown feature_norm {kind!r}")
    scaling = {name: arrays[f"scaling.{name}"].numpy() for name in _SCALING if f"scaling.{name}" in arrays}
    if scaling.keys() - {"kept"} not in arrays_of_steps(kind, sp.issparse(estimator.graph_.x)) or (
        "kept" in scaling and not quality
    ):
        raise ValueError(f"expected other scaling arrays for feature_norm {kind!r}, got {sorted(scaling)}")
    for name, value in scaling.items():
        columns = estimator.n_features_in_ if name == "kept" or "kept" not in scaling else int(scaling["kept"].sum())
        expect(f"shape of scaling.{name}", value.shape, (QUANTILES, columns) if name == "quantiles" else (columns,))
        _expect_meaning(name, value)
    estimator.feature_scaling_ = (FeaturePreparation if quality else FeatureScaling)(kind, **scaling)
    estimator.feature_norm_ = kind


def _expect_meaning(name: str, values: np.ndarray) -> None:
    """Check numbers that features are prepared by; what is divided by infinity says nothing, such as an IDF of 0.

    Raises:
        ValueError: a scale that is not above 0, or quantiles that do not rise; those of a column may all be nan.

    """
    if name in ("scale", "medians") and not (values > 0).all():
        raise ValueError(f"expected numbers above 0 in scaling.{name}")
    if name == "kept" and values.dtype != bool:
        raise ValueError(f"expected scaling.kept of bool, got {values.dtype}")
    if name == "quantiles":
        ranked = values[:, ~np.isnan(values).all(0)]
        if not (np.isfinite(ranked).all() and (np.diff(ranked, axis=0) >= 0).all()):
            raise ValueError("expected each column of scaling.quantiles to rise or to be all nan")


def _restore_results(
    estimator: TVClustering, config: Any, description: dict[str, Any], arrays: dict[str, torch.Tensor]
) -> None:
    nodes = estimator.graph_.num_nodes
    shapes = {"assignments_": (nodes, config.n_clusters), "embedding_": (nodes, config.hidden_channels)}
    for name, shape in {"labels_": (nodes,), **shapes}.items():
        expect(f"shape of {name}", tuple(arrays[name].shape), shape)
        expect(f"dtype of {name}", arrays[name].dtype, torch.int64 if name == "labels_" else torch.float32)
        setattr(estimator, name, arrays[name].numpy())
    expect("labels_", estimator.labels_.tolist(), estimator.assignments_.argmax(1).tolist())
    estimator.loss_history_ = arrays["loss_history_"].tolist()
    estimator.loss_terms_ = dict(description["loss_terms"])
    estimator.choices_ = dict(description.get("choices", {}))  # files of earlier versions have none
    for name, kind in _SCALARS.items():
        setattr(estimator, name, kind(description["learned"][name]))
    estimator.device_ = device_here(estimator.device_)
    estimator.model_.to(estimator.device_)
