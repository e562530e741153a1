"""Second derivatives through kernels: finite differences of first ones, which the kernels compute."""

from dataclasses import replace

import pytest
import torch
from op_cases import GPU, general, randn, symmetric

from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.grouping import Grouping
from tvgnn.graph.locality import relabel_by_locality
from tvgnn.ops import _second_order
from tvgnn.ops.asymmetric_norm import asymmetric_norm
from tvgnn.ops.cheeger_batch import cheeger_batch
from tvgnn.ops.cheeger_cut import cheeger_cut
from tvgnn.ops.coarsen import coarsen
from tvgnn.ops.dense_linear import dense_linear
from tvgnn.ops.gtv_layer import GTVLayerArguments, gtv_layers
from tvgnn.ops.gtv_step import gtv_step
from tvgnn.ops.gtv_step.op import VARIANTS
from tvgnn.ops.sparse_linear import sparse_linear
from tvgnn.ops.total_variation import total_variation

NODES = 9
backends = pytest.mark.parametrize("backend", ["reference", "cpu"])


def leaf(*shape, seed=1):
    return randn(*shape, seed=seed).double().requires_grad_()


def weighted(seed=4):
    """Directed edges and weights that need a gradient; none is zero, where the root has no second derivative."""
    adjacency = general(NODES, True, torch.float64)
    return adjacency, (adjacency.values + 0.1).requires_grad_()


def check(function, *leaves):
    assert torch.autograd.gradgradcheck(function, leaves)


@backends
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("act", ["identity", "relu", "elu"])
def test_gtv_step(backend, variant, act):
    adjacency, values = weighted()

    def run(z, values, bias):
        given = adjacency.with_values(values)
        return gtv_step(z, given, 0.3, bias=bias, act=act, variant=variant, backend=backend)

    check(run, leaf(NODES, 3), values, leaf(3, seed=2))


@backends
@pytest.mark.parametrize("kind", [symmetric, general])
def test_gtv_step_without_weights_or_bias(backend, kind):
    check(lambda z: gtv_step(z, kind(NODES, False, z.dtype), 0.3, act="elu", backend=backend), leaf(NODES, 3))


def test_gtv_step_in_another_order():
    path = torch.randperm(NODES, generator=torch.Generator().manual_seed(0))
    adjacency = Adjacency.from_edge_index(torch.stack([path[:-1], path[1:]]), None, NODES)
    relabelled = replace(adjacency, relabelled=relabel_by_locality(adjacency, 3, 0, 1.0))
    assert relabelled.relabelled is not None
    check(lambda z: gtv_step(z, relabelled, 0.3, act="elu"), leaf(NODES, 3))


@backends
def test_total_variation(backend):
    adjacency, values = weighted()
    check(lambda s, v: total_variation(s, adjacency.with_values(v), backend=backend) ** 2, leaf(NODES, 3), values)


@backends
def test_asymmetric_norm(backend):
    pointers = torch.tensor([0, 4, 4, NODES])
    check(lambda s: asymmetric_norm(s, pointers, 2.0, backend=backend) ** 2, leaf(NODES, 3))


@backends
def test_sparse_linear(backend):
    adjacency, values = weighted()
    check(lambda w, v: sparse_linear(adjacency.with_values(v), w, backend=backend), leaf(NODES, 3), values)
    check(lambda v: sparse_linear(adjacency.with_values(v), randn(NODES, 3).double(), backend=backend) ** 2, values)


def test_dense_linear():
    check(dense_linear, leaf(NODES, 4), leaf(4, 3, seed=2))


@pytest.mark.parametrize("kind", [symmetric, general])
def test_cheeger_cut(kind):
    adjacency = kind(NODES, True, torch.float64)
    check(lambda z: cheeger_cut(z, adjacency, 2.0, backend="cpu"), leaf(NODES, 3))
    check(lambda z: cheeger_cut(z, adjacency, 2.0, backend="cpu")[1:], leaf(NODES, 3))  # no gradient of assignments


@pytest.mark.parametrize("sizes", [[4, 5], [0, 6, 0, 3], [NODES]])
def test_cheeger_batch(sizes):
    adjacency, groups = symmetric(NODES, True, torch.float64), Grouping.from_sizes(torch.tensor(sizes))

    def run(logits, half):
        both = (half + half.T)[adjacency.rows(), adjacency.indices]  # kernels rely on weights alike in both directions
        return cheeger_batch(logits, adjacency.with_values(both), groups, 2.0, 1.5)

    half = torch.rand(NODES, NODES, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    check(run, leaf(NODES, 3), half.requires_grad_())


def test_coarsen():
    groups = Grouping.from_sizes(torch.tensor([4, 5]))
    adjacency = symmetric(NODES, True, torch.float64)
    check(lambda s, x: coarsen(s, x, adjacency, groups), leaf(NODES, 3), leaf(NODES, 2, seed=2))
    equal = Grouping.equal(2, 4, torch.device("cpu"))

    def blocks(s, x, half):
        return coarsen(s, x, Adjacency.from_dense(half + half.transpose(1, 2), symmetric=True), equal)

    check(blocks, leaf(8, 3), leaf(8, 2, seed=2), leaf(2, 4, 4, seed=3))


@pytest.mark.parametrize("act", ["identity", "relu", "elu"])
def test_layers_in_one_node(act):
    adjacency, values = weighted()

    def run(x, values, first, bias, second):
        layers = [GTVLayerArguments(first, bias, 0.3, 1e-3, act), GTVLayerArguments(second, None, 0.5, 1e-3, act)]
        return gtv_layers(x, adjacency.with_values(values), layers)

    check(run, leaf(NODES, 2), values, leaf(2, 3, seed=2), leaf(3, seed=3), leaf(3, 2, seed=5))


def test_layers_on_blocks():
    def run(x, adj, weight):
        return gtv_layers(x, Adjacency.from_dense(adj), [GTVLayerArguments(weight, None, 0.3, 1e-3, "elu")])

    adj = torch.rand(2, 4, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()
    check(run, leaf(2, 4, 2), adj, leaf(2, 3, seed=2))


def test_an_argument_computed_from_another():
    # the gradient of one must not be counted again through the other
    adjacency = symmetric(NODES, False, torch.float64)
    groups = Grouping.of(None, torch.empty(NODES))
    check(lambda x: coarsen(x.softmax(1), x, adjacency, groups), leaf(NODES, 3))


def test_third_derivatives():
    adjacency = symmetric(NODES, True, torch.float64)

    def slope(z):
        (first,) = torch.autograd.grad(gtv_step(z, adjacency, 0.3, act="elu").square().sum(), z, create_graph=True)
        return first

    check(slope, leaf(NODES, 2))


def test_first_derivatives_never_take_the_torch_path(monkeypatch):
    def refuse(*_args):
        raise AssertionError("the reference ran")

    monkeypatch.setattr(_second_order, "pullback", refuse)
    monkeypatch.setattr(_second_order._Kernel, "apply", refuse)
    z = leaf(NODES, 3)
    gtv_step(z, symmetric(NODES, True, torch.float64), 0.3).sum().backward()
    assert z.grad.abs().sum() > 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_first_derivative_is_the_kernels_with_a_graph_too(dtype):
    adjacency, z = symmetric(NODES, True, dtype), randn(NODES, 3).to(dtype).requires_grad_()
    out = gtv_step(z, adjacency, 0.3, act="elu").square().sum()
    plain, recorded = (torch.autograd.grad(out, z, retain_graph=True, create_graph=again)[0] for again in (False, True))
    assert torch.equal(plain, recorded)


@pytest.mark.parametrize("backend", [GPU])
def test_on_the_gpu(backend):
    # one Hessian product each: interpreted kernels are too slow for finite differences
    adjacency, values = weighted()
    s, pointers = leaf(NODES, 3), torch.tensor([0, 4, NODES])
    operators = [
        lambda s, given, backend: gtv_step(s, given, 0.3, act="elu", backend=backend),
        lambda s, given, backend: total_variation(s, given, backend=backend),
        lambda s, given, backend: sparse_linear(given, s, backend=backend),
        lambda s, given, backend: asymmetric_norm(s, pointers, 2.0, backend=backend),
    ]
    for operator in operators:

        def products(backend, operator=operator):
            out = operator(s, adjacency.with_values(values), backend).square().sum()
            first = torch.autograd.grad(out, (s, values), create_graph=True, materialize_grads=True, allow_unused=True)
            size = sum(one.square().sum() for one in first)
            return torch.autograd.grad(size, (s, values), materialize_grads=True, allow_unused=True)

        for actual, expected in zip(products(backend), products("reference"), strict=True):
            torch.testing.assert_close(actual, expected)
