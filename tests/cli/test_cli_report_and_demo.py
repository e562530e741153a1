"""``tvgnn report`` and ``tvgnn demo``."""

import errno
import importlib.util
import json
import os
from pathlib import Path

import matplotlib.image
import pytest
from cli_cases import SMALL

from tvgnn.io.run_folder import RUN_FILES

RING = ("cluster", "--dataset", "ring", "-k", "3", "--out", "out", *SMALL)


def metrics_of(output):
    return output[: output.index("wrote ")]


def test_report_prints_the_metrics_and_draws_a_figure(tvgnn, tmp_path):
    written = tvgnn(*RING).out
    assert "tvgnn report out" in written
    result = tvgnn("report", "out", "--no-html")
    assert result.code == 0, result.err
    assert metrics_of(result.out) == metrics_of(written)
    assert not (tmp_path / "out/report.html").exists()
    height, width = matplotlib.image.imread(tmp_path / "out/figure.png").shape[:2]
    assert width > height > 300


def test_report_draws_where_it_is_told(tvgnn, tmp_path):
    tvgnn(*RING)
    result = tvgnn("report", "out", "--figure", "picture.svg", "--no-html")
    assert result.code == 0, result.err
    assert (tmp_path / "picture.svg").read_text().startswith("<?xml")
    assert not (tmp_path / "out/figure.png").exists()


def test_report_writes_a_page(tvgnn, tmp_path):
    tvgnn(*RING)
    result = tvgnn("report", "out", "--map", "pca")
    assert result.code == 0, result.err
    assert "wrote out/report.html; open it in a browser" in result.out
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert "<h1>ring</h1>" in page
    assert '"name":"positions"' in page  # the ring knows where its nodes are
    tvgnn("report", "out", "--map", "pca", "--html", "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page


def test_page_knows_ids_classes_and_features_of_files(tvgnn, files):
    inputs = ("--edges", "edges.csv", "--features", "features.csv", "--labels", "labels.csv")
    assert tvgnn("cluster", *inputs, "--out", "out", *SMALL).code == 0
    assert tvgnn("report", "out", "--map", "pca").code == 0
    page = (files / "out/report.html").read_text(encoding="utf-8")
    for text in ('title="p7"', '<span class="name">left</span>', "<b>a</b>"):
        assert text in page


def test_page_of_digits_shows_images(tvgnn, tmp_path):
    tvgnn("cluster", "--dataset", "digits", "--out", "out", *SMALL)
    assert tvgnn("report", "out", "--map", "pca").code == 0
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert 'class="tile"' in page
    assert '"picture":{"kind":"tiles","height":8,"width":8}' in page


def test_report_refuses_both_a_page_and_none(tvgnn):
    tvgnn(*RING)
    assert "--no-html" in tvgnn("report", "out", "--html", "a.html", "--no-html").error


def test_report_refuses_a_damaged_context(tvgnn, tmp_path):
    tvgnn(*RING)
    (tmp_path / "out/context.safetensors").write_bytes(b"damaged")
    result = tvgnn("report", "out", "--map", "pca")
    assert result.code == 2
    assert "context.safetensors" in result.error


def test_report_refuses_a_format_that_cannot_be_drawn(tvgnn):
    tvgnn(*RING)
    assert "picture.abc" in tvgnn("report", "out", "--figure", "picture.abc").error


@pytest.mark.parametrize("text", ["{", "[1]", ""], ids=["cut", "list", "empty"])
def test_report_refuses_damaged_metrics(tvgnn, tmp_path, text):
    tvgnn(*RING)
    (tmp_path / "out/metrics.json").write_text(text)
    result = tvgnn("report", "out")
    assert result.code == 2
    assert "out/metrics.json" in result.error


def test_report_refuses_a_folder_without_its_model(tvgnn, tmp_path):
    tvgnn(*RING)
    (tmp_path / "out/model.safetensors").unlink()
    result = tvgnn("report", "out")
    assert result.code == 2
    assert "model.safetensors" in result.error


def written(folder):
    """Names of all files below a folder, with the time that each was changed."""
    return {file: file.stat().st_mtime_ns for file in folder.rglob("*")}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--html", "nope/page.html"), "nope/page.html: its folder does not exist"),
        (("--figure", "nope/a.png"), "nope/a.png: its folder does not exist"),
        (("--html", "out"), "out: expected the name of a file, got a folder"),
        (("--figure", "folder.png"), "folder.png: expected the name of a file, got a folder"),
        (("--html", "pipe"), "pipe: expected the name of a file, got something that is none"),
        (("--figure", "a.svg", "--html", "./a.svg"), "--figure and --html to be two files"),
        (("--figure", "a.txt"), "a.txt: expected a file name that ends in .png, .pdf, .svg"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_report_refuses_targets_before_anything_is_written(tvgnn, tmp_path, options, message):
    tvgnn(*RING)
    (tmp_path / "folder.png").mkdir()
    os.mkfifo(tmp_path / "pipe")
    before = written(tmp_path)
    result = tvgnn("report", "out", "--map", "pca", *options)
    assert result.code == 2
    assert message in result.error
    assert result.out == ""
    assert written(tmp_path) == before


def test_report_asks_for_umap_before_anything_is_written(tvgnn, tmp_path, monkeypatch):
    tvgnn(*RING)
    before = written(tmp_path)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    result = tvgnn("report", "out", "--map", "umap")
    assert result.code == 2
    assert "pip install 'tvgnn[viz]'" in result.error
    assert result.out == ""
    assert written(tmp_path) == before


@pytest.mark.parametrize("target", ["figure", "page"])
def test_report_leaves_what_is_there_on_a_full_disk(tvgnn, tmp_path, monkeypatch, target):
    tvgnn(*RING)
    (tmp_path / "a.png").write_text("old figure")
    (tmp_path / "a.html").write_text("old page")

    def full(path, *rest):
        path.write_text("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if target == "figure":
        monkeypatch.setattr("tvgnn.report.figures.save_figure", lambda figure, path: full(path))
    else:
        monkeypatch.setattr(Path, "write_bytes", full)
    result = tvgnn("report", "out", "--map", "pca", "--figure", "a.png", "--html", "a.html")
    assert result.code == 2
    assert "could not be written: No space left on device" in result.error
    assert (tmp_path / "a.html").read_text() == "old page"
    assert (target == "page") or (tmp_path / "a.png").read_text() == "old figure"
    assert {file.name for file in tmp_path.iterdir()} == {"out", "a.png", "a.html"}


@pytest.mark.parametrize(
    "change",
    [{"acc": None}, {"notes": None}, {"versions": None}, {"nmi": None, "acc": None}, {"peak_rss_bytes": None}],
    ids=str,
)
def test_report_does_without_what_metrics_lack(tvgnn, tmp_path, change):
    tvgnn(*RING)
    file = tmp_path / "out/metrics.json"
    metrics = json.loads(file.read_text())
    for entries in (metrics | change, {key: value for key, value in metrics.items() if key not in change}):
        file.write_text(json.dumps(entries))
        result = tvgnn("report", "out", "--map", "pca")
        assert result.code == 0, result.err


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("versions", ["torch"]),
        ("notes", "text"),
        ("notes", 3),
        ("nmi", "high"),
        ("epochs", True),
        ("cluster_sizes", 5),
        ("cluster_sizes", []),
        ("cluster_sizes", [1, "2"]),
        ("converged", "yes"),
        ("n_test", 5),
        ("loss", float("nan")),
    ],
)
def test_report_names_the_metric_that_is_none(tvgnn, tmp_path, key, value):
    tvgnn(*RING)
    file = tmp_path / "out/metrics.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {key: value}))
    before = written(tmp_path)
    result = tvgnn("report", "out", "--map", "pca")
    assert result.code == 2
    assert "out/metrics.json: expected" in result.error
    assert key in result.error
    assert written(tmp_path) == before


def test_demo_compares_the_methods_and_draws_a_figure(tvgnn, tmp_path, monkeypatch):
    monkeypatch.setattr("tvgnn.cli.demo._STARTS", 1)
    monkeypatch.setattr("tvgnn.cli.demo._SETTINGS", {"max_iter": 2, "hidden_channels": 8, "mlp_channels": 8})
    monkeypatch.setattr("tvgnn.cli.demo._MAP", "pca")
    result = tvgnn("demo", "--out", "demo")
    assert result.code == 0, result.err
    for text in ("TVGNN", "k-means", "spectral", "NMI", "accuracy", "demo/figure.png", "demo/report.html"):
        assert text in result.out
    names = {file.name for file in (tmp_path / "demo").iterdir()}
    assert names >= {"labels.csv", "metrics.json", "comparison.json", "figure.png", "report.html", "model.json"}
    assert names <= RUN_FILES, "--overwrite would refuse the folder"
    rows = json.loads((tmp_path / "demo/comparison.json").read_text())["rows"]
    assert [row["method"] for row in rows] == ["TVGNN", "k-means (features)", "spectral (graph)"]
    assert 0.5 < rows[1]["nmi"] < 1
    assert tvgnn("demo", "--out", "demo").code == 2
