import json

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.base import clone
from sklearn.covariance import ledoit_wolf
from sklearn.metrics import adjusted_rand_score
from topic_graphs import topics

from tvgnn import Graph, TVClustering
from tvgnn.errors import ClusteringWarning, MemoryLimitError
from tvgnn.estimators.presets import PRESETS
from tvgnn.estimators.quality import agreement
from tvgnn.estimators.quality.agreement import agreed_labels, set_discriminant
from tvgnn.estimators.quality.candidates import best_candidate
from tvgnn.estimators.quality.directions import mean_edge_weight, neighborhood_directions, principal_components
from tvgnn.estimators.quality.information import PartitionInformation, edge_information
from tvgnn.estimators.quality.missing import Projected
from tvgnn.estimators.quality.preparation import FeaturePreparation, choose_steps
from tvgnn.estimators.quality.refinement import soft_kmeans
from tvgnn.graph.adjacency import Adjacency
from tvgnn.models.smoothed_clustering import averaging_adjacency
from tvgnn.training.progress import StageProgress


@pytest.fixture(scope="module")
def graph():
    return topics()


@pytest.fixture(scope="module")
def fitted(graph):
    return TVClustering(3, preset="quality", random_state=0).fit(graph)


class TestPreparation:
    def test_steps_follow_the_values(self):
        random = np.random.default_rng(0)
        bag = (random.random((200, 40)) < np.linspace(0.02, 0.4, 40)).astype(float)
        counts = bag * random.integers(1, 5, bag.shape)
        tf_idf = bag * np.log(200 / bag.sum(0)) * random.uniform(0.5, 1.5, bag.shape)
        assert choose_steps(bag) == choose_steps(sp.csr_array(bag)) == ("l2",)  # see test_binary_features.py
        assert choose_steps(counts) == ("log1p", "smooth-idf", "l2")
        assert choose_steps(tf_idf) == choose_steps(sp.csr_array(tf_idf)) == ("l2",)
        assert choose_steps(random.normal(size=(200, 3))) == ("standardize",)

    @pytest.mark.parametrize("kind", ["auto", "log1p+idf+l2", "standardize", "l1", None])
    def test_sparse_and_dense_agree(self, graph, kind):
        sparse = FeaturePreparation.fit(graph.x, kind)
        dense = FeaturePreparation.fit(graph.x.toarray(), kind)
        if kind == "standardize":  # which never shifts sparse features
            dense = FeaturePreparation(kind, np.zeros(graph.num_features), dense.scale)
        expected = dense.transform(graph.x.toarray())
        assert sparse.transform(graph.x).toarray() == pytest.approx(expected, abs=1e-6)
        assert sparse.kind == dense.kind

    def test_a_word_in_every_row_says_nothing(self):
        x = np.array([[1.0, 1.0], [1.0, 0.0]])
        assert FeaturePreparation.fit(x, "idf").transform(x)[:, 0].tolist() == [0, 0]

    @pytest.mark.parametrize("kind", ["log1p", "log1p+l2", "log1p+idf+l2", "log1p+standardize"])
    @pytest.mark.parametrize("value", [-0.5, -1, -3])
    @pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
    def test_logarithms_of_negative_numbers_name_the_first(self, kind, value, wrap):
        x = np.array([[1.0, 0, 2], [0, 4, 0], [3, 0, value], [value, 1, 0]])
        says = rf"got {value} in row 2, column 2; take feature_norm='standardize'"
        with pytest.raises(ValueError, match=says):
            FeaturePreparation.fit(wrap(x), kind).transform(wrap(x))
        prepared = FeaturePreparation.fit(wrap(np.abs(x)), kind)
        with pytest.raises(ValueError, match=says):  # new rows
            prepared.transform(wrap(x))
        model = TVClustering(2, preset="quality", feature_norm=kind)
        with pytest.raises(ValueError, match=says):
            model.fit(wrap(x))

    def test_idf_of_measurements_is_refused(self):
        x = np.random.default_rng(0).normal(size=(20, 3))
        with pytest.raises(ValueError, match="expected columns with zeros for the step idf of feature_norm='idf"):
            TVClustering(2, preset="quality", feature_norm="idf+l2").fit(x)

    @pytest.mark.parametrize("kind", ["idf+idf", "idf+standardize", "tf"])
    def test_refuses_unknown_and_contradictory_steps(self, kind):
        with pytest.raises(ValueError, match="expected feature_norm"):
            FeaturePreparation.fit(np.eye(3), kind)


class TestInformation:
    def test_invariant_under_linear_maps_and_weight_scale(self, graph):
        random = np.random.default_rng(1)
        x = random.normal(size=(90, 4)) + 3 * graph.y[:, None]
        moved = x @ random.normal(size=(4, 4)) + 5
        adjacency = graph.adjacency()
        value = PartitionInformation(adjacency, x).of(graph.y, 3)
        assert PartitionInformation(7 * adjacency, moved).of(graph.y, 3) == pytest.approx(value, rel=1e-3)

    def test_features_count_as_the_log_ratio_of_scatters(self, graph):
        x = np.random.default_rng(2).normal(size=(90, 5)) + graph.y[:, None]
        centred = x - x.mean(0)
        means = np.stack([x[graph.y == k].mean(0) for k in range(3)])[graph.y]
        total, within = (np.linalg.slogdet(y.T @ y)[1] for y in (centred, x - means))
        information = PartitionInformation(graph.adjacency(), x)
        assert information.feature_information(graph.y, 3) == pytest.approx(90 / 2 * (total - within), rel=1e-4)

    def test_finite_where_clusters_determine_the_features(self, graph):
        x = np.concatenate([np.eye(3)[graph.y], np.zeros((90, 2)), np.full((90, 1), 1e4)], axis=1).astype(np.float32)
        information = PartitionInformation(graph.adjacency(), x)
        told = information.feature_information(graph.y, 3)
        assert np.isfinite(told)
        assert told > 10 * information.feature_information(np.roll(graph.y, 7), 3)

    def test_prefers_the_topics_to_chance(self, graph):
        information = PartitionInformation(graph.adjacency(), graph.x.toarray()[:, :20])
        shuffled = np.random.default_rng(0).permutation(graph.y)
        assert information.of(graph.y, 3) > information.of(shuffled, 3) + 50

    @pytest.mark.parametrize("block", [1, 7, 10_000])
    def test_edges_count_as_the_likelihood_of_the_block_model(self, monkeypatch, block):
        monkeypatch.setattr("tvgnn.estimators.quality.information._BLOCK", block)
        random = np.random.default_rng(3)
        weights = np.triu(random.random((40, 40)) * (random.random((40, 40)) < 0.2), 1)
        weights += weights.T
        labels = random.integers(4, size=40)  # of five clusters
        member = np.eye(5)[labels]
        between = member.T @ weights @ member
        expected = np.outer(between.sum(1), between.sum(1)) / between.sum()
        used = between > 0
        nats = (between[used] * np.log(between[used] / expected[used])).sum() / 2 / weights[weights > 0].mean()
        assert edge_information(sp.csr_array(weights), labels, 5) == pytest.approx(nats, rel=1e-9)

    def test_without_edges_edges_say_nothing(self):
        assert edge_information(sp.csr_array((4, 4)), np.array([0, 0, 1, 1]), 2) == 0


class TestDirections:
    def test_finds_what_neighbours_share_and_not_what_varies_most(self):
        blocks = sp.block_diag([np.ones((10, 10)) - np.eye(10)] * 100).tocsr()  # many: chance correlates few
        random = np.random.default_rng(0)
        shared = np.repeat(random.normal(size=100), 10)
        x = np.stack([5 * random.normal(size=1000), shared + 0.1 * random.normal(size=1000)], 1).astype(np.float32)
        graph = Graph.from_scipy(blocks, x=x)
        basis, reduced = principal_components(x, np.random.RandomState(0))
        (directions,) = neighborhood_directions(graph, x, basis, reduced, 2)
        assert reduced.shape == (1000, 2)
        first = np.abs(directions.weight[:, 0])
        assert first[1] > 10 * first[0]
        assert directions.ratios[0] > directions.ratios[1]

    @pytest.mark.parametrize("sparse", [False, True])
    @pytest.mark.parametrize("words", [100, 400], ids=["all columns", "reduced by SVD"])
    def test_encoders_of_rising_rank_see_the_first_principal_components(self, words, sparse):
        graph = topics(nodes=600, words=words, clusters=4)
        x = graph.x if sparse else graph.x.toarray()
        basis, reduced = principal_components(x, np.random.RandomState(0))
        encoders = neighborhood_directions(graph, x, basis, reduced, 16)
        highest = min(words, 150)  # four rows for each
        assert [encoder.rank for encoder in encoders] == sorted({32, min(128, highest), highest})
        deviations = np.linalg.norm(reduced, axis=0)
        assert (np.diff(deviations) < 1e-3 * deviations[0]).all()
        for encoder in encoders:
            inside = reduced[:, : encoder.rank]
            projected = x @ encoder.weight
            fit = inside @ np.linalg.lstsq(inside, projected, rcond=None)[0]
            assert np.abs(fit - projected).max() < 1e-2 * np.abs(projected).max()
            assert encoder.weight.shape[1] == encoder.ratios.size == 16

    def test_smoothing_is_scale_free_and_chosen(self, graph):
        prepared = FeaturePreparation.fit(graph.x).transform(graph.x)
        basis, reduced = principal_components(prepared, np.random.RandomState(0))
        (directions,) = neighborhood_directions(graph, prepared, basis, reduced, 8)
        adjacency = averaging_adjacency(Adjacency.from_graph(graph), mean_edge_weight(graph))
        information = PartitionInformation(graph.adjacency(), reduced)
        z = torch.tensor(prepared @ directions.weight)
        found = [
            best_candidate(
                Projected(factor * z, None),
                directions.ratios,
                adjacency,
                information,
                3,
                num_layers=None,
                random=np.random.RandomState(0),
            )
            for factor in (1.0, 1000.0)
        ]
        assert found[0][0].labels.tolist() == found[1][0].labels.tolist()
        assert found[0][0].nats == max(found[0][1].values())


class TestEstimator:
    def test_finds_topics(self, graph, fitted):
        assert adjusted_rand_score(graph.y, fitted.labels_) > 0.9
        assert fitted.labels_.tolist() == fitted.assignments_.argmax(1).tolist()
        assert fitted.assignments_.sum(1) == pytest.approx(1, abs=1e-5)
        assert np.diff(np.bincount(fitted.labels_)).max() <= 0
        assert fitted.feature_norm_ == "l2"

    def test_refinement_never_explains_less(self, fitted):
        assert fitted.choices_["nats"] >= fitted.choices_["nats_before_refinement"]
        (view,) = fitted.choices_["views"]
        assert view["nats"] >= view["nats_kmeans"] >= max(view["nats_by_steps"].values()) - 0.1
        assert view["nats"] == max(fitted.choices_["nats_by_member"])
        json.dumps(fitted.choices_)

    def test_every_run_and_rank_has_a_say(self, graph, fitted):
        alone = TVClustering(3, preset="quality", n_init=1, random_state=0).fit(graph)
        assert alone.choices_["agreement"] == 1
        assert len(fitted.choices_["nats_by_member"]) == PRESETS["quality"]["n_init"]
        assert 0.5 < fitted.choices_["agreement"] <= 1

    def test_ranks_stand_side_by_side(self, tmp_path):
        wide = topics(nodes=600, words=300, clusters=4)
        model = TVClustering(4, preset="quality", n_init=2, hidden_channels=20, random_state=0).fit(wide)
        assert [view["rank"] for view in model.choices_["views"]] == [32, 128, 150]
        assert model.embedding_.shape == (600, 60)
        assert adjusted_rand_score(wide.y, model.labels_) > 0.9
        assert np.array_equal(model.predict(wide), model.labels_)
        model.save(tmp_path)
        loaded = TVClustering.load(tmp_path)
        assert np.array_equal(loaded.predict(wide), model.labels_)
        assert loaded.transform(wide) == pytest.approx(model.embedding_, abs=1e-5)

    def test_epochs_are_steps_of_the_refinement_and_their_time_is_its_own(self, graph):
        model = TVClustering(3, preset="quality", random_state=0, max_iter=3, patience=3).fit(graph)
        assert model.n_iter_ == 3
        assert len(model.loss_history_) == 4  # that of k-means first
        assert model.ms_per_epoch_ * model.n_iter_ < 500 * model.fit_seconds_

    def test_labels_are_not_read(self, graph, fitted):
        blind = TVClustering(3, preset="quality", random_state=0).fit(Graph.from_scipy(graph.adjacency(), x=graph.x))
        assert np.array_equal(blind.assignments_, fitted.assignments_)

    def test_predict_transform_and_round_trip(self, graph, fitted, tmp_path):
        assert np.array_equal(fitted.predict(graph), fitted.labels_)
        assert fitted.transform(graph) == pytest.approx(fitted.embedding_, abs=1e-5)
        fitted.save(tmp_path)
        loaded = TVClustering.load(tmp_path)
        assert np.array_equal(loaded.predict(graph), fitted.predict(graph))
        assert loaded.choices_ == fitted.choices_
        rows = graph.x[:5]
        assert loaded.predict(rows).tolist() == fitted.labels_[:5].tolist()
        changed = rows.toarray()
        changed[:, 0] = 1 - changed[:, 0]
        assert (loaded.predict(changed) == fitted.labels_[:5]).mean() >= 0.8

    @pytest.mark.parametrize(
        "options",
        [
            {"mlp_channels": 8},
            {"delta_coeff": 1.0},
            {"rho": 2.0},
            {"num_layers": 0},
            {"precision": "bfloat16"},
            {"memory": "low"},
            {"memory": "lowest"},
            {"tol": -1.0},
            {"tol": float("nan")},
            {"learning_rate": 0.0},
            {"learning_rate": float("inf")},
            {"totvar_coeff": -1.0},
            {"balance_coeff": float("nan")},
            {"feature_norm": "tf"},
        ],
        ids=str,
    )
    def test_refuses_what_it_does_not_have(self, graph, options):
        with pytest.raises(ValueError, match="expected"):
            TVClustering(3, preset="quality", **options).fit(graph)

    def test_a_limit_of_memory_names_what_would_help(self, graph):
        with pytest.raises(
            MemoryLimitError, match="use a smaller batch_size or hidden_channels or fewer features, or raise"
        ):
            TVClustering(3, preset="quality", max_memory="1MB").fit(graph)

    @pytest.mark.filterwarnings("ignore::tvgnn.errors.ClusteringWarning")  # chance decides whether so few edges count
    def test_every_parameter_has_an_effect_or_is_refused(self):
        """Another value than the default gives another result or an error: the list covers the constructor."""
        noisy = topics(nodes=150, clusters=10, seed=1)  # where the refinement finds more than k-means
        usual = TVClustering(5, preset="quality", n_init=1, random_state=0, feature_norm="idf+l2").fit(noisy)
        others = {
            "n_clusters": 4, "random_state": 1, "feature_norm": "auto", "max_iter": 1, "patience": 1, "tol": 1e9,
            "n_init": 2, "hidden_channels": 4, "num_layers": 7, "totvar_coeff": 9.0, "balance_coeff": 9.0,
            "learning_rate": 1.0, "batch_size": 100,
        }  # fmt: skip
        refused = {
            "mlp_channels": 8, "delta_coeff": 1.0, "rho": 1.0, "precision": "bfloat16", "memory": "low",
            "max_memory": 1, "features": "degree", "mutual": True, "connect": True, "knn_weights": "heat_kernel",
            "backend": "none", "device": "none",
        }  # fmt: skip
        shown_elsewhere = {"preset", "verbose", "n_neighbors", "metric", "empty_clusters"}
        assert others.keys() | refused.keys() | shown_elsewhere == usual.get_params().keys()
        for name, value in others.items():
            model = clone(usual).set_params(**{name: value}).fit(noisy)
            same = model.loss_history_ == usual.loss_history_ and np.array_equal(model.embedding_, usual.embedding_)
            assert not same or model.choices_ != usual.choices_, name
        for name, value in refused.items():
            with pytest.raises((ValueError, MemoryLimitError), match="expected"):
                clone(usual).set_params(**{name: value}).fit(noisy)

    def test_dense_measurements_without_edges_or_adjacency(self):
        random = np.random.default_rng(0)
        x = np.repeat([[0.0, 0.0], [5.0, 5.0]], 15, axis=0) + random.normal(size=(30, 2))
        model = TVClustering(2, preset="quality", n_neighbors=4, random_state=0)
        assert adjusted_rand_score(np.repeat([0, 1], 15), model.fit_predict(x)) == 1
        with pytest.warns(ClusteringWarning, match="the graph has no edges"):
            found = model.fit_predict(x, adjacency=sp.csr_array((30, 30)))
        assert adjusted_rand_score(np.repeat([0, 1], 15), found) == 1

    def test_progress_on_a_terminal(self, monkeypatch):
        shown = []
        monkeypatch.setattr(
            StageProgress, "update", lambda self, *state: shown.append((self._progress.disable, *state))
        )
        monkeypatch.setattr("rich.console.Console.is_terminal", True)
        graph = topics(nodes=60, clusters=2, seed=1)
        for verbose in (1, 0):
            TVClustering(2, preset="quality", n_init=2, random_state=0, verbose=verbose).fit(graph)
        stages = [(0, "use of the edges"), (0, "run 1 of 2"), (1, "run 2 of 2"), (2, "refinement")]
        assert shown == [(False, *stage) for stage in stages] + [(True, *stage) for stage in stages]


class TestAgreement:
    def test_numbers_of_clusters_are_matched(self):
        random = np.random.default_rng(0)
        y = random.integers(0, 4, 400)
        said = []
        for _ in range(7):
            wrong = random.random(400) < 0.3
            labels = random.permutation(4)[np.where(wrong, random.integers(0, 4, 400), y)]
            said.append(np.log(0.01 + np.eye(4)[labels]))
        labels, agreement = agreed_labels(said)
        best = max(adjusted_rand_score(y, one.argmax(1)) for one in said)
        assert adjusted_rand_score(y, labels) > best + 0.2
        assert 0.2 < agreement < 0.5

    def test_clusters_without_nodes(self):
        said = [np.log(0.01 + np.eye(4)[labels]) for labels in ([0, 0, 1, 1], [3, 3, 2, 2], [1, 1, 0, 0])]
        labels, agreement = agreed_labels(said)
        assert adjusted_rand_score([0, 0, 1, 1], labels) == agreement == 1

    def test_no_cluster_is_lost_where_partitions_split_different_ones(self):
        blocks = np.repeat(np.arange(4), 10)
        unsure = np.array([[0.98, 0.01, 0.01], [0.45, 0.54, 0.01], [0.01, 0.01, 0.98], [0.01, 0.01, 0.98]])
        elsewhere = np.array([[0.98, 0.01, 0.01], [0.98, 0.01, 0.01], [0.01, 0.98, 0.01], [0.01, 0.01, 0.98]])
        labels, _ = agreed_labels([np.log(said[blocks]) for said in [unsure] * 3 + [elsewhere] * 2])
        assert len(np.unique(labels)) == 3

    def test_one_partition_stays(self):
        scores = np.log(np.random.default_rng(0).dirichlet(np.ones(3), 20))
        assert agreed_labels([scores]) == (pytest.approx(scores.argmax(1)), 1.0)

    @pytest.mark.parametrize(("nodes", "spread"), [(40, 1.0), (5000, 0.01)])
    def test_covariance_is_shrunk_as_ledoit_and_wolf_do(self, monkeypatch, nodes, spread):
        monkeypatch.setattr(agreement, "_BLOCK", 512)
        random = np.random.default_rng(0)
        y = random.integers(0, 3, nodes)
        view = (spread * random.normal(size=(nodes, 12)) + 2 * np.eye(3, 12)[y]).astype(np.float32)
        head = torch.nn.Linear(12, 3)
        set_discriminant(head, [view], y, rounds=1)
        means = np.stack([view[y == k].mean(0) for k in range(3)])
        covariance = ledoit_wolf(view - means[y], assume_centered=True)[0]
        expected = np.linalg.solve(covariance, means.T).T
        error = np.abs(head.weight.detach().numpy() - expected).max()
        assert error < 0.02 * np.abs(expected).max()

    def test_discriminant_tells_what_distances_to_centers_do_not(self):
        random = np.random.default_rng(0)
        y = random.integers(0, 2, 600)
        views = [(random.normal(size=(600, 2)) * (10, 1) + y[:, None] * (0, 4)).astype(np.float32) for _ in range(2)]
        start = np.where(random.random(600) < 0.3, 1 - y, y)
        head = torch.nn.Linear(4, 2)
        labels = set_discriminant(head, views, start)
        assert (labels == y).mean() > 0.99
        given = head(torch.tensor(np.concatenate(views, axis=1))).argmax(1)
        assert np.array_equal(given.numpy(), labels)

    @pytest.mark.parametrize("sizes", [(5, 5, 0), (9, 1, 0), (10, 0, 0)])
    def test_discriminant_of_degenerate_clusters(self, sizes):
        labels = np.repeat([0, 1, 2], sizes)
        head = torch.nn.Linear(4, 3)
        rows = np.eye(3, dtype=np.float32)[labels]
        found = set_discriminant(head, [rows, rows[:, :1]], labels)
        assert np.array_equal(found, labels)
        assert all(torch.isfinite(parameter).all() for parameter in head.parameters())


class TestFewColumns:
    def test_kmeans_without_residuals_is_kept_by_the_head(self):
        head = torch.nn.Linear(1, 2)
        rows, centers = np.array([[-1.0], [-1.0], [1.0], [1.0]]), np.array([[-1.0], [1.0]])
        soft_kmeans(head, rows, centers, np.array([0, 0, 1, 1]))
        assert head(torch.tensor(rows, dtype=torch.float32)).argmax(1).tolist() == [0, 0, 1, 1]

    def test_two_cliques_with_features_that_tell_them_apart(self):
        y = np.repeat([0, 1], 6)
        cliques = sp.csr_array((y[:, None] == y[None]) & ~np.eye(12, dtype=bool), dtype=float)
        model = TVClustering(2, preset="quality", random_state=0).fit(np.eye(2)[y], adjacency=cliques)
        assert adjusted_rand_score(y, model.labels_) == 1

    @pytest.mark.parametrize("clusters", [2, 3, 5])
    def test_one_column(self, clusters):
        y = np.repeat(np.arange(clusters), 40)
        x = 10.0 * y[:, None] + np.random.default_rng(0).normal(size=(len(y), 1))
        model = TVClustering(clusters, preset="quality", random_state=0).fit(x)
        assert adjusted_rand_score(y, model.labels_) == 1

    def test_clusters_in_one_direction_of_a_plane(self, tmp_path):
        y = np.repeat([0, 1, 2], 60)
        x = 20.0 * y[:, None] + np.random.default_rng(0).normal(size=(180, 2))
        model = TVClustering(3, preset="quality", random_state=0).fit(x)
        assert adjusted_rand_score(y, model.labels_) == 1
        assert not model.choices_["views"][0]["unit_rows"]
        model.save(tmp_path / "model")
        assert np.array_equal(TVClustering.load(tmp_path / "model").predict(model.graph_), model.labels_)
