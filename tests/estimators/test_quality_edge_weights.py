"""Powers of the weights of edges: chosen by what neighbours say of a node, in the fit and after it."""

import numpy as np
import pytest
import scipy.sparse as sp

from tvgnn import Graph, TVClustering
from tvgnn.estimators.quality import counted_edges as module
from tvgnn.estimators.quality.counted_edges import choose_edges, counted_edges, weight_power
from tvgnn.metrics import normalized_mutual_info

QUALITY = {"preset": "quality", "n_init": 1, "random_state": 0}


def network(spread, within=0.0, seed=0, nodes=400, columns=6, degree=12):
    """Two classes, joined within them by 70 in 100 edges, of lognormal weights that may be larger there."""
    random = np.random.default_rng(seed)
    y = np.repeat([0, 1], nodes // 2)
    first = random.integers(0, nodes, degree * nodes // 2)
    inside = random.random(first.size) < 0.7
    second = np.where(inside, random.integers(0, nodes // 2, first.size) + (nodes // 2) * y[first], 0)
    second = np.where(inside, second, random.integers(0, nodes, first.size))
    kept = first != second
    first, second = first[kept], second[kept]
    logarithm = spread * random.normal(size=first.size) + within * (y[first] == y[second])
    x = y[:, None] + random.normal(size=(nodes, columns))
    return Graph.from_edge_index([first, second], np.exp(logarithm), num_nodes=nodes, x=x, y=y)


def mean_of_neighbors_explains(graph, power):
    """Plain reference for all nodes and columns: squares that a column's best multiple of the mean explains."""
    weights = graph.adjacency().toarray().astype(float)
    weights = np.where(weights > 0, weights, 1) ** power * (weights > 0)
    joined = weights.sum(1) > 0
    x = graph.x.astype(float) - graph.x[joined].astype(float).mean(0)
    means = (weights @ x)[joined] / weights[joined].sum(1, keepdims=True)
    means -= means.mean(0)
    own = x[joined]
    each = np.zeros(len(own))
    for column in range(x.shape[1]):
        multiple = max(own[:, column] @ means[:, column], 0) / (means[:, column] @ means[:, column])
        each += own[:, column] ** 2 - (own[:, column] - multiple * means[:, column]) ** 2
    return each


@pytest.mark.parametrize("spread", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("within", [0.0, 1.0])
@pytest.mark.parametrize("seed", range(2))
def test_the_power_is_that_of_the_best_prediction(spread, within, seed):
    graph = network(spread, within, seed)
    each = {power: mean_of_neighbors_explains(graph, power) for power in module._POWERS}
    gains = {power: found - each[1.0] for power, found in each.items()}
    clear = [power for power, gain in gains.items() if gain.sum() > 2 * np.sqrt(gain.size) * gain.std() and power != 1]
    expected = max(clear, key=lambda power: each[power].sum(), default=1.0)
    assert weight_power(graph, graph.x) == expected


def test_heavy_noise_counts_for_nothing_and_what_tells_stays():
    noise, telling = network(2.5), network(0.3, 4.0)
    equal = Graph.from_scipy(3 * (noise.adjacency() > 0), x=noise.x)
    assert weight_power(noise, noise.x) == 0
    assert weight_power(telling, telling.x) >= 1
    assert weight_power(equal, equal.x) == 1


def test_correlations_are_parted():
    random = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 60)
    profiles = random.normal(size=(3, 60))[y] * 0.5 + random.normal(size=(180, 60))
    weights = np.clip(np.corrcoef(profiles), 0, None)
    np.fill_diagonal(weights, 0)
    graph = Graph.from_scipy(sp.csr_array(weights), x=y[:, None] + random.normal(size=(180, 3)))
    assert weight_power(graph, graph.x) > 1


def test_amounts_do_not_hide_the_classes():
    graph = network(2.5)
    found = TVClustering(2, **QUALITY).fit(graph)
    alike = TVClustering(2, **QUALITY).fit(Graph.from_scipy(graph.adjacency() > 0, x=graph.x))
    assert found.choices_["weight_power"] == 0
    np.testing.assert_array_equal(found.labels_, alike.labels_)
    assert normalized_mutual_info(graph.y, found.labels_) > 0.6
    assert found.graph_.is_weighted  # the caller's


@pytest.mark.parametrize("scale", [1e-20, 1e20])
def test_the_unit_of_the_weights_does_not_matter(scale):
    graph = network(1.5, 1.0)
    other = Graph.from_scipy(scale * graph.adjacency().astype(np.float64), x=graph.x)
    ours, theirs = (TVClustering(2, **QUALITY).fit(one) for one in (graph, other))
    assert ours.choices_["weight_power"] == theirs.choices_["weight_power"] != 1
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)


def test_the_network_sees_these_weights_ever_after(tmp_path):
    graph = network(1.5, 1.0)
    model = TVClustering(2, **QUALITY).fit(graph)
    np.testing.assert_array_equal(model.predict(graph), model.labels_)
    model.save(tmp_path)
    loaded = TVClustering.load(tmp_path)
    other = network(1.5, 1.0, seed=5)
    power = {"weight_power": model.choices_["weight_power"]}
    of_powers = TVClustering(2, **QUALITY).fit(counted_edges(graph, power))
    np.testing.assert_allclose(loaded.transform(other), of_powers.transform(counted_edges(other, power)), atol=1e-4)


def test_high_powers_of_small_weights_stay_numbers():
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], [1.0, 1e-15, 1e-3])
    found = counted_edges(graph, {"weight_power": 4.0}).weights
    assert found.min() > 0
    assert found.max() == 1
    assert np.isfinite(1 / found).all()


@pytest.mark.parametrize(
    "graph",
    [
        Graph.from_edges([], [], [], node_ids=[0, 1, 2], x=np.arange(3)),
        Graph.from_edges([0], [1], [2.0], x=[[1.0], [2.0]]),
        Graph.from_edges([0, 1], [1, 2], [2.0, 5.0], x=np.ones((3, 2))),
        Graph.from_edges([0, 1], [1, 2], [2.0, 5.0], x=np.zeros((3, 40))),
    ],
    ids=["no edges", "one edge", "constant features", "no features"],
)
def test_small_graphs_keep_their_weights(graph):
    assert weight_power(graph, graph.x) == 1


def test_nodes_without_features_are_not_asked():
    graph = network(2.5, columns=40)
    x = np.where(np.random.default_rng(0).random((400, 1)) < 0.3, 0, graph.x)
    known = (x != 0).any(1)
    of_known = Graph.from_scipy(graph.adjacency()[known][:, known], x=x[known])
    assert weight_power(graph.with_features(x), x) == weight_power(of_known, of_known.x) == 0


def test_a_sample_of_the_nodes_says_the_same(monkeypatch):
    graph = network(2.5, nodes=2000)
    monkeypatch.setattr(module, "_SAMPLE", 500)
    assert weight_power(graph, graph.x) == 0


def test_features_made_of_the_edges_have_no_say():
    graph = network(2.5).with_structural_features("spectral", n_clusters=2)
    assert choose_edges(graph, graph.x) == {"strongest_edges": None, "weight_power": 1.0}
    unweighted = Graph.from_scipy(graph.adjacency() > 0, x=graph.x)
    assert choose_edges(unweighted, unweighted.x)["weight_power"] is None
