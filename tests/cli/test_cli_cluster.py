"""``tvgnn cluster`` from end to end: files in, a run folder out."""

import csv
import gzip
import json
import re
from hashlib import sha256

import networkx as nx
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
import torch
from cli_cases import SMALL, clique_edges

import tvgnn as package
from tvgnn import TVClustering
from tvgnn.estimators.presets import PRESETS
from tvgnn.experiments import references
from tvgnn.io.run_context import read_context

ALWAYS = {
    "dataset", "method", "seed", "n_nodes", "n_edges", "n_features", "n_clusters", "n_clusters_found", "cluster_sizes",
    "loss", "total_variation", "balance", "sharpness", "soft_entropy", "modularity", "conductance", "cut_fraction",
    "epochs", "converged", "fit_seconds", "ms_per_epoch", "peak_rss_bytes", "device", "backend", "threads", "versions",
    "commit",
}  # fmt: skip
WITH_LABELS = {"nmi", "acc", "ari", "macro_f1"}


def metrics_of(folder):
    return json.loads((folder / "metrics.json").read_text(), parse_constant=lambda name: pytest.fail(name))


def rows_of(folder):
    with (folder / "labels.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_run_folder_holds_every_result_under_the_callers_ids(tvgnn, files):
    result = tvgnn("cluster", "--edges", "edges.csv", "--features", "features.csv", "--labels", "labels.csv", "-k", "2",
                   "--seed", "3", "--out", "out", *SMALL, "--max-epochs", "80")  # fmt: skip
    assert result.code == 0, result.err
    out = files / "out"
    assert {file.name for file in out.iterdir()} == {
        "labels.csv", "assignments.npz", "model.safetensors", "model.json", "metrics.json", "context.safetensors",
    }  # fmt: skip
    rows = rows_of(out)
    assert list(rows[0]) == ["node_id", "cluster", "confidence"]
    assert [row["node_id"] for row in rows] == [f"p{i}" for i in range(10)]
    assert [row["cluster"] for row in rows] == ["0"] * 5 + ["1"] * 5
    with np.load(out / "assignments.npz", allow_pickle=False) as arrays:
        assignments = arrays["assignments"]
    np.testing.assert_allclose(assignments.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose([float(row["confidence"]) for row in rows], assignments.max(axis=1), rtol=1e-5)
    model = TVClustering.load(out)
    assert model.labels_.tolist() == [0] * 5 + [1] * 5
    assert model.random_state == 3

    metrics = metrics_of(out)
    assert set(metrics) >= ALWAYS | WITH_LABELS
    expected = {"dataset": "edges", "method": "TVGNN", "seed": 3, "n_nodes": 10, "n_edges": 21, "n_features": 2,
                "n_clusters": 2, "n_clusters_found": 2, "cluster_sizes": [5, 5], "nmi": 1.0, "acc": 1.0,
                "cut_fraction": pytest.approx(1 / 21), "threads": 1, "device": "cpu"}  # fmt: skip
    assert {key: metrics[key] for key in expected} == expected
    assert metrics["loss"] == pytest.approx(0.785 * metrics["total_variation"] + 0.514 * metrics["balance"], abs=1e-5)
    assert metrics["inputs"] == [
        {"role": role, "file": f"{role}.csv", "sha256": sha256((files / f"{role}.csv").read_bytes()).hexdigest()}
        for role in ("edges", "features", "labels")
    ]
    assert metrics["versions"]["tvgnn"] == package.__version__
    assert set(metrics["versions"]) == {"tvgnn", "torch", "numpy", "python"}
    assert metrics["peak_rss_bytes"] > 10**7
    assert metrics["commit"] is None or re.fullmatch("[0-9a-f]{40}", metrics["commit"])
    assert "wrote out" in result.out
    assert re.search(r"NMI +1\.0000", result.out)


def test_the_same_seed_gives_the_same_labels_and_soft_assignments(tvgnn, files):
    arguments = ("cluster", "--edges", "edges.csv", "--features", "features.csv", "-k", "2", "--seed", "1", *SMALL)
    for out in ("a", "b"):
        assert tvgnn(*arguments, "--out", out).code == 0
    assert (files / "a/labels.csv").read_bytes() == (files / "b/labels.csv").read_bytes()
    assert (files / "a/assignments.npz").read_bytes() == (files / "b/assignments.npz").read_bytes()


def test_without_labels_metrics_hold_no_agreement(tvgnn, files):
    assert tvgnn("cluster", "--edges", "edges.csv", "--features", "features.csv", "-k", "2", "--out", "out", *SMALL,
                 ).code == 0  # fmt: skip
    metrics = metrics_of(files / "out")
    assert set(metrics) >= ALWAYS
    assert not set(metrics) & WITH_LABELS


def test_k_is_the_number_of_known_classes_and_the_folder_is_named_after_the_run(tvgnn, files):
    result = tvgnn("cluster", "--edges", "edges.csv", "--features", "features.csv", "--labels", "labels.csv", *SMALL)
    assert result.code == 0, result.err
    assert metrics_of(files / "runs/edges-k2-seed0")["n_clusters"] == 2
    assert "wrote runs/edges-k2-seed0" in result.out


def write_edges(folder, suffix):
    edges = clique_edges()
    path = folder / f"graph{suffix}"
    matrix = sp.coo_array((np.ones(len(edges)), edges.T), shape=(10, 10))
    symmetric = sp.csr_array(matrix + matrix.T)
    if suffix == ".npz":
        sp.save_npz(path, symmetric)
    elif suffix == ".mtx":
        scipy.io.mmwrite(path, symmetric)
    elif suffix == ".graphml":
        nx.write_graphml(nx.Graph(edges.tolist()), path)
    else:
        separator = "\t" if ".tsv" in suffix else ","
        text = "".join(f"{i}{separator}{j}\n" for i, j in edges)
        path.write_bytes(gzip.compress(text.encode()) if suffix.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".npz", ".mtx", ".graphml"])
def test_every_format_of_edges_is_the_same_graph(tvgnn, tmp_path, suffix):
    path = write_edges(tmp_path, suffix)
    result = tvgnn("cluster", "--edges", path, "--structural-features", "spectral", "--structural-dim", "3", "-k", "2",
                   "--out", "out", *SMALL)  # fmt: skip
    assert result.code == 0, result.err
    metrics = metrics_of(tmp_path / "out")
    counts = {key: metrics[key] for key in ("dataset", "n_nodes", "n_edges", "n_features")}
    assert counts == {"dataset": "graph", "n_nodes": 10, "n_edges": 21, "n_features": 3}
    assert sorted(int(row["node_id"]) for row in rows_of(tmp_path / "out")) == list(range(10))
    assert "note: features: spectral, dim=3" in result.err


def test_many_clusters_have_a_spectral_column_each(tvgnn, tmp_path):
    pairs = [(i, (i + step) % 60) for i in range(60) for step in (1, 2)]
    (tmp_path / "e.csv").write_text("".join(f"{i},{j}\n" for i, j in pairs))
    arguments = ("cluster", "--edges", "e.csv", "--structural-features", "spectral", "-k", "20", *SMALL)
    assert tvgnn(*arguments, "--out", "out").code == 0
    assert metrics_of(tmp_path / "out")["n_features"] == 20
    assert tvgnn(*arguments, "--structural-dim", "5", "--out", "few").code == 0
    assert metrics_of(tmp_path / "few")["n_features"] == 5


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".mtx"])
def test_features_in_node_order(tvgnn, tmp_path, suffix):
    edges = write_edges(tmp_path, ".csv")
    x = np.eye(10)[:, :4]
    path = tmp_path / f"x{suffix}"
    if suffix == ".npy":
        np.save(path, x)
    elif suffix == ".npz":
        sp.save_npz(path, sp.csr_array(x))
    else:
        scipy.io.mmwrite(path, sp.coo_array(x))
    assert tvgnn("cluster", "--edges", edges, "--features", path, "-k", "2", "--out", "out", *SMALL).code == 0
    assert metrics_of(tmp_path / "out")["n_features"] == 4


def test_graphml_attributes_are_features(tvgnn, tmp_path):
    graph = nx.Graph(clique_edges().tolist())
    nx.set_node_attributes(graph, {i: {"age": 10.0 + i, "size": float(i < 5)} for i in graph})
    nx.write_graphml(graph, tmp_path / "g.graphml")
    result = tvgnn(
        "cluster", "--edges", "g.graphml", "--node-attributes", "age, size", "-k", "2", "--out", "out", *SMALL
    )
    assert result.code == 0, result.err
    assert metrics_of(tmp_path / "out")["n_features"] == 2


def test_options_of_the_edge_list_reach_the_reader(tvgnn, tmp_path):
    (tmp_path / "e.txt").write_text("7|a|b|3\n8|b|c|4\n9|c|a|5\n")
    arguments = ("cluster", "--edges", "e.txt", "--delimiter", "|", "--structural-features", "ones", "-k", "1", *SMALL)
    # columns 0 and 1 are the ends of an edge: 7-a, 8-b, 9-c
    assert tvgnn(*arguments, "--no-header", "--weight-column", "3", "--out", "weighted").code == 0
    model = TVClustering.load(tmp_path / "weighted")
    assert model.graph_.num_edges == 3
    assert model.graph_.weights.tolist() == [3, 3, 4, 4, 5, 5]
    assert tvgnn(*arguments, "--no-header", "--weight-column", "none", "--out", "plain").code == 0
    assert not TVClustering.load(tmp_path / "plain").graph_.is_weighted


@pytest.mark.parametrize(("text", "options", "names"), [
    ("who|2019|2020\n7|1|2\n8|2|3\n9|5|3\n", ("--delimiter", "|", "--header"), ["2019", "2020"]),
    ("who|age|size\n7|1|2\n8|2|3\n9|5|3\n", ("--delimiter", "|", "--no-header"), None),
    ("7|1|2\n8|2|3\n9|5|3\n", ("--delimiter", "|"), None),
    ("id,age,size\n7,1,2\n8,2,3\n9,5,3\n", (), ["age", "size"]),
])  # fmt: skip
def test_names_of_features_are_read_as_the_options_say(tvgnn, tmp_path, text, options, names):
    (tmp_path / "x.txt").write_text(text)
    result = tvgnn("cluster", "--features", "x.txt", *options, "-k", "1", "--n-neighbors", "1", "--out", "out", *SMALL)
    if "--no-header" in options:
        assert (result.code, "line 1, column '1': expected a number, got 'age'" in result.error) == (2, True)
    else:
        assert result.code == 0, result.err
        assert read_context(tmp_path / "out").feature_names == names


def test_what_was_guessed_of_the_files_is_said_and_recorded(tvgnn, tmp_path):
    (tmp_path / "e.csv").write_text("person,friend\nann,bob\nbob,cid\ncid,ann\n")
    (tmp_path / "y.csv").write_text("node_id,label\nann,x\nzoe,y\n")
    arguments = ("cluster", "--edges", "e.csv", "--labels", "y.csv", "--structural-features", "ones", "-k", "1", *SMALL)
    result = tvgnn(*arguments, "--out", "out")
    assert result.code == 0, result.err
    notes = metrics_of(tmp_path / "out")["notes"]
    assert "the first line of e.csv (person, friend) was read as an edge; pass --header if it is a header" in notes
    assert "1 of the 2 ids in y.csv not found in the graph, left out: 'zoe'" in notes
    assert all(f"note: {note}" in result.err for note in notes)
    assert tvgnn(*arguments, "--header", "--out", "headed").code == 0
    assert [row["node_id"] for row in rows_of(tmp_path / "headed")] == ["ann", "bob", "cid"]
    assert not any("first line" in note for note in metrics_of(tmp_path / "headed")["notes"])


def test_directed_rows_are_averaged_with_a_note(tvgnn, tmp_path):
    (tmp_path / "e.csv").write_text("source,target,weight\n0,1,4\n")
    result = tvgnn("cluster", "--edges", "e.csv", "--directed", "--structural-features", "ones", "-k", "1",
                   "--out", "out", *SMALL)  # fmt: skip
    assert result.code == 0, result.err
    assert TVClustering.load(tmp_path / "out").graph_.weights.tolist() == [2, 2]
    assert "note: directed input symmetrised" in result.err


def test_what_cleaning_changed_is_said_and_recorded(tvgnn, tmp_path):
    (tmp_path / "e.csv").write_text("a,b\na,b\nb,b\nb,c\nd,e\n")
    (tmp_path / "x.csv").write_text("id,v\na,1\nb,2\nc,3\nd,4\ne,5\nf,6\n")
    result = tvgnn("cluster", "--edges", "e.csv", "--features", "x.csv", "-k", "2", "--out", "out", *SMALL)
    assert result.code == 0, result.err
    notes = [line.removeprefix("note: ") for line in result.err.splitlines() if line.startswith("note: ")]
    assert notes == [
        "1 of the 6 ids in x.csv not found in e.csv, kept as nodes without edges: 'f'",
        "1 self-loop dropped", "1 duplicate edge merged", "1 node has no edges", "the graph has 3 components",
    ]  # fmt: skip
    assert set(notes) <= set(metrics_of(tmp_path / "out")["notes"])


def test_a_collapse_is_one_line_of_warning_and_recorded(tvgnn, tmp_path):
    (tmp_path / "e.csv").write_text("0,1\n1,2\n")
    result = tvgnn("cluster", "--edges", "e.csv", "--structural-features", "ones", "-k", "3", "--out", "out", *SMALL)
    assert result.code == 0, result.err
    warnings = [line for line in result.err.splitlines() if line.startswith("warning: ")]
    assert len(warnings) == 1
    assert "1 of the 3 clusters asked for are in use" in warnings[0]
    assert warnings[0].removeprefix("warning: ") in metrics_of(tmp_path / "out")["notes"]


def test_a_graph_without_edges_gives_finite_metrics(tvgnn, tmp_path):
    (tmp_path / "e.csv").write_text("0,0\n1,1\n2,2\n")
    (tmp_path / "x.csv").write_text("id,v\n0,1\n1,2\n2,9\n")
    result = tvgnn("cluster", "--edges", "e.csv", "--features", "x.csv", "-k", "2", "--out", "out", *SMALL)
    assert result.code == 0, result.err
    metrics = metrics_of(tmp_path / "out")
    assert metrics["n_edges"] == 0
    assert metrics["total_variation"] == 0


def test_every_parameter_of_the_model_reaches_it(tvgnn, tmp_path):
    given = {"patience": 2, "tol": 0.5, "n_init": 2, "hidden_channels": 3, "num_layers": 1, "mlp_channels": 5,
             "delta_coeff": 0.2, "totvar_coeff": 0.7, "balance_coeff": 0.6, "rho": 1.5, "learning_rate": 0.01,
             "feature_norm": "l2", "backend": "reference", "device": "cpu", "preset": "paper",
             "precision": "bfloat16", "memory": "low", "max_memory": "2GB"}  # fmt: skip
    options = [text for name, value in given.items() for text in (f"--{name.replace('_', '-')}", str(value))]
    result = tvgnn("cluster", "--dataset", "ring", "-k", "3", "--max-epochs", "6", "--out", "out", *options)
    assert result.code == 0, result.err
    parameters = TVClustering.load(tmp_path / "out").get_params()
    assert {name: parameters[name] for name in given} == given
    assert (parameters["n_clusters"], parameters["max_iter"]) == (3, 6)
    metrics = metrics_of(tmp_path / "out")
    assert metrics["feature_norm"] == "l2"
    assert metrics["backend"] == "reference"
    assert metrics["epochs"] <= 6


def test_quality_preset_records_what_the_data_chose(tvgnn, tmp_path):
    result = tvgnn("cluster", "--dataset", "ring", "-k", "3", "--preset", "quality", "--out", "out", "--quiet")
    assert result.code == 0, result.err
    metrics = metrics_of(tmp_path / "out")
    assert (metrics["preset"], metrics["feature_norm"]) == ("quality", "standardize")
    assert metrics["choices"]["views"][0]["smoothing_steps"] >= 1
    assert TVClustering.load(tmp_path / "out").choices_ == metrics["choices"]


def test_batches_of_the_quality_preset(tvgnn, tmp_path):
    given = ("cluster", "--dataset", "ring", "-k", "3", "--batch-size", "40", "--quiet")
    result = tvgnn(*given, "--preset", "quality", "--out", "out")
    assert result.code == 0, result.err
    assert TVClustering.load(tmp_path / "out").batch_size == 40
    refused = tvgnn(*given, "--preset", "paper", "--out", "other")
    assert refused.code == 2
    assert "batch_size" in refused.error or "--batch-size" in refused.error
    assert not (tmp_path / "other").exists()


def test_unscaled_features_are_recorded_as_null(tvgnn, tmp_path):
    assert tvgnn("cluster", "--dataset", "ring", "-k", "3", "--feature-norm", "none", "--out", "out", *SMALL).code == 0
    assert metrics_of(tmp_path / "out")["feature_norm"] is None


@pytest.mark.parametrize("command", ["cluster", "sweep"])
def test_help_states_the_defaults_of_the_presets(tvgnn, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "300")
    text = tvgnn(command, "--help").out
    for name in PRESETS["paper"]:
        option = {"max_iter": "max-epochs"}.get(name, name.replace("_", "-"))
        line = next(line for line in text.splitlines() if f"--{option} " in line)
        chosen = {"rho": "K-1", "num_layers": "chosen"}.get(name)
        values = {preset: PRESETS[preset].get(name, "none") for preset in ("quality", "paper", "quick")}
        said = [
            f"{preset}: {chosen if value is None else f'{value:g}'}"
            for preset, value in values.items()
            if value != "none"
        ]
        assert f"({', '.join(said)})" in line, line


def test_quiet_prints_nothing(tvgnn, files):
    result = tvgnn("cluster", "--edges", "edges.csv", "--features", "features.csv", "-k", "1", "--out", "out",
                   "--quiet", *SMALL)  # fmt: skip
    assert (result.code, result.out, result.err) == (0, "", "")


def test_an_existing_folder_is_refused_and_replaced_on_request(tvgnn, files):
    arguments = ("cluster", "--edges", "edges.csv", "--features", "features.csv", "-k", "2", "--out", "out", *SMALL)
    assert tvgnn(*arguments).code == 0
    before = (files / "out/metrics.json").read_bytes()
    refused = tvgnn(*arguments, "--seed", "5")
    assert refused.code == 2
    assert "out: the folder exists" in refused.error
    assert (files / "out/metrics.json").read_bytes() == before
    assert tvgnn(*arguments, "--seed", "5", "--overwrite").code == 0
    assert metrics_of(files / "out")["seed"] == 5
    (files / "mine").mkdir()
    (files / "mine/thesis.tex").write_text("years of work")
    assert tvgnn(*arguments[: -len(SMALL) - 1], "mine", *SMALL, "--overwrite").code == 2
    assert (files / "mine/thesis.tex").read_text() == "years of work"


def test_threads_are_limited_while_the_graph_is_made(tvgnn, files, monkeypatch):
    from threadpoolctl import threadpool_info

    found = []

    def stop(*arguments):
        found.append((torch.get_num_threads(), {pool["num_threads"] for pool in threadpool_info()}))
        raise ValueError("read")

    monkeypatch.setattr("tvgnn.cli.graph_input.GraphInput.read", stop)
    torch.set_num_threads(2)
    for command in ("cluster", "sweep"):
        assert tvgnn(command, "--features", "features.csv", "-k", "2", "--threads", "1").error == "error: read"
    assert found == [(1, {1})] * 2


def test_overwriting_never_deletes_inputs_or_outputs(tvgnn, files, monkeypatch):
    arguments = ("--features", "features.csv", "-k", "2", *SMALL, "--overwrite")
    assert tvgnn("cluster", *arguments, "--out", "out").code == 0
    assert tvgnn("report", "out").code == 0  # its files are those of a run
    assert tvgnn("cluster", *arguments, "--out", "out").code == 0
    (files / "metrics.json").write_bytes((files / "out/metrics.json").read_bytes())
    (files / "sub").mkdir()
    monkeypatch.chdir(files / "sub")
    for option in ("--features", "--edges", "--labels"):
        given = {"--features": files / "features.csv", option: files / f"{option[2:]}.csv"}
        inputs = [part for pair in given.items() for part in pair]
        refused = tvgnn("cluster", *inputs, *arguments[2:], "--out", files)
        assert (refused.code, refused.error.count("is not overwritten because it ")) == (2, 1)
        (files / "out/labels.csv").write_text((files / f"{option[2:]}.csv").read_text())
        given[option] = files / "out/labels.csv"
        inputs = [part for pair in given.items() for part in pair]
        refused = tvgnn("cluster", *inputs, *arguments[2:], "--out", files / "out")
        assert "it holds labels.csv, which this run reads or writes" in refused.error
    assert (files / "features.csv").exists()


@pytest.mark.real_data("cora")
def test_cora_from_the_mirror(tvgnn, tmp_path, mirror, pyg):
    result = tvgnn("cluster", "--dataset", "Cora", "--mirror", mirror, "--root", tmp_path / "data", "-k", "7",
                   "--out", "out", "--max-epochs", "3", "--hidden-channels", "16", "--mlp-channels", "16")  # fmt: skip
    assert result.code == 0, result.err
    metrics = metrics_of(tmp_path / "out")
    counts = [metrics[key] for key in ("dataset", "n_nodes", "n_edges", "n_features", "n_clusters", "epochs")]
    assert counts == ["cora", 2708, 5278, 1433, 7, 3]
    assert metrics["feature_norm"] == "l1"
    assert 0 <= metrics["nmi"] <= 1
    assert "note: the graph has 78 components" in result.err


NEIGHBORS = ("--n-neighbors", "3", "--metric", "cosine", "--mutual", "--knn-weights", "heat_kernel", "--connect")


def test_features_alone_are_joined_to_their_neighbours(tvgnn, files):
    arguments = ("cluster", "--features", "features.csv", "-k", "2", *SMALL, "--max-epochs", "80")
    result = tvgnn(*arguments, "--labels", "labels.csv", "--out", "out", "--n-neighbors", "3")
    assert result.code == 0, result.err
    assert [row["node_id"] for row in rows_of(files / "out")] == [f"p{i}" for i in range(10)]
    metrics = metrics_of(files / "out")
    assert (metrics["dataset"], metrics["n_nodes"], metrics["nmi"]) == ("features", 10, 1.0)
    assert "edges: union of the 3 nearest neighbours of each row (euclidean)" in metrics["notes"]
    assert "note: edges: union of the 3 nearest" in result.err
    assert "note: node ids: the first column of features.csv, 'node_id'" in result.err
    x = np.array([[i < 5, i / 10] for i in range(10)], dtype=np.float32)
    same = TVClustering(2, max_iter=80, hidden_channels=8, mlp_channels=8, n_neighbors=3, random_state=0).fit(x)
    model = TVClustering.load(files / "out")
    np.testing.assert_array_equal(model.assignments_, same.assignments_)
    assert model.n_neighbors == 3


def test_every_choice_of_the_neighbour_graph_reaches_it(tvgnn, files):
    result = tvgnn("cluster", "--features", "features.csv", "-k", "2", *SMALL, "--out", "out", *NEIGHBORS)
    assert result.code == 0, result.err
    notes = " ".join(metrics_of(files / "out")["notes"])
    assert "edges: mutual ones of the 3 nearest neighbours of each row (cosine)" in notes
    assert "weights: heat kernel" in notes
    model = TVClustering.load(files / "out")
    assert (model.metric, model.mutual, model.knn_weights, model.connect) == ("cosine", True, "heat_kernel", True)


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".tsv", ".csv.gz"])
def test_features_alone_in_every_format(tvgnn, tmp_path, suffix):
    x = np.vstack([np.eye(2)[i // 5] + 0.01 * i for i in range(10)])
    path = tmp_path / f"mine{suffix}"
    if suffix == ".npy":
        np.save(path, x)
    elif suffix == ".npz":
        sp.save_npz(path, sp.csr_array(x))
    else:
        mark = "\t" if suffix == ".tsv" else ","
        text = f"id{mark}a{mark}b\n" + "".join(f"n{i}{mark}{a}{mark}{b}\n" for i, (a, b) in enumerate(x))
        with (gzip.open if suffix.endswith(".gz") else open)(path, "wt") as file:
            file.write(text)
    result = tvgnn("cluster", "--features", path, "-k", "2", "--n-neighbors", "3", "--out", "out", *SMALL)
    assert result.code == 0, result.err
    first = "n0" if suffix in (".tsv", ".csv.gz") else "0"
    assert rows_of(tmp_path / "out")[0]["node_id"] == first
    assert metrics_of(tmp_path / "out")["n_features"] == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--edges", "edges.csv", "--metric", "cosine"], "got --edges and --metric"),
        (["--dataset", "ring", "--mutual", "--n-neighbors", "3"], "got --dataset and --n-neighbors, --mutual"),
        (
            ["--features", "features.csv", "--directed"],
            "--directed reads edge tables; features.csv holds features, no edges;",
        ),
        (["--features", "features.csv", "--metric", "nearness"], "--metric nearness"),
        (["--features", "features.csv", "--knn-weights", "soft"], "--knn-weights"),
        (["--features", "features.csv", "--structural-features", "ones"], "one kind of features"),
        (["--features", "absent.csv"], "absent.csv"),
        (["--features", "numbers.csv"], "line 1: expected a node id in the first column, got the number 0.5"),
        (["--features", "words.csv"], "words.csv"),
        (["--features", "nan.csv"], "nan.csv, line 3, column 'a': expected a finite"),
        ([], "--edges FILE, --features FILE or --h5ad FILE, got none"),
    ],
)
def test_a_mistake_about_neighbours_is_one_line(tvgnn, files, arguments, says):
    (files / "numbers.csv").write_text("0.5,1.5\n0.25,3\n")
    (files / "words.csv").write_text("id,a\nx,red\ny,green\n")
    (files / "nan.csv").write_text("id,a\na,1\nb,nan\nc,2\n")
    result = tvgnn("cluster", "-k", "2", "--out", "out", *arguments)
    assert result.code == 2
    assert says in result.error
    assert not (files / "out").exists()


def interrupted(*_):
    raise KeyboardInterrupt


def test_what_drives_the_clusters_is_said(tvgnn, files, monkeypatch):
    given = ("cluster", "--edges", "edges.csv", "--features", "features.csv", "-k", "2", *SMALL)
    result = tvgnn(*given, "--out", "said")
    assert result.code == 0, result.err
    assert "NMI with these clusters: the features alone (k-means) " in result.out
    compared = metrics_of(files / "said")["references"]
    assert set(compared) == {"features", "graph"}
    assert {"method", "agreement", "agreement_ari", "modularity", "seconds"} <= set(compared["graph"])
    assert tvgnn("report", "said").code == 0
    page = (files / "said/report.html").read_text(encoding="utf-8")
    assert "the graph alone (spectral clustering)" in page
    monkeypatch.setattr(references, "_of_graph", interrupted)
    stopped = tvgnn(*given, "--out", "stopped")
    assert stopped.code == 0
    assert "note: interrupted, so there is no comparison" in stopped.err
    assert "references" not in metrics_of(files / "stopped")
    assert (files / "stopped/labels.csv").exists()
    left_out = tvgnn(*given, "--out", "not-said", "--no-references")
    assert "NMI with these clusters" not in left_out.out
    assert "references" not in metrics_of(files / "not-said")


def test_empty_clusters_may_be_filled(tvgnn, files):
    given = ("cluster", "--edges", "edges.csv", "--features", "features.csv", "-k", "5", "--preset", "paper", *SMALL)
    kept = tvgnn(*given, "--out", "kept")
    assert "--empty-clusters split, which splits others" in kept.err
    filled = tvgnn(*given, "--out", "filled", "--empty-clusters", "split")
    assert filled.code == 0, filled.err
    assert "made by splitting others, as --empty-clusters split says" in filled.err
    assert metrics_of(files / "filled")["n_clusters_found"] == 5
    assert metrics_of(files / "filled")["choices"]["filled_clusters"] > 0
