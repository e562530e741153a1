"""A fit that fails or is interrupted changes nothing, and what the caller set in torch changes no fit."""

import contextlib
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from cliques import BLOCKS, CLIQUES, small

from tvgnn import Graph, TVClustering, TVGraphClassifier
from tvgnn.baselines import GAE
from tvgnn.errors import GraphError, MemoryLimitError

PRESETS = {
    "paper": {},
    "quick": {"preset": "quick", "max_iter": 10},
    "quality": {
        "preset": "quality", "max_iter": None, "hidden_channels": None, "mlp_channels": None, "n_init": 1
    },
}  # fmt: skip


@contextlib.contextmanager
def _default_dtype(dtype):
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


@contextlib.contextmanager
def _gradients_switched_off():
    torch.set_grad_enabled(False)
    try:
        yield
    finally:
        torch.set_grad_enabled(True)


SETTINGS = {
    "no_grad": torch.no_grad,
    "grad_disabled": _gradients_switched_off,
    "inference_mode": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    "float64": lambda: _default_dtype(torch.float64),
    "bfloat16": lambda: _default_dtype(torch.bfloat16),
    "float16": lambda: _default_dtype(torch.float16),
    "device": lambda: torch.device("meta"),
}


def _state():
    return (
        torch.get_default_dtype(),
        torch.get_default_device(),
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.is_autocast_enabled("cpu"),
    )


def _interrupted(*args, **kwargs):
    raise KeyboardInterrupt


class TestFailedFit:
    @pytest.mark.parametrize("preset", PRESETS)
    def test_an_interrupted_refit_leaves_the_earlier_fit_whole(self, preset, blobs, monkeypatch, tmp_path):
        model = small(3, **PRESETS[preset]).fit(blobs)
        before = dict(vars(model))
        monkeypatch.setattr("tvgnn.estimators.clustering.train_network", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.fit(blobs[::-1].copy())
        assert vars(model) == before
        assert (model.predict(blobs) == model.labels_).all()
        model.save(tmp_path)
        assert (TVClustering.load(tmp_path).predict(blobs) == model.labels_).all()

    def test_a_failed_first_fit_leaves_nothing(self, blobs):
        model = small(3, max_memory=1)
        before = dict(vars(model))
        with pytest.raises(MemoryLimitError):
            model.fit(blobs)
        assert vars(model) == before

    def test_a_refused_refit_does_not_change_what_the_model_takes(self, fitted):
        with pytest.raises(ValueError, match="n_clusters=3 and n_samples=2"):
            fitted.fit(pd.DataFrame(np.eye(2), columns=["a", "b"]))
        assert fitted.n_features_in_ == 3
        assert not hasattr(fitted, "feature_names_in_")
        assert (fitted.predict(fitted.graph_.x) == fitted.labels_).all()

    def test_a_graph_has_no_names_of_columns(self, blobs):
        model = small(3, max_iter=5, n_neighbors=5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(pd.DataFrame(blobs, columns=list("abc"))).fit(Graph.from_features(blobs[:, :2], 5))
        assert not hasattr(model, "feature_names_in_")
        assert model.predict(blobs[:, :2]).shape == (60,)

    def test_other_methods_stay_whole_too(self, monkeypatch):
        graph = Graph.from_scipy(CLIQUES, x=BLOCKS)
        method = GAE(2, max_iter=2, random_state=0).fit(graph)
        before = dict(vars(method))
        monkeypatch.setattr("tvgnn.baselines._base.kmeans", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            method.fit(graph)
        assert vars(method) == before


class TestTorchSettings:
    @pytest.mark.parametrize("setting", SETTINGS)
    @pytest.mark.parametrize("preset", PRESETS)
    def test_clustering(self, preset, setting, blobs, tmp_path):
        expected = small(3, **PRESETS[preset]).fit(blobs)
        with SETTINGS[setting]():
            before = _state()
            model = small(3, **PRESETS[preset]).fit(blobs)
            model.save(tmp_path)
            loaded = TVClustering.load(tmp_path)
            found = [one.transform(blobs + 0.1) for one in (expected, model, loaded)]
            by_graph = loaded.predict(model.graph_)
            assert _state() == before
        assert np.array_equal(model.assignments_, expected.assignments_)
        assert np.array_equal(found[0], expected.transform(blobs + 0.1))
        assert np.array_equal(found[0], found[1])
        assert np.array_equal(found[0], found[2])
        assert np.array_equal(by_graph, expected.labels_)

    @pytest.mark.parametrize("setting", SETTINGS)
    def test_graphs_and_other_methods(self, setting, tmp_path):
        random = np.random.RandomState(0)
        graphs = [Graph.from_features(random.rand(8, 3), 3).with_label(i % 2) for i in range(12)]
        classifier = TVGraphClassifier(max_epochs=2, hidden_channels=8, random_state=0)
        method = GAE(2, max_iter=2, random_state=0)
        expected = classifier.fit(graphs).predict_proba(graphs), method.fit(graphs[0]).embedding_
        with SETTINGS[setting]():
            before = _state()
            found = classifier.fit(graphs).predict_proba(graphs), method.fit(graphs[0]).embedding_
            classifier.save(tmp_path)
            loaded = TVGraphClassifier.load(tmp_path).predict_proba(graphs)
            assert _state() == before
        assert np.array_equal(found[0], expected[0])
        assert np.array_equal(found[1], expected[1])
        assert np.array_equal(loaded, expected[0])

    @pytest.mark.parametrize("preset", PRESETS)
    def test_the_callers_random_numbers(self, preset, blobs):
        torch.manual_seed(5)
        np.random.seed(5)  # noqa: NPY002  (the global generator is what must not change)
        before, before_numpy = torch.random.get_rng_state(), np.random.get_state()[1]  # noqa: NPY002
        model = small(3, **PRESETS[preset]).fit(blobs)
        model.predict(blobs + 0.1)
        assert torch.equal(before, torch.random.get_rng_state())
        assert np.array_equal(before_numpy, np.random.get_state()[1])  # noqa: NPY002


@pytest.mark.parametrize("fit", ["fit", "fit_predict", "fit_transform"])
@pytest.mark.parametrize("convert", [
    lambda a: a, lambda a: a.toarray(), lambda a: a.toarray().tolist(), lambda a: pd.DataFrame(a.toarray()),
    sp.coo_array, Graph.from_scipy, lambda a: torch.tensor(a.toarray()),
])  # fmt: skip
def test_an_adjacency_in_the_place_of_labels_is_refused(fit, convert):
    with pytest.raises(ValueError, match=r"adjacency by its name: fit\(X, adjacency="):
        getattr(small(), fit)(BLOCKS, convert(CLIQUES))


def test_labels_are_ignored():
    for y in (np.arange(10), np.arange(10)[:, None], list("aabbccddee")):
        model = small()
        assert model.fit_predict(BLOCKS, y, adjacency=CLIQUES).shape == (10,)
    with pytest.raises(GraphError):  # of X itself
        small().fit(BLOCKS * np.nan, np.arange(10))
