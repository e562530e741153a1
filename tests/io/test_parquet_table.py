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
