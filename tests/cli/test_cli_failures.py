"""What a user sees who made a mistake: exit code 2 and one line that says what to do."""

import os

import networkx as nx
import pytest
from cli_cases import SMALL

from tvgnn.errors import DataError
from tvgnn.io.run_folder import run_folder

RING = ("cluster", "--dataset", "ring", "-k", "2", *SMALL)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["cluster"], "--dataset NAME, --edges FILE, --features FILE or --h5ad FILE"),
        (["cluster", "--dataset", "ring"], "pass -k"),
        (["cluster", "--dataset", "rign", "-k", "2"], "did you mean 'ring'"),
        (["cluster", "--dataset", "ring", "--edges", "e.csv", "-k", "2"], "got --dataset and --edges"),
        (["cluster", "--dataset", "ring", "--labels", "y.csv", "-k", "2"], "got --dataset and --labels"),
        (["cluster", "--edges", "nowhere.csv", "-k", "2"], "nowhere.csv: there is no such file"),
        ([*RING, "-k", "201"], "expected at most one cluster a node, got -k 201 and 200 nodes; ask for fewer"),
        ([*RING, "-k", "0"], "'-k' / '--n-clusters'"),
        ([*RING, "-k", "two"], "'-k' / '--n-clusters'"),
        ([*RING, "--seed", "-1"], "--seed"),
        ([*RING, "--max-epochs", "0"], "--max-epochs"),
        ([*RING, "--tol", "nan"], "--tol"),
        ([*RING, "--learning-rate", "-1"], "positive learning_rate"),
        ([*RING, "--rho", "0"], "rho > 0"),
        ([*RING, "--preset", "mine"], "preset to be one of paper"),
        ([*RING, "--feature-norm", "max"], "--feature-norm"),
        ([*RING, "--backend", "fpga"], "backend to be one of"),
        ([*RING, "--device", "abacus"], "expected a device that this machine has, got 'abacus'"),
        ([*RING, "--device", "meta"], "expected a device that this machine has, got 'meta'"),
        ([*RING, "--threads", "99999"], "--threads to be at most"),
        ([*RING, "--epochs", "5"], "No such option: --epochs"),
        ([*RING, "--structural-dim", "3"], "--structural-dim needs --structural-features"),
        ([*RING, "--mirror", "nowhere"], "mirror must name an existing folder"),
        (["clutter"], "Did you mean 'cluster'"),
        (["report"], "Missing argument"),
        (["report", "nowhere"], "found no metrics.json"),
        (["datasets", "get", "rign"], "did you mean 'ring'"),
    ],
    ids=lambda value: " ".join(value[:3] + value[-2:]) if isinstance(value, list) else "",
)
def test_a_mistake_is_one_line(tvgnn, tmp_path, arguments, says):
    if "nowhere" in arguments and "--mirror" in arguments:
        arguments = ["cora" if text == "ring" else text for text in arguments]
    result = tvgnn(*arguments)
    assert result.code == 2
    assert result.error.startswith("error: ")
    assert says in result.error
    assert result.out == ""
    assert not list(tmp_path.iterdir()) or [path.name for path in tmp_path.iterdir()] == ["runs"]
    assert not list(tmp_path.glob("runs/*"))


def test_a_usage_error_names_the_help_that_explains_it(tvgnn):
    assert tvgnn("cluster", "--epochs", "5").error.endswith("(see tvgnn cluster --help)")


def test_a_graph_without_features_names_the_choices(tvgnn, files):
    result = tvgnn("cluster", "--edges", "edges.csv", "-k", "2")
    assert result.code == 2
    for choice in ("--features", "--structural-features", "spectral", "degree", "ones"):
        assert choice in result.error


def test_two_sources_of_features_are_refused(tvgnn, files):
    arguments = ("cluster", "--edges", "edges.csv", "-k", "2", "--structural-features", "ones")
    assert "got --structural-features and --features" in tvgnn(*arguments, "--features", "features.csv").error
    assert "got --structural-features and --node-attributes" in tvgnn(*arguments, "--node-attributes", "a").error


def test_node_attributes_need_graphml(tvgnn, files):
    assert "GraphML" in tvgnn("cluster", "--edges", "edges.csv", "--node-attributes", "age", "-k", "2").error


@pytest.mark.parametrize(
    ("edges", "features", "says"),
    [
        ("a,b,-1\n", "id,v\na,1\nb,2\n", "edges.csv, line 1"),
        ("a,b\n", "id,v\na,1\nb,nan\n", "'b'"),
        ("a,z\n", "id,v\na,1\nb,2\n", "'z' has no row"),
        ("", "id,v\na,1\n", "edges.csv"),
    ],
)
def test_a_bad_file_is_named_with_its_place(tvgnn, tmp_path, edges, features, says):
    (tmp_path / "edges.csv").write_text(edges)
    (tmp_path / "features.csv").write_text(features)
    result = tvgnn("cluster", "--edges", "edges.csv", "--features", "features.csv", "-k", "2", "--out", "out")
    assert result.code == 2
    assert says in result.error
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("edges", "arguments", "says"),
    [
        ("a,b,likes\n", (), "--weight-column none where there is no weight, --header where line 1 holds names"),
        ("a,b,1,2\n", (), "such as --weight-column 3, or pass --weight-column none"),
        ("s,t,w\na,b,1\n", ("--weight-column", "price"), "no column is named 'price'; the names are 's', 't', 'w'"),
        ("a,b,1\n", ("--weight-column", "7"), "--weight-column 7 must be one of the 3 columns"),
        ("a,b,1\n", ("--weight-column", "w", "--no-header"), "for --weight-column w, got --no-header"),
        ("a|b\n", (), "another delimiter, such as --delimiter '|'"),
        ("person,friend\na,b\nb,c\nc,a\n", ("--features", "x.csv"), "where line 1 holds names pass --header"),
        ("p1,p2\n", ("--features", "x.csv"), "edges.csv: 0 of 2 ids match those of x.csv: are these the same ids?"),
    ],
)
def test_a_remedy_is_what_a_shell_understands(tvgnn, tmp_path, edges, arguments, says):
    (tmp_path / "edges.csv").write_text(edges)
    (tmp_path / "x.csv").write_text("id,v\na,1\nb,2\nc,3\n")
    chosen = () if "--features" in arguments else ("--structural-features", "ones")
    result = tvgnn("cluster", "--edges", "edges.csv", *arguments, *chosen, "-k", "2")
    assert result.code == 2
    assert says in result.error
    assert "=None" not in result.error
    assert "=True" not in result.error


def test_a_graphml_with_some_weights_names_the_option(tvgnn, tmp_path):
    graph = nx.path_graph(3)
    graph.edges[0, 1]["cost"] = 2.0
    nx.write_graphml(graph, tmp_path / "g.graphml")
    result = tvgnn(
        "cluster", "--edges", "g.graphml", "--weight-column", "cost", "--structural-features", "ones", "-k", "2"
    )
    assert result.code == 2
    assert "pass --weight-column none to ignore it" in result.error


def test_messages_are_worded_for_the_shell_during_a_command_only(tvgnn, tmp_path):
    (tmp_path / "out").mkdir()
    assert "replace it by --overwrite" in tvgnn(*RING, "--out", "out").error
    with pytest.raises(DataError, match="replace it by overwrite=True"), run_folder(tmp_path / "out"):
        pass


def test_training_that_diverges_leaves_no_folder(tvgnn, tmp_path):
    (tmp_path / "e.csv").write_text("0,1\n1,2\n")
    (tmp_path / "x.csv").write_text("id,v\n0,3e38\n1,1e38\n2,0\n")
    result = tvgnn("cluster", "--edges", "e.csv", "--features", "x.csv", "--feature-norm", "none", "-k", "2",
                   "--out", "out", "--learning-rate", "1e30", *SMALL, "--max-epochs", "50")  # fmt: skip
    assert result.code == 2
    assert "expected a finite loss" in result.error
    assert sorted(path.name for path in tmp_path.iterdir()) == ["e.csv", "x.csv"]


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_without_permission(tvgnn, tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o500)
    result = tvgnn(*RING, "--out", locked / "out")
    assert result.code == 2
    assert "cannot be created" in result.error


def test_an_out_below_a_file(tvgnn, tmp_path):
    (tmp_path / "file").write_text("")
    result = tvgnn(*RING, "--out", "file/out")
    assert result.code == 2
    assert "file/out" in result.error


def test_a_defect_is_no_user_error(tvgnn, monkeypatch):
    def broken(*arguments):
        raise KeyError("a defect")

    monkeypatch.setattr("tvgnn.datasets.load_graph", broken)
    with pytest.raises(KeyError, match="a defect"):
        tvgnn(*RING)


@pytest.mark.parametrize(("end", "code"), [(KeyboardInterrupt(), 130), (SystemExit(129), 129), (None, None)])
def test_an_interruption_that_python_wraps_while_a_class_is_made(tvgnn, monkeypatch, end, code):
    def interrupted(*arguments):
        raise RuntimeError("Error calling __set_name__") from end

    monkeypatch.setattr("tvgnn.datasets.load_graph", interrupted)
    if code is None:
        with pytest.raises(RuntimeError, match="__set_name__"):
            tvgnn(*RING)
    else:
        assert tvgnn(*RING).code == code


def test_out_of_memory_is_one_line(tvgnn, monkeypatch):
    def greedy(*arguments):
        raise MemoryError("Unable to allocate 2 TiB")

    monkeypatch.setattr("tvgnn.datasets.load_graph", greedy)
    result = tvgnn(*RING)
    assert result.code == 2
    assert "out of memory: Unable to allocate 2 TiB" in result.error
