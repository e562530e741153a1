"""Edge weights of any size: what matters is how they compare."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from cliques import small
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

from tvgnn import Graph, TVClustering, TVGraphClassifier

PRESETS = {
    "paper": {"preset": "paper", "hidden_channels": 16, "mlp_channels": 8, "max_iter": 5},
    "quick": {"preset": "quick", "n_init": 1, "max_iter": 5},
    "quality": {"preset": "quality", "n_init": 1},
}

EXTREME = [1e38, 1e36, 1e20, 1e7, 1e-7, 1e-20, 1e-36, 1e-40, 1e-50]
ORDINARY = [1e3, 100, 10, 0.1, 1e-3]  # quality takes such weights as they are, and its results differ by rounding
SCALES = [(preset, scale) for preset in PRESETS for scale in EXTREME + (preset != "quality") * ORDINARY]


@pytest.fixture(scope="module")
def data():
    x, y = make_blobs(120, 5, centers=3, random_state=0)
    near = kneighbors_graph(x, 8)
    weighted = sp.csr_array(near + near.T)
    weighted.data *= 0.5  # 0.5 where one of two chose the other, else 1
    return x, y, weighted


@pytest.mark.filterwarnings("ignore::tvgnn.errors.ClusteringWarning")  # few epochs
@pytest.mark.parametrize(("preset", "scale"), SCALES)
def test_size_of_all_weights_does_not_matter(preset, scale, data, tmp_path):
    x, y, weighted = data
    by_mean = preset != "quality" and scale >= 1e-36  # a Graph itself divides smaller ones by the largest
    about_one = weighted / weighted.data.mean() if by_mean else weighted
    expected = TVClustering(3, random_state=0, **PRESETS[preset]).fit(x, adjacency=about_one)
    model = TVClustering(3, random_state=0, **PRESETS[preset]).fit(x, adjacency=weighted * scale)
    np.testing.assert_allclose(model.assignments_, expected.assignments_, atol=1e-4)
    assert preset != "quality" or adjusted_rand_score(y, model.labels_) == 1
    model.save(tmp_path)
    for one in (model, TVClustering.load(tmp_path)):
        np.testing.assert_allclose(one.transform(x + 0.1), expected.transform(x + 0.1), rtol=1e-3, atol=1e-4)
        assert np.array_equal(one.predict(model.graph_), model.labels_)


@pytest.mark.filterwarnings("ignore::tvgnn.errors.ClusteringWarning")
@pytest.mark.parametrize("factor", [0.15, 1.0, 6.0])  # means of 0.11 to 4.5: neither long steps nor none
def test_weights_about_one_are_taken_as_they_are(data, factor):
    x, _, weighted = data
    model = TVClustering(3, random_state=0, **PRESETS["paper"]).fit(x, adjacency=weighted * factor)
    assert model._weight_scale == 1


def test_counts_do_not_put_all_nodes_into_one_cluster():
    """A step along an edge of weight 300 would overshoot a hundred times."""
    random = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 50)
    together = random.random((150, 150)) < np.where(y[:, None] == y, 0.15, 0.02)
    counts = np.triu(together * random.integers(100, 500, (150, 150)), 1)
    x = random.normal(size=(3, 8))[y] + random.normal(size=(150, 8))
    model = TVClustering(3, preset="quick", random_state=0).fit(x, adjacency=sp.csr_array(counts + counts.T))
    assert adjusted_rand_score(y, model.labels_) > 0.8


def test_the_graph_keeps_its_own_weights(data):
    x, _, weighted = data
    graph = Graph.from_scipy(weighted * 1e8, x=x)
    assert TVClustering(3, random_state=0, **PRESETS["quality"]).fit(graph).graph_ is graph
    assert graph.weights.max() == np.float32(1e8)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.filterwarnings("ignore::tvgnn.errors.ClusteringWarning")
def test_nodes_whose_edges_weigh_next_to_nothing(preset, data):
    x, _, weighted = data
    light = weighted.toarray()
    light[:10] *= 1e-42
    light[:, :10] = light[:10].T
    model = TVClustering(3, random_state=0, **PRESETS[preset]).fit(x, adjacency=light)
    assert np.isfinite(model.assignments_).all()


def test_models_of_earlier_versions_were_trained_on_weights_as_they_are(data, tmp_path):
    x, _, weighted = data
    model = small(3, max_iter=5)
    model.fit(x, adjacency=weighted)
    model.save(tmp_path)
    description = json.loads((tmp_path / "model.json").read_text())
    assert description.pop("weight_scale") == 1
    (tmp_path / "model.json").write_text(json.dumps(description))
    assert np.array_equal(TVClustering.load(tmp_path).transform(x + 0.1), model.transform(x + 0.1))


def weighted_graphs(scale, count=24):
    """Rings of strong or of weak edges, the fifth with ones alone; weights of about 1 times a scale."""
    random = np.random.default_rng(0)
    graphs = []
    for number in range(count):
        nodes = int(random.integers(5, 9))
        weights = random.integers(1, 3, nodes) * (1 + number % 2) if number != 5 else np.ones(nodes)
        ends = np.array([np.arange(nodes), (np.arange(nodes) + 1) % nodes])
        graph = Graph.from_edge_index(ends, edge_weight=weights * scale, x=random.random((nodes, 3)))
        graphs.append(graph.with_label(number % 2))
    return graphs


@pytest.mark.parametrize("pooling", ["tvgnn", "mincut", "topk"])
def test_graphs_whose_weights_are_far_from_1_are_classified_alike(pooling, tmp_path):
    options = {"max_epochs": 3, "hidden_channels": 8, "random_state": 0}
    graphs = {scale: weighted_graphs(scale) for scale in (1.0, 256.0, 1 / 4096)}
    models = {
        scale: TVGraphClassifier(pooling, **options).fit(some[:18], validation=(some[18:], None))
        for scale, some in graphs.items()
    }
    assert models[1.0]._weight_scale == 1
    mean = np.concatenate([graph.weights for graph in graphs[1.0][:18]]).mean()
    counted, model = graphs[256.0], models[256.0]
    assert model._weight_scale == pytest.approx(256 * mean)
    found = model.predict_proba(counted)
    np.testing.assert_allclose(models[1 / 4096].predict_proba(graphs[1 / 4096]), found, rtol=1e-3, atol=1e-5)
    model.save(tmp_path)
    np.testing.assert_allclose(TVGraphClassifier.load(tmp_path).predict_proba(counted), found, rtol=1e-5)
    alone = np.concatenate([model.predict_proba([graph]) for graph in counted])
    np.testing.assert_allclose(alone, found, rtol=1e-3, atol=1e-5)
