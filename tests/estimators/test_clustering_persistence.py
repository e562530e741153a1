"""Saved models of `TVClustering`."""

import json
import warnings
from importlib.metadata import version

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from cliques import BLOCKS, CLIQUES, small
from safetensors.torch import load_file, save_file
from sklearn.base import clone

from tvgnn import Graph, TVClustering
from tvgnn.errors import (
    ClusteringWarning,
    DataError,
)


def prepared_in_all_ways():
    """Features of 80 rows by how the quality preset prepares them; what it divides by may be infinite."""
    draw = np.random.default_rng(0)
    y = np.arange(80) % 2
    measured = 3 * y[:, None] + draw.normal(size=(80, 6))
    words = (draw.random((80, 40)) < 0.2).astype(float)
    words[:, 0] = 1  # an IDF of 0
    tails = np.exp(3 * measured[:, :2])
    return {
        "normal-scores+standardize": np.column_stack([tails, measured]),
        "normal-scores+standardize-numeric": np.column_stack([tails, measured, y, 1 - y]),
        "standardize": measured,
        "standardize-numeric": np.column_stack([measured, y, 1 - y]),
        "idf+l2": words,
        "log1p+smooth-idf+l2": words + 2 * (words * draw.random(words.shape) > 0.5),
        "log1p-median+smooth-idf+l2": words * np.exp(2 * draw.normal(size=words.shape)),
        "sqrt+l2": draw.dirichlet(np.full(5, 2.0), 80),
    }


class TestPersistence:
    @pytest.mark.parametrize("kind", prepared_in_all_ways())
    @pytest.mark.parametrize("as_given", [np.asarray, sp.csr_array])
    @pytest.mark.filterwarnings("ignore::tvgnn.errors.ClusteringWarning")
    def test_what_was_saved_is_loaded_however_features_were_prepared(self, kind, as_given, tmp_path):
        x = prepared_in_all_ways()[kind]
        source = np.arange(80)
        edges = np.column_stack([np.stack([source, (source + step) % 80]) for step in (2, 4, 6)])
        graph = Graph.from_edge_index(edges, num_nodes=80, x=as_given(x))
        model = TVClustering(2, preset="quality", n_init=1, max_iter=2, random_state=0).fit(graph)
        assert model.feature_norm_ == kind
        model.save(tmp_path)
        loaded = TVClustering.load(tmp_path)
        np.testing.assert_array_equal(loaded.predict(graph), model.labels_)
        for name in ("mean", "scale", "quantiles", "medians"):
            saved, found = getattr(model.feature_scaling_, name), getattr(loaded.feature_scaling_, name)
            assert (saved is None) == (found is None)
            if saved is not None:
                np.testing.assert_array_equal(found, saved)

    @pytest.mark.parametrize(
        ("kind", "name", "broken"),
        [
            ("idf+l2", "scale", -np.inf),
            ("idf+l2", "scale", np.nan),
            ("normal-scores+standardize", "scale", 0.0),
            ("normal-scores+standardize", "mean", np.inf),
            ("normal-scores+standardize", "quantiles", np.inf),
            ("normal-scores+standardize", "quantiles", np.nan),
            ("log1p-median+smooth-idf+l2", "medians", 0.0),
            ("log1p-median+smooth-idf+l2", "medians", np.inf),
        ],
    )
    @pytest.mark.filterwarnings("ignore::tvgnn.errors.ClusteringWarning")
    def test_what_features_are_prepared_by_makes_sense(self, kind, name, broken, tmp_path):
        x = prepared_in_all_ways()[kind]
        TVClustering(2, preset="quality", n_init=1, max_iter=2, random_state=0).fit(x).save(tmp_path)
        arrays = load_file(tmp_path / "model.safetensors")
        arrays[f"scaling.{name}"].view(-1)[0] = broken
        save_file(arrays, tmp_path / "model.safetensors")
        with pytest.raises(DataError, match=f"damaged: .*scaling.{name}"):
            TVClustering.load(tmp_path)

    def test_round_trip(self, fitted, blobs, tmp_path):
        fitted.save(tmp_path / "model")
        assert sorted(p.name for p in (tmp_path / "model").iterdir()) == ["model.json", "model.safetensors"]
        loaded = TVClustering.load(tmp_path / "model")
        assert loaded.get_params() == fitted.get_params()
        assert np.array_equal(loaded.labels_, fitted.labels_)
        new = blobs[:5] + 0.1
        assert np.array_equal(loaded.transform(new), fitted.transform(new))
        assert loaded.predict(fitted.graph_).tolist() == fitted.labels_.tolist()
        assert clone(loaded).get_params() == fitted.get_params()

    def test_sparse_features_weights_and_string_ids_survive(self, tmp_path):
        graph = Graph.from_scipy(CLIQUES * 2.5, x=sp.csr_matrix(BLOCKS), node_ids=list("abcdefghij"))
        model = small().fit(graph)
        model.save(tmp_path)
        loaded = TVClustering.load(tmp_path)
        assert list(loaded.graph_.node_ids) == list("abcdefghij")
        assert np.array_equal(loaded.graph_.weights, graph.weights)
        assert (loaded.graph_.x != graph.x).nnz == 0

    def test_files_are_as_readable_as_any_other(self, fitted, tmp_path):
        fitted.save(tmp_path)
        (tmp_path / "other").touch()
        modes = {path.stat().st_mode for path in tmp_path.iterdir()}
        assert len(modes) == 1

    def test_damage_is_reported(self, fitted, tmp_path):
        with pytest.raises(DataError, match=r"expected model.json"):
            TVClustering.load(tmp_path)
        fitted.save(tmp_path)
        (tmp_path / "model.safetensors").write_bytes(b"<html>not found</html>")
        with pytest.raises(DataError, match="damaged"):
            TVClustering.load(tmp_path)
        fitted.save(tmp_path)
        description = json.loads((tmp_path / "model.json").read_text())
        (tmp_path / "model.json").write_text(json.dumps(description | {"format": 99}))
        with pytest.raises(DataError, match="format 1, got 99"):
            TVClustering.load(tmp_path)
        for key, value in (("learned", []), ("config", None), ("feature_norm", "q"), ("num_nodes", 3)):
            (tmp_path / "model.json").write_text(json.dumps(description | {key: value}))
            with pytest.raises(DataError, match="damaged"):
                TVClustering.load(tmp_path)

    def test_models_of_other_versions(self, fitted, tmp_path):
        fitted.save(tmp_path)
        description = json.loads((tmp_path / "model.json").read_text())
        assert description["tvgnn"] == version("tvgnn")
        for part in ("parameters", "config"):
            newer = description | {"tvgnn": "99.0", part: description[part] | {"new_one": 1}}
            (tmp_path / "model.json").write_text(json.dumps(newer))
            with pytest.raises(DataError, match=rf"expected {part} .* got new_one: .* newer version \(tvgnn 99\.0\)"):
                TVClustering.load(tmp_path)
        older = description | {"parameters": {k: v for k, v in description["parameters"].items() if k != "verbose"}}
        del older["tvgnn"]
        (tmp_path / "model.json").write_text(json.dumps(older))
        loaded = TVClustering.load(tmp_path)
        assert loaded.get_params() == fitted.get_params()
        assert (loaded.labels_ == fitted.labels_).all()

    @pytest.mark.parametrize(("section", "key", "value"), [
        (None, "n_features_in", 2), ("learned", "device_", None), ("config", "hidden_channels", 10**6),
        ("parameters", "unknown", 1), ("learned", "loss_", "low"),
    ])  # fmt: skip
    def test_entries_that_do_not_fit_are_damage(self, fitted, tmp_path, section, key, value):
        fitted.save(tmp_path)
        description = json.loads((tmp_path / "model.json").read_text())
        part = description if section is None else description[section]
        part[key] = value
        if value is None:
            del part[key]
        (tmp_path / "model.json").write_text(json.dumps(description))
        with pytest.raises(DataError, match="damaged"):
            TVClustering.load(tmp_path)

    @pytest.mark.parametrize("name", ["labels_", "assignments_", "embedding_", "scaling.mean", "graph.x"])
    @pytest.mark.parametrize("spoil", [lambda a: a[:-1].clone(), lambda a: (a + 7).double() * np.nan, None])
    def test_arrays_that_do_not_fit_are_damage(self, fitted, tmp_path, name, spoil):
        fitted.save(tmp_path)
        arrays = load_file(tmp_path / "model.safetensors")
        array = arrays.pop(name)
        if spoil is not None:
            arrays[name] = spoil(array)
        save_file(arrays, tmp_path / "model.safetensors")
        with pytest.raises(DataError, match="damaged"):
            TVClustering.load(tmp_path)

    def test_entries_of_the_file_become_no_other_attributes(self, fitted, tmp_path):
        fitted.save(tmp_path)
        description = json.loads((tmp_path / "model.json").read_text())
        description["learned"]["predict"] = "evil"
        (tmp_path / "model.json").write_text(json.dumps(description))
        assert callable(TVClustering.load(tmp_path).predict)

    def test_model_of_a_missing_device_runs_on_the_cpu(self, fitted, blobs, tmp_path):
        fitted.save(tmp_path)
        description = json.loads((tmp_path / "model.json").read_text())
        description["learned"]["device_"] = "cuda:99"
        (tmp_path / "model.json").write_text(json.dumps(description))
        loaded = TVClustering.load(tmp_path)
        assert loaded.device_ == "cpu"
        assert np.array_equal(loaded.predict(blobs + 0.1), fitted.predict(blobs + 0.1))

    def test_numpy_parameters_and_device_objects_are_saved(self, blobs, tmp_path):
        model = small(3, n_neighbors=5, rho=np.float32(1.5), max_iter=np.int64(5), device=torch.device("cpu"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ClusteringWarning)
            model.fit(blobs).save(tmp_path)
        loaded = TVClustering.load(tmp_path)
        assert (loaded.rho, loaded.max_iter, loaded.device) == (1.5, 5, "cpu")
        assert loaded.ms_per_epoch_ == model.ms_per_epoch_

    def test_loading_leaves_the_global_generator_alone(self, fitted, tmp_path):
        fitted.save(tmp_path)
        before = torch.random.get_rng_state()
        TVClustering.load(tmp_path)
        assert torch.equal(before, torch.random.get_rng_state())

    def test_float64_features_are_found_again(self, blobs, tmp_path):
        graph = Graph.from_features(blobs, 5, dtype="float64")
        model = small(3, max_iter=5)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ClusteringWarning)
            model.fit(graph).save(tmp_path)
        for fitted in (model, TVClustering.load(tmp_path)):
            assert np.array_equal(fitted.transform(blobs), model.embedding_)
