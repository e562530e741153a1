"""The quick preset where features are so noisy that plain training tells no nodes apart."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from tvgnn import Graph, TVClustering
from tvgnn.errors import ClusteringWarning
from tvgnn.estimators.presets import PRESETS

BLOCKS = np.repeat(np.arange(12), 60)
IN_VAIN = 0.514  # the loss of equal assignments


@pytest.fixture(scope="module")
def noisy():
    """Twelve communities of 60 nodes, 16 neighbours inside and 4 outside, features with four times as much noise."""
    draw = np.random.default_rng(0)
    x = draw.normal(size=(12, 20))[BLOCKS] + 4 * draw.normal(size=(720, 20))
    chance = np.where(BLOCKS[:, None] == BLOCKS, 16 / 60, 4 / 720)
    source, target = np.triu(draw.random((720, 720)) < chance, 1).nonzero()
    return Graph.from_edges(source, target, node_ids=range(720), x=x)


def fit(graph, k=12, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusteringWarning)  # eleven of the twelve are enough here
        return TVClustering(k, random_state=0, **options).fit(graph)


@pytest.fixture(scope="module")
def eased(noisy):
    return fit(noisy, preset="quick", n_init=1)


def test_plain_training_tells_nothing_apart(noisy):
    same = {name: value for name, value in PRESETS["quick"].items() if name not in ("rho", "n_init")}
    plain = fit(noisy, preset="paper", **same)
    assert plain.loss_ == pytest.approx(IN_VAIN, abs=0.01)
    assert plain.assignments_.max() < 0.5
    assert plain.choices_ == {}


def test_eased_training_finds_the_communities_and_says_what_it_did(noisy, eased):
    assert eased.loss_ < 0.6 * IN_VAIN
    assert eased.n_clusters_found_ >= 10
    assert adjusted_rand_score(BLOCKS, eased.labels_) > 0.7
    assert eased.choices_ == {"totvar_share_at_first": 0.3, "num_layers": 3}
    terms = eased.loss_terms_
    assert eased.loss_ == pytest.approx(0.785 * terms["total_variation"] + 0.514 * terms["balance"], abs=1e-4)


def test_an_eased_model_predicts_and_is_saved(noisy, eased, tmp_path):
    eased.save(tmp_path)
    for model in (eased, TVClustering.load(tmp_path)):
        assert model.model_.config.num_layers == 3
        assert model.choices_ == eased.choices_
        np.testing.assert_array_equal(model.predict(noisy), eased.labels_)


def test_a_number_of_layers_that_was_asked_for_is_kept(noisy):
    assert fit(noisy, preset="quick", n_init=1, num_layers=2, max_iter=4).model_.config.num_layers == 2


def test_training_that_goes_well_is_left_alone():
    cliques = np.kron(np.eye(3), np.ones((8, 8)))
    model = fit(Graph.from_scipy(cliques, x=np.repeat(np.eye(3), 8, axis=0)), 3, preset="quick", n_init=2)
    assert model.choices_ == {}
    assert model.model_.config.num_layers == 2
