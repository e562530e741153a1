import warnings

import numpy as np
import pytest
import torch

from tvgnn import DenseGTVConv, GTVConv
from tvgnn.errors import GraphError
from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.graph import Graph

PATH = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
VARIANTS = ("shared", "per_feature", "degree_weighted")


def unit_conv(kind=GTVConv, **options):
    """Weight 1, bias 0, identity activation: the output is the bare step."""
    conv = kind(1, 1, act=None, **options)
    with torch.no_grad():
        conv.weight.fill_(1.0)
    return conv


def column(*values):
    return torch.tensor(values, dtype=torch.float32)[:, None]


def step(x, edge_index, edge_weight=None, **options):
    return unit_conv(**options)(x, edge_index, edge_weight).flatten().tolist()


class TestSmallInputs:
    """The inputs of USER_NEEDS, section 2, by their number there."""

    def test_p3(self):
        assert step(column(0, 1, 3), PATH) == [1, 1, 2]

    def test_1_two_edges_are_not_a_dense_matrix(self):
        assert step(column(0, 1), torch.tensor([[0, 1], [1, 0]])) == [1, 0]

    def test_2_directed_edges_are_taken_row_by_row(self):
        assert step(column(0, 1, 3), torch.tensor([[0, 1], [1, 2]])) == [1, 2, 3]

    def test_2_a_graph_is_symmetrised(self):
        graph = Graph.from_edge_index([[0, 1], [1, 2]], x=[0.0, 1.0, 3.0])
        assert step(torch.tensor(graph.x), Adjacency.from_graph(graph)) == [1, 1, 2]

    @pytest.mark.parametrize("leaves", [300, 10**4, 10**5])
    def test_3_constant_star_stays_constant(self, leaves):
        hub, leaf = torch.zeros(leaves, dtype=torch.int64), torch.arange(1, leaves + 1)
        edges = torch.stack([torch.cat([hub, leaf]), torch.cat([leaf, hub])])
        out = unit_conv()(torch.full((leaves + 1, 1), 0.7), edges)
        assert (out == torch.tensor(0.7)).all()

    def test_4_isolated_node_passes_through(self):
        assert step(column(0, 1, 3, 7), PATH) == [1, 1, 2, 7]

    def test_8_self_loops_change_nothing(self):
        loops = torch.arange(3).expand(2, 3)
        assert step(column(0, 1, 3), torch.cat([PATH, loops], dim=1)) == [1, 1, 2]

    def test_14_duplicates_are_merged_by_graph_and_summed_by_the_layer(self):
        twice = torch.cat([PATH, PATH[:, :2]], dim=1)
        assert step(column(0, 1, 3), twice) == [2, 0, 2]
        graph = Graph.from_edge_index(twice, x=[0.0, 1.0, 3.0])
        assert graph.report.num_duplicates == 2
        assert step(torch.tensor(graph.x), Adjacency.from_graph(graph)) == [1, 1, 2]

    def test_no_edges(self):
        assert step(column(0, 1, 3), torch.zeros(2, 0, dtype=torch.int64)) == [0, 1, 3]


def test_per_feature_takes_one_gamma_a_feature():
    conv = GTVConv(2, 2, act=None, bias=False, variant="per_feature")
    with torch.no_grad():
        conv.weight.copy_(torch.eye(2))
    out = conv(torch.tensor([[0.0, 0.0], [4.0, 0.5]]), torch.tensor([[0, 1], [1, 0]]))
    assert out.tolist() == [[1.0, 1.0], [3.0, -0.5]]


def test_degree_weighted_by_hand():
    # Path 0-1-2, d = (1, 2, 1). y = D^-1/2 x = (0, 1/sqrt 2, 3); distances |y_i - y_j| = (0.7071, 2.2929).
    # flow = (+1, -1 + 1, -1), so out = x + D^-1/2 flow = (1, 1, 2).
    assert step(column(0, 1, 3), PATH, variant="degree_weighted") == pytest.approx([1, 1, 2])


def test_degree_weighted_distance_is_scaled_by_the_root_of_the_weight():
    # One edge of weight 4: sqrt(d) = 2, y = (0, 1/2), sqrt(a) |y_1 - y_0| = 1, gamma = 4, flow = 2, out = x +- 2/2.
    out = step(column(0, 1), torch.tensor([[0, 1], [1, 0]]), torch.tensor([4.0, 4.0]), variant="degree_weighted")
    assert out == pytest.approx([1, 0])


def test_degree_weighted_fixed_points_are_multiples_of_the_root_of_the_degree():
    # In float64: rounding of sqrt(d) is amplified by 1 / eps.
    x = 3 * torch.tensor([1.0, 2.0, 1.0], dtype=torch.float64).sqrt()[:, None]
    conv = unit_conv(variant="degree_weighted").double()
    assert torch.allclose(conv(x, PATH), x)
    assert not torch.allclose(conv(torch.full_like(x, 3), PATH), torch.full_like(x, 3))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("act", ["relu", "ELU", "tanh", None, torch.sigmoid])
def test_cpu_backend_agrees_with_reference(variant, act):
    torch.manual_seed(0)
    edges, weights = torch.randint(0, 30, (2, 90)), torch.rand(90)
    x = torch.randn(30, 5)
    outputs = []
    for backend in ("reference", "cpu"):
        torch.manual_seed(1)
        conv = GTVConv(5, 4, act=act, variant=variant, backend=backend)
        out = conv(x, edges, weights)
        out.square().sum().backward()
        outputs.append((out, conv.weight.grad, conv.bias.grad))
    for expected, got in zip(*outputs, strict=True):
        assert torch.allclose(expected, got, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("variant", VARIANTS)
def test_dense_layer_agrees_with_sparse_layer_whatever_the_padding(variant):
    torch.manual_seed(0)
    conv = GTVConv(3, 4, variant=variant)
    dense = DenseGTVConv(3, 4, variant=variant)
    dense.load_state_dict(conv.state_dict())
    x, adj = torch.randn(5, 3), torch.rand(5, 5)
    adj = (adj + adj.T) * (adj > 0.4)
    adj = torch.triu(adj, 1) + torch.triu(adj, 1).T
    edges = adj.nonzero().T
    expected = conv(x, edges, adj[adj != 0])
    padded_x, padded_adj = torch.full((1, 7, 3), 9.0), torch.zeros(1, 7, 7)
    padded_x[0, :5], padded_adj[0, :5, :5] = x, adj
    mask = torch.tensor([[True] * 5 + [False] * 2])
    out = dense(padded_x, padded_adj, mask)
    assert torch.allclose(out[0, :5], expected, atol=1e-5)
    assert (out[0, 5:] == 0).all()


def test_dense_layer_takes_bool_and_int_adjacency_and_float64_x():
    conv = unit_conv(DenseGTVConv)
    adj = torch.tensor([[[0, 1, 0], [1, 0, 1], [0, 1, 0]]])
    x = torch.tensor([[[0], [1], [3]]])
    for cast in (torch.bool, torch.int32, torch.float64):
        assert conv(x.double(), adj.to(cast)).flatten().tolist() == [1, 1, 2]


def test_gradient_reaches_the_zeros_of_a_dense_adjacency():
    adj = torch.zeros(1, 2, 2, requires_grad=True)
    unit_conv(DenseGTVConv)(torch.tensor([[[0.0], [2.0]]]), adj).select(1, 0).sum().backward()
    assert adj.grad[0, 0, 1] == 1  # d out_0 / d a_01 = (z_1 - z_0) / |z_1 - z_0|


@pytest.mark.parametrize("layout", ["dense", "csr", "coo"])
def test_sparse_features_give_what_dense_ones_give(layout):
    torch.manual_seed(0)
    conv = GTVConv(6, 3)
    x = torch.randn(3, 6) * (torch.rand(3, 6) > 0.5)
    given = {"dense": x, "coo": x.to_sparse()}
    if layout == "csr":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # torch calls its CSR type beta, once a process
            given["csr"] = x.to_sparse_csr()
    assert torch.allclose(conv(given[layout], PATH), conv(x, PATH), atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("dense", [False, True])
def test_half_precision_stays(dtype, variant, dense):
    torch.manual_seed(0)
    kind, x = (DenseGTVConv if dense else GTVConv), torch.randn(3, 4)
    conv = kind(4, 4, act="elu", variant=variant)
    half = kind(4, 4, act="elu", variant=variant).to(dtype)
    half.load_state_dict(conv.state_dict())
    adj = torch.zeros(1, 3, 3)
    adj[0, PATH[0], PATH[1]] = 1
    results = []
    for layer in (conv, half):
        given = x.to(layer.weight.dtype).requires_grad_()
        out = layer(given[None], adj)[0] if dense else layer(given, PATH, torch.ones(4))
        assert out.dtype == layer.weight.dtype
        torch.nn.Linear(4, 2).to(out.dtype)(out)  # refuses another dtype
        results.append((out, *torch.autograd.grad(out.square().sum(), [given, layer.weight, layer.bias])))
    for actual, expected in zip(reversed(results[1]), reversed(results[0]), strict=True):
        assert actual.dtype == dtype
        assert (actual.float() - expected).norm() < 0.05 * expected.norm()


def test_autocast_on_the_cpu_gives_float32():
    conv = GTVConv(4, 3)
    with torch.autocast("cpu", torch.bfloat16):
        assert conv(torch.randn(3, 4), PATH).dtype == torch.float32


def test_integer_and_float64_features_are_cast():
    assert step(column(0, 1, 3).long(), PATH) == [1, 1, 2]
    assert step(column(0, 1, 3).double(), PATH) == [1, 1, 2]


def test_edge_index_class_gives_the_same_with_and_without_its_undirected_mark(pyg):
    from torch_geometric import EdgeIndex

    x = column(0, 1, 3)
    for undirected in (False, True):
        edges = EdgeIndex(PATH, sparse_size=(3, 3), is_undirected=undirected)
        conv = unit_conv()
        out = conv(x, edges)
        assert out.flatten().tolist() == [1, 1, 2]
        out.square().sum().backward()
        assert conv.weight.grad.isfinite().all()


def test_a_wrong_undirected_mark_changes_no_gradient(pyg):
    from torch_geometric import EdgeIndex

    directed, gradients = torch.tensor([[0, 0, 1, 2, 3], [1, 2, 2, 3, 1]]), []
    for edges in (directed, EdgeIndex(directed, sparse_size=(4, 4), sort_order="row", is_undirected=True)):
        torch.manual_seed(0)
        conv, x = GTVConv(4, 3), torch.randn(4, 4, requires_grad=True)
        gradients.append(torch.autograd.grad(conv(x, edges).square().sum(), x)[0])
    torch.testing.assert_close(*gradients)


def test_released_state_dict_names_and_layout():
    state = {name: tuple(value.shape) for name, value in GTVConv(4, 3).state_dict().items()}
    assert state == {"weight": (4, 3), "bias": (3,)}


def test_initial_weights_have_variance_two_over_input_width():
    torch.manual_seed(0)
    weight = GTVConv(1000, 200).weight
    assert weight.std().item() == pytest.approx((2 / 1000) ** 0.5, rel=0.02)
    assert (GTVConv(4, 3).bias == 0).all()


@pytest.mark.parametrize("dynamic", [False, True])
def test_model_compiles_without_graph_breaks(dynamic):
    torch.manual_seed(0)
    conv, x = GTVConv(4, 3, act="elu"), torch.randn(3, 4)
    compiled = torch.compile(conv, fullgraph=True, backend="aot_eager", dynamic=dynamic)
    assert torch.allclose(compiled(x, PATH), conv(x, PATH))
    compiled(x, PATH).sum().backward()
    assert conv.weight.grad.isfinite().all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: GTVConv(3, 2)(torch.randn(3, 4), PATH), r"x of shape \(N, 3\), got \(3, 4\)"),
        (lambda: GTVConv(3, 2)(torch.randn(3), PATH), r"got \(3,\)"),
        (lambda: GTVConv(3, 2)(torch.randn(3, 3), torch.eye(3)), r"shape \(2, E\)"),
        (lambda: GTVConv(3, 2)(torch.randn(2, 3), PATH), "got 2"),
        (lambda: GTVConv(3, 2)(torch.randn(3, 3), PATH.double()), "integers"),
        (lambda: GTVConv(3, 2)(torch.randn(3, 3), PATH, torch.ones(3)), "one weight per edge"),
        (lambda: GTVConv(3, 2)(torch.randn(3, 3).numpy(), PATH), "x to be a tensor, got ndarray"),
        (lambda: GTVConv(3, 2)(torch.randn(3, 3), PATH.numpy()), "edge_index .* got ndarray"),
        (lambda: GTVConv(3, 2)(torch.randn(3, 3), PATH, [1.0] * 4), "edge_weight .* got list; convert"),
        (lambda: GTVConv(3, 2)(torch.randn(3, 3), PATH, np.ones(4)), "edge_weight .* got ndarray; convert"),
        (lambda: DenseGTVConv(3, 2)(np.zeros((1, 4, 3)), torch.eye(4)[None]), "x to be a tensor, got ndarray"),
        (lambda: DenseGTVConv(3, 2)(torch.randn(1, 4, 3), np.eye(4)[None]), "adj .* got ndarray"),
        (lambda: DenseGTVConv(3, 2)(torch.randn(1, 4, 3), torch.eye(4)[None], np.ones((1, 4))), "mask .* got ndarray"),
        (lambda: DenseGTVConv(3, 2)(torch.randn(1, 4, 3), torch.eye(4)[None].to_sparse()), "dense adj"),
        (lambda: DenseGTVConv(3, 2)(torch.randn(4, 3), torch.eye(4)), r"\(B, N, 3\)"),
        (lambda: DenseGTVConv(3, 2)(torch.randn(1, 4, 3), torch.eye(4)), r"adj of shape \(1, 4, 4\)"),
        (lambda: DenseGTVConv(3, 2)(torch.randn(1, 4, 3), torch.eye(4)[None], torch.ones(4)), "mask of shape"),
    ],
)
def test_errors_name_what_was_expected(call, message):
    with pytest.raises(GraphError, match=message):
        call()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variant": "other"}, "variant"),
        ({"eps": 0.0}, "eps > 0"),
        ({"act": "no_such_function"}, "no_such_function"),
        ({"act": 3}, "act"),
        ({"act": torch.nn.ReLU}, r"got the class ReLU; pass an instance, ReLU\(\)"),
    ],
)
def test_parameters_are_checked_at_construction(options, message):
    with pytest.raises(ValueError, match=message):
        GTVConv(2, 2, **options)
