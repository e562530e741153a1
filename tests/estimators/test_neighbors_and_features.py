"""`TVClustering` on rows without a graph, and on graphs without features."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs

from tvgnn import Graph, TVClustering, sweep_n_clusters
from tvgnn.errors import DataError, GraphError
from tvgnn.experiments.clustering_runner import RECORDS_FILE
from tvgnn.records import ClusteringRecord, read_records

# Few epochs: how the graph is made is looked at, not how well it is cut
pytestmark = pytest.mark.filterwarnings("ignore::tvgnn.errors.ClusteringWarning")
SMALL = {"max_iter": 40, "hidden_channels": 8, "mlp_channels": 8, "random_state": 0}
CLIQUES = sp.block_diag([np.ones((9, 9)), np.ones((7, 7))]).tocsr()


@pytest.fixture(scope="module")
def rows():
    return make_blobs(90, n_features=4, centers=3, cluster_std=0.5, random_state=0)[0]


def test_every_choice_of_the_neighbour_graph_reaches_it(rows):
    model = TVClustering(
        3,
        n_neighbors=4,
        metric="cosine",
        mutual=True,
        knn_weights="heat_kernel",
        connect=True,
        feature_norm=None,
        **SMALL,
    ).fit(rows)
    expected = Graph.from_features(rows, 4, metric="cosine", mutual=True, weights="heat_kernel", connect=True)
    np.testing.assert_array_equal(model.graph_.indices, expected.indices)
    np.testing.assert_allclose(model.graph_.weights, expected.weights, rtol=1e-4)
    assert model.graph_.report.notes == expected.report.notes


def test_neighbours_are_sought_among_scaled_rows(rows):
    stretched = rows * [1, 1, 1, 1e4]
    model = TVClustering(3, n_neighbors=4, **SMALL).fit(stretched)
    expected = Graph.from_features(model.feature_scaling_.transform(stretched.astype(np.float32)), 4)
    np.testing.assert_array_equal(model.graph_.indices, expected.indices)


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_new_rows_follow_the_metric_and_no_other_row(rows, wrap):
    options = {"n_neighbors": 4, "metric": "cosine", "feature_norm": None, "knn_weights": "heat_kernel"}
    model = TVClustering(3, **options, **SMALL).fit(wrap(rows))
    # By cosine a row many times as long has the neighbours of the short one; by distance it has those at the rim
    new = np.vstack([rows[:5] * 1.001, rows[5:8] + 0.1, np.zeros((1, 4))])
    together = model.transform(wrap(new))
    for number in range(len(new)):
        np.testing.assert_array_equal(model.transform(wrap(new[number : number + 1]))[0], together[number])
    np.testing.assert_array_equal(model.transform(wrap(rows)), model.embedding_)
    assert np.isfinite(together).all()


def test_a_saved_model_keeps_its_metric(rows, tmp_path):
    model = TVClustering(3, metric="cosine", n_neighbors=4, **SMALL).fit(rows)
    model.save(tmp_path)
    again = TVClustering.load(tmp_path)
    assert (again.metric, again.connect) == ("cosine", False)
    np.testing.assert_array_equal(again.transform(rows + 0.1), model.transform(rows + 0.1))


@pytest.mark.parametrize(
    "option",
    [{"mutual": True}, {"connect": True}, {"knn_weights": "heat_kernel"}],
    ids=lambda option: next(iter(option)),
)
def test_choices_of_a_neighbour_graph_are_refused_where_a_graph_is_given(rows, option):
    adjacency = Graph.from_features(rows, 4).adjacency()
    name = next(iter(option))
    for x, given in ((rows, adjacency), (Graph.from_scipy(adjacency, x=rows), None)):
        with pytest.raises(ValueError, match=f"expected {name}=.* where a graph is given, got"):
            TVClustering(3, **option, **SMALL).fit(x, adjacency=given)
        with pytest.raises(ValueError, match=f"expected {name}=.* where a graph is given, got"):
            sweep_n_clusters(x, [2, 3], adjacency=given, **option)
    for fit in (
        lambda **options: TVClustering(3, **options, **SMALL).fit(None, adjacency=adjacency),
        lambda **options: sweep_n_clusters(None, [2, 3], adjacency=adjacency, **options),
    ):
        with pytest.raises(ValueError, match="expected metric='euclidean' where a graph is given"):
            fit(features="degree", metric="cosine")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"metric": "nearness"}, "metric='nearness'"),
        ({"metric": None}, "metric must be a name"),
        ({"mutual": 1}, "mutual must be True or False"),
        ({"knn_weights": "soft"}, "knn_weights must be one of connectivity, heat_kernel"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"features": "spectral"}, r"features='spectral' \(a tvgnn.Graph, or X=None and adjacency\), got rows"),
    ],
)
def test_a_mistake_is_told_at_fit(rows, options, says):
    with pytest.raises(ValueError, match=says):
        TVClustering(3, **options, **SMALL).fit(rows)


def test_a_row_that_is_not_a_number_is_named(rows):
    spoilt = rows.copy()
    spoilt[17, 2] = np.nan
    with pytest.raises(GraphError, match="node 17, column 2: NaN is not a finite"):
        TVClustering(3, **SMALL).fit(spoilt)
    with pytest.raises(GraphError, match="node 17, column 2: NaN"):
        TVClustering(3, **SMALL).fit(rows).predict(spoilt)
    with pytest.raises(GraphError, match="node 17, column 2: NaN"):
        sweep_n_clusters(spoilt, [2], n_seeds=2)


@pytest.mark.parametrize("kind", ["spectral", "degree", "ones"])
def test_features_of_a_graph_without_any_are_chosen_and_recorded(kind, tmp_path):
    graph = Graph.from_scipy(CLIQUES)
    model = TVClustering(2, features=kind, **SMALL).fit(graph)
    assert any(note.startswith(f"features: {kind}, dim=") for note in model.graph_.report.notes)
    expected = TVClustering(2, **SMALL).fit(graph.with_structural_features(kind))
    np.testing.assert_array_equal(model.assignments_, expected.assignments_)
    same = TVClustering(2, features=kind, **SMALL).fit(None, adjacency=CLIQUES)
    np.testing.assert_array_equal(model.assignments_, same.assignments_)
    np.testing.assert_array_equal(model.predict(graph), model.labels_)
    np.testing.assert_array_equal(model.predict(model.graph_), model.labels_)
    model.save(tmp_path)
    loaded = TVClustering.load(tmp_path)
    np.testing.assert_array_equal(loaded.predict(graph), model.labels_)
    with pytest.raises(ValueError, match=r"expected a tvgnn\.Graph"):
        model.predict(np.zeros((3, model.n_features_in_)))


def test_spectral_features_find_the_cliques():
    options = SMALL | {"max_iter": 150, "hidden_channels": 32, "mlp_channels": 16}
    model = TVClustering(2, features="spectral", n_init=5, **options)  # one start in three finds them
    model.fit(Graph.from_scipy(CLIQUES))
    assert model.labels_.tolist() == [0] * 9 + [1] * 7


def test_another_graph_is_read_by_degree_but_not_by_spectrum():
    graph, other = Graph.from_scipy(CLIQUES), Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    assert TVClustering(2, features="degree", **SMALL).fit(graph).predict(other).shape == (4,)
    with pytest.raises(GraphError, match="expected the graph that was fitted"):
        TVClustering(2, features="spectral", **SMALL).fit(graph).predict(other)


def test_the_default_tells_which_features_to_choose():
    graph = Graph.from_scipy(CLIQUES)
    for fit in (
        lambda: TVClustering(2, **SMALL).fit(graph),
        lambda: TVClustering(2, **SMALL).fit(None, adjacency=CLIQUES),
        lambda: sweep_n_clusters(graph, [2], n_seeds=2),
    ):
        with pytest.raises(GraphError, match=r"'spectral' for communities \(try it first\), 'degree'"):
            fit()


def test_two_kinds_of_features_are_a_mistake():
    with pytest.raises(GraphError, match="expected one kind of features"):
        TVClustering(2, features="ones", **SMALL).fit(Graph.from_scipy(CLIQUES, x=np.ones((16, 1))))
    with pytest.raises(GraphError, match="'degree', 'spectral' or 'ones', got 'pagerank'"):
        TVClustering(2, features="pagerank", **SMALL).fit(Graph.from_scipy(CLIQUES))
    with pytest.raises(ValueError, match="got neither"):
        TVClustering(2, features="ones", **SMALL).fit(None)


def test_a_sweep_takes_the_same_choices(rows):
    result = sweep_n_clusters(rows, [2, 3], n_seeds=2, n_neighbors=5, metric="cosine", connect=True, max_iter=5)
    assert sorted(result.labels) == [2, 3]
    result = sweep_n_clusters(Graph.from_scipy(CLIQUES), [2], n_seeds=2, features="spectral", max_iter=20)
    assert result.labels[2].shape == (16,)


def test_a_sweep_trains_on_the_features_of_a_fit_with_the_largest_k(tmp_path):
    ring = np.roll(np.eye(60), 1, axis=0)
    model = TVClustering(20, features="spectral", preset="quick", random_state=0, max_iter=2, n_init=1)
    model.fit(None, adjacency=ring + ring.T)
    assert model.n_features_in_ == 20
    options = {"features": "spectral", "out": tmp_path, "n_seeds": 2, "max_iter": 2, "n_init": 1}
    result = sweep_n_clusters(None, (k for k in (20, 2)), adjacency=ring + ring.T, **options)
    losses = [record.loss for record in read_records(tmp_path / RECORDS_FILE, ClusteringRecord)]
    assert model.loss_ in losses  # of the same seed
    assert sorted(result.labels) == [2, 20]
    with pytest.raises(DataError, match="as spectral features do where the largest K grows"):
        sweep_n_clusters(None, [20, 30], adjacency=ring + ring.T, **options)
