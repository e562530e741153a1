"""``tvgnn sweep`` from end to end."""

import csv
import json

import pytest
from cli_cases import SMALL

INPUT = ("sweep", "--edges", "edges.csv", "--features", "features.csv", "--seeds", "2")
FILES = {"records.jsonl", "arrays", "sweep.csv", "labels.csv", "sweep.json", "sweep.png", "sweep.pdf"}


def rows_of(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_sweep_writes_table_labels_and_figure_and_goes_on(tvgnn, files):
    result = tvgnn(*INPUT, "-k", "2:3", "--out", "out", *SMALL)
    assert result.code == 0, result.err
    out = files / "out"
    assert {path.name for path in out.iterdir()} == FILES
    rows = rows_of(out / "sweep.csv")
    assert [row["n_clusters"] for row in rows] == ["2", "3"]
    assert all(sum(map(int, row["sizes"].split())) == 10 for row in rows)
    labels = rows_of(out / "labels.csv")
    assert list(labels[0]) == ["node_id", "k2", "k3"]
    assert [row["node_id"] for row in labels] == [f"p{i}" for i in range(10)]
    summary = json.loads((out / "sweep.json").read_text())
    assert summary["n_clusters"] in (None, 2, 3)
    assert summary["settings"]["preset"] == "quick"
    assert summary["reason"] in " ".join(result.out.split())
    assert "wrote out" in result.out
    assert (out / "sweep.png").stat().st_size > 10_000

    records = (out / "records.jsonl").read_text()
    assert tvgnn(*INPUT, "-k", "2:3", "--out", "out", "--consensus", *SMALL).code == 0
    assert (out / "records.jsonl").read_text() == records
    assert {path.name for path in out.iterdir()} == FILES


def test_quiet_prints_nothing_and_the_folder_is_named_after_the_data(tvgnn, files):
    result = tvgnn(*INPUT, "-k", "2", "--quiet", *SMALL)
    assert (result.code, result.out, result.err) == (0, "", "")
    assert (files / "runs/edges-sweep/sweep.json").exists()


def test_structural_features_are_as_many_as_the_largest_k_needs(tvgnn, files):
    pairs = [(i, (i + step) % 40) for i in range(40) for step in (1, 2)]
    (files / "ring.csv").write_text("".join(f"{i},{j}\n" for i, j in pairs))
    arguments = ("sweep", "--edges", "ring.csv", "--structural-features", "spectral", "--seeds", "2", *SMALL)
    result = tvgnn(*arguments, "-k", "2,20", "--out", "out")
    assert result.code == 0, result.err
    assert "note: features: spectral, dim=20" in result.err
    assert (
        "note: features: spectral, dim=5" in tvgnn(*arguments, "-k", "2,20", "--structural-dim", "5", "--out", "5").err
    )


def test_numbers_of_clusters_are_read_as_a_user_writes_them(tvgnn, files):
    result = tvgnn(*INPUT, "-k", "1:5:2, 4", "--out", "out", *SMALL)
    assert result.code == 0, result.err
    assert [row["n_clusters"] for row in rows_of(files / "out/sweep.csv")] == ["1", "3", "4", "5"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-k", "five"], "2:20, 2:20:2 or 3,5,8, got 'five'"),
        (["-k", "5:2"], "got '5:2'"),
        (["-k", "0:3"], "got '0:3'"),
        (["-k", "2:9:0"], "got '2:9:0'"),
        (["-k", "2:3:4:5"], "got '2:3:4:5'"),
        (["-k", ""], "got ''"),
        (["-k", "2:1000000000000"], "at most 1000 numbers"),
        (["-k", "2:11"], "expected at most one cluster a node, got -k "),
        (["--seeds", "1"], "--seeds"),
        (["--jobs", "9999"], "--jobs to be at most"),
        (["-k", "2", "--preset", "mine"], "preset to be one of paper, quick"),
        (["--dataset", "ring"], "got --dataset and --edges"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_nothing(tvgnn, files, arguments, says):
    result = tvgnn(*INPUT, "--out", "out", *arguments)
    assert result.code == 2
    assert says in result.error
    assert not (files / "out").exists()


def test_a_folder_of_something_else_is_left_alone(tvgnn, files):
    (files / "mine").mkdir()
    (files / "mine/thesis.tex").write_text("years of work")
    result = tvgnn(*INPUT, "-k", "2", "--out", "mine", *SMALL)
    assert result.code == 2
    assert "it is no sweep" in result.error
    assert [path.name for path in (files / "mine").iterdir()] == ["thesis.tex"]
