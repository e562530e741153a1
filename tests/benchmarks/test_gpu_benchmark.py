import numpy as np
import pytest
import torch
from benchmarks.baselines.released import ReleasedFormulation
from benchmarks.gpu import gpu_epoch
from benchmarks.registry import BENCHMARKS, Settings
from benchmarks.run import run
from benchmarks.variants import Problem
from rich.console import Console

from tvgnn.graph.graph import Graph
from tvgnn.models.node_clustering import NodeClusteringConfig


@pytest.fixture
def problem():
    x = np.random.default_rng(0).random((30, 5), dtype=np.float32)
    return Problem(Graph.from_features(x, 4), NodeClusteringConfig(5, 3, hidden_channels=8, mlp_channels=6))


def test_variants_agree_and_the_record_names_the_device(problem):
    measured = gpu_epoch(problem, "cora", rounds=1, device="cpu")
    names = ["tvgnn", "tvgnn, without CUDA graphs", "reference backend", "released, E x K loss"]
    assert [one.variant for one in measured][:4] == names
    assert {(one.benchmark, one.device) for one in measured} == {("gpu epoch, cora", "cpu")}


def test_a_variant_that_computes_something_else_is_refused(problem, monkeypatch):
    formulation = ReleasedFormulation
    monkeypatch.setattr(formulation, "_balance", lambda self, s: s.sum())
    with pytest.raises(ArithmeticError, match="'released, E x K loss' computes something else"):
        gpu_epoch(problem, "cora", rounds=1, device="cpu")


def test_without_a_gpu_it_says_so_before_it_loads_anything(monkeypatch, tmp_path):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    console = Console(width=200, record=True)
    cases = list(BENCHMARKS["gpu"](Settings(True, 1, "/no/such/folder", ("cora",))))
    assert run(cases, tmp_path / "records.jsonl", console)
    assert "skipped gpu epoch, cora: no GPU here" in console.export_text()
