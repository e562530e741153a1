"""Clusters in CSV, TSV and parquet."""

import csv
import sys

import numpy as np
import pytest
from pyarrow import parquet

from tvgnn import Graph
from tvgnn.errors import DataError
from tvgnn.io.table_export import write_node_table, write_table

IDS = ["<img src=x onerror=alert(1)>", "a,b", "007", 'say "hi"', "two\nlines", "tab\there", "\x01", "漢"]


@pytest.fixture
def graph():
    return Graph.from_edges(IDS[:-2], IDS[1:-1], node_ids=IDS, y=["u", None, "v", "u", "u", "u", "v", "u"])


@pytest.mark.parametrize(("suffix", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_text_reads_back(tmp_path, graph, suffix, delimiter):
    assignments = np.array([[0.25, 0.75]] * 8, dtype=np.float32)
    write_node_table(tmp_path / f"out.{suffix}", graph, [1] * 8, confidence=[0.1] * 8, assignments=assignments)
    with (tmp_path / f"out.{suffix}").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter=delimiter))
    assert rows[0] == ["node_id", "cluster", "confidence", "class", "p_0", "p_1"]
    assert [row[0] for row in rows[1:]] == IDS
    assert rows[2][1:] == ["1", "0.1", "", "0.25", "0.75"]


def test_parquet_reads_back_with_types(tmp_path, graph):
    write_node_table(tmp_path / "out.parquet", graph, np.arange(8), confidence=np.float32([0.1] * 8))
    table = parquet.read_table(tmp_path / "out.parquet")
    assert table.column_names == ["node_id", "cluster", "confidence", "class"]
    assert table["node_id"].to_pylist() == IDS
    assert table["cluster"].to_pylist() == list(range(8))
    assert table["confidence"].to_pylist() == [0.1] * 8
    assert table["class"].to_pylist() == ["u", None, "v", "u", "u", "u", "v", "u"]


def test_parquet_columns_have_one_type(tmp_path):
    write_table(tmp_path / "out.parquet", {"mixed": [1, "a"], "big": [1, 2**70], "plain": [1, None]})
    columns = parquet.read_table(tmp_path / "out.parquet").to_pydict()
    assert columns == {"mixed": ["1", "a"], "big": ["1", str(2**70)], "plain": [1, None]}


def test_the_missing_extra_is_named(tmp_path, graph, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match=r"pip install 'tvgnn\[parquet\]'"):
        write_node_table(tmp_path / "out.parquet", graph, [0] * 8)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_an_existing_file_is_refused_unless_told_otherwise(tmp_path, graph, suffix):
    file = tmp_path / f"out.{suffix}"
    file.write_text("mine")
    with pytest.raises(DataError, match="exists"):
        write_node_table(file, graph, [0] * 8)
    assert file.read_text() == "mine"
    write_node_table(file, graph, [0] * 8, overwrite=True)
    assert file.read_bytes() != b"mine"


def test_unknown_ending(tmp_path, graph):
    with pytest.raises(DataError, match=r"endings \.csv, \.tsv, \.parquet, got \.xlsx"):
        write_node_table(tmp_path / "out.xlsx", graph, [0] * 8)
