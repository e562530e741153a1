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
    value_and_gradients,
)

from tvgnn.errors import BackendUnavailableError, GraphError
from tvgnn.graph.adjacency import Adjacency
from tvgnn.ops.total_variation import total_variation

BACKENDS = ("reference", "cpu")
WITH_GPU = (*BACKENDS, GPU)
P4 = ((0, 1), (1, 2), (2, 3))
HARD_SPLIT = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], dtype=torch.float64)


def check_against_reference(adjacency, s, dtype):
    def variation(s, weights, *, backend):
        return total_variation(s, adjacency.with_values(weights), backend=backend)

    assert_same_as_reference(variation, (s, adjacency.values), ("s", "weights"), dtype)


class TestAgainstReference:
    @pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
    @pytest.mark.parametrize("build", [general, symmetric])
    @pytest.mark.parametrize("nodes", SIZES)
    def test_sizes(self, nodes, build, weighted):
        check_against_reference(build(nodes, weighted, torch.float64), randn(nodes, 17), torch.float64)

    @pytest.mark.parametrize("width", WIDTHS)
    @pytest.mark.parametrize("build", [general, symmetric])
    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    def test_widths_and_dtypes(self, dtype, build, width):
        check_against_reference(build(63, True, dtype), randn(63, width, dtype=dtype), dtype)

    def test_no_edges(self):
        check_against_reference(Adjacency.from_edge_index(edges_of([]), None, 63), randn(63, 17), torch.float64)

    @pytest.mark.parametrize("leaves", [700, 5000], ids=["longer than HUB", "longer than several tasks"])
    @pytest.mark.parametrize("lists", ["symmetric", "general"])
    def test_cut_rows(self, leaves, lists):
        adjacency = star(leaves)
        if lists == "general":
            adjacency = Adjacency.from_edge_index(torch.stack([adjacency.rows(), adjacency.indices]), None, leaves + 1)
        weights = torch.rand(leaves, dtype=torch.float64, generator=torch.Generator().manual_seed(3)).repeat(2)
        check_against_reference(adjacency.with_values(weights), randn(leaves + 1, 5), torch.float64)

    def test_ties_have_no_slope(self):
        s = randn(63, 4).round()  # many equal values
        check_against_reference(general(63, True, torch.float64), s, torch.float64)


@pytest.mark.parametrize("backend", WITH_GPU)
class TestSmallExactInputs:
    def test_hard_split_of_a_path(self, backend):
        adjacency = Adjacency.from_edge_index(both_ways(P4), None, 4)
        variation = total_variation(HARD_SPLIT, adjacency, backend=backend)
        assert variation.tolist() == [0, 2, 2, 0]
        assert variation.sum().item() / (2 * adjacency.num_entries) == pytest.approx(1 / 3)

    def test_each_row_counts_its_own_entries(self, backend):
        adjacency = Adjacency.from_edge_index(torch.tensor([[1], [2]]), torch.tensor([3.0], dtype=torch.float64), 4)
        assert total_variation(HARD_SPLIT, adjacency, backend=backend).tolist() == [0, 6, 0, 0]

    def test_no_edges_give_zero(self, backend):
        adjacency = Adjacency.from_edge_index(edges_of([]), None, 4)
        assert total_variation(HARD_SPLIT, adjacency, backend=backend).tolist() == [0, 0, 0, 0]

    def test_gradient_by_hand(self, backend):
        # g_i a_ij sign(s_i - s_j) from the entries of row i, and as much with the other sign for the node looked at
        adjacency = Adjacency.from_edge_index(torch.tensor([[0], [1]]), torch.tensor([3.0], dtype=torch.float64), 2)
        s = torch.tensor([[0.0, 5.0], [1.0, 2.0]], dtype=torch.float64, requires_grad=True)
        weights = adjacency.values.requires_grad_()
        total_variation(s, adjacency, backend=backend)[0].mul(2).backward()
        assert s.grad.tolist() == [[-6, 6], [6, -6]]
        assert weights.grad.tolist() == [2 * (1 + 3)]

    def test_weight_gradient_reaches_zero_weights(self, backend):
        adj = torch.zeros(1, 4, 4, dtype=torch.float64, requires_grad=True)
        total_variation(HARD_SPLIT, Adjacency.from_dense(adj), backend=backend).sum().backward()
        assert adj.grad[0].tolist() == [[0, 0, 2, 2], [0, 0, 2, 2], [2, 2, 0, 0], [2, 2, 0, 0]]


@pytest.mark.parametrize("backend", BACKENDS)
def test_star_of_equal_leaves_has_none(backend):
    s = torch.full((10**5 + 1, 2), 0.7)
    assert total_variation(s, star(10**5), backend=backend).count_nonzero() == 0


class TestGradient:
    def test_gradcheck(self):
        edges = torch.tensor([[0, 1, 1, 2, 3, 4, 0, 0], [1, 0, 2, 3, 1, 0, 1, 0]])
        adjacency = Adjacency.from_edge_index(edges, None, 6)

        def variation(s, weights):
            return total_variation(s, adjacency.with_values(weights), backend="cpu")

        weights = torch.linspace(0, 2, 8, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(variation, (randn(6, 3, seed=5).requires_grad_(), weights))

    def test_gradcheck_symmetric(self):
        adjacency = as_symmetric(Adjacency.from_edge_index(both_ways(P4), None, 5))
        assert torch.autograd.gradcheck(
            lambda s: total_variation(s, adjacency, backend="cpu"), randn(5, 3, seed=7).requires_grad_()
        )


class TestProperties:
    @settings(max_examples=25, deadline=None)
    @given(seed=st.integers(0, 10**6), nodes=st.integers(1, 12))
    def test_node_permutation(self, seed, nodes):
        generator = torch.Generator().manual_seed(seed)
        edges = torch.randint(0, nodes, (2, 3 * nodes), generator=generator)
        weights = torch.rand(3 * nodes, generator=generator, dtype=torch.float64)
        s = torch.randn(nodes, 3, generator=generator, dtype=torch.float64)
        order = torch.randperm(nodes, generator=generator)
        place = torch.empty_like(order)
        place[order] = torch.arange(nodes)

        def variation(s, edges):
            return total_variation(s, Adjacency.from_edge_index(edges, weights, nodes), backend="cpu")

        assert_close(variation(s[order], place[edges]), variation(s, edges)[order], torch.float64)

    @settings(max_examples=25, deadline=None)
    @given(value=st.floats(-1e6, 1e6), nodes=st.integers(0, 40), weighted=st.booleans())
    def test_zero_on_constants(self, value, nodes, weighted):
        s = torch.full((nodes, 3), value, dtype=torch.float64, requires_grad=True)
        variation = total_variation(s, general(nodes, weighted, torch.float64), backend="cpu")
        variation.sum().backward()
        assert variation.count_nonzero() == 0
        assert s.grad.count_nonzero() == 0

    @settings(max_examples=25, deadline=None)
    @given(seed=st.integers(0, 10**6), a=st.floats(0, 10), b=st.floats(0, 10))
    def test_linear_in_weights(self, seed, a, b):
        adjacency, s = general(20, False, torch.float64, seed), randn(20, 3, seed=seed)
        w1, w2 = (randn(adjacency.num_entries, seed=seed + i).abs() for i in (1, 2))

        def variation(weights):
            return total_variation(s, adjacency.with_values(weights), backend="cpu")

        assert_close(variation(a * w1 + b * w2), a * variation(w1) + b * variation(w2), torch.float64)

    @settings(max_examples=25, deadline=None)
    @given(seed=st.integers(0, 10**6), factor=st.floats(-5, 5), shift=st.floats(-5, 5))
    def test_scales_with_features_and_ignores_shifts(self, seed, factor, shift):
        adjacency, s = general(20, True, torch.float64, seed), randn(20, 3, seed=seed)
        expected = abs(factor) * total_variation(s, adjacency, backend="cpu")
        assert_close(total_variation(factor * s + shift, adjacency, backend="cpu"), expected, torch.float64)

    @settings(max_examples=25, deadline=None)
    @given(seed=st.integers(0, 10**6), weight=st.floats(0, 100))
    def test_self_loops_are_inert(self, seed, weight):
        generator = torch.Generator().manual_seed(seed)
        edges = torch.randint(0, 8, (2, 20), generator=generator)
        weights = torch.rand(20, generator=generator, dtype=torch.float64)
        loops = torch.arange(8).repeat(2, 1)
        looped = torch.cat([edges, loops], 1), torch.cat([weights, torch.full((8,), weight, dtype=torch.float64)])
        plain, with_loops = (
            value_and_gradients(
                lambda s, e=e, w=w: total_variation(s, Adjacency.from_edge_index(e, w, 8), backend="cpu"), randn(8, 3)
            )
            for e, w in ((edges, weights), looped)
        )
        for a, b in zip(plain, with_loops, strict=True):
            assert_close(b, a, torch.float64)

    @settings(max_examples=25, deadline=None)
    @given(seed=st.integers(0, 10**6), nodes=st.integers(1, 7))
    def test_dense_view_equals_sparse(self, seed, nodes):
        adj = randn(2, nodes, nodes, seed=seed).relu()
        graph, i, j = adj.nonzero(as_tuple=True)
        sparse = Adjacency.from_edge_index(
            torch.stack([graph * nodes + i, graph * nodes + j]), adj[graph, i, j], 2 * nodes
        )
        s = randn(2 * nodes, 3, seed=seed)
        results = [
            value_and_gradients(lambda s, a=a: total_variation(s, a, backend="cpu"), s)
            for a in (Adjacency.from_dense(adj), sparse)
        ]
        for a, b in zip(*results, strict=True):
            assert_close(a, b, torch.float64)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_non_finite_reaches_neighbours_only(bad, backend, dtype):
    adjacency = Adjacency.from_edge_index(both_ways([(0, 1), (1, 2), (3, 4)]), None, 6)
    s = randn(6, 17, dtype=dtype)
    clean = total_variation(s, adjacency, backend=backend)
    s[0, 3] = bad
    out = total_variation(s, adjacency, backend=backend)
    assert (out[:2].isnan() if bad != bad else out[:2] == float("inf")).all()
    assert_close(out[2:], clean[2:], dtype)


@pytest.mark.parametrize("build", [general, symmetric])
def test_bitwise_equal_across_runs_and_threads(build, threads):
    adjacency = build(1000, True, torch.float32)
    if build is general:
        hub = torch.stack([torch.zeros(3000, dtype=torch.int64), torch.arange(3000) % 1000])
        edges = torch.cat([torch.stack([adjacency.rows(), adjacency.indices.long()]), hub], 1)
        adjacency = Adjacency.from_edge_index(edges, torch.rand(edges.shape[1]), 1000)
    results = []
    for count in (1, 2, 2):
        threads(count)
        results.append(
            value_and_gradients(
                lambda s, w: total_variation(s, adjacency.with_values(w), backend="cpu"),
                randn(1000, 17, dtype=torch.float32),
                adjacency.values,
            )
        )
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))


class TestTorchLibrary:
    @pytest.mark.parametrize("kind", ["general", "symmetric", "unweighted"])
    def test_opcheck(self, kind):
        adjacency = (symmetric if kind == "symmetric" else general)(5, kind != "unweighted", torch.float64)
        lists = adjacency.transposed
        weights = None if adjacency.values is None else adjacency.values.requires_grad_()
        columns = (None, None, None) if lists is None else (lists.indptr, lists.indices, lists.perm)
        s = randn(5, 3).requires_grad_()
        torch.library.opcheck(
            torch.ops.tvgnn.total_variation.default, (s, adjacency.indptr, adjacency.indices, weights, *columns, "cpu")
        )

    @pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
    def test_compiles_without_graph_break(self, weighted):
        def variation(s, edges, weights):
            return total_variation(s.softmax(1), Adjacency.from_edge_index(edges, weights, s.shape[0]))

        inputs = (randn(5, 3), torch.rand(6, dtype=torch.float64) if weighted else None)
        compiled = torch.compile(variation, fullgraph=True, backend="aot_eager")
        expected = value_and_gradients(lambda s, w: variation(s, both_ways(P4), w), *inputs)
        actual = value_and_gradients(lambda s, w: compiled(s, both_ways(P4), w), *inputs)
        for a, b in zip(actual, expected, strict=True):
            assert_close(a, b, torch.float64)


class TestErrors:
    def setup_method(self):
        self.adjacency = Adjacency.from_edge_index(both_ways(P4), None, 4)

    def test_unknown_backend(self):
        with pytest.raises(ValueError, match="got 'numba'"):
            total_variation(HARD_SPLIT, self.adjacency, backend="numba")

    def test_gpu_backend_is_refused_without_a_gpu(self, monkeypatch):
        monkeypatch.delenv("TRITON_INTERPRET", raising=False)
        with pytest.raises(BackendUnavailableError, match="use backend='auto'"):
            total_variation(HARD_SPLIT, self.adjacency, backend="gpu")

    @pytest.mark.parametrize("backend", BACKENDS)
    @pytest.mark.parametrize("shape", [(3, 2), (5, 2), (4,), (1, 4, 2)])
    def test_assignments_of_another_shape(self, shape, backend):
        with pytest.raises(GraphError, match=r"s of shape \(4, F\)"):
            total_variation(torch.zeros(shape), self.adjacency, backend=backend)
