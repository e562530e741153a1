"""The whole training step on the GPU backend: the same numbers as elsewhere, and no wait of the host for the GPU."""

import importlib.util
from contextlib import contextmanager
from importlib import import_module

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.graph import Graph
from tvgnn.graph.sparse_matrix import SparseMatrix
from tvgnn.models.node_clustering import NodeClusteringConfig, NodeClusteringModel
from tvgnn.training.step import make_optimizer, training_step

pytestmark = pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is not installed")

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
OPERATORS = ("asymmetric_norm", "gtv_step", "sparse_linear", "total_variation")
# Reads of the host, sizes that depend on values, and (lift_fresh) tensors made of Python numbers and copied over
WAITING = (
    "_local_scalar_dense",
    "is_nonzero",
    "nonzero",
    "masked_select",
    "_unique2",
    "unique_dim",
    "unique_consecutive",
    "equal",
    "lift_fresh",
)


class HostWaitedError(Exception):
    """Something in the step would make the host wait for the GPU, which no CUDA graph can record."""


class NoWaiting(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.overloadpacket.__name__
        if name in WAITING or (name == "repeat_interleave" and not (kwargs or {}).get("output_size")):
            raise HostWaitedError(func)
        masks = args[1] if name.startswith(("index", "_index_put")) and isinstance(args[1], list | tuple) else ()
        if any(mask is not None and mask.dtype in (torch.bool, torch.uint8) for mask in masks):
            raise HostWaitedError(func)
        return func(*args, **(kwargs or {}))


@pytest.fixture
def no_waiting(monkeypatch):
    """Context in which the host must not wait, inside the operators too."""

    def watched(function):
        def call(*args):
            with NoWaiting():
                return function(*args)

        return call

    def refused(name):
        def read(*_args, **_kwargs):
            raise HostWaitedError(name)

        return read

    for operator in OPERATORS:
        module = import_module(f"tvgnn.ops.{operator}.gpu")
        for name in ("forward", "backward"):
            monkeypatch.setattr(module, name, watched(getattr(module, name)))

    @contextmanager
    def context():
        with monkeypatch.context() as patch, NoWaiting():
            for name in ("item", "tolist", "numpy", "cpu", "__bool__", "__int__", "__float__", "__index__"):
                patch.setattr(torch.Tensor, name, refused(name))
            yield

    return context


def problem(weighted, sparse):
    generator = torch.Generator().manual_seed(0)
    edges = torch.randint(0, 12, (2, 30), generator=generator)
    weights = torch.rand(30, generator=generator) + 0.1 if weighted else None
    graph = Graph.from_edge_index(edges, weights, num_nodes=12)
    x = torch.randn(12, 5, generator=generator).relu()
    adjacency = Adjacency.from_graph(graph).to(DEVICE)
    return SparseMatrix.from_torch(x.to_sparse()).to(DEVICE) if sparse else x.to(DEVICE), adjacency


def model(backend, memory="normal"):
    torch.manual_seed(0)
    config = NodeClusteringConfig(5, 3, hidden_channels=4, mlp_channels=4)
    return NodeClusteringModel(config, backend=backend, memory=memory).to(DEVICE)


@pytest.mark.parametrize("memory", ["normal", "low"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense features", "sparse features"])
@pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
def test_host_never_waits(no_waiting, weighted, sparse, memory):
    x, adjacency = problem(weighted, sparse)
    network = model("gpu", memory)
    optimizer = make_optimizer(network, 1e-3)
    with no_waiting():
        training_step(lambda: network.losses(x, adjacency), optimizer)
    assert all(parameter.grad.isfinite().all() for parameter in network.parameters())


def test_waiting_is_noticed(no_waiting):
    x = torch.ones(3)
    for wait in (
        lambda: x.sum().item(),
        lambda: x[x > 0],
        lambda: bool(x.sum() > 0),
        lambda: torch.tensor(3.0),
        lambda: x.nonzero(),
        lambda: torch.repeat_interleave(x, torch.tensor([1, 2, 3])),
    ):
        with no_waiting(), pytest.raises(HostWaitedError):
            wait()


@pytest.mark.parametrize("sparse", [False, True], ids=["dense features", "sparse features"])
def test_same_gradients_as_the_reference(sparse):
    x, adjacency = problem(True, sparse)
    results = []
    for backend in ("gpu", "reference"):
        network = model(backend)
        loss, terms, assignments = training_step(
            lambda n=network: n.losses(x, adjacency), make_optimizer(network, 1e-3)
        )
        results.append([loss, *terms.values(), assignments, *(p.grad for p in network.parameters())])
    torch.testing.assert_close(*results, rtol=1e-4, atol=1e-5)
