"""Nodes without features: they are known by their neighbours and say nothing by themselves."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score
from topic_graphs import topics

from tvgnn import Graph, TVClustering
from tvgnn.errors import ClusteringWarning
from tvgnn.estimators.quality.directions import averaging_matrix, principal_components
from tvgnn.estimators.quality.edges import neighbor_agreement, rewired
from tvgnn.estimators.quality.information import PartitionInformation
from tvgnn.estimators.quality.preparation import FeaturePreparation, known_rows


def _emptied(graph, share, seed=1):
    """The graph, a share of whose nodes have lost their features, and which."""
    gone = np.random.default_rng(seed).random(graph.num_nodes) < share
    x = sp.csr_array(sp.diags_array((~gone).astype(np.float32)) @ sp.csr_array(graph.x))
    x.eliminate_zeros()
    x = x if sp.issparse(graph.x) else x.toarray()
    return Graph.from_scipy(graph.adjacency(), x=x, y=graph.y), gone


def _fitted(graph, **options):
    return TVClustering(3, preset="quality", random_state=0, **{"n_init": 1} | options).fit(graph)


@pytest.fixture(scope="module")
def graph():
    return topics(nodes=300, words=90, seed=2)


@pytest.mark.parametrize("share", [0.2, 0.6])
def test_topics_are_found_where_features_are_missing(graph, share):
    emptied, gone = _emptied(graph, share)
    model = _fitted(emptied)
    assert adjusted_rand_score(graph.y, model.labels_) > 0.9
    assert model.choices_["missing_features"] == gone.sum()
    assert model.choices_["nothing_known"] == 0
    assert np.array_equal(model.predict(emptied), model.labels_)


def test_neighbours_agree_as_they_do_where_features_are_known(graph):
    def agreement(of, known=None):
        x = FeaturePreparation.fit(of.x).transform(of.x)
        basis = principal_components(x if known is None else x[known], np.random.RandomState(0))[0]
        return neighbor_agreement(of, x, basis, np.random.RandomState(0), known)

    emptied, gone = _emptied(graph, 0.4)
    assert agreement(emptied, ~gone) == pytest.approx(agreement(graph), rel=0.25)
    assert agreement(emptied) < 0.7 * agreement(graph)  # zeros for features: a direction that neighbours do not share


def test_dense_embeddings_are_prepared_by_the_rows_that_are_there():
    random = np.random.default_rng(0)
    y = np.arange(400) % 3
    x = 0.4 + (random.normal(size=(3, 40))[y] + 0.8 * random.normal(size=(400, 40))) * random.uniform(0.5, 1.5, 40)
    emptied = np.where((random.random(400) < 0.4)[:, None], 0, x).astype(np.float32)
    known = known_rows(emptied)
    prepared = FeaturePreparation.fit(emptied)
    assert prepared.kind == FeaturePreparation.fit(x).kind == "common-scale+l2"
    np.testing.assert_allclose(prepared.mean, x[known].mean(0), rtol=1e-4)
    assert not prepared.transform(emptied)[~known].any()
    np.testing.assert_allclose(np.linalg.norm(prepared.transform(emptied)[known], axis=1), 1, rtol=1e-5)


def test_sparse_columns_without_zeros_leave_missing_rows_missing():
    x = np.random.default_rng(0).normal(3, 1, size=(50, 40))
    x[:, 5:] *= np.random.default_rng(1).random((50, 35)) < 0.1
    x[:5] = 0
    prepared = FeaturePreparation.fit(sp.csr_array(x), "standardize")
    assert prepared.mean is not None
    assert not known_rows(prepared.transform(sp.csr_array(x)))[:5].any()


@pytest.mark.parametrize(("columns", "says"), [(31, True), (32, False)])
@pytest.mark.parametrize("sparse", [False, True])
def test_in_few_columns_zeros_are_a_measurement(columns, says, sparse):
    x = np.zeros((4, columns))
    x[0, 0] = 1
    given = sp.csr_array((np.array([1.0, 0.0]), ([0, 1], [0, 0])), shape=x.shape) if sparse else x  # a stored zero
    assert known_rows(given).tolist() == [True, says, says, says]


def test_nodes_of_which_nothing_is_known_have_no_say(graph):
    emptied, gone = _emptied(graph, 0.3)
    rows, columns = emptied.adjacency().nonzero()
    kept = ~(gone[rows] | gone[columns])
    alone = Graph.from_edge_index(np.stack([rows, columns])[:, kept], num_nodes=300, x=emptied.x, y=graph.y)
    with pytest.warns(ClusteringWarning, match=f"{gone.sum()} of 300 nodes have neither features nor a way to any"):
        model = _fitted(alone)
    assert model.choices_["nothing_known"] == gone.sum()
    assert len(np.unique(model.labels_[gone])) == 1
    assert not model.embedding_[gone].any()
    assert adjusted_rand_score(graph.y[~gone], model.labels_[~gone]) > 0.9


def test_batches_are_of_nodes_that_have_features(graph):
    emptied, gone = _emptied(graph, 0.3)
    model = _fitted(emptied, batch_size=150)
    assert adjusted_rand_score(graph.y, model.labels_) > 0.8
    assert adjusted_rand_score(_fitted(emptied, batch_size=250).labels_, _fitted(emptied).labels_) > 0.8
    assert model.choices_["missing_features"] == gone.sum()


def test_without_any_feature_the_edges_remain(graph):
    emptied = Graph.from_scipy(graph.adjacency(), x=sp.csr_array((300, 90)))
    with pytest.warns(ClusteringWarning):
        model = _fitted(emptied)
    assert model.choices_["missing_features"] == 0  # nothing tells missing features from such as are always zero


@pytest.mark.parametrize("number", [3, 5])
def test_few_nodes_with_features(graph, number):
    x = sp.csr_array(graph.x)[:number]
    x.resize(300, 90)
    model = TVClustering(2, preset="quality", n_init=1, random_state=0)
    model.fit(Graph.from_scipy(graph.adjacency(), x=sp.csr_array(x), y=graph.y))
    assert model.choices_["missing_features"] == 300 - number
    assert model.n_clusters_found_ == 2


def test_edges_left_aside_lend_nothing():
    rich = topics(nodes=400, words=120, clusters=3)
    random_edges = rewired(rich, np.random.RandomState(1)).adjacency()
    emptied, gone = _emptied(Graph.from_scipy(random_edges, x=rich.x, y=rich.y), 0.2)
    with pytest.warns(ClusteringWarning) as warned:
        model = _fitted(emptied)
    assert "were left aside" in str(warned[0].message)
    assert f"{gone.sum()} of 400 nodes have no features, and no edges that lend" in str(warned[1].message)
    assert model.choices_["over_edges"] is False
    assert model.choices_["nothing_known"] == gone.sum()
    assert not model.embedding_[gone].any()
    assert np.array_equal(model.predict(emptied), model.labels_)
    assert adjusted_rand_score(rich.y[~gone], model.labels_[~gone]) > 0.6


def test_round_trip(graph, tmp_path):
    emptied, _ = _emptied(graph, 0.3)
    model = _fitted(emptied)
    model.save(tmp_path)
    loaded = TVClustering.load(tmp_path)
    assert loaded.model_.config.propagate_missing
    assert np.array_equal(loaded.predict(emptied), model.labels_)


def test_means_are_of_those_that_are_known(graph):
    known = np.random.default_rng(0).random(300) < 0.5
    means = averaging_matrix(graph, 0.5, known).toarray()
    whole = averaging_matrix(graph, 0.5).toarray()
    assert not means[:, ~known].any()
    sums = means.sum(1)
    assert np.allclose(sums[sums > 0], 1, atol=1e-5)
    np.testing.assert_allclose(means, whole * known / (whole * known).sum(1, keepdims=True), rtol=1e-4, atol=1e-7)


def test_features_count_as_often_as_there_are_any(graph):
    x = np.random.default_rng(0).normal(size=(300, 5)).astype(np.float32)
    nodes = np.arange(0, 300, 3)
    all_nodes = PartitionInformation(graph.adjacency(), x[nodes], nodes).feature_information(graph.y, 3)
    theirs = PartitionInformation(graph.adjacency(), x[nodes], nodes, number=100).feature_information(graph.y, 3)
    assert theirs == pytest.approx(all_nodes / 3)


def test_who_has_none_of_few_tags_says_something_by_that():
    """In fewer than 32 columns the network takes zeros for what they are, as the runs did."""
    tags = topics(nodes=300, words=20, seed=3)
    assert (np.diff(tags.x.indptr) == 0).any()
    model = _fitted(tags)
    assert model.choices_["missing_features"] == 0
    assert not model.model_.config.propagate_missing
    nobody = np.diff(tags.x.indptr) == 0
    alone = Graph.from_edge_index(np.zeros((2, 0), np.int64), num_nodes=int(nobody.sum()), x=tags.x[nobody])
    assert model.transform(alone).any()  # not the mean, of which nothing is known
