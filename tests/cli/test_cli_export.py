"""``tvgnn export``: from run folders of every kind of input to files of other programs."""

import csv
import json
import sys

import anndata
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from cli_cases import SMALL, clique_edges
from pyarrow import parquet

from tvgnn import TVClustering
from tvgnn.colors import COLORS
from tvgnn.datasets import simulate_tissue
from tvgnn.io.h5ad import write_h5ad
from tvgnn.io.run_input import INPUT_FILE


def rows_of(file):
    with file.open(encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


@pytest.fixture
def run(tvgnn, files):
    """Cluster the two cliques of the ``files`` into ``out``."""
    result = tvgnn("cluster", "--edges", "edges.csv", "--features", "features.csv", "--labels", "labels.csv", "-k", "2",
                   "--out", "out", *SMALL)  # fmt: skip
    assert result.code == 0, result.err
    return files


@pytest.fixture
def graphml(tvgnn, tmp_path):
    """Cluster a GraphML file with attributes of its own into ``out``."""
    graph = nx.Graph([(f"p {i}", f"p {j}", {"since": 1900 + i}) for i, j in clique_edges().tolist()])
    for row, name in enumerate(graph):
        graph.nodes[name].update(age=row, cluster="old")
    nx.write_graphml(graph, tmp_path / "in.graphml")
    result = tvgnn("cluster", "--edges", "in.graphml", "--node-attributes", "age", "-k", "2", "--out", "out", *SMALL)
    assert result.code == 0, result.err
    return graph


def test_every_format_says_the_same(tvgnn, run):
    formats = ("graphml", "gexf", "csv", "tsv", "parquet", "h5ad")
    result = tvgnn("export", "out", *(f"r.{suffix}" for suffix in formats))
    assert result.code == 0, result.err
    assert result.out.splitlines() == [f"wrote r.{suffix}" for suffix in formats]
    expected = [(row["node_id"], row["cluster"]) for row in rows_of(run / "out/labels.csv")]
    table = rows_of(run / "r.csv")
    assert [(row["node_id"], row["cluster"]) for row in table] == expected
    assert [row["class"] for row in table] == ["left"] * 5 + ["right"] * 5
    for read, suffix in ((nx.read_graphml, "graphml"), (nx.read_gexf, "gexf")):
        back = read(run / f"r.{suffix}")
        assert [(name, data["cluster"]) for name, data in back.nodes(data=True)] == expected
        assert [str(data["confidence"]) for _, data in back.nodes(data=True)] == [row["confidence"] for row in table]
        assert back.nodes["p0"]["class"] == "left"
        assert back.number_of_edges() == 21
    columns = parquet.read_table(run / "r.parquet").to_pydict()
    assert list(zip(columns["node_id"], map(str, columns["cluster"]), strict=True)) == expected
    adata = anndata.read_h5ad(run / "r.h5ad")
    assert list(zip(adata.obs_names, adata.obs["tvgnn"], strict=True)) == expected
    assert adata.obs["class"].tolist() == ["left"] * 5 + ["right"] * 5
    assert adata.obsm["tvgnn"].shape == (10, 2)
    assert list(adata.var_names) == ["a", "b"]
    assert adata.obsp["connectivities"].nnz == 42


def test_soft_assignments_on_demand(tvgnn, run):
    assert tvgnn("export", "out", "r.csv", "r.gexf", "--assignments").code == 0
    soft = np.load(run / "out/assignments.npz")["assignments"]
    found = [[row["p_0"], row["p_1"]] for row in rows_of(run / "r.csv")]
    assert np.array_equal(np.float32(found), soft)
    data = nx.read_gexf(run / "r.gexf").nodes
    assert np.array_equal(np.float32([[data[f"p{i}"][f"p_{k}"] for k in (0, 1)] for i in range(10)]), soft)


@pytest.mark.parametrize("soft", [False, True])
def test_clusters_as_nodes(tvgnn, run, soft):
    result = tvgnn("export", "out", "c.graphml", "c.gexf", "c.csv", "--coarsened", *(["--soft"] if soft else []))
    assert result.code == 0, result.err
    s = np.load(run / "out/assignments.npz")["assignments"].astype(np.float64)
    s = s if soft else np.eye(2)[s.argmax(axis=1)]
    adjacency = np.zeros((10, 10))
    adjacency[tuple(clique_edges().T)] = 1
    expected = s.T @ (adjacency + adjacency.T) @ s
    for read, suffix in ((nx.read_graphml, "graphml"), (nx.read_gexf, "gexf")):
        back = read(run / f"c.{suffix}")
        np.testing.assert_allclose(nx.to_numpy_array(back, nodelist=["0", "1"]), expected)
        np.testing.assert_allclose([back.nodes[name]["members"] for name in "01"], s.sum(axis=0))
    rows = {(row["source"], row["target"]): float(row["weight"]) for row in rows_of(run / "c.csv")}
    np.testing.assert_allclose(rows["0", "0"], expected[0, 0])


def test_a_graphml_file_gets_the_clusters_added(tvgnn, tmp_path, graphml):
    result = tvgnn("export", "out", "r.graphml", "r.gexf")
    assert result.code == 0, result.err
    assert result.err.count("the attribute is called tvgnn_cluster") == 1
    back = nx.read_graphml(tmp_path / "r.graphml")
    assert list(back.edges(data=True)) == list(graphml.edges(data=True))
    expected = {row["node_id"]: row["cluster"] for row in rows_of(tmp_path / "out/labels.csv")}
    for name, data in graphml.nodes(data=True):
        ours = back.nodes[name]
        assert {key: ours[key] for key in data} == data
        assert ours["tvgnn_cluster"] == expected[name]
        assert "#{r:02x}{g:02x}{b:02x}".format(**ours) == COLORS[int(expected[name])]
    assert nx.read_gexf(tmp_path / "r.gexf").edges["p 0", "p 1"]["since"] == 1900


def test_what_the_result_is_made_of_is_never_overwritten(tvgnn, tmp_path, graphml):
    clustered, labels = (tmp_path / "in.graphml").read_bytes(), (tmp_path / "out/labels.csv").read_bytes()
    for option in ((), ("--plain",), ("--coarsened",)):
        refused = tvgnn("export", "out", "r.graphml", "./in.graphml", "--overwrite", *option)
        assert refused.error.endswith(
            "in.graphml: is the file that was clustered and is not overwritten; choose another name"
        )
    assert "is a file of the run" in tvgnn("export", "out", "out/labels.csv", "--overwrite").error
    (tmp_path / "in.graphml").rename(tmp_path / "copy.graphml")
    given = ("export", "out", "copy.graphml", "--overwrite", "--source", "copy.graphml")
    assert "is the file that was clustered" in tvgnn(*given).error
    assert (tmp_path / "copy.graphml").read_bytes() == clustered
    assert (tmp_path / "out/labels.csv").read_bytes() == labels
    assert not (tmp_path / "r.graphml").exists()


def test_a_clustered_file_that_changed_or_is_gone(tvgnn, tmp_path, graphml):
    (tmp_path / "in.graphml").rename(tmp_path / "moved.graphml")
    gone = tvgnn("export", "out", "r.graphml")
    assert gone.code == 2
    assert "in.graphml: the file that this run clustered is gone; name a copy of it by --source FILE" in gone.error
    assert tvgnn("export", "out", "r.graphml", "--source", "moved.graphml").code == 0
    assert nx.read_graphml(tmp_path / "r.graphml").nodes["p 3"]["age"] == 3
    assert tvgnn("export", "out", "plain.graphml", "--plain").code == 0
    assert "age" not in nx.read_graphml(tmp_path / "plain.graphml").nodes["p 3"]
    (tmp_path / "in.graphml").write_text("<graphml/>")
    changed = tvgnn("export", "out", "s.graphml")
    assert "the file has changed since this run clustered it" in changed.error
    assert not (tmp_path / "s.graphml").exists()
    assert tvgnn("export", "out", "s.csv").code == 0  # needs nothing of it


def test_a_gexf_file_is_clustered_and_coloured(tvgnn, tmp_path):
    graph = nx.Graph([(i, j, {"weight": 0.5}) for i, j in clique_edges().tolist()])
    nx.set_node_attributes(graph, {name: name / 2 for name in graph}, "age")
    nx.write_gexf(graph, tmp_path / "in.gexf")
    result = tvgnn("cluster", "--edges", "in.gexf", "--node-attributes", "age", "-k", "2", "--out", "out", *SMALL)
    assert result.code == 0, result.err
    assert tvgnn("export", "out", "r.gexf").code == 0
    back = nx.read_gexf(tmp_path / "r.gexf")
    assert back.nodes["3"]["age"] == 1.5
    assert back.edges["0", "1"]["weight"] == 0.5
    assert {"color"} <= back.nodes["3"]["viz"].keys()


def test_features_only(tvgnn, files):
    assert tvgnn("cluster", "--features", "features.csv", "-k", "2", "--n-neighbors", "3", "--out", "out",
                 *SMALL).code == 0  # fmt: skip
    result = tvgnn("export", "out", "r.gexf", "r.parquet", "r.h5ad")
    assert result.code == 0, result.err
    n_edges = json.loads((files / "out/metrics.json").read_text())["n_edges"]
    assert nx.read_gexf(files / "r.gexf").number_of_edges() == n_edges
    assert not (files / "out" / INPUT_FILE).exists()


def test_a_dataset_with_positions(tvgnn, tmp_path):
    assert tvgnn("cluster", "--dataset", "ring", "-k", "3", "--out", "out", *SMALL).code == 0
    result = tvgnn("export", "out", "r.graphml", "r.gexf", "r.h5ad")
    assert result.code == 0, result.err
    data = nx.read_graphml(tmp_path / "r.graphml").nodes
    np.testing.assert_allclose([data[name]["x"] ** 2 + data[name]["y"] ** 2 for name in data], 1, rtol=1e-4)
    assert "position" in nx.read_gexf(tmp_path / "r.gexf").nodes["0"]["viz"]
    positions = anndata.read_h5ad(tmp_path / "r.h5ad").obsm["spatial"]
    np.testing.assert_allclose(positions, [[data[name]["x"], -data[name]["y"]] for name in data], rtol=1e-6)
    assert tvgnn("export", "out", "c.gexf", "--coarsened").code == 0
    assert set(nx.read_gexf(tmp_path / "c.gexf")) == {"0", "1", "2"}


def test_cells(tvgnn, tmp_path):
    cells = simulate_tissue(60, n_features=4, n_domains=3).to_anndata()
    cells.obs["slide"] = pd.Categorical(["a"] * 60)
    write_h5ad(tmp_path / "in.h5ad", cells)
    result = tvgnn("cluster", "--h5ad", "in.h5ad", "--spatial-key", "spatial", "-k", "3", "--out", "out",
                   "--write-h5ad", "direct.h5ad", *SMALL)  # fmt: skip
    assert result.code == 0, result.err
    result = tvgnn("export", "out", "r.h5ad", "r.gexf")
    assert result.code == 0, result.err
    direct, later = (anndata.read_h5ad(tmp_path / name) for name in ("direct.h5ad", "r.h5ad"))
    assert later.obs.equals(direct.obs)
    assert np.array_equal(later.obsm["tvgnn"], direct.obsm["tvgnn"])
    params = later.uns["tvgnn"]["params"]
    assert params["spatial_key"] == "spatial"
    assert set(params) == set(direct.uns["tvgnn"]["params"])
    assert list(nx.read_gexf(tmp_path / "r.gexf")) == list(cells.obs_names)
    write_h5ad(tmp_path / "other.h5ad", cells[::-1].copy())
    assert "the cells that were clustered" in tvgnn("export", "out", "s.h5ad", "--source", "other.h5ad").error


def test_embeddings(tvgnn, run):
    result = tvgnn("export", "out", "r.csv", "r.parquet", "r.h5ad", "--embedding")
    assert result.code == 0, result.err
    expected = TVClustering.load(run / "out").embedding_
    names = [f"e_{number}" for number in range(expected.shape[1])]
    table = pd.read_csv(run / "r.csv")
    assert list(table) == ["node_id", "cluster", "confidence", "class", *names]
    np.testing.assert_array_equal(table[names].to_numpy(np.float32), expected)
    np.testing.assert_array_equal(parquet.read_table(run / "r.parquet").to_pandas()[names], table[names])
    np.testing.assert_array_equal(anndata.read_h5ad(run / "r.h5ad").obsm["X_tvgnn"], expected)
    for files in (["s.gexf"], ["s.csv", "s.graphml"], ["c.csv", "--coarsened"]):
        assert "--embedding" in tvgnn("export", "out", *files, "--embedding").error
    assert not list(run.glob("[cs].*"))


def test_hostile_ids(tvgnn, tmp_path):
    names = ["<img src=x onerror=alert(1)>", "a & b", "007", "Zoë", *(f"p{i}" for i in range(6))]
    text = "".join(f"{names[i]}\t{names[j]}\n" for i, j in clique_edges())
    (tmp_path / "edges.tsv").write_text(text, encoding="utf-8")
    cluster = ("cluster", "--edges", "edges.tsv", "--structural-features", "degree", "-k", "2", *SMALL)
    assert tvgnn(*cluster, "--out", "out").code == 0
    assert tvgnn("export", "out", "r.graphml", "r.gexf").code == 0
    assert set(nx.read_graphml(tmp_path / "r.graphml")) == set(nx.read_gexf(tmp_path / "r.gexf")) == set(names)
    (tmp_path / "edges.tsv").write_text(text.replace("007", "0\x1b7"), encoding="utf-8")
    assert tvgnn(*cluster, "--out", "bad").code == 0
    result = tvgnn("export", "bad", "ok.csv", "s.gexf")
    assert result.code == 2
    assert r"the node id '0\x1b7' has the character '\x1b', which XML cannot hold" in result.error
    assert not list(tmp_path.glob("*ok*"))  # all files or none
    assert not list(tmp_path.glob("*.gexf*"))[1:]


def test_existing_files(tvgnn, run):
    (run / "r.csv").write_text("mine")
    refused = tvgnn("export", "out", "new.csv", "r.csv")
    assert refused.code == 2
    assert refused.error == "error: r.csv: the file exists; choose another name, or replace it (--overwrite)"
    assert (run / "r.csv").read_text() == "mine"
    assert not (run / "new.csv").exists()
    assert tvgnn("export", "out", "new.csv", "r.csv", "--overwrite").code == 0
    assert len(rows_of(run / "r.csv")) == 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("out", "r.gml"), "endings .graphml, .gexf, .h5ad, .csv, .tsv, .parquet, got .gml"),
        (("out", "r"), "got none"),
        (("out", "r.h5ad", "--coarsened"), "endings .graphml, .gexf, .csv, .tsv, .parquet, got .h5ad"),
        (("out", "r.csv", "./r.csv"), "got one twice"),
        (("out", "r.csv", "--soft"), "--soft needs --coarsened"),
        (("out", "r.csv", "--coarsened", "--plain"), "leave out"),
        (("out", "r.gexf", "--source", "in.gexf", "--plain"), "got both"),
        (("out", "r.csv", "--plain"), "tables hold nothing of the input file"),
        (("out", "r.gexf", "--source", "in.h5ad"), "expected --source to be .graphml or .gexf"),
        (("out", "r.gexf", "--source", "in.gexf"), "there is no such file"),
        (("out", "none/r.gexf"), "its folder does not exist"),
        (("nowhere", "r.gexf"), "expected a run folder"),
        (("out",), "Missing argument"),
    ],
)
def test_mistakes(tvgnn, run, arguments, message):
    result = tvgnn("export", *arguments)
    assert result.code == 2
    assert message in result.error


def test_the_missing_extra_for_h5ad_is_named(tvgnn, run, monkeypatch):
    monkeypatch.setitem(sys.modules, "anndata", None)
    result = tvgnn("export", "out", "r.h5ad")
    assert result.code == 2
    assert "pip install 'tvgnn[bio]'" in result.error
    assert not list(run.glob("*.h5ad"))


def test_a_classification_has_no_clusters(tvgnn, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/metrics.json").write_text('{"task": "classification"}')
    assert "expected a clustering, got a classification" in tvgnn("export", "out", "r.csv").error
