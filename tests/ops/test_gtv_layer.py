import pytest
import torch
from op_cases import assert_close, general, randn, symmetric, value_and_gradients

from tvgnn.graph.adjacency import Adjacency
from tvgnn.ops.gtv_layer import GTVLayerArguments, gtv_layers, run_as_one
from tvgnn.ops.gtv_step import gtv_step


def blocks(graphs, nodes, dtype, *, same_both_ways=True, seed=2):
    """Dense adjacencies with zeros, a tenth of them in one direction only."""
    adj = randn(graphs, nodes, nodes, seed=seed).to(dtype).abs()
    adj = adj * (adj > 0.5)
    return adj + adj.transpose(1, 2) if same_both_ways else adj


def as_graph(adj, *, same_both_ways=True):
    return Adjacency.from_dense(adj, symmetric=same_both_ways)


def chain(act, variant, backend):
    """Two layers on x, the weights, the biases and a dense adjacency, by `gtv_layers` or one operator after another."""

    def run(x, first, bias, second, adj, same_both_ways=True):
        graph = as_graph(adj, same_both_ways=same_both_ways)
        if backend == "one":
            layers = [
                GTVLayerArguments(first, bias, 1.3, 1e-3, act, variant),
                GTVLayerArguments(second, None, 0.7, 1e-3, act, variant),
            ]
            return gtv_layers(x, graph, layers)
        rows = x.flatten(0, 1)
        options = {"act": act, "variant": variant, "backend": "reference"}
        rows = gtv_step(rows @ first, graph, 1.3, bias=bias, **options)
        return gtv_step(rows @ second, graph, 0.7, **options).unflatten(0, x.shape[:2])

    return run


@pytest.mark.parametrize("shape", [(0, 3), (2, 1), (1, 2), (3, 7), (2, 64)])
@pytest.mark.parametrize("act", ["identity", "relu", "elu"])
@pytest.mark.parametrize("same_both_ways", [True, False], ids=["symmetric", "general"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_equals_the_operators_in_turn(shape, act, same_both_ways, dtype):
    graphs, nodes = shape
    inputs = [
        randn(graphs, nodes, 5).to(dtype),
        randn(5, 9, seed=3).to(dtype),
        randn(9, seed=4).to(dtype),
        randn(9, 4, seed=5).to(dtype) / 3,
        blocks(graphs, nodes, dtype, same_both_ways=same_both_ways),
    ]

    def gradients(backend, given):
        run = chain(act, "shared", backend)
        return value_and_gradients(lambda *leaves: run(*leaves, same_both_ways=same_both_ways), *given)

    exact = gradients("turns", [one.double() for one in inputs])  # the reference itself loses digits in float32
    for actual, expected in zip(gradients("one", inputs), exact, strict=True):
        assert_close(actual, expected.to(dtype), dtype)


def test_larger_blocks_take_the_kernel_that_cuts_them():
    # In float64: among so many differences some are so small that float32 takes their sign the other way
    test_equals_the_operators_in_turn((1, 300), "relu", False, torch.float64)


@pytest.mark.parametrize("variant", ["shared", "per_feature", "root_weighted"])
@pytest.mark.parametrize("make", [symmetric, general])
def test_sparse_graphs(make, variant):
    graph, x, weight, bias = make(63, True, torch.float64), randn(63, 5), randn(5, 8, seed=3), randn(8, seed=4)

    def one(x, weight, bias):
        return gtv_layers(x, graph, [GTVLayerArguments(weight, bias, 1.3, 1e-3, "elu", variant)])

    def turns(x, weight, bias):
        return gtv_step(x @ weight, graph, 1.3, bias=bias, act="elu", variant=variant, backend="reference")

    for actual, expected in zip(
        value_and_gradients(one, x, weight, bias), value_and_gradients(turns, x, weight, bias), strict=True
    ):
        assert_close(actual, expected, torch.float64)


def test_gradcheck_in_every_input():
    adj = blocks(2, 4, torch.float64, same_both_ways=False)
    leaves = [randn(2, 4, 3), randn(3, 5, seed=3), randn(5, seed=4), randn(5, 2, seed=5), adj]
    leaves = [leaf.requires_grad_() for leaf in leaves]
    run = chain("elu", "shared", "one")
    assert torch.autograd.gradcheck(lambda *given: run(*given, same_both_ways=False), leaves)


def test_nan_goes_along_entries_only():
    adj = torch.zeros(1, 3, 3)
    adj[0, 0, 1] = adj[0, 1, 0] = adj[0, 2, 0] = 1.0  # the third looks at the first, nobody at the third
    x = torch.tensor([[[1.0], [2.0], [4.0]]], requires_grad=True)
    layer = GTVLayerArguments(torch.ones(1, 1), None, 1.0, 1e-3)
    out = gtv_layers(x, as_graph(adj, same_both_ways=False), [layer])
    out.backward(torch.tensor([[[float("nan")], [1.0], [1.0]]]))
    assert torch.isfinite(x.grad.flatten()).tolist() == [False, False, True]


def test_threads_change_nothing():
    adj, x = blocks(6, 40, torch.float32), randn(6, 40, 64).float()
    inputs = [x, randn(64, 64, seed=3).float(), None, randn(64, 8, seed=5).float(), adj]
    before = torch.get_num_threads()
    try:
        results = []
        for threads in (1, 2):
            torch.set_num_threads(threads)
            results.append(value_and_gradients(chain("relu", "shared", "one"), *inputs)[-1])
    finally:
        torch.set_num_threads(before)
    assert torch.equal(*results)


def test_runs_as_one_on_the_cpu_outside_autocast_only():
    graph, x = symmetric(3, False, torch.float32), torch.ones(3, 2)
    assert run_as_one(x, torch.float32, graph, "auto")
    assert not run_as_one(x, torch.float64, graph, "auto")
    assert not run_as_one(x, torch.float32, graph, "reference")
    with torch.autocast("cpu", torch.bfloat16):
        assert not run_as_one(x, torch.float32, graph, "auto")
