"""Synthetic graphs of any size; the slow ones are kept below `benchmarks/results/`."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch

import tvgnn.graph
from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.graph import Graph
from tvgnn.graph.locality import relabel_by_locality
from tvgnn.io.new_files import whole_file

__all__ = ["NEIGHBORS", "knn", "laid_out", "points", "ring", "star"]

NEIGHBORS = 15
_FOLDER = Path(__file__).parent / "results" / "graphs"


def points(nodes: int, dimensions: int) -> np.ndarray:
    """Uniform in the unit cube, (nodes, dimensions) float32, in no order."""
    return np.random.default_rng(0).random((nodes, dimensions), dtype=np.float32)


def knn(nodes: int, dimensions: int = 2) -> Adjacency:
    """Graph of the 15 nearest neighbours of uniform points, nodes in random order."""
    path = _FOLDER / f"knn{NEIGHBORS}-{nodes}-{dimensions}d-{_makers()}.npz"
    if not path.exists():
        graph = Graph.from_features(points(nodes, dimensions), NEIGHBORS)
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as temporary:  # one that is cut short would be read by every later run
            np.savez(temporary, indptr=graph.indptr, indices=graph.indices)
    with np.load(path) as arrays:
        return _symmetric(arrays["indptr"], arrays["indices"])


@cache
def _makers() -> str:
    """Hash of what makes such a graph, so that one of other code is made anew."""
    package = Path(tvgnn.graph.__file__).parent
    content = hashlib.sha256(f"pynndescent {version('pynndescent')}".encode())
    for file in [*sorted((package / "knn").glob("*.py")), package / "symmetrize.py"]:
        content.update(file.read_bytes())
    return content.hexdigest()[:8]


def laid_out(given: Adjacency, width: int) -> dict[str, Adjacency]:
    """Ways to run a layer on a graph whose nodes come in random order.

    The first, without a name, is that of `TVClustering`: graph and features ordered once. Layers move rows into that
    order and back at each step, where that pays, or take the order as given.
    """
    relabelled, layers = relabel_by_locality(given, width), given.by_locality(width)
    found = {"": given if relabelled is None else relabelled.adjacency}
    if layers.relabelled is not None:
        found[", moved at each step"] = layers
    if relabelled is not None:
        found[", order as given"] = given
    return found


def star(leaves: int) -> Adjacency:
    """Node 0 and its leaves."""
    indptr = np.concatenate([[0], np.arange(leaves, 2 * leaves + 1)])
    indices = np.concatenate([np.arange(1, leaves + 1), np.zeros(leaves, np.int64)])
    return _symmetric(indptr, indices)


def ring(nodes: int) -> Adjacency:
    """Every node next to the one before and the one after: as many edges as nodes, all degrees 2."""
    node = np.arange(nodes)
    indices = np.sort(np.stack([(node - 1) % nodes, (node + 1) % nodes], axis=1), axis=1)
    return _symmetric(2 * np.arange(nodes + 1), indices.ravel())


def _symmetric(indptr: np.ndarray, indices: np.ndarray) -> Adjacency:
    lists = (torch.tensor(array.astype(np.int32)) for array in (indptr, indices))
    return Adjacency(*lists, None, len(indptr) - 1, symmetric=True, loops_count=True)
