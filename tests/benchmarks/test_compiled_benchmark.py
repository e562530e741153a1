"""The whole model compiles as one graph and computes the same; without a compiler the benchmark is skipped by name."""

from functools import partial

import numpy as np
import pytest
import torch
from benchmarks.compiled import compiled_epoch, require_compiler
from benchmarks.variants import Problem

from tvgnn.errors import DataError
from tvgnn.graph.graph import Graph
from tvgnn.models.node_clustering import NodeClusteringConfig


# where the reference's graph breaks, torch looks at a gradient that is not kept
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning")
def test_compiled_variants_compute_the_same_without_graph_breaks(monkeypatch):
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="aot_eager"))  # traces, calls no compiler
    x = np.random.default_rng(0).random((30, 5), dtype=np.float32)
    problem = Problem(Graph.from_features(x, 4), NodeClusteringConfig(5, 3, hidden_channels=8, mlp_channels=6))
    measured = compiled_epoch(problem, "points", rounds=1)
    names = [name + end for name in ("tvgnn", "reference backend") for end in ("", ", torch.compile")]
    assert [one.variant for one in measured] == names
    assert all(one.median > 0 for one in measured)


def test_skipped_without_a_compiler(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(DataError, match=r"no g\+\+ here"):
        require_compiler()
