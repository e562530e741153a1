import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from op_cases import (
    GPU,
    SIZES,
    WIDTHS,
    as_symmetric,
    assert_close,
    assert_same_as_reference,
    both_ways,
    edges_of,
    general,
    randn,
    star,
    symmetric,
    trainable,
    value_and_gradients,
)

from tvgnn.errors import BackendUnavailableError, GraphError
from tvgnn.graph.adjacency import Adjacency
from tvgnn.ops.gtv_step import gtv_step

VARIANTS = ("shared", "root_weighted", "per_feature")
ACTIVATIONS = ("identity", "relu", "elu")
BACKENDS = ("reference", "cpu")
WITH_GPU = (*BACKENDS, GPU)
P3 = ((0, 1), (1, 2))
SIX_NODES = torch.tensor([[0, 1, 1, 2, 3, 4, 0, 0, 2], [1, 0, 2, 3, 1, 0, 1, 0, 2]])  # a duplicate, loops, one isolated


def column(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)[:, None]


def check_against_reference(adjacency, z, bias, act, variant, dtype, eps=1e-3):
    def step(z, weights, bias, *, backend):
        return gtv_step(
            z, adjacency.with_values(weights), 0.6, eps, bias=bias, act=act, variant=variant, backend=backend
        )

    assert_same_as_reference(step, (z, adjacency.values, bias), ("z", "weights", "bias"), dtype)


class TestAgainstReference:
    @pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
    @pytest.mark.parametrize("build", [general, symmetric])
    @pytest.mark.parametrize("nodes", SIZES)
    @pytest.mark.parametrize("variant", VARIANTS)
    def test_sizes(self, nodes, build, weighted, variant):
        adjacency = build(nodes, weighted, torch.float64)
        check_against_reference(adjacency, randn(nodes, 17), randn(17, seed=2), "elu", variant, torch.float64)

    @pytest.mark.parametrize("width", WIDTHS)
    @pytest.mark.parametrize("act", ACTIVATIONS)
    @pytest.mark.parametrize("variant", VARIANTS)
    @pytest.mark.parametrize("build", [general, symmetric])
    def test_widths_and_activations(self, build, variant, act, width):
        z, bias = randn(63, width), randn(width, seed=2) if act != "relu" else None
        check_against_reference(build(63, True, torch.float64), z, bias, act, variant, torch.float64)

    @pytest.mark.parametrize("act", ACTIVATIONS)
    @pytest.mark.parametrize("variant", VARIANTS)
    @pytest.mark.parametrize("build", [general, symmetric])
    def test_float32(self, build, variant, act):
        # Differences and eps of the same order, so that both sides of the clamp are met; float32 ties are not.
        z = randn(63, 17, dtype=torch.float32)
        adjacency = build(63, True, torch.float32)
        check_against_reference(adjacency, z, randn(17, dtype=torch.float32), act, variant, torch.float32, eps=0.1)

    @pytest.mark.parametrize("variant", VARIANTS)
    def test_distances_on_both_sides_of_eps(self, variant):
        check_against_reference(
            general(63, True, torch.float64), randn(63, 3), None, "identity", variant, torch.float64, eps=2.0
        )

    @pytest.mark.parametrize("variant", VARIANTS)
    def test_ties_in_single_features_have_no_slope(self, variant):
        z = randn(63, 4).round()  # many equal values among unequal rows
        check_against_reference(general(63, True, torch.float64), z, None, "identity", variant, torch.float64)

    @pytest.mark.parametrize("variant", VARIANTS)
    def test_no_edges(self, variant):
        adjacency = Adjacency.from_edge_index(edges_of([]), None, 63)
        check_against_reference(adjacency, randn(63, 17), randn(17), "relu", variant, torch.float64)

    @pytest.mark.parametrize("variant", VARIANTS)
    @pytest.mark.parametrize("leaves", [700, 5000], ids=["longer than HUB", "longer than several tasks"])
    @pytest.mark.parametrize("lists", ["symmetric", "general"])
    def test_cut_rows(self, leaves, variant, lists):
        adjacency = star(leaves)
        if lists == "general":
            adjacency = Adjacency.from_edge_index(torch.stack([adjacency.rows(), adjacency.indices]), None, leaves + 1)
        weights = torch.rand(leaves, dtype=torch.float64, generator=torch.Generator().manual_seed(3)).repeat(2)
        check_against_reference(
            adjacency.with_values(weights), randn(leaves + 1, 5), randn(5), "elu", variant, torch.float64
        )

    def test_float32_weights_with_float64_features(self):
        weights = general(63, True, torch.float32)
        check_against_reference(weights, randn(63, 4), None, "identity", "shared", torch.float64)

    def test_non_contiguous_features_and_gradient(self):
        adjacency, z = general(63, False, torch.float64), randn(17, 63).T
        expected = value_and_gradients(lambda z: gtv_step(z.contiguous(), adjacency, 1.0, backend="reference").T, z)
        actual = value_and_gradients(lambda z: gtv_step(z, adjacency, 1.0, backend="cpu").T, z)
        for a, b in zip(actual, expected, strict=True):
            assert_close(a, b, torch.float64)


@pytest.mark.parametrize("backend", WITH_GPU)
class TestSmallExactInputs:
    def test_path(self, backend):
        adjacency = Adjacency.from_edge_index(both_ways(P3), None, 3)
        assert gtv_step(column(0, 1, 3), adjacency, 1.0, backend=backend).flatten().tolist() == [1, 1, 2]

    def test_path_listed_one_way_aggregates_by_row(self, backend):
        adjacency = Adjacency.from_edge_index(torch.tensor([[0, 1], [1, 2]]), None, 3)
        assert gtv_step(column(0, 1, 3), adjacency, 1.0, backend=backend).flatten().tolist() == [1, 2, 3]

    def test_two_entries_are_not_a_dense_matrix(self, backend):
        adjacency = Adjacency.from_edge_index(torch.tensor([[0, 1], [1, 0]]), None, 2)
        assert gtv_step(column(0, 1), adjacency, 1.0, backend=backend).flatten().tolist() == [1, 0]

    @pytest.mark.parametrize("variant", VARIANTS)
    def test_isolated_node_passes_through(self, backend, variant):
        adjacency = Adjacency.from_edge_index(both_ways(P3), None, 4)
        out = gtv_step(column(0, 1, 3, 7), adjacency, 1.0, variant=variant, backend=backend)
        assert out.flatten().tolist() == [1, 1, 2, 7]

    def test_duplicates_add_up(self, backend):
        adjacency = Adjacency.from_edge_index(both_ways([*P3, (0, 1)]), None, 3)
        assert gtv_step(column(0, 1, 3), adjacency, 1.0, backend=backend).flatten().tolist() == [2, 0, 2]

    def test_weighted_by_hand(self, backend):
        # gamma_01 = 2 / 1, gamma_12 = 4 / 2; with delta 0.5: 0 + 1, 1 + 0.5 (2 (0 - 1) + 2 (3 - 1)), 3 - 0.5 * 2 * 2
        weights = torch.tensor([2.0, 4.0, 2.0, 4.0], dtype=torch.float64)
        adjacency = Adjacency.from_edge_index(both_ways(P3), weights, 3)
        assert gtv_step(column(0, 1, 3), adjacency, 0.5, backend=backend).flatten().tolist() == [1, 2, 1]

    def test_distance_is_summed_over_features(self, backend):
        adjacency = Adjacency.from_edge_index(both_ways([(0, 1)]), None, 2)
        z = torch.tensor([[0.0, 0.0], [1.0, 3.0]], dtype=torch.float64)
        assert gtv_step(z, adjacency, 1.0, backend=backend).tolist() == [[0.25, 0.75], [0.75, 2.25]]

    def test_per_feature_by_hand(self, backend):
        # Each feature moves by its own sign: the differences 1 and 3 both give gamma times difference = 1.
        adjacency = Adjacency.from_edge_index(both_ways([(0, 1)]), None, 2)
        z = torch.tensor([[0.0, 0.0], [1.0, 3.0]], dtype=torch.float64)
        out = gtv_step(z, adjacency, 0.5, variant="per_feature", backend=backend)
        assert out.tolist() == [[0.5, 0.5], [0.5, 2.5]]

    def test_root_weighted_by_hand(self, backend):
        # gamma = 4 / (sqrt(4) * 2) = 1
        adjacency = Adjacency.from_edge_index(both_ways([(0, 1)]), torch.full((2,), 4.0, dtype=torch.float64), 2)
        out = gtv_step(column(0, 2), adjacency, 0.5, variant="root_weighted", backend=backend)
        assert out.flatten().tolist() == [1, 1]

    def test_degree_weighted_step_by_hand(self, backend):
        # P3: d = (1, 2, 1). The layer calls the inner step on y = D^-1/2 x and multiplies by D^-1/2 once more:
        # out = x + delta D^-1/2 sum_j gamma_ij (y_j - y_i), gamma_ij = a_ij / (sqrt(a_ij) |y_i - y_j|).
        adjacency = Adjacency.from_edge_index(both_ways(P3), None, 3)
        root = torch.tensor([1.0, 2.0, 1.0], dtype=torch.float64).sqrt()[:, None]
        x = column(0, 1, 3)
        y = x / root
        flow = gtv_step(y, adjacency, 1.0, variant="root_weighted", backend=backend) - y
        expected = column(0 + 1, 1 + (-1 + 1) / 2**0.5, 3 - 1)
        torch.testing.assert_close(x + flow / root, expected, rtol=0, atol=1e-12)

    def test_degree_weighted_step_keeps_multiples_of_root_degree(self, backend):
        adjacency = Adjacency.from_edge_index(both_ways(P3), None, 3)
        y = torch.full((3, 2), 0.7, dtype=torch.float64)  # D^-1/2 (0.7 sqrt d)
        assert torch.equal(gtv_step(y, adjacency, 1.0, variant="root_weighted", backend=backend), y)

    @pytest.mark.parametrize("act", ACTIVATIONS)
    def test_activation_and_bias(self, backend, act):
        adjacency = Adjacency.from_edge_index(both_ways(P3), None, 3)
        bias = torch.tensor([-2.0], dtype=torch.float64)
        out = gtv_step(column(0, 1, 3), adjacency, 1.0, bias=bias, act=act, backend=backend)
        functions = {"identity": lambda x: x, "relu": torch.relu, "elu": torch.nn.functional.elu}
        torch.testing.assert_close(out, functions[act](column(-1, -1, 0)), rtol=0, atol=1e-12)

    @pytest.mark.parametrize("variant", VARIANTS)
    def test_self_loops_are_inert(self, backend, variant):
        z = randn(4, 3)
        loops = torch.arange(4).repeat(2, 1)
        plain = Adjacency.from_edge_index(both_ways(P3), torch.ones(4, dtype=torch.float64), 4)
        looped = Adjacency.from_edge_index(
            torch.cat([both_ways(P3), loops], 1), torch.tensor([1.0] * 4 + [5.0] * 4, dtype=torch.float64), 4
        )

        def step(adjacency):
            return value_and_gradients(
                lambda z, w: gtv_step(z, adjacency.with_values(w), 1.0, variant=variant, backend=backend),
                z,
                adjacency.values,
            )

        (out, dz, _), (looped_out, looped_dz, looped_dw) = step(plain), step(looped)
        assert_close(looped_out, out, torch.float64)
        assert_close(looped_dz, dz, torch.float64)
        if (
            backend != "reference"
        ):  # a loop's gamma is a / eps: its terms are skipped, not left to cancel up to rounding
            assert torch.equal(looped_out, out)
            assert torch.equal(looped_dz, dz)
        assert torch.all(looped_dw[looped.rows() == looped.indices] == 0)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("leaves", [300, 10**4, 10**5])
def test_constant_star_stays_constant(backend, leaves):
    z = torch.full((leaves + 1, 1), 0.7)
    for variant in VARIANTS:
        assert torch.equal(gtv_step(z, star(leaves), 1.0, variant=variant, backend=backend), z)


class TestGradient:
    @pytest.mark.parametrize("act", ["identity", "elu"])
    @pytest.mark.parametrize("variant", VARIANTS)
    @pytest.mark.parametrize("eps", [1e-3, 1.3], ids=["above eps", "mixed"])
    def test_gradcheck(self, variant, act, eps):
        adjacency = Adjacency.from_edge_index(SIX_NODES, torch.linspace(0.5, 2, 9, dtype=torch.float64), 6)

        def step(z, weights, bias):
            return gtv_step(
                z, adjacency.with_values(weights), 0.4, eps, bias=bias, act=act, variant=variant, backend="cpu"
            )

        inputs = (randn(6, 2, seed=5), adjacency.values, randn(2, seed=6))
        assert torch.autograd.gradcheck(step, [x.clone().requires_grad_() for x in inputs])

    @pytest.mark.parametrize("variant", VARIANTS)
    def test_gradcheck_symmetric(self, variant):
        adjacency = as_symmetric(Adjacency.from_edge_index(both_ways([(0, 1), (1, 2), (2, 3), (0, 3)]), None, 5))

        def step(z):
            return gtv_step(z, adjacency, 0.4, variant=variant, backend="cpu")

        assert torch.autograd.gradcheck(step, randn(5, 3, seed=7).requires_grad_())

    @pytest.mark.parametrize("backend", WITH_GPU)
    def test_weight_gradient_by_hand(self, backend):
        # dLoss/da_ij = delta <g_i, z_j - z_i> / max(d_ij, eps), also where the weight is zero
        adjacency = Adjacency.from_edge_index(torch.tensor([[0, 1], [1, 2]]), torch.tensor([0.0, 3.0]).double(), 3)
        weights = adjacency.values.requires_grad_()
        out = gtv_step(column(0, 1, 3), adjacency, 0.5, backend=backend)
        out.backward(column(2, 5, 7))
        assert weights.grad.tolist() == [0.5 * 2, 0.5 * 5]

    @pytest.mark.parametrize("backend", BACKENDS)
    @pytest.mark.parametrize("variant", VARIANTS)
    def test_gradient_reaches_the_zeros_of_a_dense_adjacency(self, backend, variant):
        adj = torch.zeros(1, 3, 3, dtype=torch.float64, requires_grad=True)
        out = gtv_step(column(0, 1, 3), Adjacency.from_dense(adj), 1.0, variant=variant, backend=backend)
        out.backward(column(1, 1, 1))
        off_diagonal = ~torch.eye(3, dtype=torch.bool)
        assert torch.all(adj.grad[0][off_diagonal] != 0)
        assert torch.all(adj.grad[0].diagonal() == 0)

    def test_gradient_of_equal_rows_is_finite(self):
        adjacency = trainable(Adjacency.from_edge_index(both_ways(P3), None, 3))
        z = torch.ones(3, 2, dtype=torch.float64, requires_grad=True)
        gtv_step(z, adjacency, 1.0, backend="cpu").sum().backward()
        assert z.grad.isfinite().all()
        assert adjacency.values.grad.tolist() == [0, 0, 0, 0]


class TestDense:
    @pytest.mark.parametrize("backend", BACKENDS)
    @pytest.mark.parametrize("variant", VARIANTS)
    def test_dense_view_equals_sparse(self, backend, variant):
        adj = torch.rand(2, 5, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
        adj = adj * (adj > 0.5)
        graph, i, j = adj.nonzero(as_tuple=True)
        edges = torch.stack([graph * 5 + i, graph * 5 + j])
        z = randn(10, 3)
        results = [
            value_and_gradients(lambda z, a=a: gtv_step(z, a, 0.3, act="elu", variant=variant, backend=backend), z)
            for a in (Adjacency.from_dense(adj), Adjacency.from_edge_index(edges, adj[graph, i, j], 10))
        ]
        for dense, sparse in zip(*results, strict=True):
            assert_close(dense, sparse, torch.float64)


class TestProperties:
    @settings(max_examples=25, deadline=None)
    @given(seed=st.integers(0, 10**6), nodes=st.integers(1, 12), variant=st.sampled_from(VARIANTS))
    def test_node_permutation(self, seed, nodes, variant):
        generator = torch.Generator().manual_seed(seed)
        edges = torch.randint(0, nodes, (2, 3 * nodes), generator=generator)
        weights = torch.rand(3 * nodes, generator=generator, dtype=torch.float64)
        z = torch.randn(nodes, 3, generator=generator, dtype=torch.float64)
        order = torch.randperm(nodes, generator=generator)
        place = torch.empty_like(order)
        place[order] = torch.arange(nodes)

        def step(z, edges):
            return gtv_step(
                z, Adjacency.from_edge_index(edges, weights, nodes), 0.5, act="elu", variant=variant, backend="cpu"
            )

        assert_close(step(z[order], place[edges]), step(z, edges)[order], torch.float64)

    @settings(max_examples=25, deadline=None)
    @given(value=st.floats(-1e6, 1e6, width=32), nodes=st.integers(1, 20), variant=st.sampled_from(VARIANTS))
    def test_constants_are_fixed_points(self, value, nodes, variant):
        z = torch.full((nodes, 2), value)
        adjacency = general(nodes, True, torch.float32)
        assert torch.equal(gtv_step(z, adjacency, 0.7, variant=variant, backend="cpu"), z)

    @settings(max_examples=25, deadline=None)
    @given(seed=st.integers(0, 10**6), variant=st.sampled_from(VARIANTS))
    def test_shared_step_keeps_the_mean_of_a_symmetric_graph(self, seed, variant):
        adjacency, z = symmetric(20, True, torch.float64, seed), randn(20, 3, seed=seed)
        out = gtv_step(z, adjacency, 0.5, variant=variant, backend="cpu")
        assert_close(out.mean(0), z.mean(0), torch.float64)


class TestNonFinite:
    """A NaN reaches the node itself and those that look at it; nobody else."""

    @pytest.mark.parametrize("act", ACTIVATIONS)
    @pytest.mark.parametrize("variant", VARIANTS)
    @pytest.mark.parametrize("backend", BACKENDS)
    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    @pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
    def test_reaches_neighbours_only(self, bad, dtype, backend, variant, act):
        edges = both_ways([(0, 1), (1, 2), (3, 4)])
        z = randn(6, 17, dtype=dtype)
        clean = gtv_step(z, Adjacency.from_edge_index(edges, None, 6), 1.0, act=act, variant=variant, backend=backend)
        z[0] = bad
        out = gtv_step(z, Adjacency.from_edge_index(edges, None, 6), 1.0, act=act, variant=variant, backend=backend)
        assert out[:2].isnan().all()
        assert_close(out[2:], clean[2:], dtype)

    @pytest.mark.parametrize("variant", VARIANTS)
    def test_nan_gradient_is_not_swallowed(self, variant):
        z = randn(4, 3)
        z[0, 1] = float("nan")
        z.requires_grad_()
        adjacency = Adjacency.from_edge_index(both_ways(P3), None, 4)
        gtv_step(z, adjacency, 1.0, act="relu", variant=variant, backend="cpu").sum().backward()
        assert z.grad[3].isfinite().all()
        if variant != "per_feature":  # there the slope of a NaN difference is undefined
            assert not z.grad[:2].isfinite().all()


class TestRepeatability:
    @pytest.mark.parametrize("variant", VARIANTS)
    @pytest.mark.parametrize("build", [general, symmetric])
    def test_bitwise_equal_across_runs_and_threads(self, build, variant, threads):
        adjacency = build(1000, True, torch.float32)
        hub = torch.stack([torch.zeros(3000, dtype=torch.int64), torch.arange(3000) % 1000])
        if build is general:
            edges = torch.cat([torch.stack([adjacency.rows(), adjacency.indices.long()]), hub], 1)
            adjacency = Adjacency.from_edge_index(edges, torch.rand(edges.shape[1]), 1000)
        z, bias = randn(1000, 17, dtype=torch.float32), randn(17, dtype=torch.float32)

        def run():
            return value_and_gradients(
                lambda z, w, b: gtv_step(
                    z, adjacency.with_values(w), 0.5, bias=b, act="elu", variant=variant, backend="cpu"
                ),
                z,
                adjacency.values,
                bias,
            )

        results = []
        for count in (1, 2, 2):
            threads(count)
            results.append(run())
        for other in results[1:]:
            for first, again in zip(results[0][:3], other[:3], strict=True):
                assert torch.equal(first, again)
            # The bias gradient is torch's own sum over nodes.
            assert torch.equal(results[1][3], results[2][3])


class TestTorchLibrary:
    @pytest.mark.parametrize("variant", range(3), ids=VARIANTS)
    @pytest.mark.parametrize("kind", ["general", "symmetric", "unweighted", "bias and elu"])
    def test_opcheck(self, kind, variant):
        adjacency = (symmetric if kind == "symmetric" else general)(5, kind != "unweighted", torch.float64)
        lists = adjacency.transposed
        weights = adjacency.values
        if weights is not None:
            weights = weights.clamp(min=0.1).requires_grad_()
        bias = randn(3).requires_grad_() if kind == "bias and elu" else None
        columns = (None, None, None) if lists is None else (lists.indptr, lists.indices, lists.perm)
        act = 2 if kind == "bias and elu" else 0
        args = (randn(5, 3).requires_grad_(), adjacency.indptr, adjacency.indices, weights, *columns, bias)
        torch.library.opcheck(torch.ops.tvgnn.gtv_step.default, (*args, 0.5, 1e-3, act, variant, "cpu"))

    @pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
    def test_compiles_without_graph_break(self, weighted):
        def step(z, edges, weights, bias):
            return gtv_step(z, Adjacency.from_edge_index(edges, weights, z.shape[0]), 0.5, bias=bias, act="elu")

        edges = both_ways(P3)
        weights = torch.rand(4, dtype=torch.float64) if weighted else None
        inputs = (randn(4, 3), weights, randn(3))
        compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
        expected = value_and_gradients(lambda z, w, b: step(z, edges, w, b), *inputs)
        actual = value_and_gradients(lambda z, w, b: compiled(z, edges, w, b), *inputs)
        for a, b in zip(actual, expected, strict=True):
            assert_close(a, b, torch.float64)


class TestErrors:
    def setup_method(self):
        self.adjacency = Adjacency.from_edge_index(both_ways(P3), None, 3)
        self.z = column(0, 1, 3)

    def test_unknown_variant(self):
        with pytest.raises(ValueError, match=r"shared.*got 'sharded'"):
            gtv_step(self.z, self.adjacency, 1.0, variant="sharded")

    def test_unknown_activation(self):
        with pytest.raises(ValueError, match=r"relu.*'tanh'"):
            gtv_step(self.z, self.adjacency, 1.0, act="tanh")

    def test_unknown_backend(self):
        with pytest.raises(ValueError, match="got 'cuda'"):
            gtv_step(self.z, self.adjacency, 1.0, backend="cuda")

    def test_gpu_backend_is_refused_without_a_gpu(self, monkeypatch):
        monkeypatch.delenv("TRITON_INTERPRET", raising=False)
        with pytest.raises(BackendUnavailableError, match="use backend='auto'"):
            gtv_step(self.z, self.adjacency, 1.0, backend="gpu")

    @pytest.mark.parametrize("backend", BACKENDS)
    @pytest.mark.parametrize("nodes", [2, 4])
    def test_features_of_another_number_of_nodes(self, backend, nodes):
        with pytest.raises(GraphError, match=f"3.*got.*{nodes}"):
            gtv_step(torch.zeros(nodes, 1), self.adjacency, 1.0, backend=backend)

    @pytest.mark.parametrize("backend", BACKENDS)
    def test_bias_of_another_width(self, backend):
        with pytest.raises(GraphError, match=r"bias.*\(1,\).*\(2,\)"):
            gtv_step(self.z, self.adjacency, 1.0, bias=torch.zeros(2).double(), backend=backend)
