"""``tvgnn report`` and ``tvgnn demo``."""

import json

import matplotlib.image
import pytest
from cli_cases import SMALL

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
    rows = json.loads((tmp_path / "demo/comparison.json").read_text())["rows"]
    assert [row["method"] for row in rows] == ["TVGNN", "k-means (features)", "spectral (graph)"]
    assert 0.5 < rows[1]["nmi"] < 1
    assert tvgnn("demo", "--out", "demo").code == 2
