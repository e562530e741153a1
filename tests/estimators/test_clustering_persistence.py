"""Saved models of `TVClustering`."""

import json
import warnings
from importlib.metadata import version

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from cliques import BLOCKS, CLIQUES, small
from safetensors.torch import load_file, save_file
from sklearn.base import clone

from tvgnn import Graph, TVClustering, TVGraphClassifier
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
        "idf+l2": np.hstack([words, draw.random((80, 260)) < 0.05]),
        "l2": words,
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

    def test_names_of_columns_are_checked_after_loading_too(self, blobs, tmp_path):
        frame = pd.DataFrame(blobs, columns=list("abc"))
        model = small(3, n_neighbors=5).fit(frame)
        model.save(tmp_path)
        loaded = TVClustering.load(tmp_path)
        assert loaded.feature_names_in_.tolist() == ["a", "b", "c"]
        assert np.array_equal(loaded.predict(frame), model.labels_)
        with pytest.raises(ValueError, match="feature names should match"):
            loaded.predict(frame[["c", "b", "a"]])
        description = json.loads((tmp_path / "model.json").read_text())
        del description["feature_names_in"]  # as in files of earlier versions
        (tmp_path / "model.json").write_text(json.dumps(description))
        assert not hasattr(TVClustering.load(tmp_path), "feature_names_in_")
        (tmp_path / "model.json").write_text(json.dumps(description | {"feature_names_in": ["a", "b"]}))
        with pytest.raises(DataError, match="damaged: expected number of feature_names_in to be 3, got 2"):
            TVClustering.load(tmp_path)

    @pytest.mark.parametrize("ids", [
        [(0, i) for i in range(10)], [i + 0.5 for i in range(10)], [("a", (i, 1.5)) for i in range(10)],
        np.arange(10.0), np.arange(10)[::-1], ["a", 1, 2.5, (3,), "1", 7, 8, 9, 10, 11],
    ])  # fmt: skip
    def test_the_whole_graph_is_kept(self, ids, tmp_path):
        entries = sp.coo_array(CLIQUES)
        rows, columns = np.append(entries.coords[0], 0), np.append(entries.coords[1], 7)  # one direction only
        graph = Graph.from_edge_index(
            [rows, columns], x=BLOCKS, y=[None, "cat", *["dog"] * 8], node_ids=ids
        ).with_label((1.5, 2))
        assert graph.report.notes
        small().fit(graph).save(tmp_path)
        kept = TVClustering.load(tmp_path).graph_
        assert list(kept.node_ids) == list(graph.node_ids)
        assert [type(one) for one in kept.node_ids] == [type(one) for one in graph.node_ids]
        assert (kept.y.tolist(), kept.class_names, kept.label) == (graph.y.tolist(), graph.class_names, graph.label)
        assert kept.report == graph.report
        assert not kept.y.flags.writeable

    def test_ids_that_cannot_be_kept_are_said(self, tmp_path):
        graph = Graph.from_scipy(CLIQUES, x=BLOCKS, node_ids=[b"%d" % i for i in range(10)], y=["a"] * 10)
        model = small().fit(graph)
        with pytest.warns(UserWarning, match=r"node ids of type bytes cannot be saved.*has 0, 1") as warned:
            model.save(tmp_path)
        assert warned[0].filename == __file__
        assert list(TVClustering.load(tmp_path).graph_.node_ids) == list(range(10))

    @pytest.mark.parametrize(("key", "value"), [
        ("num_nodes", 10**13), ("class_names", ["a"]), ("class_names", 3), ("report", {}), ("report", 1),
        ("node_ids", ["a"]),
    ])  # fmt: skip
    def test_damage_of_the_graph_takes_no_memory(self, key, value, tmp_path):
        small().fit(Graph.from_scipy(CLIQUES, x=BLOCKS, y=list("aabbccaabb"))).save(tmp_path)
        description = json.loads((tmp_path / "model.json").read_text())
        (tmp_path / "model.json").write_text(json.dumps(description | {key: value}))
        with pytest.raises(DataError, match="damaged"):
            TVClustering.load(tmp_path)

    @pytest.mark.parametrize("pointers", [{-1: 10**13}, {0: 5}, {3: 10**9}, {3: -1}])
    def test_pointers_that_do_not_fit_take_no_memory(self, pointers, fitted, tmp_path):
        fitted.save(tmp_path)
        arrays = load_file(tmp_path / "model.safetensors")
        indptr = arrays["graph.indptr"].long()
        for place, value in pointers.items():
            indptr[place] = value
        save_file(arrays | {"graph.indptr": indptr}, tmp_path / "model.safetensors")
        with pytest.raises(DataError, match="damaged"):
            TVClustering.load(tmp_path)

    @pytest.mark.parametrize("later", [{"preset": "paper"}, {"features": "spectral"}, {"precision": "bfloat16"}])
    def test_a_model_is_saved_with_the_parameters_of_its_fit(self, later, blobs, tmp_path):
        model = TVClustering(3, preset="quality", n_init=1, random_state=0).fit(blobs)
        given = model.get_params()
        model.set_params(**later).save(tmp_path / "first")
        loaded = TVClustering.load(tmp_path / "first")
        assert loaded.get_params() == given
        assert np.array_equal(loaded.predict(blobs), model.labels_)
        loaded.set_params(**later, n_neighbors=3, mutual=True).save(tmp_path / "second")
        again = TVClustering.load(tmp_path / "second")
        assert again.get_params() == given | {"n_neighbors": 3, "mutual": True}
        expected = loaded.set_params(**given | {"n_neighbors": 3}).predict(blobs + 0.1)
        assert np.array_equal(again.predict(blobs + 0.1), expected)


def test_classifiers_are_saved_with_the_parameters_of_their_fit(blobs, tmp_path):
    graphs = [Graph.from_features(blobs[i : i + 5], 2).with_label(i % 2) for i in range(0, 50, 5)]
    model = TVGraphClassifier(max_epochs=1, hidden_channels=8, random_state=0).fit(graphs)
    given = model.get_params()
    model.set_params(pooling="mincut", hidden_channels=4).save(tmp_path)
    assert TVGraphClassifier.load(tmp_path).get_params() == given
