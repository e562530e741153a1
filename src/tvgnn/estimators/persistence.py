"""Saving and loading a fitted `TVClustering`: safetensors for arrays, JSON for everything else, no pickle."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from tvgnn.errors import DataError
from tvgnn.estimators.feature_scaling import FEATURE_NORMS, FeatureScaling
from tvgnn.graph.graph import Graph
from tvgnn.models.node_clustering import NodeClusteringConfig, NodeClusteringModel
from tvgnn.ops._backends import resolve_device

if TYPE_CHECKING:
    from tvgnn.estimators.clustering import TVClustering

__all__ = ["load", "save"]

_FORMAT = 1
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
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    arrays = {f"model.{name}": value for name, value in estimator.model_.state_dict().items()}
    arrays |= {f"graph.{name}": value for name, value in _graph_arrays(estimator.graph_).items()}
    for name in ("labels_", "assignments_", "embedding_"):
        arrays[name] = torch.tensor(getattr(estimator, name))
    arrays["loss_history_"] = torch.tensor(estimator.loss_history_, dtype=torch.float64)
    scaling = estimator.feature_scaling_
    for name in ("mean", "scale"):
        if getattr(scaling, name) is not None:
            arrays[f"scaling.{name}"] = torch.tensor(getattr(scaling, name))
    ids = [key.item() if isinstance(key, np.generic) else key for key in estimator.graph_.node_ids]
    plain_ids = ids != list(range(len(ids))) and all(type(i) in (str, int) for i in ids)
    description = {
        "format": _FORMAT,
        "parameters": {k: _plain(v) for k, v in estimator.get_params(deep=False).items()},
        "config": estimator.model_.config.to_dict(),
        "feature_norm": scaling.kind,
        "n_features_in": estimator.n_features_in_,
        "num_nodes": estimator.graph_.num_nodes,
        "node_ids": ids if plain_ids else None,
        "loss_terms": estimator.loss_terms_,
        "learned": {name: _plain(getattr(estimator, name)) for name in _SCALARS},
    }
    text = json.dumps(description, indent=2, default=_plain)  # before any file is written, since it may fail
    _replace(path / "model.safetensors", lambda temporary: save_file(_contiguous(arrays), temporary))
    _replace(path / "model.json", lambda temporary: Path(temporary).write_text(text, encoding="utf-8"))


def load(cls: type[TVClustering], folder: str | os.PathLike[str]) -> TVClustering:
    """Read what `save` wrote; the network is put on the device that trained it or, where that is missing, on the CPU.

    Raises:
        DataError: a file is missing, damaged or of another format.

    """
    path = Path(folder)
    for name in ("model.json", "model.safetensors"):
        if not (path / name).is_file():
            raise DataError(f"expected {name} in {path}, found none; pass a folder that TVClustering.save() wrote")
    try:
        description = json.loads((path / "model.json").read_text(encoding="utf-8"))
        if description["format"] != _FORMAT:
            raise DataError(
                f"expected model format {_FORMAT}, got {description['format']}; load it with its own version"
            )
        arrays = load_file(path / "model.safetensors")
        return _rebuild(cls, description, arrays)
    except DataError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError, RuntimeError, SafetensorError) as error:
        reason = f"no entry {error}" if isinstance(error, KeyError) else str(error)
        raise DataError(
            f"expected a model that TVClustering.save() wrote in {path}, but it is damaged: {reason}"
        ) from error


def _rebuild(cls: type[TVClustering], description: dict[str, Any], arrays: dict[str, torch.Tensor]) -> TVClustering:
    broken = next((name for name, value in arrays.items() if not torch.isfinite(value).all()), None)
    if broken is not None:
        raise ValueError(f"expected finite numbers in {broken}")
    estimator = cls(**description["parameters"])
    estimator.graph_ = _graph(arrays, description["num_nodes"], description["node_ids"])
    estimator.n_features_in_ = description["n_features_in"]
    _expect("n_features_in", estimator.n_features_in_, estimator.graph_.num_features)
    config = NodeClusteringConfig(**description["config"])
    _expect("config.in_channels", config.in_channels, estimator.n_features_in_)
    with torch.device("meta"):  # takes no memory and no random numbers before the sizes are known to fit
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
    if kind not in FEATURE_NORMS:
        raise ValueError(f"unknown feature_norm {kind!r}")
    scaling = {name: arrays[f"scaling.{name}"].numpy() for name in ("mean", "scale") if f"scaling.{name}" in arrays}
    needed = 0 if kind != "standardize" else 1 if sp.issparse(estimator.graph_.x) else 2
    _expect("number of scaling arrays", len(scaling), needed)
    for name, value in scaling.items():
        _expect(f"shape of scaling.{name}", value.shape, (estimator.n_features_in_,))
    estimator.feature_scaling_, estimator.feature_norm_ = FeatureScaling(kind, **scaling), kind


def _restore_results(
    estimator: TVClustering, config: NodeClusteringConfig, description: dict[str, Any], arrays: dict[str, torch.Tensor]
) -> None:
    nodes = estimator.graph_.num_nodes
    shapes = {"assignments_": (nodes, config.n_clusters), "embedding_": (nodes, config.hidden_channels)}
    for name, shape in {"labels_": (nodes,), **shapes}.items():
        _expect(f"shape of {name}", tuple(arrays[name].shape), shape)
        _expect(f"dtype of {name}", arrays[name].dtype, torch.int64 if name == "labels_" else torch.float32)
        setattr(estimator, name, arrays[name].numpy())
    _expect("labels_", estimator.labels_.tolist(), estimator.assignments_.argmax(1).tolist())
    estimator.loss_history_ = arrays["loss_history_"].tolist()
    estimator.loss_terms_ = dict(description["loss_terms"])
    for name, kind in _SCALARS.items():
        setattr(estimator, name, kind(description["learned"][name]))
    try:
        estimator.device_ = resolve_device(estimator.device_)
    except ValueError:
        estimator.device_ = "cpu"
    estimator.model_.to(estimator.device_)


def _expect(name: str, got: Any, expected: Any) -> None:
    if got != expected:
        shown = [text if len(text) < 80 else f"{text[:80]}..." for text in (str(expected), str(got))]
        raise ValueError(f"expected {name} to be {shown[0]}, got {shown[1]}")


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


def _contiguous(arrays: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: array.detach().cpu().contiguous() for name, array in arrays.items()}


def _plain(value: Any) -> Any:
    """Value for JSON; a random generator has none, so that a loaded estimator draws afresh."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, torch.device):
        return str(value)
    return value if value is None or isinstance(value, str | int | float | bool) else None


def _replace(path: Path, write: Any) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.touch()  # with the permissions that the user's umask gives; safetensors would make it private
        mode = temporary.stat().st_mode
        write(str(temporary))
        temporary.chmod(mode)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
