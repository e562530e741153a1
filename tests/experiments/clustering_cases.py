"""Small graphs and methods for tests of the clustering experiments; other processes import them."""

import os
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator

from tvgnn.datasets import load_graph
from tvgnn.errors import DataError, TrainingError
from tvgnn.experiments.clustering import ClusteringEnvironment, ClusteringJob
from tvgnn.graph.graph import Graph

JOB = ClusteringJob("blocks", "fake", 3, 1, 50)


def blocks(name, seed, n_blocks=7, size=8):
    """Return blocks of nodes with features and classes; synthetic graphs of the paper are themselves."""
    if name in ("ring", "grid", "sbm-denoising"):
        return load_graph(name, seed=seed)
    random = np.random.default_rng(sum(name.encode()))
    classes = np.repeat(np.arange(n_blocks), size)
    likely = np.where(classes[:, None] == classes[None, :], 0.8, 0.05)
    source, target = np.nonzero(np.triu(random.random(likely.shape) < likely, 1))
    features = random.random((classes.size, 9)) + 2 * np.eye(9)[classes]
    return Graph.from_edges(source, target, node_ids=list(range(classes.size)), x=features, y=classes)


def large_blocks(name, seed):
    """Return blocks of so many nodes that several threads would share the work."""
    return blocks(name, seed, size=40)


def unreadable(name, seed):
    raise DataError(f"{name} cannot be loaded")


@dataclass(frozen=True)
class Deadly:
    """Loader that ends every process but the one that made it, for one graph; at most once where it has a file."""

    once: Path | None = None
    home: int = field(default_factory=os.getpid)

    def __call__(self, name, seed):
        if name == "deadly" and os.getpid() != self.home and not (self.once is not None and self.once.exists()):
            if self.once is not None:
                self.once.touch()
            os._exit(9)
        return blocks(name, seed)


class Fake(BaseEstimator):
    """Clusters by position; refuses a graph that knows its classes."""

    fits = 0

    def __init__(self, n_clusters=3, random_state=None, width=4):
        self.n_clusters, self.random_state, self.width = n_clusters, random_state, width

    def fit(self, graph):
        assert graph.y is None
        assert graph.class_names == ()
        type(self).fits += 1
        self.seen = graph
        self.labels_ = (np.arange(graph.num_nodes) + self.random_state) % self.n_clusters
        self.embedding_ = np.ones((graph.num_nodes, self.width))
        return self


class Trained(Fake):
    """As methods that are trained."""

    losses = (0.5, 0.25)

    def fit(self, graph):
        super().fit(graph)
        self.assignments_ = np.eye(self.n_clusters)[self.labels_]
        self.loss_history_, self.converged_, self.ms_per_epoch_ = list(self.losses), True, 1.5
        return self


class Diverging(Trained):
    losses = (0.5, float("nan"))


class Failing(Fake):
    def fit(self, graph):
        raise TrainingError("the loss is nan\nin epoch 3")


class Silent(Fake):
    def fit(self, graph):
        raise TrainingError


def environment(load=blocks):
    return ClusteringEnvironment(load, peak_memory=lambda: 10**9, versions={"torch": "2"}, commit="abc")


def jobs_of(methods, seeds=(0, 1), **fields):
    return [replace(JOB, method=method, seed=seed, **fields) for seed in seeds for method in methods]
