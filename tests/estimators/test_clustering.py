"""Fit and predict of `TVClustering`: labels, inputs, training, memory."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from cliques import BLOCKS, CLIQUES, small
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from tvgnn import Graph, TVClustering, load_dataset
from tvgnn.datasets.synthetic import ring
from tvgnn.errors import (
    BackendUnavailableError,
    ClusteringWarning,
    GraphError,
    MemoryLimitError,
    TrainingError,
)
from tvgnn.estimators import new_rows
from tvgnn.estimators.new_rows import RowIndex, adjacency_with_new_rows
from tvgnn.graph.knn import NeighborSettings
from tvgnn.metrics import clustering_accuracy, evaluate


def test_labels_are_numbered_by_size_largest_first():
    labels = small().fit_predict(BLOCKS, adjacency=CLIQUES)
    assert labels.tolist() == [0] * 6 + [1] * 4
    assert labels.dtype == np.int64


def test_learned_attributes_agree_with_each_other(fitted):
    assert fitted.labels_.tolist() == fitted.assignments_.argmax(1).tolist()
    assert fitted.assignments_.sum(1) == pytest.approx(1, abs=1e-5)
    assert fitted.embedding_.shape == (60, 32)
    assert fitted.n_clusters_found_ == np.unique(fitted.labels_).size
    assert len(fitted.loss_history_) == fitted.n_iter_
    assert fitted.loss_ == pytest.approx(min(fitted.loss_history_), abs=1e-5)
    weights = {"total_variation": 0.785, "balance": 0.514}
    assert fitted.loss_ == pytest.approx(sum(weights[k] * v for k, v in fitted.loss_terms_.items()), abs=1e-5)
    assert fitted.graph_.num_nodes == 60


def test_same_seed_same_result_and_global_generator_untouched(blobs):
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    first, second = (small(3, n_neighbors=5).fit(blobs) for _ in range(2))
    assert np.array_equal(first.assignments_, second.assignments_)
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.parametrize("convert", [sp.csr_matrix, sp.csr_array, sp.coo_array, np.asarray])
def test_adjacency_formats(convert):
    adjacency = convert(CLIQUES.toarray())
    assert small().fit_predict(BLOCKS, adjacency=adjacency).tolist() == [0] * 6 + [1] * 4


def test_sparse_and_dense_features_give_the_same_partition():
    rng = np.random.default_rng(0)
    x = (rng.random((10, 40)) < 0.1).astype(float) + np.pad(BLOCKS, ((0, 0), (0, 38)))
    dense = small().fit(x, adjacency=CLIQUES)
    sparse = small().fit(sp.csr_matrix(x), adjacency=CLIQUES)
    assert dense.feature_norm_ == sparse.feature_norm_ == "l1"
    assert np.allclose(dense.assignments_, sparse.assignments_, atol=1e-3)


def test_graph_keeps_the_callers_ids():
    import networkx as nx

    graph = nx.Graph([("b", "a")])
    graph.add_node("c")
    nx.set_node_attributes(graph, {"a": 0.0, "b": 0.1, "c": 5.0}, "x")
    given = Graph.from_networkx(graph, features=["x"])
    labels = small().fit(given).labels_
    assert set(given.node_ids) == {"a", "b", "c"}
    assert labels.shape == (3,)


class TestPredict:
    def test_training_rows_return_their_stored_result_bit_for_bit(self, fitted, blobs):
        picked = [40, 3, 3, 17]
        assert fitted.predict(blobs[picked]).tolist() == fitted.labels_[picked].tolist()
        assert np.array_equal(fitted.transform(blobs[picked]), fitted.embedding_[picked])
        assert np.array_equal(fitted.transform(blobs), fitted.embedding_)

    def test_new_rows_do_not_depend_on_the_rows_beside_them(self, fitted, blobs):
        new = blobs[:20] + 0.05
        together = fitted.transform(new)
        alone = np.concatenate([fitted.transform(row[None]) for row in new])
        assert np.allclose(together, alone, atol=1e-5)
        mixed = fitted.transform(np.concatenate([new[:3], blobs[:2], new[3:]]))
        assert np.allclose(np.delete(mixed, [3, 4], axis=0), together, atol=1e-5)

    def test_rows_near_training_rows_join_their_cluster(self, fitted, blobs):
        assert (fitted.predict(blobs + 1e-3) == fitted.labels_).mean() > 0.9

    def test_weighted_training_graph_and_sparse_features(self):
        weighted = CLIQUES * 2.5
        model = small().fit(sp.csr_matrix(BLOCKS), adjacency=weighted)
        assert model.predict(np.array([[0.0, 0.9]])).shape == (1,)
        assert model.predict(sp.csr_matrix([[0.0, 1.0]])).tolist() == [0]

    def test_edges_of_new_rows_weigh_as_much_as_the_mean_edge(self):
        graph = Graph.from_edges([0, 1], [1, 2], [2.0, 5.0], x=[[0.0], [1.0], [2.0]])
        found = adjacency_with_new_rows(graph, graph.x, np.array([[0.9], [5.0]]), NeighborSettings(2))
        assert found.values.tolist() == [2, 2, 5, 5, 3.5, 3.5, 3.5, 3.5]
        unweighted = Graph.from_edges([0, 1], [1, 2], x=graph.x)
        assert adjacency_with_new_rows(unweighted, graph.x, graph.x[:1], NeighborSettings(1)).values is None

    @pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
    def test_rows_are_indexed_once(self, convert, monkeypatch):
        x = convert(np.pad(BLOCKS, ((0, 0), (0, 3))))
        model = small(max_iter=2).fit(x, adjacency=CLIQUES)
        made = []
        monkeypatch.setattr(new_rows, "RowIndex", lambda rows: made.append(rows) or RowIndex(rows))
        for _ in range(2):
            assert np.array_equal(model.predict(x), model.labels_)
            assert np.array_equal(model.predict(x * -1 * -1), model.labels_)
        assert len(made) == 1
        assert RowIndex(np.array([[0.0, 1], [-0.0, 1]])).find(np.array([[-0.0, 1], [1, 1]])).tolist() == [0, -1]

    def test_graph_goes_through_the_network(self, fitted):
        assert fitted.predict(fitted.graph_).tolist() == fitted.labels_.tolist()
        with pytest.raises(GraphError, match="expected a graph with 3 features, got 2"):
            fitted.predict(Graph.from_scipy(CLIQUES, x=BLOCKS))


class TestTraining:
    def test_restarts_keep_the_lowest_loss(self, blobs):
        losses = []
        best = small(3, n_neighbors=5, n_init=3).fit(blobs)
        for attempt in range(1, 4):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ClusteringWarning)
                losses.append(small(3, n_neighbors=5, n_init=attempt).fit(blobs).loss_)
        assert best.loss_ == min(losses)
        assert losses == sorted(losses, reverse=True)

    @pytest.mark.filterwarnings("ignore::tvgnn.errors.ClusteringWarning")
    def test_patience_stops_early(self, blobs):
        model = small(3, n_neighbors=5, max_iter=500, patience=3, tol=0.5).fit(blobs)
        assert model.converged_
        assert model.n_iter_ < 10

    def test_collapse_is_reported(self):
        with pytest.warns(ClusteringWarning, match=r"\d of the 4 clusters asked for are in use; try the preset"):
            small(4, balance_coeff=0.0, max_iter=200).fit(BLOCKS, adjacency=sp.csr_matrix(np.ones((10, 10))))

    def test_overflow_aborts_with_epoch_and_cause(self):
        with pytest.raises(TrainingError, match=r"epoch 1 .*too large for float32"):
            small(feature_norm=None).fit(BLOCKS * 3e38, adjacency=CLIQUES)

    def test_divergence_aborts_with_epoch_and_cause(self):
        with pytest.raises(TrainingError, match=r"epoch [2-9].*lower learning_rate"):
            small(learning_rate=1e30).fit(BLOCKS, adjacency=CLIQUES)

    @pytest.mark.filterwarnings("ignore::tvgnn.errors.ClusteringWarning")
    def test_backends_agree(self, blobs):
        reference, cpu = (small(3, n_neighbors=5, max_iter=10, backend=b).fit(blobs) for b in ("reference", "cpu"))
        assert cpu.loss_history_ == pytest.approx(reference.loss_history_, rel=1e-4)
        assert (reference.backend_, cpu.backend_) == ("reference", "cpu")


class TestInputs:
    def test_12_fewer_nodes_than_clusters(self):
        with pytest.raises(ValueError, match="n_clusters=4 and n_samples=2"):
            TVClustering(4).fit(np.eye(2))

    @pytest.mark.parametrize("wrong", [np.array([3]), np.array([2, 3]), "3", 2.0, True])
    def test_clusters_are_one_integer(self, wrong):
        with pytest.raises(ValueError, match="expected n_clusters to be an integer >= 1, got"):
            TVClustering(wrong).fit(np.eye(4))

    def test_11_one_cluster(self):
        assert small(1).fit_predict(BLOCKS, adjacency=CLIQUES).tolist() == [0] * 10

    def test_5_no_edges(self):
        for preset in ({}, {"preset": "quick"}, {"preset": "quality", "hidden_channels": None, "mlp_channels": None}):
            for given in (
                {"X": BLOCKS, "adjacency": sp.csr_matrix((10, 10))},
                {"X": Graph.from_scipy(sp.csr_matrix((10, 10)), x=BLOCKS)},
            ):
                with warnings.catch_warnings(record=True) as seen:
                    warnings.simplefilter("always")
                    model = small(**preset).fit(**given)
                assert [str(one.message)[:22] for one in seen].count("the graph has no edges") == 1
                assert {one.filename for one in seen} == {__file__}
                assert np.isfinite(model.assignments_).all()
                assert model.loss_terms_["total_variation"] == 0

    def test_one_node(self):
        assert small(1).fit_predict(np.ones((1, 3))).tolist() == [0]

    def test_16_negative_weight_names_the_edge(self):
        adjacency = CLIQUES.toarray()
        adjacency[0, 1] = adjacency[1, 0] = -1
        with pytest.raises(GraphError, match="-1"):
            small().fit(BLOCKS, adjacency=adjacency)

    def test_17_nan_in_a_graph_names_the_row(self):
        x = BLOCKS.copy()
        x[1, 0] = np.nan
        with pytest.raises(GraphError, match="1"):
            Graph.from_scipy(CLIQUES, x=x)

    def test_no_features_explains_the_choices(self):
        with pytest.raises(GraphError, match="with_structural_features"):
            small().fit(Graph.from_scipy(CLIQUES))

    def test_adjacency_of_another_size(self):
        with pytest.raises(GraphError, match="10"):
            small().fit(BLOCKS[:9], adjacency=CLIQUES)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"n_clusters": 0}, "n_clusters"),
            ({"n_clusters": 2.5}, "n_clusters"),
            ({"preset": "best"}, "preset"),
            ({"n_init": 0}, "n_init"),
            ({"hidden_channels": 0}, "hidden_channels"),
            ({"max_iter": 0}, "max_iter"),
            ({"patience": 0}, "patience"),
            ({"tol": -1.0}, "tol"),
            ({"learning_rate": 0.0}, "learning_rate"),
            ({"rho": 0.0}, "rho"),
            ({"delta_coeff": float("nan")}, "delta_coeff"),
            ({"balance_coeff": float("inf")}, "balance_coeff"),
            ({"totvar_coeff": -1.0}, "totvar_coeff"),
            ({"max_iter": "10"}, "max_iter"),
            ({"patience": float("inf")}, "patience"),
            ({"tol": "small"}, "tol"),
            ({"rho": [2]}, "rho"),
            ({"preset": ["paper"]}, "preset"),
            ({"n_clusters": True}, "n_clusters"),
            ({"n_neighbors": 0}, "n_neighbors"),
            ({"n_neighbors": None}, "n_neighbors"),
            ({"device": "abacus"}, "expected a device"),
            ({"feature_norm": "max"}, "feature_norm"),
            ({"backend": "fast"}, "backend"),
        ],
    )
    def test_parameters_are_checked_in_fit(self, options, message):
        with pytest.raises(ValueError, match=message):
            small(**options).fit(BLOCKS, adjacency=CLIQUES)

    def test_named_backend_runs_or_raises(self, monkeypatch):
        monkeypatch.delenv("TRITON_INTERPRET", raising=False)
        with pytest.raises(BackendUnavailableError, match="gpu"):
            small(backend="gpu").fit(BLOCKS, adjacency=CLIQUES)


@pytest.mark.parametrize("convert", [
    lambda x: torch.tensor(x, requires_grad=True), lambda x: torch.tensor(x).bfloat16(),
    lambda x: torch.tensor(x).to_sparse(), lambda x: x.astype(">f4"),
])  # fmt: skip
def test_features_may_be_tensors_and_of_any_byte_order(convert):
    model = small()
    expected = model.fit_predict(BLOCKS, adjacency=CLIQUES.toarray().astype(">f4"))
    assert np.array_equal(small().fit_predict(convert(BLOCKS), adjacency=CLIQUES), expected)
    assert np.array_equal(model.predict(convert(BLOCKS)), expected)


def test_graph_is_no_adjacency():
    graph = Graph.from_scipy(CLIQUES)
    with pytest.raises(GraphError, match=r"got a Graph; pass graph\.adjacency"):
        small().fit(BLOCKS, adjacency=graph)
    assert small().fit(BLOCKS, adjacency=graph.adjacency()).n_clusters_found_ == 2
    with pytest.raises(GraphError, match="must be a matrix, got str"):
        small().fit(BLOCKS, adjacency="knn")


@pytest.mark.parametrize("preset", ["paper", "quality"])
def test_masked_values_are_refused(preset, fitted, blobs):
    masked = np.ma.masked_array(blobs, mask=np.zeros(blobs.shape, bool))
    assert np.array_equal(fitted.predict(masked), fitted.labels_)
    masked[3, 2] = np.ma.masked
    for call in (TVClustering(3, preset=preset).fit, fitted.predict):
        with pytest.raises(GraphError, match="X has masked entries, whose values mean nothing"):
            call(masked)


def test_graphs_of_other_packages_are_named(fitted, pyg):
    import networkx as nx

    for call in (small().fit, fitted.predict, small(features="degree").fit):
        with pytest.raises(GraphError, match=r"got Graph; make one of it with Graph\.from_networkx"):
            call(nx.path_graph(5))
        with pytest.raises(GraphError, match=r"got Data; make one of it with Graph\.from_pyg"):
            call(pyg.data.Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0, 1], [1, 0]])))
        with pytest.raises(GraphError, match="expected one graph or rows of features, got 2 graphs"):
            call([fitted.graph_, fitted.graph_])


@pytest.mark.parametrize("feature_norm", [False, True, 5, ["l2"], ("l2",), "max"])
@pytest.mark.parametrize("preset", ["paper", "quality"])
def test_feature_norms_that_are_none(preset, feature_norm):
    with pytest.raises(ValueError, match="expected feature_norm to be"):
        TVClustering(2, preset=preset, feature_norm=feature_norm).fit(BLOCKS, adjacency=CLIQUES)


class TestFeatureNorm:
    def test_bags_of_words_are_divided_by_their_sum(self):
        assert small().fit(np.eye(10), adjacency=CLIQUES).feature_norm_ == "l1"

    def test_measurements_are_standardised(self, fitted):
        assert fitted.feature_norm_ == "standardize"

    def test_scale_and_shift_of_measurements_do_not_matter(self, fitted, blobs):
        other = small(3, n_neighbors=5).fit(blobs * [1000.0, 0.01, 1.0] + [5.0, 0.0, -3.0])
        assert np.allclose(other.assignments_, fitted.assignments_, atol=1e-2)

    def test_constant_column_stays_finite(self, blobs):
        x = np.column_stack([blobs, np.full(len(blobs), 0.1)])
        assert np.isfinite(small(3, n_neighbors=5).fit(x).assignments_).all()


@pytest.mark.real_data("cora")
def test_cora_partition_is_far_from_chance(mirror):
    graph = load_dataset("cora", mirror=mirror)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusteringWarning)
        model = TVClustering(7, hidden_channels=128, mlp_channels=64, max_iter=80, random_state=0).fit(graph)
    assert model.feature_norm_ == "l1"
    scores = evaluate(graph.adjacency(), model.labels_, model.assignments_, graph.y, n_clusters=7)
    assert model.loss_ < 0.51  # below the loss of the degenerate partitions
    assert np.isfinite([scores[k] for k in ("nmi", "acc", "modularity")]).all()


def test_digits_beat_chance_by_far():
    graph = load_dataset("digits")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusteringWarning)
        model = TVClustering(10, hidden_channels=64, mlp_channels=32, max_iter=150, random_state=0).fit(graph)
    assert clustering_accuracy(graph.y, model.labels_) > 0.5


def test_nothing_grows_with_the_square_of_the_nodes():
    # 200,000 nodes: one N x N array of bytes would take 40 GB.
    graph = ring(200_000)
    model = TVClustering(2, hidden_channels=4, mlp_channels=4, num_layers=1, max_iter=1, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ClusteringWarning)
        assert model.fit(graph).labels_.shape == (200_000,)
        assert model.predict(graph).shape == (200_000,)


class TestMemoryAndPrecision:
    def test_low_memory_gives_the_same_partition(self, blobs):
        normal, low = small().fit(blobs), small(memory="low").fit(blobs)
        np.testing.assert_array_equal(low.labels_, normal.labels_)
        np.testing.assert_allclose(low.assignments_, normal.assignments_, atol=1e-4)

    def test_the_estimate_is_said_and_its_limit_kept(self, blobs):
        estimate = small().fit(blobs).estimated_bytes_
        assert small(max_memory=estimate).fit(blobs).estimated_bytes_ == estimate
        with pytest.raises(MemoryLimitError, match="expected training to fit into max_memory, 1 MB"):
            small(max_memory="1MB").fit(blobs)

    def test_bfloat16_finds_the_same_clusters(self, blobs):
        exact, rounded = small(max_iter=60).fit(blobs), small(max_iter=60, precision="bfloat16").fit(blobs)
        assert rounded.assignments_.dtype == rounded.embedding_.dtype == np.float32
        assert adjusted_rand_score(exact.labels_, rounded.labels_) == 1
        np.testing.assert_array_equal(rounded.predict(blobs), rounded.labels_)

    @pytest.mark.parametrize("bad", [{"memory": "high"}, {"precision": "float16"}, {"max_memory": "lots"}])
    def test_unknown_values(self, blobs, bad):
        with pytest.raises(ValueError, match=f"expected {next(iter(bad))} to be"):
            small(**bad).fit(blobs)

    def test_settings_survive_saving(self, blobs, tmp_path):
        model = small(memory="low", precision="bfloat16").fit(blobs)
        model.save(tmp_path)
        loaded = TVClustering.load(tmp_path)
        assert (loaded.model_.memory, loaded.model_.precision) == ("low", "bfloat16")
        assert loaded.estimated_bytes_ == model.estimated_bytes_
        np.testing.assert_array_equal(loaded.predict(model.graph_), model.predict(model.graph_))


@pytest.mark.filterwarnings("ignore::tvgnn.errors.ClusteringWarning")  # few epochs leave clusters unused
def test_preset_of_the_released_script(tmp_path):
    x = np.repeat(np.eye(3), 12, axis=0) + np.random.RandomState(0).normal(0, 0.1, (36, 3))
    model = TVClustering(3, preset="released", max_iter=5, n_neighbors=4, hidden_channels=16, random_state=0).fit(x)
    assert (model.model_.config.mlp_channels, model.model_.config.fan) == (0, "out")
    again = TVClustering.load(model.save(tmp_path / "model") or tmp_path / "model")
    assert (again.predict(x) == model.labels_).all()
    wide = clone(model).set_params(mlp_channels=8).fit(x)
    assert (wide.model_.config.mlp_channels, wide.model_.config.fan) == (8, "out")
    with pytest.raises(ValueError, match="mlp_channels to be an integer >= 0"):
        clone(model).set_params(mlp_channels=-1).fit(x)
