"""Labels, features, graphs and files that users of the graph estimators get wrong, or that are merely unusual."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from safetensors.torch import load_file, save_file
from sklearn.exceptions import NotFittedError

from tvgnn import Graph, TVGraphClassifier, TVGraphRegressor
from tvgnn.datasets import read_tu_folder
from tvgnn.errors import DataError, GraphError, MemoryLimitError, TrainingError
from tvgnn.models.graph_network import POOLINGS

QUICK = {"hidden_channels": 4, "num_layers": 1, "mlp_channels": 4, "max_epochs": 1, "random_state": 0}
NAN = float("nan")


def cycle(nodes, x=None, dtype="float32"):
    x = np.ones((nodes, 1)) if x is None else x
    return Graph.from_edges(range(nodes), [*range(1, nodes), 0], x=x, dtype=dtype)


GRAPHS, CODES = [cycle(3), cycle(4), cycle(5)] * 4, [0, 1, 2] * 4


def classifier(y=CODES, graphs=GRAPHS, **settings):
    return TVGraphClassifier(**{**QUICK, **settings}).fit(graphs, y)


LABELS = {
    "bool": [True, False, True] * 4,
    "text": ["b", "", "日本"] * 4,
    "objects of text": np.array(["a", "b", "c"] * 4, object),
    "int8": np.array(CODES, np.int8),
    "numpy scalars": [np.int16(code) for code in CODES],
    "negative": [-7, 0, -1] * 4,
    "uint64": np.array(CODES, np.uint64) + 2**63,
    "fractions": [0.5, 1.5, -2.25] * 4,
    "float32": np.array([0.1, 0.2, 0.3] * 4, np.float32),
    "objects of int": np.array(CODES, object),
    "Series": pd.Series(CODES, index=range(100, 112)),
    "nullable": pd.Series(CODES, dtype="Int64"),
    "categories": pd.Categorical(["a", "b", "c"] * 4),
    "tensor": torch.tensor(CODES),
    "tensor with gradient": torch.tensor(CODES, dtype=torch.float32, requires_grad=True),
    "bfloat16": torch.tensor(CODES).bfloat16(),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_kind_come_back_and_survive_saving(kind, tmp_path):
    model = classifier(LABELS[kind])
    model.save(tmp_path)
    loaded = TVGraphClassifier.load(tmp_path)
    assert loaded.classes_.dtype == model.classes_.dtype == model.predict(GRAPHS).dtype
    assert loaded.classes_.tolist() == model.classes_.tolist()
    assert loaded.predict(GRAPHS).tolist() == model.predict(GRAPHS).tolist()
    assert 0 <= model.score(GRAPHS, LABELS[kind]) == loaded.score(GRAPHS, LABELS[kind])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", NAN, "b"] * 4, "expected a label for every graph, got nan at 1"),
        (["a", None, "b"] * 4, "expected a label for every graph, got None at 1"),
        (pd.Series(["a", None, "b"] * 4, dtype="string"), "expected a label for every graph, got .* at 1"),
        (pd.Series([1, None, 2] * 4, dtype="Int64"), "expected .* labels?.*, got .* at 1"),
        ([0.0, 1.0, NAN] * 4, "expected finite labels, got nan at 2"),
        ([1, "a", 2] * 4, "all text, all bools or all real numbers, got int, str"),
        ([True, "a", False] * 4, "all text, all bools or all real numbers, got bool, str"),
        (np.array(["2020-01-01", "2020-01-02", "NaT"] * 4, "M8[D]"), r"got datetime64\[D\]; convert"),
        ([b"a", b"b", b"c"] * 4, "convert them with"),
        ([1j, 2j, 3j] * 4, "got complex128"),
        ([object()] * 12, "got object"),
        ([2**70, 1, 2] * 4, "larger ones"),
        ([[1], [1, 2], [3]] * 4, "rectangular"),
        (np.ma.array(CODES, mask=[1, 0, 0] * 4), "masked"),
        (dict.fromkeys(range(12)), "got dict"),
        (sp.csr_array([CODES]), "got csr_array"),
        (np.zeros((12, 0)), "one class a graph"),
        (np.zeros((12, 1, 1)), "one class a graph"),
    ],
)
def test_labels_that_mean_nothing_are_named(y, message):
    with pytest.raises(ValueError, match=message):
        classifier(y)


@pytest.mark.parametrize("seed", range(6))
def test_rare_classes_are_never_held_out_whole(seed):
    assert classifier([9, 8] + [0, 1] * 5, random_state=seed).classes_.tolist() == [0, 1, 8, 9]
    with pytest.raises(ValueError, match="expected a class with 2 graphs"):
        classifier(range(12), random_state=seed)


def test_scores_of_other_labels():
    model = classifier()
    with pytest.raises(ValueError, match="expected classes of the training graphs, such as 0, got 'a'"):
        model.score(GRAPHS, list("abc") * 4)
    assert model.score(GRAPHS, [7] * 12) == 0
    with pytest.raises(NotFittedError):
        TVGraphClassifier().score(GRAPHS)


@pytest.mark.parametrize("validation", [GRAPHS, (GRAPHS,), (GRAPHS, CODES, CODES), "ab", True, 0.1, iter(GRAPHS), ()])
def test_validation_that_is_no_pair(validation):
    with pytest.raises(ValueError, match="expected validation to be a pair"):
        TVGraphClassifier(**QUICK).fit(GRAPHS, CODES, validation=validation)


@pytest.mark.parametrize(
    "weights",
    [{0: -1, 1: 1, 2: 1}, {0: NAN, 1: 1, 2: 1}, {0: "a", 1: 1, 2: 1}, dict.fromkeys(range(3), 0), [1, 2, 3], {"0": 1}],
)
def test_class_weights_that_weigh_nothing(weights):
    with pytest.raises(ValueError, match="expected class_weight"):
        classifier(class_weight=weights)


def test_parameters_survive_saving(tmp_path):
    for given in ({"class_weight": {0: 9.0, 1: 2.0}}, {"n_clusters": (3, 2)}, {"n_clusters": np.int64(3)}):
        model = classifier(**given)
        model.save(tmp_path)
        loaded = TVGraphClassifier.load(tmp_path)
        assert loaded.get_params() == model.get_params()
        loaded.fit(GRAPHS, CODES)


def test_the_integer_one_is_every_node():
    assert classifier(pooling="topk", ratio=1).predict_proba(GRAPHS) == pytest.approx(
        classifier(pooling="topk", ratio=1.0).predict_proba(GRAPHS)
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"validation_fraction": "x"},
        {"validation_fraction": None},
        {"ratio": "x"},
        {"ratio": [0.5, 0.5]},
        {"n_clusters": True},
        {"n_clusters": {1, 2}},
        {"delta_coeff": [1]},
        {"delta_coeff": 1j},
        {"learning_rate": object()},
        {"act": "cross_entropy"},
        {"act": "softmax"},
        {"pooling": np.array(["tvgnn"])},
        {"feature_norm": ["auto"]},
    ],
)
def test_parameters_of_another_type_are_named(wrong):
    with pytest.raises(ValueError, match=f"expected {next(iter(wrong)).replace('mlp_', '')}"):
        classifier(**wrong)


@pytest.mark.parametrize("wrong", [{"n_clusters": 10**6}, {"n_clusters": 10**20}, {"hidden_channels": 10**7}])
def test_what_no_memory_holds_is_refused_before_it_is_tried(wrong):
    with pytest.raises(MemoryLimitError, match="GiB"):
        classifier(**wrong)


def test_a_fit_that_fails_changes_nothing():
    model = classifier()
    before = model.predict_proba(GRAPHS)
    scaled = [cycle(3, np.full((3, 1), 5.0)), cycle(4, np.full((4, 1), 7.0))] * 4
    with pytest.raises(ValueError, match="classes of the training graphs"):
        model.fit(scaled, list("ab") * 4, validation=(GRAPHS, ["z"] * 12))
    huge = [cycle(4, np.full((4, 1), 1e38))] * 8
    with pytest.raises(TrainingError):
        model.set_params(feature_norm=None).fit(huge, [0, 1] * 4)
    assert (model.predict_proba(GRAPHS) == before).all()
    unfitted = TVGraphClassifier(feature_norm=None, **QUICK)
    with pytest.raises(TrainingError):
        unfitted.fit(huge, [0, 1] * 4)
    with pytest.raises(NotFittedError):
        unfitted.predict(GRAPHS)


def measured(dtype="float32", scale=1.0):
    random = np.random.default_rng(0)
    return [cycle(n, scale * (random.normal(size=(n, 3)) * [1, 100, 0] + [0, 5, 0.1]), dtype) for n in (3, 4, 5) * 4]


def test_features_are_scaled_alike_however_they_are_stored():
    dense = measured()
    sparse = [graph.with_features(sp.csr_array(graph.x)) for graph in dense]
    mixed = [pair[number % 2] for number, pair in enumerate(zip(dense, sparse, strict=True))]
    models = [classifier(graphs=graphs) for graphs in (dense, sparse, mixed)]
    for model in models:
        assert model.feature_scaling_.mean == pytest.approx(models[0].feature_scaling_.mean, rel=1e-5)
        assert model.feature_scaling_.scale == pytest.approx(models[0].feature_scaling_.scale, rel=1e-5)
        for graphs in (dense, sparse, mixed):
            assert model.predict_proba(graphs) == pytest.approx(models[0].predict_proba(dense), abs=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_constant_column_is_not_blown_up_by_rounding(dtype):
    graphs = [cycle(n, np.full((n, 1), 0.1), dtype) for n in (3, 4, 5) * 40]
    assert classifier([0, 1, 2] * 40, graphs).feature_scaling_.scale.tolist() == [1]


def test_numbers_that_float32_cannot_hold():
    for norm in ("auto", None):
        with pytest.raises(GraphError, match="expected features that float32 can hold, got larger ones in graph 0"):
            classifier(graphs=measured("float64", 1e300), feature_norm=norm)
    with pytest.raises(ValueError, match="targets that float32 can hold"):
        TVGraphRegressor(**QUICK).fit(GRAPHS, np.array(CODES) * 1e300)
    with pytest.raises(GraphError, match="expected finite results"):
        classifier(graphs=measured()).predict([cycle(3, np.full((3, 3), 3e38))])


@pytest.mark.parametrize("pooling", POOLINGS)
def test_graphs_without_nodes_or_edges_in_any_company(pooling):
    random = np.random.default_rng(0)
    one = Graph.from_edge_index([[], []], x=[[4.0, 1.0]])
    empty = replace(one, indptr=one.indptr[:1], x=one.x[:0], node_ids=())
    weighted = Graph.from_edges([0, 1], [1, 2], [0.5, 3.0], x=random.normal(size=(3, 2)))
    graphs = [cycle(n, random.normal(size=(n, 2))) for n in (3, 4, 50) * 2] + [one, empty, weighted, one]
    model = classifier([0, 1] * 5, graphs, pooling=pooling)
    alone = np.concatenate([model.predict_proba([graph]) for graph in graphs])
    assert model.predict_proba(graphs) == pytest.approx(alone, abs=1e-5)
    tiny = [Graph.from_edges([0, 1], [1, 2], [1e-30, 1e-30], x=random.normal(size=(3, 2)))] * 4
    for others in ([empty] * 4, [one] * 4, tiny):
        classifier([0, 1] * 2, others, pooling=pooling)


def labelled_folder(folder, smallest):
    """Six paths of three nodes, whose labels take two values."""
    folder.mkdir()
    edges = [(3 * g + i, 3 * g + j) for g in range(6) for i, j in ((1, 2), (2, 1), (2, 3), (3, 2))]
    texts = {
        "A": [f"{source}, {target}" for source, target in edges],
        "graph_indicator": [str(1 + node // 3) for node in range(18)],
        "graph_labels": ["0", "1"] * 3,
        "node_labels": [str(smallest + (node % 2)) for node in range(18)],
    }
    for kind, lines in texts.items():
        (folder / f"DS_{kind}.txt").write_text("\n".join(lines) + "\n")
    return read_tu_folder(folder)


def test_one_hot_labels_of_another_folder_are_not_taken_for_the_same(tmp_path):
    ours, theirs = (labelled_folder(tmp_path / str(smallest), smallest) for smallest in (0, 1))
    model = TVGraphClassifier(**QUICK).fit(ours)
    assert model.label_columns_ == "0 to 1"
    model.save(tmp_path / "model")
    for fitted in (model, TVGraphClassifier.load(tmp_path / "model")):
        fitted.predict(ours)
        for method in (fitted.predict, fitted.predict_proba, fitted.transform, fitted.score):
            with pytest.raises(GraphError, match=r"the node labels 0 to 1, .* got 1 to 2 in graph 6; .*with_features"):
                method([*ours, *theirs])
    for graphs, validation in (([*ours, *theirs], None), (ours, (theirs, None))):
        with pytest.raises(GraphError, match="the node labels 0 to 1, as in the other graphs, got 1 to 2"):
            TVGraphClassifier(**QUICK).fit(graphs, validation=validation)
    shared = [graph.with_features(np.eye(3)[graph.x.argmax(1) + 1]).with_label(graph.label) for graph in theirs]
    shared += [graph.with_features(np.eye(3)[graph.x.argmax(1)]).with_label(graph.label) for graph in ours]
    assert TVGraphClassifier(**QUICK).fit(shared).label_columns_ is None


def data(pyg, nodes, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return pyg.data.Data(x=torch.ones(nodes, 2), edge_index=torch.tensor([[0, 1], [1, 0]]), y=y)


@pytest.mark.parametrize("pair", [(0, 1), ("a", "b"), (0.5, 1.5), (np.array([0]), np.array([1])), ([0], [1])])
def test_labels_that_torch_geometric_data_carries(pyg, pair):
    graphs = [data(pyg, 2 + number % 2, pair[number % 2]) for number in range(10)]
    assert len(classifier(None, graphs).classes_) == 2
    assert Graph.from_pyg(graphs[0]).label == np.ravel(pair[0])[0]


def test_a_graph_of_many_types_is_no_list(pyg):
    with pytest.raises(GraphError, match="put a single graph into a list"):
        classifier([0], pyg.data.HeteroData())
    with pytest.raises(GraphError, match="graph 1: expected a homogeneous Data"):
        classifier([0, 1], [data(pyg, 2, 0), pyg.data.HeteroData()])


def tampered(folder, changes, arrays):
    description = json.loads((folder / "model.json").read_text())
    for path, value in changes.items():
        part, name = path.split(".")
        description[part][name] = value
    (folder / "model.json").write_text(json.dumps(description))
    save_file({**load_file(folder / "model.safetensors"), **arrays}, folder / "model.safetensors")


@pytest.mark.parametrize(
    ("changes", "arrays"),
    [
        *[({"targets.classes": bad}, {}) for bad in ([0, 0, 1], [2, 1, 0], [None, 1, 2], [[0], [1], [2]], [0, "a", 2])],
        *[({"config.num_layers": bad}, {}) for bad in (10**9, 2)],
        *[({"config.hidden_channels": bad}, {}) for bad in (10**7, 4.0)],
        *[({f"learned.{name}": "x"}, {}) for name in ("n_iter_", "loss_history_", "stopped_early_")],
        ({"learned.device_": 5}, {}),
        ({"config.act": "cross_entropy"}, {}),
        ({"config.clusters": [2]}, {}),
        ({"targets.dtype": "M8[D]"}, {}),
        ({}, {"scaling.scale": torch.zeros(1)}),
        ({}, {"scaling.mean": torch.zeros(1, dtype=torch.complex64)}),
    ],
)
def test_tampered_models_are_refused(tmp_path, changes, arrays):
    classifier().save(tmp_path)
    tampered(tmp_path, changes, arrays)
    with pytest.raises(DataError, match="damaged"):
        TVGraphClassifier.load(tmp_path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("scale", [0.0]),
        ("mean", [NAN]),
        ("scale", [1.0, 2.0]),
        ("mean", ["a"]),
        ("one_target", "no"),
        ("mean", [[1.0]]),
    ],
)
def test_tampered_targets_of_a_regressor_are_refused(tmp_path, name, value):
    TVGraphRegressor(**QUICK).fit(GRAPHS, np.arange(12.0)).save(tmp_path)
    tampered(tmp_path, {f"targets.{name}": value}, {})
    with pytest.raises(DataError, match="damaged"):
        TVGraphRegressor.load(tmp_path)


@pytest.mark.parametrize("columns", [1, 3])
def test_validation_graphs_of_another_width_are_refused(columns):
    def ring(width):
        return Graph.from_edges(range(5), [1, 2, 3, 4, 0], x=np.random.default_rng(0).normal(size=(5, width)))

    model = TVGraphClassifier(max_epochs=2, hidden_channels=8)
    with pytest.raises(GraphError, match=f"validation graphs with 2 features, got {columns}"):
        model.fit([ring(2)] * 8, [0, 1] * 4, validation=([ring(columns)] * 4, [0, 1] * 2))
