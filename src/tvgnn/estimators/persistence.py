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

if TYPE_CHECKING:
    from tvgnn.estimators.clustering import TVClustering

__all__ = ["load", "save"]

_FORMAT = 1
_SCALARS = ("n_clusters_found_", "loss_", "n_iter_", "converged_", "fit_seconds_", "backend_", "device_")


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
    ids = list(estimator.graph_.node_ids)
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
    _replace(path / "model.safetensors", lambda temporary: save_file(_contiguous(arrays), temporary))
    _replace(path / "model.json", lambda temporary: Path(temporary).write_text(json.dumps(description, indent=2)))


def load(cls: type[TVClustering], folder: str | os.PathLike[str]) -> TVClustering:
    """Read what `save` wrote.

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
        raise DataError(
            f"expected a model that TVClustering.save() wrote in {path}, but it is damaged: {error}"
        ) from error


def _rebuild(cls: type[TVClustering], description: dict[str, Any], arrays: dict[str, torch.Tensor]) -> TVClustering:
    estimator = cls(**description["parameters"])
    estimator.n_features_in_ = description["n_features_in"]
    estimator.model_ = NodeClusteringModel(NodeClusteringConfig(**description["config"]), backend=estimator.backend)
    prefix = "model."
    estimator.model_.load_state_dict({k[len(prefix) :]: v for k, v in arrays.items() if k.startswith(prefix)})
    if description["feature_norm"] not in FEATURE_NORMS:
        raise ValueError(f"unknown feature_norm {description['feature_norm']!r}")
    scaling = [arrays[f"scaling.{name}"].numpy() if f"scaling.{name}" in arrays else None for name in ("mean", "scale")]
    estimator.feature_scaling_ = FeatureScaling(description["feature_norm"], *scaling)
    estimator.feature_norm_ = description["feature_norm"]
    estimator.graph_ = _graph(arrays, description["num_nodes"], description["node_ids"])
    for name in ("labels_", "assignments_", "embedding_"):
        setattr(estimator, name, arrays[name].numpy())
    estimator.loss_history_ = arrays["loss_history_"].tolist()
    estimator.loss_terms_ = description["loss_terms"]
    for name, value in description["learned"].items():
        setattr(estimator, name, value)
    return estimator


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
        np.stack([rows, part["indices"]]), part.get("weights"), num_nodes=num_nodes, x=x, node_ids=node_ids
    )


def _contiguous(arrays: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: array.detach().cpu().contiguous() for name, array in arrays.items()}


def _plain(value: Any) -> Any:
    """Value for JSON; a random generator has none, so that a loaded estimator draws afresh."""
    if isinstance(value, np.generic):
        return value.item()
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
