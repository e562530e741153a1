"""Small graphs, and classifiers without training, for tests of the protocol; other processes import them."""

import os
import warnings
from dataclasses import dataclass, field
from types import SimpleNamespace

from tvgnn.errors import TrainingError
from tvgnn.experiments.classification import Environment
from tvgnn.graph.graph import Graph


@dataclass(frozen=True)
class FakeGraph:
    label: int
    position: int
    num_features: int = 3
    report: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(notes=("one-hot degree",)))


def fake_graphs(name):
    return [FakeGraph(position % 2, position) for position in range(60 if name == "mutag" else 40)]


def small_graphs(name):
    """Return rings, and the same without one edge, of 5 to 9 nodes."""
    graphs = []
    for position in range(30):
        size, is_ring = 5 + position % 5, position % 2
        nodes = list(range(size))
        edges = nodes if is_ring else nodes[:-1]
        graph = Graph.from_edges(edges, [(node + 1) % size for node in edges], node_ids=nodes)
        graphs.append(graph.with_structural_features("degree").with_label("ring" if is_ring else "path"))
    return graphs


class FakeClassifier:
    """Its accuracy on graphs is their number in a hundred."""

    def __init__(self, pooling="tvgnn", *, random_state=None, **parameters):
        self.pooling, self.random_state, self.parameters = pooling, random_state, parameters

    def fit(self, graphs, y=None, *, validation=None):
        assert [graph.label for graph in graphs] == list(y)
        assert not {graph.position for graph in graphs} & {graph.position for graph in validation[0]}
        self.n_iter_, self.best_epoch_, self.validation_loss_history_ = 7, 4, [0.7, 0.5, 0.6]
        self.fit_seconds_, self.seconds_per_epoch_, self.k_ = 3.5, 0.5, (9, 4)
        self.backend_, self.device_ = "cpu", "cpu"
        return self

    def score(self, graphs, y):
        return len(graphs) / 100


class Failing(FakeClassifier):
    """Fails for one method, warns for another."""

    def fit(self, graphs, y=None, *, validation=None):
        if self.pooling == "sag":
            raise TrainingError("the loss is nan\nin epoch 3")
        if self.pooling == "topk":
            raise KeyError("a defect")
        warnings.warn("fewer clusters than asked for", stacklevel=1)
        return super().fit(graphs, y, validation=validation)


class Killed(FakeClassifier):
    """Takes the process with it for one method, as the system does where memory is short."""

    def fit(self, graphs, y=None, *, validation=None):
        if self.pooling == "sag":
            os._exit(9)
        return super().fit(graphs, y, validation=validation)


def environment(classifier=FakeClassifier, load=fake_graphs):
    return Environment(load, classifier, peak_memory=lambda: 10**9, versions={"torch": "2"}, commit="abc")


def pool_environment(classifier=FakeClassifier):
    """Without functions of a test, so that other processes can read it."""
    return Environment(fake_graphs, classifier, os.getpid)
