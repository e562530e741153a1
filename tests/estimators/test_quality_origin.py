"""Features made of the edges, of degrees or of the nodes' numbers, which say nothing of their own."""

import itertools
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from tvgnn import Graph, TVClustering
from tvgnn.errors import ClusteringWarning
from tvgnn.estimators.degree_features import are_one_hot_degrees, log_positions
from tvgnn.estimators.quality import recipe
from tvgnn.estimators.quality.information import PartitionInformation
from tvgnn.graph.report import ONE_HOT_LABELS, structural_kind


def _blocks(classes, nodes, *, within, anywhere, seed=0, cliques=0):
    """Blocks, and small cliques that hang on one node each, of which eigenvectors speak first."""
    random = np.random.default_rng(seed)
    y = random.integers(0, classes, nodes)
    members = [np.flatnonzero(y == label) for label in range(classes)]
    sources = random.integers(0, nodes, nodes * within // 2)
    alike = np.array([random.choice(members[y[source]]) for source in sources])
    edges = [np.stack([sources, alike]), random.integers(0, nodes, (2, nodes * anywhere // 2))]
    for number in range(cliques):
        one, other = np.triu_indices(6, 1)
        first = nodes + 6 * number
        edges += [np.stack([first + one, first + other]), np.array([[first], [random.integers(nodes)]])]
    ends = np.concatenate(edges, axis=1)
    ends = np.concatenate([ends, ends[::-1]], axis=1)
    return Graph.from_edge_index(ends, num_nodes=nodes + 6 * cliques), y


def _quality(n_clusters, **options):
    return TVClustering(n_clusters, preset="quality", n_init=1, random_state=0, **options)


@pytest.fixture(scope="module")
def hung():
    return _blocks(5, 900, within=7, anywhere=2, cliques=25)


def test_spectral_features_count_once(hung, monkeypatch):
    """What eigenvectors say of small cliques is no news beside the edges."""
    graph, y = hung
    options = {"features": "spectral", "feature_norm": "standardize"}  # as ranks would do, too
    model = _quality(5, **options).fit(graph)
    assert model.choices_["features_made_of"] == "edges"
    found = normalized_mutual_info_score(y, model.labels_[: len(y)])
    monkeypatch.setattr(recipe, "origin_of_features", lambda *_: None)
    both = normalized_mutual_info_score(y, _quality(5, **options).fit(graph).labels_[: len(y)])
    assert found > 0.8
    assert found > both + 0.1


def test_nats_of_spectral_features_are_those_of_the_edges(hung):
    graph, _ = hung
    model = _quality(5, features="spectral").fit(graph)
    edges = PartitionInformation(graph.adjacency(), None, edge_share=model.choices_["edge_share"])
    assert model.choices_["nats"] == pytest.approx(edges.of(model.labels_, 5), abs=0.1)
    assert edges.feature_information(model.labels_, 5) == 0


def test_a_graph_that_has_spectral_features_already_is_treated_alike(hung):
    graph, _ = hung
    given = graph.with_structural_features("spectral")
    one, other = _quality(5).fit(given), _quality(5, features="spectral").fit(graph)
    assert np.array_equal(one.labels_, other.labels_)
    own = given.with_features(given.x)  # nothing is known of these
    assert _quality(5).fit(own).choices_["features_made_of"] is None


def test_many_clusters_have_a_spectral_column_each():
    graph, y = _blocks(24, 1200, within=9, anywhere=1)
    model = _quality(24, features="spectral").fit(graph)
    assert model.n_features_in_ == 24
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert graph.with_structural_features("spectral").num_features == 16
    assert graph.with_structural_features("spectral", 8, n_clusters=24).num_features == 8
    assert graph.with_structural_features("degree", n_clusters=99).num_features < 99


def test_spectral_columns_stay_below_the_number_of_nodes():
    path = Graph.from_edges(range(4), range(1, 5))
    assert path.with_structural_features("spectral", n_clusters=5).num_features == 4


@pytest.mark.parametrize("make", [np.eye, lambda n: sp.csr_array(sp.eye_array(n))])
def test_an_identity_says_nothing(make):
    graph, y = _blocks(4, 400, within=9, anywhere=2)
    with pytest.warns(ClusteringWarning, match="no two nodes have a feature in common.*features='spectral'"):
        model = _quality(4).fit(make(400), adjacency=graph.adjacency())
    assert model.choices_["features_made_of"] == "identity"
    assert model.choices_["categories"] == 0
    assert adjusted_rand_score(y, model.labels_) > 0.9


@pytest.fixture(scope="module")
def hubs():
    random = np.random.default_rng(2)
    size = np.exp(1.2 * random.normal(size=300))
    share = size / size.sum()
    return Graph.from_edge_index(random.choice(300, (2, 1500), p=share), num_nodes=300)


@pytest.fixture(scope="module")
def fitted(hubs):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # that edges are left aside is no finding
        return TVClustering(4, preset="quality", features="degree", random_state=0).fit(hubs)


class TestDegrees:
    def test_clusters_are_ranges_of_degrees(self, hubs, fitted):
        degrees = np.diff(hubs.indptr)
        assert fitted.feature_norm_ == "log-degree"
        assert fitted.choices_["features_made_of"] == "degrees"
        assert not fitted.choices_["over_edges"]
        ranges = sorted((degrees[fitted.labels_ == k].min(), degrees[fitted.labels_ == k].max()) for k in range(4))
        assert all(high < low for (_, high), (low, _) in itertools.pairwise(ranges))

    def test_edges_are_kept_where_steps_are_given(self, hubs):
        model = _quality(4, features="degree", num_layers=1).fit(hubs)
        assert model.choices_["over_edges"]

    @pytest.mark.parametrize("sparse", [False, True])
    def test_one_hot_degrees_of_others_are_known(self, hubs, fitted, sparse):
        columns = np.unique(np.diff(hubs.indptr), return_inverse=True)[1]  # a column for those that occur
        x = np.eye(columns.max() + 1)[columns]
        model = TVClustering(4, preset="quality", random_state=0)
        model.fit(sp.csr_array(x) if sparse else x, adjacency=hubs.adjacency())
        assert model.feature_norm_ == "log-degree"
        assert adjusted_rand_score(fitted.labels_, model.labels_) > 0.7

    def test_other_graphs_and_files(self, hubs, fitted, tmp_path):
        fitted.save(tmp_path / "model")
        loaded = TVClustering.load(tmp_path / "model")
        half = Graph.from_scipy(hubs.adjacency()[:150][:, :150])
        assert np.array_equal(loaded.predict(half), fitted.predict(half))
        same = np.diff(half.indptr)
        known = dict(zip(np.diff(hubs.indptr).tolist(), fitted.labels_.tolist(), strict=True))
        expected = [known[degree] for degree in same.tolist() if degree in known]
        assert [k for k, degree in zip(fitted.predict(half), same.tolist(), strict=True) if degree in known] == expected

    def test_the_step_needs_one_hot_rows(self, hubs):
        model = TVClustering(2, preset="quality", feature_norm="log-degree")
        with pytest.raises(ValueError, match="expected one-hot rows for the step log-degree"):
            model.fit(np.ones((300, 3)), adjacency=hubs.adjacency())
        with pytest.raises(ValueError, match="log-degree alone"):
            TVClustering(2, preset="quality", feature_norm="log-degree+l2").fit(np.eye(300)[:, :9])

    def test_other_categories_are_no_degrees(self, hubs):
        degrees = np.diff(hubs.indptr)
        levels = np.random.default_rng(0).integers(0, 5, 300)
        assert not are_one_hot_degrees(hubs.with_features(np.eye(5)[levels]))
        assert not are_one_hot_degrees(hubs.with_features(np.eye(2)[(degrees > 9).astype(int)]))
        assert not are_one_hot_degrees(hubs.with_features(2 * np.eye(degrees.max() + 1)[degrees]))
        assert not are_one_hot_degrees(hubs.with_features(np.eye(degrees.max() + 1)[degrees.max() - degrees]))
        capped = np.minimum(degrees, 6)
        assert are_one_hot_degrees(hubs.with_features(np.eye(7)[capped]))

    def test_rows_that_are_not_one_hot(self):
        assert log_positions(np.eye(3)).ravel() == pytest.approx(np.log([1, 2, 3]))
        for x in (np.zeros((2, 3)), np.ones((2, 3)), np.array([[1.0, 1, 0], [0, 0, 0]])):
            with pytest.raises(ValueError, match="single 1"):
                log_positions(x)


@pytest.mark.parametrize("kind", ["spectral", "degree", "ones"])
def test_the_report_says_what_features_were_made_of(kind, hung):
    graph, _ = hung
    made = graph.with_structural_features(kind)
    assert structural_kind(made.report) == kind
    assert structural_kind(graph.report) is None
    assert structural_kind(made.with_features(None).report) is None
    assert structural_kind(made.with_structural_features("ones").report) == "ones"


def test_other_notes_are_no_structural_features(hung):
    graph, _ = hung
    for note in (f"{ONE_HOT_LABELS} a, b", "features: words, dim=many", "spectral, dim=16"):
        assert structural_kind(replace(graph.report, notes=(note,))) is None
