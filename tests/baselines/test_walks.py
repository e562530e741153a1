"""Random walks: allowed steps, exact transition probabilities, the same for any number of threads."""

import builtins
import itertools

import numba
import numpy as np
import pytest
import torch

from tvgnn import Graph
from tvgnn.baselines import BASELINES
from tvgnn.baselines._walks import random_walks

# A square with a diagonal, a tail and an isolated node, with weights
EDGES = {(0, 1): 1.0, (1, 2): 2.0, (2, 3): 0.5, (0, 3): 1.5, (0, 2): 1.0, (3, 4): 3.0}
GRAPH = Graph.from_edges(*zip(*EDGES, strict=True), list(EDGES.values()), node_ids=range(6))


def transition_probabilities(p, q):
    """Grover & Leskovec (2016), sec. 3.2.2: probability of x after t -> v."""
    a = GRAPH.adjacency().toarray()
    exact = {}
    for t, v in itertools.permutations(range(6), 2):
        if a[t, v] == 0:
            continue
        alpha = [1 / p if x == t else 1.0 if a[t, x] > 0 else 1 / q for x in range(6)]
        exact[t, v] = alpha * a[v] / (alpha * a[v]).sum()
    return exact


@pytest.mark.parametrize(("p", "q"), [(1, 1), (0.25, 4), (4, 0.25), (0.5, 0.5)])
def test_steps_have_the_exact_second_order_probabilities(p, q):
    walks = random_walks(GRAPH, 4000, 30, seed=0, p=p, q=q)
    walks = walks[walks[:, 0] != 5]
    t, v, x = (walks[:, shift : 28 + shift].ravel() for shift in (0, 1, 2))
    counts = np.zeros((6, 6, 6))
    np.add.at(counts, (t, v, x), 1)
    for (previous, node), exact in transition_probabilities(p, q).items():
        total = counts[previous, node].sum()
        error = np.sqrt(exact * (1 - exact) / total)  # standard deviation of a frequency
        assert total > 3000
        assert (np.abs(counts[previous, node] / total - exact) <= 5 * error + 1e-12).all()


def test_first_steps_are_proportional_to_the_weights():
    walks = random_walks(GRAPH, 20_000, 2, seed=1, p=0.1, q=10)
    a = GRAPH.adjacency().toarray()
    for node in range(5):
        frequency = np.bincount(walks[walks[:, 0] == node, 1], minlength=6) / 20_000
        assert np.abs(frequency - a[node] / a[node].sum()).max() < 0.02


def test_every_node_starts_as_often_and_isolated_nodes_stay():
    walks = random_walks(GRAPH, 7, 5, seed=2)
    assert (np.bincount(walks[:, 0]) == 7).all()
    assert (walks[walks[:, 0] == 5, 1:] == -1).all()
    assert (walks[walks[:, 0] != 5] >= 0).all()
    assert sorted(walks[:6, 0].tolist()) == list(range(6))  # each pass over all nodes


def test_threads_change_nothing():
    threads = torch.get_num_threads()
    walks = []
    for number in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
        torch.set_num_threads(number)
        walks.append(random_walks(GRAPH, 50, 40, seed=3, p=0.5, q=2))
    torch.set_num_threads(threads)
    assert (walks[0] == walks[1]).all()
    assert not (walks[0] == random_walks(GRAPH, 50, 40, seed=4, p=0.5, q=2)).all()


@pytest.mark.parametrize("name", ["deepwalk", "node2vec"])
def test_missing_gensim_names_the_install_line(monkeypatch, name):
    real = builtins.__import__

    def without_gensim(module, *args, **kwargs):
        if module.startswith("gensim"):
            raise ImportError(module)
        return real(module, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_gensim)
    with pytest.raises(ImportError, match=r"pip install 'tvgnn\[baselines\]'"):
        BASELINES[name](2).fit(GRAPH)


@pytest.mark.parametrize("options", [{"p": 0.0}, {"q": -1.0}, {"learning_rate": 0.0}, {"window": 0}])
def test_parameters_out_of_range(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        BASELINES["node2vec"](2, **options).fit(GRAPH)


@pytest.mark.parametrize("name", ["deepwalk", "node2vec"])
@pytest.mark.parametrize(
    ("graph", "options"),
    [
        (Graph.from_edge_index([[], []], num_nodes=1), {}),
        (Graph.from_edge_index([[], []], num_nodes=3), {}),
        (GRAPH, {"walk_length": 1}),
    ],
    ids=["one node", "no edges", "walks of one node"],
)
def test_without_a_step_nothing_is_trained(monkeypatch, name, graph, options):
    from gensim.models import Word2Vec

    monkeypatch.setattr(Word2Vec, "train", lambda *_, **__: pytest.fail("training would never return"))
    fitted = BASELINES[name](1, random_state=0, **options).fit(graph)
    assert fitted.embedding_.shape == (graph.num_nodes, 128)
    assert len(np.unique(fitted.embedding_, axis=0)) == graph.num_nodes  # the random initial vectors


def test_walks_longer_than_gensim_reads_are_refused():
    with pytest.raises(ValueError, match="walk_length <= 10000"):
        BASELINES["deepwalk"](2, walk_length=10_001).fit(GRAPH)
