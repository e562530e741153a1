import importlib.util
import shutil

import pytest
import torch
from op_cases import needs_triton

from tvgnn.errors import BackendUnavailableError
from tvgnn.graph.adjacency import Adjacency
from tvgnn.ops import _backends
from tvgnn.ops._backends import select_backend
from tvgnn.ops.asymmetric_norm import asymmetric_norm
from tvgnn.ops.gtv_step import gtv_step
from tvgnn.ops.sparse_linear import sparse_linear
from tvgnn.ops.total_variation import total_variation

PATH = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])


def test_auto_takes_the_kernels_on_the_cpu():
    assert select_backend() == "cpu"
    assert select_backend("auto", "cpu", torch.float32) == "cpu"
    assert select_backend("auto", torch.device("cpu"), torch.float64) == "cpu"


@pytest.mark.parametrize(("device", "dtype"), [("cpu", torch.float16), ("cpu", torch.bfloat16), ("meta", None)])
def test_auto_falls_back_to_the_reference(device, dtype):
    assert select_backend("auto", device, dtype) == "reference"


def test_auto_without_numba(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert select_backend("auto", "cpu", torch.float32) == "reference"


@pytest.mark.parametrize("device", ["cpu", "meta", "cuda"])
def test_reference_runs_anywhere(device):
    assert select_backend("reference", device, torch.bfloat16) == "reference"


def test_named_backend_is_never_replaced():
    assert select_backend("cpu", "cpu", torch.float32) == "cpu"
    with pytest.raises(BackendUnavailableError, match="got cuda; move them or use backend='auto'"):
        select_backend("cpu", "cuda")
    with pytest.raises(BackendUnavailableError, match=r"got torch\.float16; convert, or use backend='reference'"):
        select_backend("cpu", "cpu", torch.float16)


class Gpu:
    """Make torch report a GPU of that compute capability, or none."""

    def __init__(self, monkeypatch, capability):
        monkeypatch.delenv("TRITON_INTERPRET", raising=False)
        monkeypatch.setattr(torch.cuda, "is_available", lambda: capability is not None)
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
        monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "a card")
        monkeypatch.setattr(torch.version, "hip", None)


@needs_triton
@pytest.mark.parametrize("dtype", [None, torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_auto_takes_the_triton_kernels_on_a_gpu(monkeypatch, dtype):
    Gpu(monkeypatch, (9, 0))
    assert select_backend("auto", "cuda", dtype) == select_backend("gpu", "cuda:1", dtype) == "gpu"
    assert select_backend("auto", "cuda", torch.int32) == select_backend("auto", "meta", dtype) == "reference"


@needs_triton
@pytest.mark.parametrize(
    ("capability", "device", "dtype", "reason"),
    [
        ((6, 1), "cuda", None, r"compute capability 7\.0 or above.*got a card; take another"),
        (None, "cuda", None, "torch finds none here"),
        ((9, 0), "cpu", None, "on a CUDA device.*got cpu; move them"),
        ((9, 0), "cuda", torch.float8_e5m2, r"float16 for backend='gpu', got torch\.float8_e5m2; convert"),
    ],
    ids=["old card", "no card", "elsewhere", "type"],
)
def test_gpu_backend_says_why_not(monkeypatch, capability, device, dtype, reason):
    Gpu(monkeypatch, capability)
    with pytest.raises(BackendUnavailableError, match=rf"{reason}.*, or use backend='auto'"):
        select_backend("gpu", device, dtype)
    if device != "cpu":
        assert select_backend("auto", device, dtype) == "reference"


def test_gpu_backend_without_triton(monkeypatch):
    Gpu(monkeypatch, (9, 0))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BackendUnavailableError, match=r"pip install 'tvgnn\[gpu\]'"):
        select_backend("gpu", "cuda")
    assert select_backend("auto", "cuda") == "reference"


@needs_triton
def test_gpu_backend_with_an_old_triton(monkeypatch):
    Gpu(monkeypatch, (9, 0))
    monkeypatch.setattr(_backends, "_triton_version", lambda: (3, 3))
    with pytest.raises(BackendUnavailableError, match=r"Triton 3\.4 or above.*got 3\.3; it comes with a newer torch"):
        select_backend("gpu", "cuda")
    assert select_backend("auto", "cuda") == "reference"


@needs_triton
def test_interpreter_runs_the_gpu_backend_on_the_cpu_but_auto_does_not_choose_it(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert select_backend("gpu", "cpu", torch.bfloat16) == "gpu"
    assert select_backend("auto", "cpu", torch.bfloat16) == "reference"
    assert select_backend("auto", "cpu", torch.float32) == "cpu"


@pytest.mark.parametrize("name", ["", "CPU", "numba", None])
def test_unknown_name_lists_the_known_ones(name):
    with pytest.raises(ValueError, match="one of auto, reference, cpu, gpu, got"):
        select_backend(name)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_runs_through_the_reference(dtype):
    adjacency = Adjacency.from_edge_index(PATH, None, 3)
    x = torch.tensor([[0.0], [1.0], [3.0]], dtype=dtype)
    assert gtv_step(x, adjacency, 1.0).flatten().tolist() == [1, 1, 2]
    assert total_variation(x, adjacency).tolist() == [1, 3, 2]
    assert sparse_linear(adjacency, x).flatten().tolist() == [1, 3, 1]
    assert asymmetric_norm(x, torch.tensor([0, 3]), 1.0).tolist() == [3]


def test_all_operators_compile_together_for_changing_sizes():
    def objective(x, edges, weights, weight, graph_ptr):
        adjacency = Adjacency.from_edge_index(edges, weights, x.shape[0])
        s = gtv_step(x @ weight, adjacency, 0.3, act="elu").softmax(1)
        variation = total_variation(s, adjacency).sum()
        pooled = (s.T @ sparse_linear(adjacency, s)).square().sum()
        return variation + pooled - asymmetric_norm(s, graph_ptr, 2.0).sum()

    compiled = torch.compile(objective, fullgraph=True, backend="aot_eager")
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(4, 3, generator=generator, dtype=torch.float64, requires_grad=True)
    for nodes in (10, 23):
        x = torch.randn(nodes, 4, generator=generator, dtype=torch.float64)
        edges = torch.randint(0, nodes, (2, 3 * nodes), generator=generator)
        weights = torch.rand(3 * nodes, generator=generator, dtype=torch.float64, requires_grad=True)
        graph_ptr = torch.tensor([0, nodes])
        results = []
        for function in (objective, compiled):
            value = function(x, edges, weights, weight, graph_ptr)
            results.append((value, *torch.autograd.grad(value, (weight, weights))))
        torch.testing.assert_close(results[1], results[0], rtol=1e-10, atol=1e-10)


@pytest.mark.skipif(shutil.which("g++") is None, reason="torch.compile's default backend needs a C++ compiler: g++")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's compiler uses torch.jit, which torch deprecates
def test_compiles_with_the_default_backend():
    def step(z, edges):
        return gtv_step(z, Adjacency.from_edge_index(edges, None, z.shape[0]), 1.0, act="relu")

    results = []
    for function in (step, torch.compile(step, fullgraph=True)):
        z = torch.tensor([[0.0], [1.0], [3.0]], requires_grad=True)
        out = function(z, PATH)
        results.append((out, *torch.autograd.grad(out.square().sum(), z)))
    assert results[1][0].flatten().tolist() == [1, 1, 2]
    torch.testing.assert_close(results[1], results[0])
