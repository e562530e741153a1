"""Simulated citation networks with known topics: on these the recipe of ``preset="quality"`` may be designed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from tvgnn.graph.graph import Graph

__all__ = ["CitationSettings", "simulate_citations"]

_KINDS = ("binary", "counts", "tf-idf")


@dataclass(frozen=True)
class CitationSettings:
    """What differs between citation networks; topics nest: threads of a few documents, subtopics, classes.

    Attributes:
        nodes, classes, words: sizes.
        subtopics: in each class.
        thread: documents in each thread, on average.
        length: words of a document, median.
        contrast: how far the words of class, subtopic and thread differ from those above.
        background: part of a document's words that say nothing about its topic.
        degree: mean.
        levels: shares of the citations within the thread, the subtopic, the class, and anywhere.
        imbalance: standard deviation of the logarithm of the classes' sizes.
        stray: share of documents filed under a class drawn at random.
        kind: of features.

    """

    nodes: int
    classes: int
    words: int
    subtopics: int
    thread: int
    length: float
    contrast: tuple[float, float, float]
    background: float
    degree: float
    levels: tuple[float, float, float, float]
    imbalance: float
    stray: float
    kind: str

    @classmethod
    def draw(cls, seed: int) -> CitationSettings:
        """Draw settings from ranges wide enough to hold the usual citation networks."""
        random = np.random.default_rng([seed, 1])
        bounds = {"nodes": (1500, 3500), "classes": (3, 9), "words": (500, 3000), "length": (10, 55)}
        return cls._between(random, **bounds, background=(0.45, 0.75), degree=(2.6, 6), kind=_KINDS[seed % 3])

    @classmethod
    def draw_doubtful(cls, seed: int) -> CitationSettings:
        """Draw settings in which up to all citations are random and the words say little to much about the topic."""
        random = np.random.default_rng([seed, 5])
        meant, contrast = random.uniform(0, 0.6), float(random.uniform(0.2, 0.6))
        return cls(
            nodes=int(random.integers(600, 2500)),
            classes=int(random.integers(2, 9)),
            words=int(random.choice((25, 60, 200, 800, 2000))),
            subtopics=3,
            thread=20,
            length=float(random.uniform(10, 120)),
            contrast=(contrast, contrast, contrast),
            background=0.6,
            degree=float(random.uniform(2, 20)),
            levels=(0.45 * meant, 0.25 * meant, 0.3 * meant, 1 - meant),
            imbalance=float(random.uniform(0, 0.8)),
            stray=0.08,
            kind=_KINDS[seed % 3],
        )

    @classmethod
    def draw_short(cls, seed: int) -> CitationSettings:
        """Draw settings of more and shorter documents, such as titles and tags, of two to twenty words."""
        random = np.random.default_rng([seed, 7])
        bounds = {"nodes": (2500, 10_000), "classes": (4, 18), "words": (800, 3000), "length": np.log((2, 20))}
        drawn = cls._between(random, **bounds, background=(0.3, 0.6), degree=(2.2, 6), kind="binary")
        return replace(drawn, length=float(np.exp(drawn.length)))

    @classmethod
    def _between(cls, random: np.random.Generator, *, kind: str, **bounds: Any) -> CitationSettings:
        """Draw what has bounds between them, and the rest from ranges that all networks share."""
        contrast = random.uniform((0.2, 0.3, 0.3), (0.5, 0.8, 0.8))
        levels = random.dirichlet((8, 4, 4, 5))
        return cls(
            nodes=int(random.integers(*bounds["nodes"])),
            classes=int(random.integers(*bounds["classes"])),
            words=int(random.integers(*bounds["words"])),
            subtopics=int(random.integers(1, 5)),
            thread=int(random.integers(8, 40)),
            length=float(random.uniform(*bounds["length"])),
            contrast=(float(contrast[0]), float(contrast[1]), float(contrast[2])),
            background=float(random.uniform(*bounds["background"])),
            degree=float(random.uniform(*bounds["degree"])),
            levels=(float(levels[0]), float(levels[1]), float(levels[2]), float(levels[3])),
            imbalance=float(random.uniform(0, 0.6)),
            stray=float(random.uniform(0.03, 0.18)),
            kind=kind,
        )


def simulate_citations(settings: CitationSettings, seed: int) -> Graph:
    """Draw a network; ``y`` is the class that a document is filed under."""
    random = np.random.default_rng([seed, 2])
    nodes, classes, subtopics = settings.nodes, settings.classes, settings.subtopics
    shares = np.exp(random.normal(0, settings.imbalance, classes))
    topic = random.choice(classes, nodes, p=shares / shares.sum())
    subtopic = topic * subtopics + random.integers(0, subtopics, nodes)
    thread, first = np.empty(nodes, np.int64), 0
    parents = []
    for number in range(classes * subtopics):
        members = np.flatnonzero(subtopic == number)
        threads = max(1, len(members) // settings.thread)
        thread[members] = first + random.integers(0, threads, len(members))
        parents += [number] * threads
        first += threads
    x = _documents(settings, thread, np.array(parents), random)
    groups = (thread, subtopic, topic, np.zeros(nodes, np.int64))
    source, target = _citations(settings, groups, random)
    stray = random.random(nodes) < settings.stray
    filed = np.where(stray, random.integers(0, classes, nodes), topic)
    return Graph.from_edge_index(np.stack([source, target]), num_nodes=nodes, x=x, y=filed)


def _documents(
    settings: CitationSettings, thread: np.ndarray, subtopic_of: np.ndarray, random: np.random.Generator
) -> sp.csr_array:
    """Words of each document, (N, words)."""
    general = 1 / np.arange(2, settings.words + 2) ** 0.9  # Zipf's law, nearly
    general /= general.sum()
    numbers = np.arange(settings.classes * settings.subtopics)
    by_class = _tilted(general[None], np.zeros(settings.classes, np.int64), settings.contrast[0], random)
    by_subtopic = _tilted(by_class, numbers // settings.subtopics, settings.contrast[1], random)
    by_thread = _tilted(by_subtopic, subtopic_of, settings.contrast[2], random)
    b = settings.background
    said_of_nothing = np.clip(random.beta(8 * b, 8 * (1 - b), len(thread)), 0.05, 0.95)
    lengths = np.maximum(3, random.lognormal(np.log(settings.length), 0.4, len(thread))).astype(int)
    counts = np.zeros((len(thread), settings.words), np.float32)
    for node, (own, part, length) in enumerate(zip(thread, said_of_nothing, lengths, strict=True)):
        counts[node] = random.multinomial(length, part * general + (1 - part) * by_thread[own])
    if settings.kind == "binary":
        counts = (counts > 0).astype(np.float32)
    elif settings.kind == "tf-idf":
        idf = np.log(len(counts) / np.maximum((counts > 0).sum(0), 1))
        counts = (counts / counts.sum(1, keepdims=True) * idf).astype(np.float32)
    return sp.csr_array(counts)


def _tilted(words: np.ndarray, parent: np.ndarray, contrast: float, random: np.random.Generator) -> np.ndarray:
    """A distribution of words for each child: a third of the words more or less frequent than with its parent."""
    shape = (len(parent), words.shape[1])
    change = 0.3 + np.exp(1.6 * contrast * random.normal(size=shape)) * (random.random(shape) < 0.35)
    tilted = words[parent] * change
    return tilted / tilted.sum(1, keepdims=True)


def _citations(
    settings: CitationSettings, groups: tuple[np.ndarray, ...], random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of the citations: a degree-corrected block model on four levels."""
    popularity = random.pareto(2.5, settings.nodes) + 0.3
    number = int(settings.nodes * settings.degree / 2)
    source = random.choice(settings.nodes, number, p=popularity / popularity.sum())
    level = random.choice(len(groups), number, p=np.array(settings.levels))
    target = np.empty(number, np.int64)
    for one, group in enumerate(groups):
        chosen = np.flatnonzero(level == one)
        order = np.argsort(group, kind="stable")
        ends = np.concatenate([[0], np.cumsum(popularity[order])])
        low, high = (ends[np.searchsorted(group[order], group[source[chosen]], side)] for side in ("left", "right"))
        drawn = low + random.random(len(chosen)) * (high - low)
        target[chosen] = order[np.clip(np.searchsorted(ends, drawn, "right") - 1, 0, settings.nodes - 1)]
    return source, target
