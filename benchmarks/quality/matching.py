"""Finds the settings of `benchmarks.quality.matched`: networks that differ least from a given one, seen without labels.

``python -m benchmarks.quality.matching --graph cora --out cora.json`` goes on from the file that it wrote last.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans

from benchmarks.quality.graphs import problem
from benchmarks.quality.matched import Margins, MatchedSettings, simulate_like
from tvgnn.estimators.quality import candidates
from tvgnn.estimators.quality.directions import averaging_matrix, neighborhood_directions, principal_components
from tvgnn.estimators.quality.information import PartitionInformation, edge_information
from tvgnn.estimators.quality.preparation import FeaturePreparation
from tvgnn.graph.graph import Graph
from tvgnn.metrics import modularity

__all__ = ["difference", "drawn", "search", "statistics"]

_RANGES = {
    "sub": (1, 7), "thread": (4, 300), "c0": (0.02, 1.3), "c1": (0.02, 1.3), "c2": (0.02, 1.3), "spread": (0, 1),
    "bg": (0.02, 0.9), "close": (0, 0.7), "imb": (0, 1), "pop": (0.3, 1.3), "echo": (0, 0.6), "mix": (0, 0.95),
    "mixw": (0.03, 0.5), "mixin": (0, 1),
}  # fmt: skip
_LEVELS = ("l0", "l1", "l2", "l3")
_PARENTS = 8  # of the next trials
_OF_PARTITIONS = 1.5  # weight of their statistics, which tell how distinct classes are, beside that of the others


def statistics(graph: Graph, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """What is matched, mostly logarithms: of the graph with its features, and of partitions of it.

    Parameters:
        graph: its labels are not looked at.
        classes: K; partitions of K / 2, K, 2 K and 5 K clusters are looked at.

    """
    x = FeaturePreparation.fit(graph.x).transform(graph.x)
    basis, reduced = principal_components(x, np.random.RandomState(0))
    encoders = neighborhood_directions(graph, x, basis, reduced, 64)
    averaging = averaging_matrix(graph)
    return _of_graph(graph, encoders, reduced, averaging), _of_partitions(
        graph, classes, x, encoders, reduced, averaging
    )


def _of_graph(graph: Graph, encoders: list, reduced: np.ndarray, averaging: sp.csr_array) -> np.ndarray:
    """Signal-to-noise ratios, spectrum, decay under averaging, return probabilities, triangles, components."""
    found = [np.log(np.maximum(one.ratios[[0, 1, 3, 7, 15, 31]], 1e-3)) for one in encoders]
    centred = reduced - reduced.mean(0)
    spectrum = centred.var(0)
    places = [place for place in (0, 1, 3, 7, 15, 31, 63, 127, 255) if place < len(spectrum)]
    found.append(np.log(np.maximum(spectrum[places] / spectrum.sum(), 1e-9)) / 2)
    white = centred / np.maximum(centred.std(0), 1e-6)
    for rows in (centred / np.linalg.norm(centred), white / np.linalg.norm(white)):
        smoothed = rows
        for steps in range(1, 33):
            smoothed = averaging @ smoothed
            if steps.bit_count() == 1:
                found.append(np.log([np.linalg.norm(smoothed)]))
    probe = np.random.default_rng(1).normal(size=(graph.num_nodes, 64)).astype(np.float32)
    walk = probe
    for steps in range(1, 17):
        walk = averaging @ walk
        if steps in (2, 4, 8, 16):
            found.append(np.log(np.maximum([(probe * walk).mean()], 1e-3)))
    adjacency, degrees = sp.csr_array(graph.adjacency()), np.diff(graph.indptr).astype(float)
    pairs = max((degrees * (degrees - 1)).sum(), 1)
    triangles = (adjacency @ adjacency).multiply(adjacency).sum() / pairs
    largest = np.bincount(sp.csgraph.connected_components(adjacency)[1]).max() / graph.num_nodes
    found.append([np.log(triangles + 1e-3) / 2, np.log(pairs / graph.num_nodes) / 2, 2 * largest])
    return np.concatenate(found)


def _of_partitions(
    graph: Graph, classes: int, x: np.ndarray, encoders: list, reduced: np.ndarray, averaging: sp.csr_array
) -> np.ndarray:
    """What k-means partitions of two and four averages explain, in nats a node, and their modularity."""
    adjacency, information = graph.adjacency(), PartitionInformation(graph.adjacency(), reduced)
    encoder, found = encoders[min(1, len(encoders) - 1)], []
    rows = np.asarray(x @ encoder.weight)
    for _ in range(2):
        rows = averaging @ (averaging @ rows)
        embedding = candidates._embedding(rows, *candidates._weights(rows, encoder.ratios), unit_rows=True)
        for clusters in (max(2, (classes + 1) // 2), classes, 2 * classes, 5 * classes):
            labels = KMeans(clusters, n_init=4, random_state=0).fit(embedding).labels_
            edges = edge_information(adjacency, labels, clusters) / graph.num_nodes
            features = information.feature_information(labels, clusters) / graph.num_nodes
            found += [edges, features / 2, 3 * modularity(adjacency, labels)]
    return np.array(found)


def difference(one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]) -> float:
    """Mean absolute difference of the statistics of two networks."""
    graphs, partitions = (float(np.abs(a - b).mean()) for a, b in zip(one, other, strict=True))
    return graphs + _OF_PARTITIONS * partitions


def drawn(random: np.random.Generator) -> MatchedSettings:
    """Settings from anywhere in their ranges."""
    values = {name: random.uniform(*ends) for name, ends in _RANGES.items()}
    values["thread"] = np.exp(random.uniform(*np.log(_RANGES["thread"])))
    return _proper(values | dict(zip(_LEVELS, random.dirichlet((5, 4, 4, 2.5)), strict=True)))


def _crossed(one: MatchedSettings, other: MatchedSettings, step: float, random: np.random.Generator) -> MatchedSettings:
    """Most of one, some of the other, each value moved by about ``step`` of its range."""
    first, second = asdict(one), asdict(other)
    values = {name: (first if random.random() < 0.7 else second)[name] for name in first}
    for name, (low, high) in _RANGES.items():
        values[name] = float(np.clip(values[name] + step * random.normal() * (high - low) / 2, low, high))
    for name in _LEVELS:
        values[name] *= np.exp(2 * step * random.normal())
    values["thread"] = float(np.clip(first["thread"] * np.exp(2 * step * random.normal()), *_RANGES["thread"]))
    return _proper(values)


def _proper(values: dict[str, float]) -> MatchedSettings:
    """Levels that add up to one, and a whole number of subtopics."""
    total = sum(values[name] for name in _LEVELS)
    levels = {name: values[name] / total for name in _LEVELS}
    return MatchedSettings(**values | levels | {"sub": round(values["sub"])})


def search(
    graph: Graph, classes: int, found: list[tuple[float, MatchedSettings]], trials: int, random: np.random.Generator
) -> list[tuple[float, MatchedSettings]]:
    """Try further settings, at first any and then near the best, and return all with their differences, best first."""
    target, margins = statistics(graph, classes), Margins.of(graph, classes)
    for _ in range(trials):
        best = [settings for _, settings in sorted(found, key=lambda one: one[0])[:_PARENTS]]
        settings = drawn(random)
        if len(found) >= 10 * _PARENTS:
            settings = _crossed(*(best[i] for i in random.integers(0, len(best), 2)), 0.1, random)
        network = simulate_like(margins, settings, seed=int(random.integers(2**31)))
        found = [*found, (difference(statistics(network, classes), target), settings)]
    return sorted(found, key=lambda one: one[0])


def main() -> None:
    """Parse, search, write after every tenth trial."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graph", required=True, help="a dataset of binary features, such as cora")
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--mirror")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    known = json.loads(options.out.read_text(encoding="utf-8")) if options.out.exists() else []
    found = [(value, MatchedSettings(**settings)) for value, settings in known]
    given, classes = problem(options.graph, 0, options.mirror)
    random = np.random.default_rng(len(found))
    for _ in range(0, options.trials, 10):
        found = search(given, classes, found, 10, random)
        lines = [[round(value, 4), asdict(settings)] for value, settings in found]
        partial = options.out.with_name(options.out.name + ".partial")
        partial.write_text(json.dumps(lines, indent=1), encoding="utf-8")
        partial.replace(options.out)
        print(len(found), [round(value, 3) for value, _ in found[:5]], flush=True)


if __name__ == "__main__":
    main()
