"""Networks drawn like a given one: matched to it in everything that needs no labels, and with known classes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from tvgnn.graph.graph import Graph

__all__ = ["Margins", "MatchedSettings", "matched_settings", "simulate_like"]

_SETTINGS = Path(__file__).with_name("matched.json")


@dataclass(frozen=True)
class MatchedSettings:
    """What `benchmarks.quality.matching` looks for; topics nest: threads of documents, subtopics, classes.

    Attributes:
        sub: subtopics in each class.
        thread: documents in each thread, on average.
        c0, c1, c2: how far the words of class, subtopic and thread differ from those above.
        spread: by how much this varies from topic to topic, standard deviation of the logarithm.
        bg: part of a document's words that say nothing about its topic.
        l0, l1, l2, l3: shares of the citations within the thread, the subtopic, the class, and anywhere.
        close: share of the edges that close a triangle.
        imb: standard deviation of the logarithm of the classes' sizes.
        pop: power of the given degrees that makes the popularity.
        echo: share of words that a document has from one that it cites.
        mix, mixw, mixin: share of documents with a second thread, its mean weight, how often it is of the same class.

    """

    sub: int
    thread: float
    c0: float
    c1: float
    c2: float
    spread: float
    bg: float
    l0: float
    l1: float
    l2: float
    l3: float
    close: float
    imb: float
    pop: float
    echo: float
    mix: float
    mixw: float
    mixin: float


@dataclass(frozen=True, eq=False)
class Margins:
    """What is taken from a graph as it is.

    Attributes:
        nodes, classes, edges: numbers.
        degrees, lengths: (N,) of the nodes, and of their documents in different words.
        frequency: (F,) documents with each word.

    """

    nodes: int
    classes: int
    edges: int
    degrees: np.ndarray
    lengths: np.ndarray
    frequency: np.ndarray

    @classmethod
    def of(cls, graph: Graph, classes: int) -> Margins:
        """Read them from a graph of sparse binary features; its labels are not looked at."""
        x, degrees = sp.csr_array(graph.x), np.diff(graph.indptr)
        frequency = np.bincount(x.indices, minlength=x.shape[1]) + 0.5
        return cls(graph.num_nodes, classes, graph.num_edges, degrees, np.diff(x.indptr), frequency)


def matched_settings(name: str) -> list[MatchedSettings]:
    """The settings found for ``cora`` or ``citeseer``, the best match first."""
    return [MatchedSettings(**one) for one in json.loads(_SETTINGS.read_text(encoding="utf-8"))[name]]


def simulate_like(margins: Margins, settings: MatchedSettings, seed: int, stray: float | None = None) -> Graph:
    """Draw a network; ``y`` is the class that a document is filed under.

    Parameters:
        margins: what is given.
        settings: what was matched.
        seed: of the draw.
        stray: share of documents filed under a class drawn at random; None to draw it from 0.05 to 0.2.

    """
    random = np.random.default_rng([seed, 7])
    topics = _topics(margins, settings, random)
    source, target = _citations(margins, settings, topics, random)
    x = _documents(margins, settings, topics, (source, target), random)
    share = random.uniform(0.05, 0.2) if stray is None else stray
    elsewhere = random.random(margins.nodes) < share
    y = np.where(elsewhere, random.integers(0, margins.classes, margins.nodes), topics.groups[2])
    return Graph.from_edge_index(np.stack([source, target]), num_nodes=margins.nodes, x=x, y=y)


@dataclass(frozen=True, eq=False)
class _Topics:
    """Thread, subtopic, class and one group of all for each node; of its second topic too, and the weight of that."""

    groups: tuple[np.ndarray, ...]
    second: tuple[np.ndarray, ...]
    weight: np.ndarray
    subtopic_of: np.ndarray  # for each thread


def _topics(margins: Margins, settings: MatchedSettings, random: np.random.Generator) -> _Topics:
    nodes, classes, sub = margins.nodes, margins.classes, settings.sub
    shares = np.exp(random.normal(0, settings.imb, classes))
    topic = random.choice(classes, nodes, p=shares / shares.sum())
    within = random.dirichlet(np.full(sub, 3.0), classes)
    subtopic = topic.copy()
    if sub > 1:
        subtopic = topic * sub + (random.random(nodes)[:, None] > within[topic].cumsum(1)[:, :-1]).sum(1)
    thread, parents = np.empty(nodes, np.int64), []
    for number in range(classes * sub):
        members = np.flatnonzero(subtopic == number)
        threads = max(1, int(len(members) / settings.thread))
        thread[members] = len(parents) + random.choice(threads, len(members), p=random.dirichlet(np.full(threads, 1.5)))
        parents += [number] * threads
    mixed = random.random(nodes) < settings.mix
    weight = np.where(mixed, random.beta(2, 2 * (1 - settings.mixw) / max(settings.mixw, 1e-3), nodes), 0.0)
    order = np.argsort(topic, kind="stable")
    ends = np.searchsorted(topic[order], np.arange(classes + 1))
    same = random.random(nodes) < settings.mixin
    low, high = ends[topic], ends[topic + 1]
    colleague = order[np.minimum(low + (random.random(nodes) * (high - low)).astype(int), nodes - 1)]
    like = np.where(same, colleague, random.integers(0, nodes, nodes))
    groups = (thread, subtopic, topic, np.zeros(nodes, np.int64))
    return _Topics(groups, tuple(group[like] for group in groups), weight, np.array(parents))


def _citations(
    margins: Margins, settings: MatchedSettings, topics: _Topics, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of the edges: a degree-corrected block model on four levels, then triangles."""
    nodes = margins.nodes
    popularity = margins.degrees[random.permutation(nodes)].astype(float) ** settings.pop + 0.1
    number = int(margins.edges * 1.04)  # some are drawn twice
    closing = int(number * settings.close)
    source = random.choice(nodes, number - closing, p=popularity / popularity.sum())
    level = random.choice(4, number - closing, p=np.array([settings.l0, settings.l1, settings.l2, settings.l3]))
    target = np.empty(number - closing, np.int64)
    for one, (group, second) in enumerate(zip(topics.groups, topics.second, strict=True)):
        chosen = np.flatnonzero(level == one)
        order = np.argsort(group, kind="stable")
        ends = np.concatenate([[0], np.cumsum(popularity[order])])
        by_second = random.random(len(chosen)) < topics.weight[source[chosen]]
        sought = np.where(by_second, second[source[chosen]], group[source[chosen]])
        low, high = (ends[np.searchsorted(group[order], sought, side)] for side in ("left", "right"))
        drawn = low + random.random(len(chosen)) * (high - low)
        target[chosen] = order[np.clip(np.searchsorted(ends, drawn, "right") - 1, 0, nodes - 1)]
    if closing:
        indptr, indices = _lists(np.r_[source, target], np.r_[target, source], nodes)
        first = random.choice(np.repeat(np.arange(nodes), np.diff(indptr)), closing)
        through = _neighbor(indptr, indices, first, random)
        source, target = np.r_[source, first], np.r_[target, _neighbor(indptr, indices, through, random)]
    return source, target


def _documents(
    margins: Margins,
    settings: MatchedSettings,
    topics: _Topics,
    cited: tuple[np.ndarray, np.ndarray],
    random: np.random.Generator,
) -> sp.csr_array:
    """Words of each document, 0 or 1."""
    nodes, words, classes = margins.nodes, len(margins.frequency), margins.classes
    general = (margins.frequency / margins.frequency.sum())[None]
    by_class = _tilted(general, np.zeros(classes, np.int64), settings.c0, settings.spread, random)
    parents = np.arange(classes * settings.sub) // settings.sub
    by_subtopic = _tilted(by_class, parents, settings.c1, settings.spread, random)
    by_thread = _tilted(by_subtopic, topics.subtopic_of, settings.c2, settings.spread, random).cumsum(1)
    said_of_nothing = np.clip(random.beta(8 * settings.bg, 8 * (1 - settings.bg), nodes), 0.02, 0.98)
    draws = np.maximum(1, (margins.lengths[random.permutation(nodes)] * 1.15).astype(int))
    node = np.repeat(np.arange(nodes), draws)
    drawn, of_nothing = random.random(len(node)), random.random(len(node)) < said_of_nothing[node]
    word = np.searchsorted(general[0].cumsum(), drawn)
    telling = np.flatnonzero(~of_nothing)
    by_second = random.random(len(telling)) < topics.weight[node[telling]]
    thread = np.where(by_second, topics.second[0][node[telling]], topics.groups[0][node[telling]])
    for number, cumulative in enumerate(by_thread):
        chosen = telling[thread == number]
        word[chosen] = np.searchsorted(cumulative, drawn[chosen] * cumulative[-1])
    indptr, indices = _lists(*cited, nodes)
    echoing = np.flatnonzero((random.random(len(node)) < settings.echo) & (np.diff(indptr)[node] > 0))
    heard = _neighbor(indptr, indices, node[echoing], random)
    first = np.cumsum(draws) - draws
    word[echoing] = word[first[heard] + (random.random(len(heard)) * draws[heard]).astype(int)]
    column = np.clip(word, 0, words - 1)
    counts = sp.csr_array((np.ones(len(node), np.float32), (node, column)), shape=(nodes, words))
    counts.sum_duplicates()
    counts.data[:] = 1
    return counts


def _tilted(
    words: np.ndarray, parent: np.ndarray, contrast: float, spread: float, random: np.random.Generator
) -> np.ndarray:
    """A distribution of words for each child, as in `benchmarks.quality.simulated`, with contrasts that vary."""
    shape = (len(parent), words.shape[1])
    strength = 1.6 * contrast * np.exp(spread * random.normal(size=(len(parent), 1)))
    change = 0.3 + np.exp(np.clip(strength * random.normal(size=shape), -6, 4.5)) * (random.random(shape) < 0.35)
    tilted = words[parent] * change
    return np.asarray(tilted / tilted.sum(1, keepdims=True))


def _lists(rows: np.ndarray, columns: np.ndarray, nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Row pointers and columns of the edges."""
    lists = sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(nodes, nodes))
    return lists.indptr, lists.indices


def _neighbor(indptr: np.ndarray, indices: np.ndarray, nodes: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """One neighbour of each node, at random."""
    return indices[indptr[nodes] + (random.random(len(nodes)) * np.diff(indptr)[nodes]).astype(int)]
