"""Edges, features and labels from parquet files, as pandas and pyarrow write them."""

import sys

import numpy as np
import pandas as pd
import pytest

from tvgnn.errors import DataError
from tvgnn.io.edges import read_edges
from tvgnn.io.graph_files import read_graph, read_nodes


@pytest.fixture
def files(tmp_path):
    """Write the edges, features and labels of three people, one of them without edges."""
    pd.DataFrame({"from": ["ann", "007"], "to": ["007", "ann"], "weight": [0.5, 1.5]}).to_parquet(
        tmp_path / "edges.parquet"
    )
    features = pd.DataFrame({"age": [3.5, 4, 5], "size": [1, 2, 3]}, index=pd.Index(["007", "ann", "zoe"], name="who"))
    features.to_parquet(tmp_path / "features.parquet")
    pd.DataFrame({"id": ["zoe", "ann"], "label": ["x", None]}).to_parquet(tmp_path / "labels.parquet", index=False)
    return tmp_path


def test_a_graph_from_three_files(files):
    graph = read_graph(files / "edges.parquet", files / "features.parquet", files / "labels.parquet")
    assert graph.node_ids == ("007", "ann", "zoe")
    assert graph.x.tolist() == [[3.5, 1], [4, 2], [5, 3]]
    assert graph.adjacency().toarray().tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert (graph.class_names, graph.y.tolist()) == (("x",), [-1, -1, 0])
    assert read_nodes(files / "features.parquet").num_nodes == 3


def test_integers_stay_integers(tmp_path):
    pd.DataFrame({"source": [5, 7], "target": [7, 9], "w": np.float32([0.5, 0.25])}).to_parquet(tmp_path / "e.parquet")
    edges = read_edges(tmp_path / "e.parquet")
    assert (edges.source, edges.target, edges.weight.tolist()) == ([5, 7], [7, 9], [0.5, 0.25])
    assert read_edges(tmp_path / "e.parquet", weight_column=None).weight is None


def test_an_index_without_a_name_is_neither_an_id_nor_an_end(tmp_path):
    rows = [4, 2, 9]
    pd.DataFrame({"who": ["a", "b", "c"], "whom": ["b", "c", "a"]}, index=rows).to_parquet(tmp_path / "e.parquet")
    pd.DataFrame({"size": [1.5, 2, 3], "id": ["a", "b", "c"]}, index=rows).to_parquet(tmp_path / "x.parquet")
    pd.DataFrame({"id": ["a", "b", "c"], "class": [1, 1, 2]}, index=rows).to_parquet(tmp_path / "y.parquet")
    edges = read_edges(tmp_path / "e.parquet")
    assert (edges.source, edges.target, edges.notes) == (["a", "b", "c"], ["b", "c", "a"], ())
    graph = read_graph(tmp_path / "e.parquet", tmp_path / "x.parquet", tmp_path / "y.parquet")
    assert (graph.node_ids, graph.x.ravel().tolist()) == (("a", "b", "c"), [1.5, 2, 3])
    assert graph.y.tolist() == [0, 0, 1]
    assert "node ids: the column 'id' of x.parquet" in graph.report.notes
    assert "left out of x.parquet, as numbers of its rows: '__index_level_0__'" in graph.report.notes
    assert read_nodes(tmp_path / "x.parquet").node_ids == ("a", "b", "c")


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"u": ["a", "b"], "v": ["b", None]}, "line 2: expected two node ids, one is empty"),
        ({"u": ["a", "b"], "v": ["b", "c"], "weight": [1, np.nan]}, "line 2: expected a finite non-negative weight"),
        ({"u": ["a"]}, "at least two columns"),
        ({"u": [], "v": []}, "rows of data"),
    ],
)
def test_bad_rows_are_named(tmp_path, frame, message):
    pd.DataFrame(frame).to_parquet(tmp_path / "e.parquet", index=False)
    with pytest.raises(DataError, match=message):
        read_edges(tmp_path / "e.parquet")


def test_a_damaged_file(tmp_path):
    (tmp_path / "e.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(DataError, match="not readable as parquet"):
        read_edges(tmp_path / "e.parquet")


def test_the_missing_extra_is_named(files, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match=r"pip install 'tvgnn\[parquet\]'"):
        read_edges(files / "edges.parquet")


def test_truth_is_a_number_of_features_and_a_word_of_labels(tmp_path):
    frame = pd.DataFrame({"id": ["a", "b"], "flag": [True, False]})
    frame.assign(size=[1.5, 2]).to_parquet(tmp_path / "x.parquet", index=False)
    frame.to_parquet(tmp_path / "y.parquet", index=False)
    graph = read_nodes(tmp_path / "x.parquet", tmp_path / "y.parquet")
    assert graph.x.tolist() == [[1, 1.5], [0, 2]]
    assert graph.class_names == ("False", "True")
