"""Graphs of the ablations by name, each with the number of clusters asked for."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from benchmarks.quality.airports import simulate_airports
from benchmarks.quality.amounts import simulate_amounts
from benchmarks.quality.answers import simulate_answers
from benchmarks.quality.dense import simulate_dense
from benchmarks.quality.matched import Margins, matched_settings, simulate_like
from benchmarks.quality.packages import (
    joint_network,
    package_network,
    with_topics,
    with_word_vectors,
    without_some_words,
)
from benchmarks.quality.places import simulate_places
from benchmarks.quality.rows import TableSettings, rows, simulate_cells, simulate_table
from benchmarks.quality.shares import simulate_shares
from benchmarks.quality.short_texts import SHORT_TEXTS
from benchmarks.quality.simulated import CitationSettings, simulate_citations
from benchmarks.quality.skewed import simulate_skewed
from benchmarks.quality.weights import simulate_weights
from tvgnn import Graph, load_dataset
from tvgnn.errors import DataError

__all__ = ["REAL", "Problem", "block_graph", "problem", "tissue"]

REAL = ("cora", "citeseer", "pubmed", "dblp")
_PACKAGES = {
    "package": lambda graph: graph,
    "vectors": with_word_vectors,
    "topics": with_topics,
    "joint": joint_network,
    "missing": without_some_words,
    "edges": lambda graph: graph.with_structural_features("spectral", n_clusters=graph.num_classes),
}
_DRAWN = {
    "citations": CitationSettings.draw,
    "doubtful": CitationSettings.draw_doubtful,
    "short": CitationSettings.draw_short,
}
_SIMULATED = {
    "airports": simulate_airports,
    "amounts": simulate_amounts,
    "answers": simulate_answers,
    "dense": simulate_dense,
    "places": simulate_places,
    "shares": simulate_shares,
    "skewed": simulate_skewed,
    "weights": simulate_weights,
}
_CLUSTERS = {"ring": 5, "grid": 10}  # the paper's; these have no classes


class Problem(NamedTuple):
    """A graph, and K."""

    graph: Graph
    n_clusters: int


def problem(name: str, seed: int, mirror: str | None = None) -> Problem:
    """Load a dataset, or draw ``blocks``, ``tissue``, ``citations-NUMBER`` or ``like-cora-NUMBER`` (also citeseer).

    ``doubtful-NUMBER`` is a citation network with up to all citations drawn at random, ``short-NUMBER`` one of texts of
    few words; ``texts-foldoc``, ``texts-verbs``, ``texts-nouns`` and ``texts-debian`` are real ones of such
    (`benchmarks.quality.short_texts`). ``package-NAME`` is the network of an installed Python package, ``vectors-NAME``
    the same with word vectors for words, ``topics-NAME`` with a mixture of topics, ``joint-NAME`` the same with edges
    between what is mentioned together, ``missing-NAME`` the same of which two in five nodes have no words,
    ``edges-NAME`` the same without any words. ``rows-NAME`` has no edges (`benchmarks.quality.rows`), and
    ``table-NUMBER`` measurements and categories; ``cells-NUMBER`` are counts of genes, ``logcells-NUMBER`` their
    logarithms as scanpy makes them, without edges too. ``airports-NUMBER`` have one-hot degrees for features,
    ``skewed-NUMBER`` measurements with heavy tails, ``shares-NUMBER`` shares of a whole, ``amounts-NUMBER`` amounts
    that are mostly zero. ``dense-NUMBER`` joins up to all pairs, by similarities or amounts; ``answers-NUMBER``
    have few columns of 0 and 1, with edges where the number is odd; ``places-NUMBER`` coordinates among the features;
    ``weights-NUMBER`` edges with weights.

    The number stands for the settings, of those like a graph from the best match on.

    Raises:
        DataError: an unknown name, or a package that is not installed.

    """
    if match := re.fullmatch(r"(citations|doubtful|short)-(\d+)", name):
        number = int(match[2])
        settings = _DRAWN[match[1]](number)
        return Problem(simulate_citations(settings, seed=number), settings.classes)
    if match := re.fullmatch(r"like-(cora|citeseer)-(\d+)", name):
        known = matched_settings(match[1])
        if int(match[2]) >= len(known):
            raise DataError(f"expected a number below {len(known)} at the end of {name}")
        given, classes = problem(match[1], seed, mirror)
        return Problem(simulate_like(Margins.of(given, classes), known[int(match[2])], seed=seed), classes)
    if match := re.fullmatch(rf"({'|'.join(_PACKAGES)})-(.*)", name):
        graph = _PACKAGES[match[1]](package_network(match[2]))
        return Problem(graph, graph.num_classes)
    if match := re.fullmatch(r"table-(\d+)", name):
        number = int(match[1])
        graph = simulate_table(TableSettings.draw(number), seed=number)
        return Problem(graph, graph.num_classes)
    if match := re.fullmatch(r"(log)?cells-(\d+)", name):
        graph = simulate_cells(int(match[2]))
        if match[1]:
            shares = graph.x / graph.x.sum(1, keepdims=True)
            graph = Graph.from_scipy(graph.adjacency(), x=np.log1p(1e4 * shares), y=graph.y)
        return Problem(graph, graph.num_classes)
    if match := re.fullmatch(rf"({'|'.join(_SIMULATED)})-(\d+)", name):
        graph = _SIMULATED[match[1]](int(match[2]))
        return Problem(graph, graph.num_classes)
    if name.startswith("rows-"):
        graph = rows(name.removeprefix("rows-"))
        return Problem(graph, graph.num_classes)
    if name.startswith("texts-") and (kind := name.removeprefix("texts-")) in SHORT_TEXTS:
        graph = SHORT_TEXTS[kind]()
        return Problem(graph, graph.num_classes)
    if name in ("blocks", "tissue"):
        graph = block_graph(seed) if name == "blocks" else tissue(seed)
        return Problem(graph, graph.num_classes)
    graph = load_dataset(name, mirror=mirror, seed=seed)
    if not isinstance(graph, Graph):
        raise DataError(f"expected one graph, got the set of graphs {name}")
    return Problem(graph, _CLUSTERS.get(name) or graph.num_classes)


def block_graph(seed: int, nodes: int = 1500, classes: int = 6) -> Graph:
    """Blocks of unequal size, and Gaussian features whose means differ by less than their spread."""
    random = np.random.default_rng([seed, 3])
    y = np.sort(random.choice(classes, nodes, p=random.dirichlet(np.full(classes, 4.0))))
    number = 4 * nodes
    source = random.integers(0, nodes, number)
    anywhere = random.random(number) < 0.35
    begin, end = np.searchsorted(y, y[source]), np.searchsorted(y, y[source], "right")
    target = np.where(anywhere, random.integers(0, nodes, number), random.integers(begin, end))
    x = random.normal(0, 0.6, (classes, 20))[y] + random.normal(size=(nodes, 20))
    return Graph.from_edge_index(np.stack([source, target]), num_nodes=nodes, x=x, y=y)


def tissue(seed: int, cells: int = 3000, layers: int = 5, genes: int = 200) -> Graph:
    """A slice of layered tissue: neighbours in space, and counts of genes that vary by layer and by type of cell."""
    random = np.random.default_rng([seed, 4])
    position = random.random((cells, 2))
    depth = position[:, 1] + 0.05 * np.sin(6 * position[:, 0])
    y = np.searchsorted(np.quantile(depth, np.linspace(0, 1, layers + 1)[1:-1]), depth)
    mixes = random.dirichlet(np.full(4, 1.0), layers)
    kind = (random.random(cells)[:, None] > mixes[y].cumsum(1)[:, :-1]).sum(1)
    rate = np.exp(random.normal(-1, 1, genes) + random.normal(0, 0.15, (layers, genes))[y])
    rate *= np.exp(random.normal(0, 0.8, (4, genes)))[kind] * random.lognormal(0, 0.3, cells)[:, None]
    nearest = cKDTree(position).query(position, 7)[1][:, 1:]
    edges = np.stack([np.repeat(np.arange(cells), 6), nearest.ravel()])
    return Graph.from_edge_index(edges, num_nodes=cells, x=random.poisson(rate).astype(np.float32), y=y)
