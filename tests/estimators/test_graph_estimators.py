import json
import pickle
import warnings
from importlib.metadata import version
from itertools import islice

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score

from tvgnn import Graph, TVGraphClassifier, TVGraphRegressor, estimators
from tvgnn.errors import DataError, GraphError, TrainingError
from tvgnn.estimators.graph_presets import GRAPH_PRESETS
from tvgnn.graph.collection import GraphCollection
from tvgnn.models.graph_network import POOLINGS

QUICK = {"hidden_channels": 8, "num_layers": 1, "mlp_channels": 4, "max_epochs": 3, "random_state": 0}


def cycle(nodes, x=None):
    return Graph.from_edges(range(nodes), [*range(1, nodes), 0], x=np.ones((nodes, 1)) if x is None else x)


def dense_or_sparse(count, seed=0):
    """Random graphs of few or of many edges, told apart by their degrees."""
    random = np.random.default_rng(seed)
    graphs, labels = [], []
    for number in range(count):
        label = number % 2
        pairs = np.triu(random.random((10, 10)) < (0.6 if label else 0.2), 1).nonzero()
        graph = Graph.from_edges(*pairs, x=np.ones((10, 1))).with_structural_features("degree", 8)
        graphs.append(graph)
        labels.append("dense" if label else "sparse")
    return graphs, labels


@pytest.mark.parametrize("pooling", POOLINGS)
def test_learns_a_task_that_every_method_should_solve(pooling):
    graphs, labels = dense_or_sparse(60)
    options = {"hidden_channels": 16, "num_layers": 1, "max_epochs": 60, "learning_rate": 1e-2}
    models = (TVGraphClassifier(pooling, **options, random_state=seed) for seed in range(4))
    learned = (model.fit(graphs[:40], labels[:40]).score(graphs[40:], labels[40:]) >= 0.9 for model in models)
    # Where a single start ends depends on the processor's rounding
    needed = 1 if pooling in ("topk", "sag") else 3
    assert sum(islice(filter(None, learned), needed)) == needed


def alike_or_different_joined(count):
    """Six nodes of each of two kinds and 18 edges: one class joins the same kind, the other does not."""
    random = np.random.default_rng(0)
    graphs, labels = [], []
    for number in range(count):
        kind = random.permutation(np.repeat([0, 1], 6))
        source, target = np.triu_indices(12, 1)
        allowed = np.flatnonzero((kind[source] == kind[target]) == (number % 2 == 0))
        chosen = random.choice(allowed, 18, replace=False)
        graphs.append(Graph.from_edges(source[chosen], target[chosen], x=np.eye(2)[kind]))
        labels.append(number % 2)
    return graphs, labels


@pytest.mark.parametrize("pooling", POOLINGS)
def test_learns_what_only_the_edges_tell(pooling):
    graphs, labels = alike_or_different_joined(60)
    means = np.array([graph.x.mean(0) for graph in graphs])
    assert LogisticRegression().fit(means[:40], labels[:40]).score(means[40:], labels[40:]) == 0.5
    options = {"hidden_channels": 16, "num_layers": 1, "max_epochs": 30, "learning_rate": 1e-2, "random_state": 0}
    model = TVGraphClassifier(pooling, **options).fit(graphs[:40], labels[:40])
    assert model.score(graphs[40:], labels[40:]) >= 0.9
    edgeless = [Graph.from_edge_index([[], []], x=graph.x) for graph in graphs[40:]]
    assert model.score(edgeless, labels[40:]) == 0.5


@pytest.mark.parametrize("pooling", ["topk", "sag"])
def test_weight_decay_does_not_shrink_directions_to_nothing(pooling):
    """Where decay wins, all weights go to 0; a direction of length 0 gave NaN."""
    graphs, labels = dense_or_sparse(10)
    settings = {**QUICK, "max_epochs": 60, "patience": 60, "learning_rate": 0.05}
    model = TVGraphClassifier(pooling, weight_decay=1e3, **settings).fit(graphs, labels)
    for direction in model.model_.undecayed_parameters():
        assert direction.norm().item() > 1e-3
    assert np.isfinite(model.predict_proba(graphs)).all()


def test_what_fit_leaves_behind():
    graphs, labels = dense_or_sparse(20)
    model = TVGraphClassifier(**QUICK).fit(graphs, labels)
    assert model.classes_.tolist() == ["dense", "sparse"]
    assert model.k_ == (5, 3)
    assert model.n_features_in_ == 8
    assert len(model.loss_history_) == len(model.validation_loss_history_) == model.n_iter_ == 3
    assert 1 <= model.best_epoch_ <= 3
    probabilities = model.predict_proba(graphs)
    assert probabilities.shape == (20, 2)
    assert probabilities.sum(1) == pytest.approx(1)
    assert (model.predict(graphs) == model.classes_[probabilities.argmax(1)]).all()
    assert model.transform(graphs).shape == (20, 8)
    assert model.fit_transform(graphs, labels).shape == (20, 8)


def test_results_do_not_depend_on_the_company():
    graphs, labels = dense_or_sparse(12)
    model = TVGraphClassifier(**QUICK).fit(graphs, labels)
    alone = np.concatenate([model.predict_proba([graph]) for graph in graphs])
    assert model.predict_proba(graphs) == pytest.approx(alone, abs=1e-6)


def test_the_seed_decides_everything():
    graphs, labels = dense_or_sparse(12)
    first, second = (TVGraphClassifier(**QUICK).fit(graphs, labels).predict_proba(graphs) for _ in range(2))
    assert (first == second).all()
    other = TVGraphClassifier(**{**QUICK, "random_state": 1}).fit(graphs, labels).predict_proba(graphs)
    assert (first != other).any()


def test_labels_of_the_graphs_serve_where_none_are_passed():
    graphs, labels = dense_or_sparse(12)
    labelled = [graph.with_label(label) for graph, label in zip(graphs, labels, strict=True)]
    model = TVGraphClassifier(**QUICK).fit(labelled)
    assert model.score(labelled) == model.score(graphs, labels)


def test_validation_graphs_of_the_caller():
    graphs, labels = dense_or_sparse(24)
    model = TVGraphClassifier(**QUICK).fit(graphs[:16], labels[:16], validation=(graphs[16:], labels[16:]))
    assert len(model.validation_loss_history_) == 3
    with pytest.raises(ValueError, match=r"classes of the training graphs, got .*other"):
        TVGraphClassifier(**QUICK).fit(graphs[:16], labels[:16], validation=(graphs[16:17], ["other"]))


def test_class_weights_move_the_decision():
    graphs = [cycle(5)] * 20  # which nothing tells apart but the weights
    settings = {**QUICK, "max_epochs": 120, "patience": 120, "learning_rate": 1e-2}
    heavy = TVGraphClassifier(class_weight={0: 9.0, 1: 1.0}, **settings).fit(graphs, [0, 1] * 10)
    assert heavy.predict_proba(graphs)[:, 0] == pytest.approx(0.9, abs=0.05)
    few = [0] * 4 + [1] * 16
    rare = TVGraphClassifier(class_weight="balanced", **settings).fit(graphs, few, validation=(graphs, few))
    assert rare.predict_proba(graphs)[:, 0] == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("estimator", [TVGraphClassifier, TVGraphRegressor])
def test_scikit_learn_contract(estimator):
    model = estimator("mincut", **QUICK)
    assert model.get_params()["pooling"] == "mincut"
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(max_epochs=2) is model
    with pytest.raises(NotFittedError):
        model.predict([cycle(3)])
    with pytest.raises(NotFittedError):
        model.save("nowhere")
    assert not model.__sklearn_tags__().input_tags.two_d_array
    before = dict(vars(model))
    model.fit([cycle(3), cycle(4)] * 4, [0, 1] * 4)
    assert {name: getattr(model, name) for name in before} == before
    assert pickle.loads(pickle.dumps(model)).predict([cycle(3)]).shape == (1,)
    names = model.get_feature_names_out().tolist()
    assert names == [f"{estimator.__name__.lower()}{number}" for number in range(8)]
    assert model.set_output(transform="pandas").transform([cycle(3)]).columns.tolist() == names
    assert getattr(estimators, estimator.__name__) is estimator


def test_cross_validation_and_search():
    graphs, labels = dense_or_sparse(18)
    scores = cross_val_score(TVGraphClassifier(**QUICK), graphs, labels, cv=3, error_score="raise")
    assert scores.shape == (3,)
    search = GridSearchCV(TVGraphClassifier(**QUICK), {"ratio": [0.3, 0.5]}, cv=2, error_score="raise")
    assert search.fit(graphs, labels).best_params_["ratio"] in (0.3, 0.5)


@pytest.mark.parametrize("ends", [("mean", (5, 3)), ("max", (10, 5))])
def test_number_of_clusters_from_the_sizes(ends):
    kind, clusters = ends
    graphs = [cycle(3), cycle(20), cycle(3), cycle(3), cycle(20)] * 2
    held = ([cycle(3), cycle(4)], [0, 1])
    model = TVGraphClassifier(ratio_of=kind, **QUICK).fit(graphs, [0, 1, 0, 0, 1] * 2, validation=held)
    assert model.k_ == clusters
    assert TVGraphClassifier(n_clusters=4, **QUICK).fit(*[graphs, [0, 1] * 5], validation=held).k_ == (4, 4)
    assert TVGraphClassifier(n_clusters=(6, 2), **QUICK).fit(*[graphs, [0, 1] * 5], validation=held).k_ == (6, 2)


@pytest.mark.parametrize("pooling", ["topk", "sag"])
def test_nodes_that_are_kept_by_number(pooling, tmp_path):
    graphs, labels = dense_or_sparse(12)
    by_part = TVGraphClassifier(pooling, **QUICK).fit(graphs, labels)
    assert by_part.k_ is None
    kept = {n: TVGraphClassifier(pooling, n_clusters=n, **QUICK).fit(graphs, labels) for n in (2, (5, 3), 10**20)}
    assert [model.k_ for model in kept.values()] == [(2, 2), (5, 3), (10**20, 10**20)]
    probabilities = {n: model.predict_proba(graphs) for n, model in kept.items()}
    # all graphs have 10 nodes, so 5 of them and 3 of those are what a half keeps each time
    assert probabilities[5, 3] == pytest.approx(by_part.predict_proba(graphs), abs=1e-6)
    assert probabilities[10**20] == pytest.approx(
        TVGraphClassifier(pooling, ratio=1.0, **QUICK).fit(graphs, labels).predict_proba(graphs), abs=1e-6
    )
    assert np.abs(probabilities[2] - probabilities[5, 3]).max() > 1e-4
    batch = GraphCollection(graphs, kept[2].feature_scaling_.rows).batch(range(3))
    with torch.no_grad():
        out = kept[2].model_.pools[0](torch.randn(30, 8), batch.edge_index, None, batch.groups)
    assert torch.bincount(out.batch).tolist() == [2, 2, 2]
    kept[2].save(tmp_path)
    loaded = TVGraphClassifier.load(tmp_path)
    assert loaded.k_ == (2, 2)
    assert (loaded.predict_proba(graphs) == probabilities[2]).all()
    with pytest.raises(ValueError, match=f"expected ratio_of to be left out with pooling '{pooling}', .* got 'max'"):
        TVGraphClassifier(pooling, ratio_of="max", **QUICK).fit(graphs, labels)


def test_continuous_columns_are_standardised_and_one_hot_ones_are_not():
    x = np.stack([np.array([1.0, 0.0, 0.0]), np.array([100.0, 300.0, 500.0])], axis=1)
    graphs = [cycle(3, x), cycle(3, x + np.array([0, 100]))] * 6
    model = TVGraphClassifier(**QUICK).fit(graphs, [0, 1] * 6)
    assert model.feature_scaling_.mean[0] == 0
    assert model.feature_scaling_.scale[0] == 1
    assert model.feature_scaling_.mean[1] == pytest.approx(350)
    assert TVGraphClassifier(feature_norm=None, **QUICK).fit(graphs, [0, 1] * 6).feature_scaling_.is_identity


def test_torch_geometric_data(pyg):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        graphs = [
            pyg.data.Data(
                x=torch.ones(nodes, 2), edge_index=torch.tensor([[0, 1], [1, 0]]), y=torch.tensor([number % 2])
            )
            for number, nodes in enumerate([2, 3, 4, 2, 3, 4] * 2)
        ]
        alone = pyg.data.Data(x=torch.ones(1, 2), edge_index=torch.zeros(2, 0, dtype=torch.int64), y=torch.tensor([1]))
    model = TVGraphClassifier(**QUICK).fit([*graphs, alone])
    assert model.classes_.tolist() == [0, 1]
    assert model.predict([alone]).shape == (1,)


@pytest.mark.parametrize("pooling", ["tvgnn", "diffpool", "sag"])
def test_saved_and_loaded(pooling, tmp_path):
    graphs, labels = dense_or_sparse(12)
    model = TVGraphClassifier(pooling, class_weight={"dense": 2.0, "sparse": 1.0}, **QUICK).fit(graphs, labels)
    model.save(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.json", "model.safetensors"]
    loaded = TVGraphClassifier.load(tmp_path)
    assert (loaded.predict_proba(graphs) == model.predict_proba(graphs)).all()
    assert loaded.predict(graphs).tolist() == model.predict(graphs).tolist()
    assert (loaded.k_, loaded.n_iter_, loaded.loss_history_) == (model.k_, model.n_iter_, model.loss_history_)
    assert loaded.get_params() == model.get_params()
    with pytest.raises(DataError, match="expected a model of TVGraphRegressor, got one of TVGraphClassifier"):
        TVGraphRegressor.load(tmp_path)


def test_damaged_models_are_refused(tmp_path):
    graphs, labels = dense_or_sparse(12)
    TVGraphClassifier(**QUICK).fit(graphs, labels).save(tmp_path)
    description = json.loads((tmp_path / "model.json").read_text())
    for change in (
        {"config": {**description["config"], "hidden_channels": 9}},
        {"config": {**description["config"], "kept": [3]}},
        {"config": {**description["config"], "pooling": "max"}},
        {"targets": {}},
        {"targets": {"classes": ["a", "b", "c"]}},
        {"parameters": {"unknown": 1}},
    ):
        (tmp_path / "model.json").write_text(json.dumps({**description, **change}))
        with pytest.raises(DataError, match="damaged"):
            TVGraphClassifier.load(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"no tensors")
    with pytest.raises(DataError, match="damaged"):
        TVGraphClassifier.load(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(DataError, match="found none"):
        TVGraphClassifier.load(tmp_path)


def test_models_of_other_versions(tmp_path):
    graphs, labels = dense_or_sparse(12)
    model = TVGraphClassifier(**QUICK).fit(graphs, labels)
    model.save(tmp_path)
    written = (tmp_path / "model.json").read_text()
    assert json.loads(written)["tvgnn"] == version("tvgnn")

    def load(**changes):
        description = json.loads(written) | {"tvgnn": "99.0"} | changes
        (tmp_path / "model.json").write_text(json.dumps({k: v for k, v in description.items() if v is not None}))
        return TVGraphClassifier.load(tmp_path)

    for part in ("parameters", "config"):
        with pytest.raises(DataError, match=rf"expected {part} that .* got new_one: .* newer version \(tvgnn 99\.0\)"):
            load(**{part: {**json.loads(written)[part], "new_one": 1}})
        with pytest.raises(DataError, match="newer version; load"):
            load(tvgnn=None, **{part: {**json.loads(written)[part], "new_one": 1}})
    with pytest.raises(DataError, match=r"model format 1, got 2 \(tvgnn 99\.0\)"):
        load(format=2)
    older = {part: dict(json.loads(written)[part]) for part in ("parameters", "config")}
    for part, name in (("parameters", "verbose"), ("parameters", "readout"), ("config", "readout"), ("config", "kept")):
        del older[part][name]
    loaded = load(tvgnn=None, label_columns=None, **older)
    assert loaded.get_params() == model.get_params()
    assert (loaded.predict_proba(graphs) == model.predict_proba(graphs)).all()


def test_the_validation_loss_is_the_mean_over_graphs(monkeypatch):
    graphs, labels = dense_or_sparse(12)
    held = [cycle(nodes).with_structural_features("degree", 8) for nodes in (5, 5, 5, 30)]
    answers = ["dense", "sparse", "sparse", "dense"]
    batches = [np.array([0, 1, 2]), np.array([3])]
    monkeypatch.setattr("tvgnn.estimators.graph_estimator.batches_of_similar_size", lambda sizes: batches)
    model = TVGraphClassifier("topk", **QUICK | {"max_epochs": 1}).fit(graphs, labels, validation=(held, answers))
    shares = model.predict_proba(held)[np.arange(4), np.searchsorted(model.classes_, answers)]
    assert model.validation_loss_history_ == pytest.approx([-np.log(shares).mean()], rel=1e-5)


def test_regression_of_the_mean_feature():
    random = np.random.default_rng(0)
    graphs = [cycle(6, random.normal(level, 0.1, (6, 1))) for level in random.normal(size=60)]
    targets = np.array([1000 + 50 * graph.x.mean() for graph in graphs])
    model = TVGraphRegressor(hidden_channels=16, num_layers=1, max_epochs=60, learning_rate=1e-2, random_state=0)
    assert model.fit(graphs[:45], targets[:45]).score(graphs[45:], targets[45:]) > 0.8
    both = np.stack([targets, -targets], axis=1)
    assert TVGraphRegressor(**QUICK).fit(graphs, both).predict(graphs[:3]).shape == (3, 2)


def test_a_regressor_saved_and_loaded(tmp_path):
    graphs = [cycle(nodes) for nodes in range(3, 13)]
    model = TVGraphRegressor(**QUICK).fit(graphs, np.arange(10.0))
    model.save(tmp_path)
    assert (TVGraphRegressor.load(tmp_path).predict(graphs) == model.predict(graphs)).all()


def test_a_target_that_never_varies():
    graphs, options = [cycle(3), cycle(4)] * 3, QUICK | {"max_epochs": 300, "patience": 50, "learning_rate": 1e-2}
    model = TVGraphRegressor(**options).fit(graphs, [7.0] * 6)
    assert model.predict(graphs) == pytest.approx(7, abs=1)


GRAPHS, LABELS = [cycle(3), cycle(4)] * 4, [0, 1] * 4


@pytest.mark.parametrize(
    ("graphs", "labels", "message"),
    [
        (cycle(3), [0], "expected a list of graphs, got Graph"),
        ([], [], "at least one graph"),
        ([1, 2], [0, 1], "got int at 0"),
        ([cycle(3), Graph.from_edges([0], [1])], [0, 1], "graph 1|graph 0"),
        ([cycle(3), cycle(3, np.ones((3, 2)))] * 3, [0, 1] * 3, "features as in graph 0"),
        (GRAPHS, None, "got none for graph 0"),
        (GRAPHS, [0, 1], "one label for each of 8 graphs"),
        (GRAPHS, [0] * 8, "at least 2 classes"),
        (GRAPHS, [0.0, float("nan")] * 4, "finite labels"),
        (GRAPHS, [0, None] * 4, "got None at 1"),
        (GRAPHS, [[0, 1]] * 8, "one class a graph"),
        ([cycle(3)], [0], "at least 2 graphs"),
    ],
)
def test_input_that_cannot_be_used_is_explained(graphs, labels, message):
    with pytest.raises((GraphError, ValueError), match=message):
        TVGraphClassifier(**QUICK).fit(graphs, labels)


@pytest.mark.parametrize(
    "wrong",
    [
        {"pooling": "max"},
        {"preset": "cora"},
        {"preset": None},
        {"num_layers": 0},
        {"num_layers": 1.5},
        {"hidden_channels": "8"},
        {"act": 3},
        {"act": "nothing"},
        {"learning_rate": -1.0},
        {"learning_rate": True},
        {"weight_decay": -1.0},
        {"batch_size": 0},
        {"patience": 0},
        {"ratio": 0},
        {"ratio": 1.5},
        {"ratio_of": "median"},
        {"n_clusters": 0},
        {"n_clusters": (1, 2, 3)},
        {"n_clusters": "many"},
        {"readout": "tree"},
        {"validation_fraction": 0.0},
        {"validation_fraction": 1.0},
        {"feature_norm": "l3"},
        {"class_weight": "heavy"},
        {"backend": "fpga"},
        {"device": "abacus"},
    ],
)
def test_parameters_out_of_range_are_named(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        TVGraphClassifier(**{**QUICK, **wrong}).fit(GRAPHS, LABELS)


def test_features_too_large_for_float32_name_the_epoch():
    huge = [cycle(4, np.full((4, 1), 1e38)) for _ in range(8)]
    with pytest.raises(TrainingError, match="epoch 1"):
        TVGraphClassifier(feature_norm=None, **QUICK).fit(huge, LABELS)


def test_graphs_of_other_width_are_refused_later_too():
    model = TVGraphClassifier(**QUICK).fit(GRAPHS, LABELS)
    with pytest.raises(GraphError, match="expected graphs with 1 features, got 2"):
        model.predict([cycle(3, np.ones((3, 2)))])


def test_presets_are_the_papers_table():
    assert GRAPH_PRESETS["nci1"] == {
        "num_layers": 3,
        "hidden_channels": 32,
        "act": "relu",
        "delta_coeff": 2.411,
        "mlp_layers": 3,
        "mlp_channels": 32,
        "mlp_act": "relu",
        "totvar_coeff": 0.936,
        "balance_coeff": 0.639,
        "weight_decay": 1e-3,
        "learning_rate": 5e-4,
        "batch_size": 8,
        "max_epochs": 500,
        "patience": 20,
    }
    assert [name for name, preset in GRAPH_PRESETS.items() if preset["batch_size"] == 1] == ["dd", "reddit-binary"]


@pytest.mark.parametrize("value", [7.0, 0.0, -3e8])
def test_constant_targets_are_predicted_as_they_are(value):
    graphs = [cycle(nodes) for nodes in (4, 6, 8) * 4]
    model = TVGraphRegressor(**QUICK).fit(graphs, [value] * len(graphs))
    np.testing.assert_allclose(model.predict(graphs), value, rtol=1e-2, atol=1e-2)
