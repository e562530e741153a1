"""How much a node counts beside its neighbours."""

import numpy as np
import pytest
import torch
from sklearn.metrics import adjusted_rand_score
from sparse_blocks import blocks

from tvgnn import Graph, TVClustering
from tvgnn.errors import ClusteringWarning
from tvgnn.estimators.quality import edge_use, runs
from tvgnn.graph.adjacency import Adjacency
from tvgnn.models.smoothed_clustering import (
    SmoothedClusteringConfig,
    SmoothedClusteringModel,
    SmoothedView,
    averaging_adjacency,
)
from tvgnn.ops.gtv_step import gtv_step


def _fitted(graph, **options):
    return TVClustering(3, preset="quality", n_init=1, random_state=0, **options).fit(graph)


def _weights(model):
    return [view["self_weight"] for view in model.choices_["views"]]


@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_a_node_relies_on_itself_where_most_neighbours_are_others(monkeypatch, scale):
    graph = blocks(600, shared=0.2, degree=15, apart=1.2, weight=scale)
    chosen = _fitted(graph)
    monkeypatch.setattr(edge_use, "_SELF_WEIGHTS", (1.0,))
    once = _fitted(graph)
    assert all(weight > 1 for weight in _weights(chosen))
    assert _weights(once) == [1.0] * len(_weights(once))
    assert chosen.choices_["nats"] > once.choices_["nats"]
    found, before = (adjusted_rand_score(graph.y, model.labels_) for model in (chosen, once))
    assert found > before + 0.1


def test_later_runs_keep_the_weights_of_the_first(monkeypatch):
    tried = []
    original = runs.best_candidate

    def recorded(*arguments, **options):
        tried.append(options["self_weight"])
        return original(*arguments, **options)

    monkeypatch.setattr(runs, "best_candidate", recorded)
    graph = blocks(600, shared=0.2, degree=15, apart=1.2)
    model = _fitted(graph)
    (chosen,) = _weights(model)  # as few columns have one encoder
    first = tried.copy()
    model.set_params(n_init=3).fit(graph)
    assert chosen > 1
    assert tried == 2 * first + [chosen, chosen]


def test_nothing_is_tried_where_neighbours_agree(monkeypatch):
    monkeypatch.setattr(edge_use, "_SELF_WEIGHTS", (1.0, None))  # which would fail
    model = _fitted(blocks(300, shared=0.9, degree=6, apart=4))
    assert model.choices_["neighbor_agreement"] > 1
    assert set(_weights(model)) == {1.0}


def test_a_weight_that_hardly_explains_more_is_not_taken(monkeypatch):
    monkeypatch.setattr(runs, "_MORE", 10.0)
    assert set(_weights(_fitted(blocks(600, shared=0.2, degree=15, apart=1.2)))) == {1.0}


def test_nothing_is_tried_without_edges(monkeypatch):
    monkeypatch.setattr(edge_use, "_SELF_WEIGHTS", (1.0, None))  # which would fail
    x = blocks(300, shared=0.9, degree=6, apart=4).x
    with pytest.warns(ClusteringWarning, match="no edges"):
        fitted = _fitted(Graph.from_edge_index(np.empty((2, 0), int), num_nodes=300, x=x))
    assert set(_weights(fitted)) == {1.0}


def test_round_trip(tmp_path):
    graph = blocks(600, shared=0.2, degree=15, apart=1.2)
    model = _fitted(graph)
    model.save(tmp_path / "model.pt")
    loaded = TVClustering.load(tmp_path / "model.pt")
    assert np.array_equal(loaded.predict(graph), model.labels_)
    assert [view.self_weight for view in loaded.model_.config.views] == _weights(model) != [1.0]


def test_each_view_averages_with_its_own_weight():
    torch.manual_seed(0)
    views = (SmoothedView(2, (0.5, 0.4)), SmoothedView(3, (0.7,), unit_rows=False, self_weight=4.0))
    model = SmoothedClusteringModel(SmoothedClusteringConfig(3, 2, views, loop_weight=2.0))
    path = Adjacency.from_edge_index(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), None, 3)
    x = torch.randn(3, 3)
    embedding = model.embed(x, path)
    z = x @ model.convs[1].weight
    expected = gtv_step(z, averaging_adjacency(path, 8.0), 0.7, 0.7)
    torch.testing.assert_close(embedding[:, 2:], expected)
    z = x @ model.convs[0].weight
    for threshold in (0.5, 0.4):
        z = gtv_step(z, averaging_adjacency(path, 2.0), threshold, threshold)
    torch.testing.assert_close(embedding[:, :2], torch.nn.functional.normalize(z, dim=1))


@pytest.mark.parametrize("weight", [0.0, -1.0, float("inf"), float("nan")])
def test_refuses_a_weight_out_of_range(weight):
    with pytest.raises(ValueError, match="expected self_weight > 0, got"):
        SmoothedView(2, (1.0,), self_weight=weight)


def test_a_config_from_before_has_weight_1():
    config = SmoothedClusteringConfig(3, 2, views=({"channels": 2, "thresholds": [1.0], "unit_rows": True},))
    assert config.views[0].self_weight == 1.0
