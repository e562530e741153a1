"""The Triton kernels of the GTV step against the reference: on a GPU where there is one, else interpreted."""

import pytest
import torch
from op_cases import (
    DEVICE,
    LONG_BOTH_WAYS,
    LONG_ROWS,
    as_symmetric,
    assert_close,
    assert_same_as_reference,
    both_ways,
    general,
    multigraph,
    needs_triton,
    randn,
    symmetric,
    value_and_gradients,
)

from tvgnn.graph.adjacency import Adjacency
from tvgnn.layers.dense_gtv_conv import DenseGTVConv
from tvgnn.ops.gtv_step import gtv_step

pytestmark = needs_triton
VARIANTS = ("shared", "root_weighted", "per_feature")
ACTIVATIONS = ("identity", "relu", "elu")


def check(adjacency, z, bias=None, act="identity", variant="shared", eps=0.3, dtype=torch.float64):
    def step(z, weights, bias, *, backend):
        moved = adjacency.to(DEVICE).with_values(weights)
        return gtv_step(z, moved, 0.6, eps, bias=bias, act=act, variant=variant, backend=backend)

    inputs = [None if x is None else x.to(DEVICE, dtype) for x in (z, adjacency.values, bias)]
    assert_same_as_reference(step, inputs, ("z", "weights", "bias"), dtype, "gpu")


@pytest.mark.parametrize(("variant", "act"), [*zip(VARIANTS, ACTIVATIONS, strict=True), ("shared", "elu")])
@pytest.mark.parametrize("build", [general, symmetric])
def test_variants_and_activations(build, variant, act):
    check(build(10, True, torch.float64), randn(10, 5), randn(5, seed=2), act, variant)


@pytest.mark.parametrize("build", [general, symmetric])
@pytest.mark.parametrize("nodes", [0, 1, 2, 33])
def test_sizes_without_weights(nodes, build):
    check(build(nodes, False, torch.float64), randn(nodes, 3), act="elu")


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("width", [0, 1, 1030], ids=["none", "one", "several blocks"])
def test_widths(width, variant):
    check(general(2, True, torch.float64), randn(2, width), randn(width), "elu", variant, eps=2.0)


@pytest.mark.parametrize(("lists", "variant"), [("symmetric", "shared"), *(("general", v) for v in VARIANTS)])
def test_long_rows_are_cut(lists, variant):
    adjacency = multigraph(LONG_ROWS, 7)
    if lists == "symmetric":
        adjacency = as_symmetric(multigraph(LONG_BOTH_WAYS, 6))
    else:
        weights = torch.rand(adjacency.num_entries, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        adjacency = adjacency.with_values(weights)
    check(adjacency, randn(adjacency.num_nodes, 3), randn(3), "elu", variant)


def test_float32():
    check(general(10, True, torch.float32), randn(10, 5), randn(5), "elu", dtype=torch.float32)


def test_exponential_keeps_the_digits_of_small_numbers_in_float32():
    z = -torch.logspace(-30, 1.9, 200)[:, None].to(DEVICE)
    alone = Adjacency.from_edge_index(torch.empty(2, 0, dtype=torch.int64), None, 200).to(DEVICE)
    out = gtv_step(z, alone, 1.0, act="elu", backend="gpu")
    torch.testing.assert_close(out, torch.expm1(z.double()).float(), rtol=2e-6, atol=0)


@pytest.mark.parametrize("index", [torch.int32, torch.int64])
def test_index_types(index):
    adjacency = general(12, True, torch.float64)
    columns = adjacency.transposed
    lists = [x.to(DEVICE, index) for x in (adjacency.indptr, adjacency.indices)]
    columns = [x.to(DEVICE, index) for x in (columns.indptr, columns.indices, columns.perm)]
    z, weights = randn(12, 5).to(DEVICE).requires_grad_(), adjacency.values.to(DEVICE)
    out = torch.ops.tvgnn.gtv_step(z, *lists, weights, *columns, None, 0.6, 0.3, 0, 0, "gpu")
    (dz,) = torch.autograd.grad(out.square().sum(), z)
    expected = gtv_step(z, adjacency.to(DEVICE), 0.6, 0.3, backend="reference")
    assert_close(out, expected, torch.float64)
    assert_close(dz, torch.autograd.grad(expected.square().sum(), z)[0], torch.float64)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_summed_in_float32(dtype):
    adjacency = general(12, True, torch.float32).to(DEVICE)
    z, bias = randn(12, 5).to(DEVICE, dtype), randn(5, seed=2).to(DEVICE, torch.float32)

    def run(z, weights, bias, backend):
        return gtv_step(z, adjacency.with_values(weights), 0.6, 0.3, bias=bias, act="elu", backend=backend)

    ours = value_and_gradients(lambda *x: run(*x, "gpu"), z, adjacency.values, bias)
    exact = value_and_gradients(lambda *x: run(*x, "reference"), z.float(), adjacency.values, bias)
    for result, expected in zip(ours, exact, strict=True):
        assert_close(result, expected.to(result.dtype), dtype)
    assert [x.dtype for x in ours] == [dtype, dtype, torch.float32, torch.float32]


@pytest.mark.parametrize("variant", VARIANTS)
def test_gradcheck(variant):
    edges = torch.tensor([[0, 1, 1, 2, 3, 0, 2], [1, 0, 2, 3, 1, 1, 2]])  # a duplicate, a loop, one isolated
    adjacency = Adjacency.from_edge_index(edges, None, 5).to(DEVICE)

    def step(z, weights, bias):
        moved = adjacency.with_values(weights)
        return gtv_step(z, moved, 0.4, 1.3, bias=bias, act="elu", variant=variant, backend="gpu")

    inputs = (randn(5, 2, seed=5), torch.linspace(0.5, 2, 7, dtype=torch.float64), randn(2, seed=6))
    assert torch.autograd.gradcheck(step, [x.to(DEVICE).requires_grad_() for x in inputs], fast_mode=True)


def test_gradient_reaches_zero_weights_of_a_dense_adjacency():
    adj = torch.zeros(1, 3, 3, dtype=torch.float64, device=DEVICE, requires_grad=True)
    z = torch.tensor([[0.0], [1.0], [3.0]], dtype=torch.float64, device=DEVICE)
    gtv_step(z, Adjacency.from_dense(adj), 1.0, backend="gpu").sum().backward()
    assert torch.all((adj.grad[0] != 0) == ~torch.eye(3, dtype=torch.bool, device=DEVICE))


def test_dense_layer():
    layers = []
    for backend in ("gpu", "reference"):
        torch.manual_seed(0)
        layers.append(DenseGTVConv(3, 4, act="elu", backend=backend).double().to(DEVICE))
    mask = torch.tensor([[True] * 4, [True, True, False, False]], device=DEVICE)
    x, adj = randn(2, 4, 3).to(DEVICE), randn(2, 4, 4).relu().to(DEVICE)
    ours, expected = (value_and_gradients(lambda x, a, f=layer: f(x, a, mask), x, adj) for layer in layers)
    for a, b in zip(ours, expected, strict=True):
        assert_close(a, b, torch.float64)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # NumPy's, which the interpreter computes with
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_is_not_a_number_reaches_neighbours_only(bad, variant):
    adjacency = Adjacency.from_edge_index(both_ways([(0, 1), (1, 2), (3, 4)]), None, 6).to(DEVICE)
    z = randn(6, 5).to(DEVICE)
    clean = gtv_step(z, adjacency, 1.0, act="elu", variant=variant, backend="gpu")
    z[0] = bad
    out = gtv_step(z, adjacency, 1.0, act="elu", variant=variant, backend="gpu")
    assert out[:2].isnan().all()
    assert_close(out[2:], clean[2:], torch.float64)


def test_bitwise_repeatable():
    adjacency = multigraph(LONG_ROWS, 7).to(DEVICE)
    z, bias = randn(7, 5, dtype=torch.float32).to(DEVICE), randn(5, dtype=torch.float32).to(DEVICE)
    weights = torch.rand(adjacency.num_entries).to(DEVICE)
    one, two = (
        value_and_gradients(
            lambda z, w, b: gtv_step(z, adjacency.with_values(w), 0.5, bias=b, act="elu", backend="gpu"),
            z,
            weights,
            bias,
        )
        for _ in range(2)
    )
    assert all(torch.equal(a, b) for a, b in zip(one, two, strict=True))


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_opcheck(dtype):
    adjacency = general(4, True, torch.float64)
    adjacency = adjacency.with_values(adjacency.values.clamp(min=0.1)).to(DEVICE, dtype)
    z, bias = randn(4, 3).to(DEVICE, dtype).requires_grad_(), randn(3).to(DEVICE, dtype).requires_grad_()
    indptr, indices, weights, *columns = adjacency.lists()
    lists = (indptr, indices, weights.requires_grad_(), *columns)
    torch.library.opcheck(torch.ops.tvgnn.gtv_step.default, (z, *lists, bias, 0.5, 1e-3, 2, 0, "gpu"))


def test_compiles_without_graph_break():
    adjacency = symmetric(5, False, torch.float64).to(DEVICE)

    def step(z):
        return gtv_step(z, adjacency, 0.5, act="elu", backend="gpu")

    z = randn(5, 3).to(DEVICE)
    compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
    for a, b in zip(value_and_gradients(compiled, z), value_and_gradients(step, z), strict=True):
        assert_close(a, b, torch.float64)
