"""Every example runs on a small setting and shows what it says that it shows."""

import importlib.util
import sys
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "examples"
TESTED = {
    "cluster_documents",
    "point_cloud",
    "pooling_in_pyg",
    "segment_photograph",
    "semi_supervised_nodes",
    "spatial_omics",
}


def load(name, monkeypatch):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def example(monkeypatch, tmp_path, pyg):
    """Return a function that loads an example; files that it writes go to a folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    return lambda name: load(name, monkeypatch)


def test_each_example_has_a_test():
    assert {path.stem for path in FOLDER.glob("*.py")} == TESTED


def test_documents_gather_by_subpackage(example, capsys):
    agreement = example("cluster_documents").main([])
    assert agreement["tvgnn"] > max(agreement["k-means"], 0.5)
    assert "for example stats." in capsys.readouterr().out


def test_a_chain_falls_into_its_links(example, tmp_path):
    agreement = example("point_cloud").main(["--points", "1500", "--links", "3", "--out", "chain.png"])
    assert agreement["tvgnn"] > 0.95
    assert agreement["k-means"] < 0.8
    assert matplotlib.image.imread(tmp_path / "chain.png").std() > 0.05


def test_domains_of_a_tissue_are_found_by_the_company_of_its_cells(example, tmp_path):
    agreement = example("spatial_omics").main(["--cells", "1500", "--domains", "4", "--page", "tissue.html"])
    assert agreement["tvgnn"] > 0.5 > agreement["k-means"]
    page = (tmp_path / "tissue.html").read_text(encoding="utf-8")
    assert '"name":"positions"' in page
    assert "<h1>simulated tissue</h1>" in page


def test_segments_of_a_photograph_are_regions(example, tmp_path):
    segments = example("segment_photograph").main(["china", "--every", "8", "--max-iter", "60", "--out", "china.png"])
    assert segments.shape == (54, 80)
    assert len(np.unique(segments)) >= 3
    assert (segments[1:] == segments[:-1]).mean() > 0.7  # neighbours in a column
    assert matplotlib.image.imread(tmp_path / "china.png").shape[2] == 4


@pytest.mark.parametrize("pooling", ["tvgnn", "mincut"])
def test_pooling_layers_train_in_plain_pyg(example, pooling):
    result = example("pooling_in_pyg").main(["--pooling", pooling, "--graphs", "150", "--epochs", "20"])
    assert result["train"] > 0.5  # a third by chance
    assert result["test"] > 0.4


def test_every_layer_learns_from_a_few_known_nodes(example):
    results = example("semi_supervised_nodes").main(
        ["--dataset", "blocks", "--seeds", "2", "--epochs", "60", "--quick"]
    )
    assert set(results) == {"GTVConv", "GCN", "GAT"}
    for method, found in results.items():
        assert found["test"].mean() > 0.5, method  # a quarter by chance


def test_without_cora_a_message_says_what_to_do(example, monkeypatch, capsys):
    from tvgnn.errors import DataError

    module = example("semi_supervised_nodes")

    def absent(name):
        raise DataError(f"{name} is not here")

    monkeypatch.setattr(module, "load_dataset", absent)
    assert module.main([]) is None
    assert "Cora is not at hand (cora is not here). Try --dataset blocks" in capsys.readouterr().out


@pytest.mark.real_data("cora")
def test_cora_has_its_public_split(example, mirror, monkeypatch):
    monkeypatch.setenv("TVGNN_MIRROR", str(mirror))
    task = example("semi_supervised_nodes").cora()
    assert np.bincount(task.y[task.train]).tolist() == [20] * 7
    assert (len(task.validation), len(task.test)) == (500, 1000)
    assert not set(task.test.tolist()) & {*task.train.tolist(), *task.validation.tolist()}
