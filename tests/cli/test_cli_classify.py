import csv
import json
from itertools import pairwise

import numpy as np
import pytest

from tvgnn import TVGraphClassifier

QUICK = ("--hidden-channels", "8", "--num-layers", "1", "--max-epochs", "2", "--threads", "1")


@pytest.fixture
def folder(tmp_path):
    """A TU folder of 12 rings and 12 lines of 4 nodes, with node labels."""
    target = tmp_path / "SHAPES"
    target.mkdir()
    edges, indicator, labels = [], [], []
    for graph in range(24):
        first = 4 * graph + 1
        nodes = [first, first + 1, first + 2, first + 3]
        pairs = list(pairwise(nodes)) + ([(nodes[3], nodes[0])] if graph % 2 else [])
        edges += [f"{a}, {b}\n{b}, {a}\n" for a, b in pairs]
        indicator += [f"{graph + 1}\n"] * 4
        labels.append(f"{graph % 2}\n")
    for name, lines in (("A", edges), ("graph_indicator", indicator), ("graph_labels", labels)):
        (target / f"SHAPES_{name}.txt").write_text("".join(lines))
    return target


def test_a_folder_in_and_a_run_folder_out(tvgnn, folder, tmp_path):
    result = tvgnn("classify", "--data", folder, "--out", "run", *QUICK)
    assert result.code == 0, result.err
    run = tmp_path / "run"
    assert sorted(path.name for path in run.iterdir()) == [
        "metrics.json",
        "model.json",
        "model.safetensors",
        "predictions.csv",
    ]
    assert tvgnn("classify", "--data", folder, "--out", "run", *QUICK, "--overwrite").code == 0
    refused = tvgnn("classify", "--data", folder, "--out", folder, *QUICK, "--overwrite")
    assert "because this run reads it" in refused.error
    metrics = json.loads((run / "metrics.json").read_text())
    assert (metrics["dataset"], metrics["method"], metrics["n_graphs"]) == ("SHAPES", "tvgnn", 24)
    assert metrics["n_train"] + metrics["n_validation"] + metrics["n_test"] == 24
    with (run / "predictions.csv").open() as file:
        rows = list(csv.DictReader(file))
    test = [row for row in rows if row["part"] == "test"]
    assert len(test) == metrics["n_test"] == 5
    assert metrics["test_accuracy"] == pytest.approx(np.mean([row["label"] == row["predicted"] for row in test]))
    assert [one["file"] for one in metrics["inputs"]] == [
        f"SHAPES_{kind}.txt" for kind in ("A", "graph_indicator", "graph_labels")
    ]
    assert {len(one["sha256"]) for one in metrics["inputs"]} == {64}
    assert metrics["notes"], "the cap of the one-hot degrees is recorded"
    assert TVGraphClassifier.load(run).classes_.tolist() == [0, 1]
    shown = tvgnn("report", "run")
    assert shown.code == 0
    assert "test accuracy" in shown.out
    assert "expected --figure with a clustering" in tvgnn("report", "run", "--figure", "f.png").error


@pytest.mark.parametrize("pooling", ["mincut", "topk"])
def test_other_poolings(tvgnn, folder, pooling):
    result = tvgnn("classify", "--data", folder, "--pooling", pooling, "--quiet", *QUICK)
    assert (result.code, result.out) == (0, "")


@pytest.mark.real_data("mutag")
def test_a_public_set_takes_its_own_settings(tvgnn, mirror, tmp_path):
    result = tvgnn("classify", "--dataset", "MUTAG", "--mirror", mirror, "--out", "run", "--max-epochs", "1")
    assert result.code == 0, result.err
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert (metrics["preset"], metrics["n_graphs"], metrics["n_features"]) == ("mutag", 135, 7)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "got neither"),
        (("--dataset", "mutag", "--data", "somewhere"), "got both"),
        (("--data", "nowhere"), "nowhere"),
        (("--dataset", "cora"), "Use tvgnn cluster"),
        (("--dataset", "mutagen"), "did you mean"),
        (("--data", "SHAPES", "--test-fraction", "1"), "test-fraction"),
        (("--data", "SHAPES", "--pooling", "max"), "max"),
        (("--data", "SHAPES", "--preset", "cora"), "preset"),
        (("--data", "SHAPES", "--features", "labels"), "labels"),
        (("--data", "SHAPES", "--ratio", "2"), "ratio"),
        (("--data", "SHAPES", "--preset", ""), "preset"),
        (("--data", "SHAPES", "--max-degree", "99999999999999999999"), "max-degree"),
        (("--data", "SHAPES", "--test-fraction", "0.95"), "expected --test-fraction to leave a graph of each class"),
        (("--data", "SHAPES", "--test-fraction", "0.99"), "expected --test-fraction to leave a graph of each class"),
        (("--data", "SHAPES", "--hidden-channels", "100000000"), "GiB"),
    ],
)
def test_mistakes_end_with_one_line(tvgnn, folder, arguments, message):
    result = tvgnn("classify", *arguments)
    assert result.code == 2
    assert message in result.error


def test_nothing_is_left_of_a_failed_run(tvgnn, folder, tmp_path):
    before = sorted(tmp_path.iterdir())
    assert tvgnn("classify", "--data", folder, "--out", "a/b/run", "--learning-rate", "-1").code == 2
    assert sorted(tmp_path.iterdir()) == before


def test_too_few_graphs_of_a_class(tvgnn, folder):
    (folder / "SHAPES_graph_labels.txt").write_text("0\n" * 22 + "1\n" * 2)
    assert "expected at least 2 classes of 3 graphs each" in tvgnn("classify", "--data", folder).error


def test_a_folder_without_classes(tvgnn, folder):
    (folder / "SHAPES_graph_labels.txt").unlink()
    assert "expected a class for every graph, got none" in tvgnn("classify", "--data", folder).error
    (folder / "SHAPES_graph_attributes.txt").write_text("".join(f"{number / 3}\n" for number in range(24)))
    assert tvgnn("classify", "--data", folder).error.endswith("... (24 classes)")


def test_a_graph_without_nodes_and_a_folder_with_another_alphabet(tvgnn, folder, tmp_path):
    (folder / "SHAPES_node_attributes.txt").write_text("".join(f"{number * 0.37}, 0.1\n" for number in range(96)))
    indicator = folder / "SHAPES_graph_indicator.txt"
    lines = [int(line) for line in indicator.read_text().split()]
    indicator.write_text("".join(f"{graph + (graph > 3)}\n" for graph in lines))  # graph 4 has no nodes
    labels = folder / "SHAPES_graph_labels.txt"
    labels.write_text(labels.read_text() + "0\n")
    other = folder.rename(tmp_path / "ünï 日本")
    result = tvgnn("classify", "--data", other, "--out", "Läufe/eins", *QUICK)
    assert result.code == 0, result.err
    assert json.loads((tmp_path / "Läufe" / "eins" / "metrics.json").read_text(encoding="utf-8"))["n_graphs"] == 25


def test_clustering_a_set_of_graphs_is_refused(tvgnn):
    assert "Use tvgnn classify" in tvgnn("cluster", "--dataset", "proteins").error
