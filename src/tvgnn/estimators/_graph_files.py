"""The training graph in the files of a model: arrays, and a description of what is no array."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable
from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from tvgnn.estimators._model_files import expect
from tvgnn.graph.graph import Graph
from tvgnn.graph.report import GraphReport

__all__ = ["described_graph", "graph_arrays", "graph_from"]


def graph_arrays(graph: Graph) -> dict[str, torch.Tensor]:
    """Edges, weights, features and class codes by name."""
    arrays = {"indptr": torch.tensor(graph.indptr), "indices": torch.tensor(graph.indices)}
    if graph.is_weighted:
        arrays["weights"] = torch.tensor(graph.weights)
    if sp.issparse(graph.x):
        parts = {"x.data": graph.x.data, "x.indices": graph.x.indices, "x.indptr": graph.x.indptr}
        arrays |= {name: torch.tensor(part) for name, part in parts.items()}
        arrays["x.shape"] = torch.tensor(graph.x.shape)
    else:
        arrays["x"] = torch.tensor(graph.x)
    if graph.y is not None:
        arrays["y"] = torch.tensor(graph.y)
    return arrays


def described_graph(graph: Graph) -> dict[str, Any]:
    """Number of nodes, ids, names of the classes, label of the whole graph and report, for JSON.

    Warns:
        UserWarning: ids, names or the label are neither numbers nor text nor tuples of them and are left out.

    """
    ids = graph.node_ids
    return {
        "num_nodes": graph.num_nodes,
        "node_ids": None if isinstance(ids, range) else _storable(ids, "node ids", "the loaded graph has 0, 1, ..."),
        "class_names": None
        if graph.y is None
        else _storable(graph.class_names, "names of classes", "the loaded graph has 0, 1, ..."),
        "label": None if graph.label is None else _storable([graph.label], "labels of a graph", "it is left out"),
        "report": asdict(graph.report),
    }


def graph_from(arrays: dict[str, torch.Tensor], description: dict[str, Any]) -> Graph:
    """Put together what `graph_arrays`, whose names begin with ``graph.`` here, and `described_graph` gave.

    Raises:
        ValueError: parts do not fit each other.

    """
    part = {name.removeprefix("graph."): value.numpy() for name, value in arrays.items() if name.startswith("graph.")}
    indptr, indices = part["indptr"], part["indices"]
    degrees = np.diff(indptr)
    num_nodes = len(degrees)  # what is made below is as long as arrays that are there
    expect("num_nodes", description["num_nodes"], num_nodes)
    expect("ends of indptr", (int(indptr[0]), int(indptr[-1])), (0, len(indices)))
    expect("least degree >= 0", bool((degrees >= 0).all()), True)
    if "x" in part:
        x = part["x"]
    else:
        x = sp.csr_array((part["x.data"], part["x.indices"], part["x.indptr"]), shape=tuple(part["x.shape"]))
    ids = description["node_ids"]
    graph = Graph.from_edge_index(
        np.stack([np.repeat(np.arange(num_nodes), degrees), indices]),
        part.get("weights"),
        num_nodes=num_nodes,
        x=x,
        node_ids=None if ids is None else [_from_json(value) for value in ids],
        dtype=x.dtype,
    )
    report = description.get("report")  # files of earlier versions have none
    if report is not None:
        expect("entries of report", set(report), {field.name for field in fields(GraphReport)})
        graph = replace(graph, report=GraphReport(**{**report, "notes": tuple(report["notes"])}))
    label = description.get("label")
    if label is not None:
        graph = graph.with_label(_from_json(label[0]))
    return graph if "y" not in part else _with_classes(graph, part["y"], description["class_names"])


def _with_classes(graph: Graph, codes: np.ndarray, names: list[Any] | None) -> Graph:
    classes = range(int(codes.max(initial=-1)) + 1) if names is None else [_from_json(name) for name in names]
    expect("shape and dtype of y", (codes.shape, codes.dtype), ((graph.num_nodes,), np.dtype(np.int64)))
    expect("codes of y in their range", bool(((codes >= -1) & (codes < len(classes))).all()), True)
    codes.setflags(write=False)
    return replace(graph, y=codes, class_names=tuple(classes))


def _storable(values: Iterable[Hashable], what: str, instead: str) -> list[Any] | None:
    """Values for JSON; None, and a warning, where one is of a type that it lacks."""
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    strange = next((value for value in plain if not _is_storable(value)), None)
    if strange is None:
        return plain
    warnings.warn(
        f"{what} of type {type(strange).__name__} cannot be saved, only numbers, text and tuples of them: {instead}",
        UserWarning,
        stacklevel=5,
    )
    return None


def _is_storable(value: Any) -> bool:
    if isinstance(value, tuple):
        return type(value) is tuple and all(_is_storable(item) for item in value)
    return type(value) in (str, int, float, bool)


def _from_json(value: Any) -> Any:
    """JSON has lists for tuples, and lists are no ids."""
    return tuple(_from_json(item) for item in value) if isinstance(value, list) else value
