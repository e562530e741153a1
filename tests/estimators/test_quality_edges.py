"""Where edges know nothing of the features, means over neighbours would blur these."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score
from topic_graphs import topics

from tvgnn import Graph, TVClustering
from tvgnn.errors import ClusteringWarning
from tvgnn.estimators.presets import PRESETS
from tvgnn.estimators.quality import edge_use
from tvgnn.estimators.quality.directions import principal_components
from tvgnn.estimators.quality.edge_use import explained_beyond_chance
from tvgnn.estimators.quality.edges import neighbor_agreement, rewired
from tvgnn.estimators.quality.inputs import FitInputs


@pytest.fixture(scope="module")
def rich():
    return topics(nodes=400, words=120, clusters=3)


@pytest.fixture(scope="module")
def apart(rich):
    graph = Graph.from_scipy(rewired(rich, np.random.RandomState(1)).adjacency(), x=rich.x, y=rich.y)
    with pytest.warns(ClusteringWarning, match="so they were left aside; for clusters of the edges"):
        return graph, TVClustering(3, preset="quality", n_init=2, random_state=0).fit(graph)


def test_edges_without_regard_to_the_features_are_left_aside(apart):
    graph, model = apart
    assert adjusted_rand_score(graph.y, model.labels_) > 0.75
    assert model.choices_["over_edges"] is False
    assert abs(model.choices_["neighbor_agreement"]) < 0.05
    assert {view["smoothing_steps"] for view in model.choices_["views"]} == {0}


def test_round_trip_and_new_rows(apart, tmp_path):
    graph, model = apart
    model.save(tmp_path)
    loaded = TVClustering.load(tmp_path)
    assert np.array_equal(loaded.predict(graph), model.labels_)
    assert loaded.transform(graph) == pytest.approx(model.embedding_, abs=1e-5)
    assert loaded.predict(graph.x[:5]).tolist() == model.labels_[:5].tolist()


def test_a_given_number_of_steps_is_kept(apart):
    graph, _ = apart
    model = TVClustering(3, preset="quality", num_layers=2, n_init=1, random_state=0).fit(graph)
    assert model.choices_["over_edges"]
    assert {view["smoothing_steps"] for view in model.choices_["views"]} == {2}


def test_edges_that_say_something_stay(rich):
    model = TVClustering(3, preset="quality", n_init=1, random_state=0).fit(rich)
    assert model.choices_["over_edges"]
    assert model.choices_["neighbor_agreement"] > 0.2


def test_features_that_say_nothing_leave_the_edges():
    communities = topics(nodes=400, clusters=4)
    noise = sp.csr_array(np.random.default_rng(0).random((400, 60)) < 0.2, dtype=float)
    graph = Graph.from_scipy(communities.adjacency(), x=noise, y=communities.y)
    model = TVClustering(4, preset="quality", n_init=1, random_state=0).fit(graph)
    assert model.choices_["over_edges"]
    assert adjusted_rand_score(graph.y, model.labels_) > 0.8


def test_constant_features_point_to_the_edges():
    graph = topics()
    constant = Graph.from_scipy(graph.adjacency(), x=np.ones((graph.num_nodes, 1)))
    with pytest.warns(ClusteringWarning, match=r"1 of the 3 clusters.*leave the features out and pass features="):
        TVClustering(3, preset="quality", n_init=1, random_state=0).fit(constant)


def test_agreement_of_neighbors_is_relative_to_chance():
    blocks = sp.block_diag([np.ones((10, 10)) - np.eye(10)] * 30).tocsr()
    random = np.random.default_rng(0)
    own = random.normal(size=(300, 6))
    shared = own + np.repeat(random.normal(size=(30, 6)), 10, axis=0)
    found = []
    for x in (own, shared, 1000 * shared):
        basis, _ = principal_components(x, np.random.RandomState(0))
        graph = Graph.from_scipy(blocks, x=x)
        found.append(neighbor_agreement(graph, x, basis, np.random.RandomState(0)))
    assert abs(found[0]) < 0.15
    assert found[1] == pytest.approx(found[2], rel=1e-3)
    assert found[1] > 0.5  # as much signal as noise, and a ridge that leaves none more than ten times as much


def test_what_chance_is_made_of(rich):
    random = np.random.RandomState(0)
    other = rewired(rich, random)
    degrees = np.diff(rich.adjacency().indptr)
    assert np.abs(np.diff(other.adjacency().indptr) - degrees).mean() < 0.1 * degrees.mean()
    weights = sp.csr_array(np.triu(np.full((6, 6), 2.5), 1))
    assert set(rewired(Graph.from_scipy(weights + weights.T), random).weights) <= {2.5, 5.0, 7.5, 10.0}


@pytest.mark.parametrize(("within", "linked"), [(0.6, True), (0.0, False)])
def test_partitions_explain_edges_beyond_chance_where_these_make_communities(within, linked):
    """Features that say nothing: edges that make communities are told from such as join nodes at random."""
    random = np.random.default_rng(0)
    y = np.arange(400) % 4
    sources = random.integers(0, 400, 2400)
    alike, anywhere = y[sources] + 4 * random.integers(0, 100, 2400), random.integers(0, 400, 2400)
    edges = np.stack([sources, np.where(random.random(2400) < within, alike, anywhere)])
    x = random.normal(size=(400, 12)).astype(np.float32)
    inputs = FitInputs(Graph.from_edge_index(edges, num_nodes=400), x, 4, PRESETS["quality"], "cpu", "auto")
    components = inputs.components(np.random.RandomState(0))
    assert explained_beyond_chance(inputs, components) is linked


@pytest.mark.parametrize(
    ("found", "chance", "looked_at", "linked"),
    [
        (112, [100, 101, 99, 100, 101, 99], 7, True),
        (109, [100, 101, 99, 100, 101, 99], 7, False),  # less than a tenth more
        (115, [100, 107, 93, 100, 107, 93], 7, False),  # as a small network would by chance
        (140, [100, 101, 99], 4, True),  # clear enough for no more to be drawn
        (101, [100, 101, 99], 4, False),
        (0, [0, 0, 0, 0, 0, 0], 7, True),  # constant features
    ],
)
def test_edges_have_to_explain_a_tenth_and_some_deviations_more_than_chance(
    monkeypatch, found, chance, looked_at, linked
):
    graph = Graph.from_edges(range(99), range(1, 100), x=np.ones((100, 2)))
    inputs = FitInputs(graph, graph.x, 2, PRESETS["quality"], "cpu", "auto")
    nats = iter([found, *chance])
    seen = []
    monkeypatch.setattr(edge_use, "_explained_edges", lambda *_: seen.append(1) or float(next(nats)))
    assert explained_beyond_chance(inputs, inputs.components(np.random.RandomState(0))) is linked
    assert len(seen) == looked_at


def test_what_few_nodes_say_is_believed():
    random = np.random.default_rng(0)
    graph = Graph.from_edge_index(random.integers(0, 40, (2, 80)), num_nodes=40, x=random.normal(size=(40, 4)))
    model = TVClustering(3, preset="quality", n_init=1, random_state=0).fit(graph)
    assert model.choices_["over_edges"]


def test_edges_of_some_alike_and_many_at_random_only_blur():
    """Neighbours may have much in common where a fifth of them are alike, though all others are of other classes."""
    rich = topics(nodes=400, words=120, clusters=4)
    random = np.random.default_rng(0)
    edges = np.stack(sp.triu(rich.adjacency(), 1).nonzero())[:, ::12]
    many = random.integers(0, 400, (2, 8 * edges.shape[1]))
    graph = Graph.from_edge_index(np.concatenate([edges, many], axis=1), num_nodes=400, x=rich.x, y=rich.y)
    with pytest.warns(ClusteringWarning, match="left aside"):
        model = TVClustering(4, preset="quality", n_init=1, random_state=0).fit(graph)
    with_edges = TVClustering(4, preset="quality", n_init=1, num_layers=2, random_state=0).fit(graph)
    found, blurred = (adjusted_rand_score(rich.y, one.labels_) for one in (model, with_edges))
    assert found > blurred + 0.1
