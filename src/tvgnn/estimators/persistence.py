"""Saving and loading a fitted `TVClustering`: safetensors for arrays, JSON for everything else, no pickle."""

from __future__ import annotations

import inspect
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
import torch

from tvgnn.estimators._model_files import device_here, expect, known, plain, read_model, write_model
from tvgnn.estimators.feature_scaling import FEATURE_NORMS, FeatureScaling
from tvgnn.estimators.heavy_tails import QUANTILES
from tvgnn.estimators.quality.preparation import FeaturePreparation, arrays_of_steps, prepared_columns
from tvgnn.graph.graph import Graph
from tvgnn.models.node_clustering import NodeClusteringConfig, NodeClusteringModel
from tvgnn.models.smoothed_clustering import SmoothedClusteringConfig, SmoothedClusteringModel

if TYPE_CHECKING:
    from tvgnn.estimators.clustering import TVClustering

__all__ = ["load", "save"]

_FORMAT = 1
_SCALING = ("mean", "scale", "quantiles", "medians")
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
    arrays |= {f"graph.{name}": value for name, value in _graph_arrays(estimator.graph_).items()}
    for name in ("labels_", "assignments_", "embedding_"):
        arrays[name] = torch.tensor(getattr(estimator, name))
    arrays["loss_history_"] = torch.tensor(estimator.loss_history_, dtype=torch.float64)
    scaling = estimator.feature_scaling_
    for name in _SCALING:
        if getattr(scaling, name, None) is not None:
            arrays[f"scaling.{name}"] = torch.tensor(getattr(scaling, name))
    ids = [key.item() if isinstance(key, np.generic) else key for key in estimator.graph_.node_ids]
    plain_ids = ids != list(range(len(ids))) and all(type(i) in (str, int) for i in ids)
    description = {
        "format": _FORMAT,
        "estimator": type(estimator).__name__,
        "parameters": {k: plain(v) for k, v in estimator.get_params(deep=False).items()},
        "config": estimator.model_.config.to_dict(),
        "feature_norm": scaling.kind,
        "n_features_in": estimator.n_features_in_,
        "num_nodes": estimator.graph_.num_nodes,
        "node_ids": ids if plain_ids else None,
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
    estimator.graph_ = _graph(arrays, description["num_nodes"], description["node_ids"])
    estimator.n_features_in_ = description["n_features_in"]
    expect("n_features_in", estimator.n_features_in_, estimator.graph_.num_features)
    quality = estimator.preset == "quality"
    kind = SmoothedClusteringConfig if quality else NodeClusteringConfig
    config = kind(**known(description, "config", kind.__dataclass_fields__))
    columns = prepared_columns(description["feature_norm"], estimator.n_features_in_)
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
    if scaling.keys() not in arrays_of_steps(kind, sp.issparse(estimator.graph_.x)):
        raise ValueError(f"expected other scaling arrays for feature_norm {kind!r}, got {sorted(scaling)}")
    for name, value in scaling.items():
        shape = (QUANTILES, estimator.n_features_in_) if name == "quantiles" else (estimator.n_features_in_,)
        expect(f"shape of scaling.{name}", value.shape, shape)
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


def _graph_arrays(graph: Graph) -> dict[str, torch.Tensor]:
    arrays = {"indptr": torch.tensor(graph.indptr), "indices": torch.tensor(graph.indices)}
    if graph.is_weighted:
        arrays["weights"] = torch.tensor(graph.weights)
    if sp.issparse(graph.x):
        parts = {"x.data": graph.x.data, "x.indices": graph.x.indices, "x.indptr": graph.x.indptr}
        arrays |= {name: torch.tensor(part) for name, part in parts.items()}
        arrays["x.shape"] = torch.tensor(graph.x.shape)
    else:
        arrays["x"] = torch.tensor(graph.x)
    return arrays


def _graph(arrays: dict[str, torch.Tensor], num_nodes: int, node_ids: list[Any] | None) -> Graph:
    part = {k.removeprefix("graph."): v.numpy() for k, v in arrays.items() if k.startswith("graph.")}
    if "x" in part:
        x = part["x"]
    else:
        x = sp.csr_array((part["x.data"], part["x.indices"], part["x.indptr"]), shape=tuple(part["x.shape"]))
    rows = np.repeat(np.arange(num_nodes), np.diff(part["indptr"]))
    return Graph.from_edge_index(
        np.stack([rows, part["indices"]]),
        part.get("weights"),
        num_nodes=num_nodes,
        x=x,
        node_ids=node_ids,
        dtype=x.dtype,
    )
