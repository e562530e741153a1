"""Kernels from the cache are the compiled ones, and taking them from there leaves numba's compiler alone."""

import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from numba.core import types
from numba.core.caching import FunctionCache

from tvgnn.ops import _numba
from tvgnn.ops._activation import RELU, _activation_gradient
from tvgnn.ops._machine_code import MachineCodeCache

SCRIPT = """
import sys
import torch
from numba.core.runtime import rtsys
from tvgnn.ops._activation import ELU, _activation_gradient, activation_gradient

def run(dtype):
    torch.manual_seed(0)
    out, grad = torch.randn(2, 40_000, 3, dtype=dtype)
    return activation_gradient(grad, out, ELU, torch.empty_like(out)).tolist()

print(run(torch.float32), sum(_activation_gradient.stats.cache_hits.values()), rtsys._init)
print(run(torch.float64) if "other" in sys.argv else None, run(torch.float32))
"""


def run(folder, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *arguments],
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    first, second = done.stdout.splitlines()
    sums, hits, prepared = first.rsplit(" ", 2)
    return sums, int(hits), prepared == "True", second


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture(scope="module")
def compiled(folder):
    return run(folder)


def test_first_process_compiles(compiled):
    _, hits, prepared, _ = compiled
    assert hits == 0
    assert prepared


def test_next_process_takes_the_same_code_without_preparing_for_compilation(compiled, folder):
    sums, hits, prepared, _ = run(folder)
    assert sums == compiled[0]
    assert hits == 1
    assert not prepared


STEP = """
import hashlib
import torch
from tvgnn import Graph
from tvgnn.graph.adjacency import Adjacency
from tvgnn.ops.gtv_step import gtv_step

torch.manual_seed(0)
path = torch.stack([torch.arange(199), torch.arange(1, 200)])
x = torch.randn(200, 64, requires_grad=True)
y = gtv_step(x, Adjacency.from_graph(Graph.from_edge_index(path.numpy())), 0.3, 1e-3)
y.square().sum().backward()
print(*(hashlib.sha256(one.detach().numpy().tobytes()).hexdigest() for one in (y, x.grad)))
"""


def test_the_process_that_compiles_gives_the_last_digits_of_later_ones(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    first, second = (
        subprocess.run([sys.executable, "-c", STEP], env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    )
    assert first.stdout == second.stdout


def test_kernels_are_plain_functions_where_numba_compiles_nothing():
    code = (
        "import torch; from tvgnn.losses import asymmetric_norm_loss; print(asymmetric_norm_loss(torch.eye(3)).item())"
    )
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert float(run.stdout) == 0


def test_other_types_are_compiled_beside_what_was_in_the_cache(compiled, folder):
    sums, hits, _, second = run(folder, "other")
    assert sums == compiled[0]
    assert hits == 1
    assert second.endswith(sums)


class RecordingContext:
    """A target context that counts how often it prepares for compilation."""

    def __init__(self, context):
        self.context, self.refreshed = context, 0

    def codegen(self):
        return self.context.codegen()

    def refresh(self):
        self.refreshed += 1


@pytest.fixture
def saved():
    """What is saved of a kernel, the names in it apart."""
    rows = np.ones((2, 3), np.float32)
    _activation_gradient(rows, rows, RELU, rows.copy(), np.zeros((1, 3), np.float32))  # is in the cache now
    matrix = types.Array(types.float32, 2, "C")
    key = (matrix, matrix, types.int64, matrix, matrix)
    cache = _activation_gradient._cache
    *others, external = cache._cache_file.load(cache._index_key(key, _activation_gradient.targetctx.codegen()))
    return others, external


def test_a_kernel_is_linked_by_the_names_in_it(saved):
    others, external = saved
    context = RecordingContext(_activation_gradient.targetctx)
    rows = np.ones((2, 3), np.float32)
    result, sums = np.empty_like(rows), np.zeros((1, 3), np.float32)
    _activation_gradient._cache._impl.rebuild(context, (*others, external)).entry_point(rows, rows, RELU, result, sums)
    assert context.refreshed == 0
    assert sums.tolist() == [[2, 2, 2]]


def test_a_name_that_nobody_knows_makes_numba_tell_all_it_has_and_then_compile(saved):
    others, external = saved
    context = RecordingContext(_activation_gradient.targetctx)
    payload = (*others, [*external, "tvgnn_knows_no_such_name"])
    assert _activation_gradient._cache._impl.rebuild(context, payload) is None
    assert context.refreshed == 1


@pytest.mark.parametrize(("version", "platform"), [("0.59.1", "linux"), ("0.69.0", "linux"), ("0.68.1", "darwin")])
def test_other_numbas_keep_kernels_in_their_own_cache(monkeypatch, version, platform):
    monkeypatch.setattr(numba, "__version__", version)
    monkeypatch.setattr(sys, "platform", platform)
    assert isinstance(_numba.kernel(_activation_gradient.py_func)._cache, FunctionCache)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="numba's own cache elsewhere")
def test_this_numba_links_machine_code():
    assert isinstance(_activation_gradient._cache, MachineCodeCache)
