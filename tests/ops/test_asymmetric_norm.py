import math

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from op_cases import GPU, SIZES, WIDTHS, assert_close, assert_same_as_reference, randn, value_and_gradients

from tvgnn.errors import BackendUnavailableError, GraphError
from tvgnn.ops.asymmetric_norm import asymmetric_norm

BACKENDS = ("reference", "cpu")
WITH_GPU = (*BACKENDS, GPU)


def pointers(*sizes: int) -> torch.Tensor:
    return torch.tensor([0, *sizes]).cumsum(0)


def check_against_reference(s, graph_ptr, rho, dtype):
    def norm(s, *, backend):
        return asymmetric_norm(s, graph_ptr, rho, backend=backend)

    assert_same_as_reference(norm, (s,), ("s",), dtype)


def numpy_norm(column: np.ndarray, rho: float) -> float:
    """The definition, by a full sort."""
    quantile = np.sort(column)[::-1][min(math.floor(len(column) / (rho + 1)), len(column) - 1)]
    difference = column - quantile
    return float(np.where(difference >= 0, rho * difference, -difference).sum())


class TestAgainstReference:
    @pytest.mark.parametrize("rho", [0.1, 1.0, 6.0, 10000.0])
    @pytest.mark.parametrize("nodes", SIZES)
    def test_sizes(self, nodes, rho):
        check_against_reference(randn(nodes, 7), pointers(nodes), rho, torch.float64)

    @pytest.mark.parametrize("clusters", [0, *WIDTHS])
    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    def test_widths_and_dtypes(self, dtype, clusters):
        s = randn(63, clusters, dtype=dtype).softmax(1)
        check_against_reference(s, pointers(63), max(clusters - 1, 1), dtype)

    @pytest.mark.parametrize("sizes", [(0,), (), (3, 0, 1, 60), (0, 0), (1, 1, 1)], ids=str)
    def test_batches(self, sizes):
        check_against_reference(randn(sum(sizes), 5), pointers(*sizes), 4.0, torch.float64)

    def test_ties(self):
        check_against_reference(randn(63, 5).round(), pointers(30, 33), 4.0, torch.float64)

    def test_int32_pointers(self):
        check_against_reference(randn(9, 5), pointers(4, 5).int(), 4.0, torch.float64)

    def test_non_contiguous(self):
        check_against_reference(randn(5, 63).T, pointers(63), 4.0, torch.float64)


@pytest.mark.parametrize("backend", WITH_GPU)
class TestSmallExactInputs:
    def test_hard_split_reaches_the_largest_value(self, backend):
        # beta = N rho: the balance loss (beta - norm) / beta is 0
        s = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
        assert asymmetric_norm(s, pointers(4), 1.0, backend=backend).tolist() == [4]

    @pytest.mark.parametrize("clusters", [2, 3, 7])
    def test_balanced_one_hot_reaches_n_rho(self, backend, clusters):
        s = torch.eye(clusters, dtype=torch.float64).repeat(5, 1)
        norm = asymmetric_norm(s, pointers(5 * clusters), clusters - 1, backend=backend)
        assert norm.item() == 5 * clusters * (clusters - 1)

    def test_by_hand(self, backend):
        # N = 5, rho = 3: q = 1, the second largest is 4; 3 * (9 - 4) + 0 + (4 - 2) + (4 - 1) + (4 - 0)
        s = torch.tensor([[2.0], [9.0], [0.0], [4.0], [1.0]])
        assert asymmetric_norm(s, pointers(5), 3.0, backend=backend).tolist() == [24]

    def test_quantile_stays_inside_for_small_rho(self, backend):
        # N = 2, rho = 0.1: floor(2 / 1.1) = 1, the smallest; N = 20: floor(20 / 1.01) = 19, also the smallest
        s = torch.tensor([[3.0], [1.0]])
        assert asymmetric_norm(s, pointers(2), 0.5, backend=backend).tolist() == [1.0]
        assert asymmetric_norm(s, pointers(2), 1e-12, backend=backend).item() == pytest.approx(2e-12)

    def test_constants_give_zero(self, backend):
        assert asymmetric_norm(torch.full((10, 3), 0.3), pointers(10), 2.0, backend=backend).tolist() == [0]

    def test_empty_graph_gives_zero_without_gradient_elsewhere(self, backend):
        s = torch.tensor([[2.0], [9.0]], requires_grad=True)
        norm = asymmetric_norm(s, pointers(0, 2, 0), 1.0, backend=backend)
        assert norm.tolist() == [0, 7, 0]
        norm.sum().backward()
        assert s.grad.tolist() == [[-1], [1]]

    def test_ties_choose_the_first_node(self, backend):
        # N = 4, rho = 1: q = 2, the third largest is 5, held by nodes 1, 2 and 3. Each element above or at the
        # quantile has slope rho, the holder gives back the sum of all slopes.
        s = torch.tensor([[8.0], [5.0], [5.0], [5.0]], requires_grad=True)
        asymmetric_norm(s, pointers(4), 1.0, backend=backend).sum().backward()
        assert s.grad.flatten().tolist() == [1, 1 - 4, 1, 1]


class TestGradient:
    @pytest.mark.parametrize("rho", [0.5, 1.0, 4.0])
    def test_gradcheck(self, rho):
        def norm(s):
            return asymmetric_norm(s, pointers(4, 0, 5), rho, backend="cpu")

        assert torch.autograd.gradcheck(norm, randn(9, 3, seed=5).requires_grad_())

    @settings(max_examples=25, deadline=None)
    @given(seed=st.integers(0, 10**6), nodes=st.integers(1, 30), rho=st.floats(0.1, 20))
    def test_slopes_of_a_column_cancel(self, seed, nodes, rho):
        s = randn(nodes, 3, seed=seed).round(decimals=1).requires_grad_()
        asymmetric_norm(s, pointers(nodes), rho, backend="cpu").sum().backward()
        assert s.grad.sum(0).abs().max() < 1e-10 * nodes * (1 + rho)


class TestProperties:
    @settings(max_examples=50, deadline=None)
    @given(seed=st.integers(0, 10**6), nodes=st.integers(1, 40), rho=st.floats(0.05, 50), decimals=st.integers(0, 6))
    @example(seed=0, nodes=21, rho=6.0, decimals=6)  # N a multiple of rho + 1
    def test_quantile_is_that_of_a_sort(self, seed, nodes, rho, decimals):
        s = randn(nodes, 3, seed=seed).round(decimals=decimals)
        expected = sum(numpy_norm(column, rho) for column in s.numpy().T)
        for backend in BACKENDS:
            norm = asymmetric_norm(s, pointers(nodes), rho, backend=backend)
            assert_close(norm, torch.tensor([expected], dtype=torch.float64), torch.float64)

    @settings(max_examples=25, deadline=None)
    @given(seed=st.integers(0, 10**6), sizes=st.lists(st.integers(0, 12), min_size=1, max_size=5))
    def test_each_graph_of_a_batch_equals_the_graph_alone(self, seed, sizes):
        s = randn(sum(sizes), 4, seed=seed).round(decimals=1)
        together = value_and_gradients(lambda s: asymmetric_norm(s, pointers(*sizes), 3.0, backend="cpu"), s)
        parts = s.split(sizes)
        alone = torch.cat([asymmetric_norm(part, pointers(len(part)), 3.0, backend="cpu") for part in parts])
        assert torch.equal(together[0], alone)
        projection = torch.randn(len(sizes), generator=torch.Generator().manual_seed(99), dtype=torch.float64)
        gradients = []
        for part, weight in zip(parts, projection, strict=True):
            leaf = part.clone().requires_grad_()
            (weight * asymmetric_norm(leaf, pointers(len(part)), 3.0, backend="cpu")).sum().backward()
            gradients.append(leaf.grad)
        assert torch.equal(together[1], torch.cat(gradients))

    @settings(max_examples=25, deadline=None)
    @given(seed=st.integers(0, 10**6), nodes=st.integers(1, 20), rho=st.floats(0.1, 20))
    def test_node_permutation(self, seed, nodes, rho):
        s = randn(nodes, 3, seed=seed)
        order = torch.randperm(nodes, generator=torch.Generator().manual_seed(seed))
        results = [
            value_and_gradients(lambda s: asymmetric_norm(s, pointers(nodes), rho, backend="cpu"), x)
            for x in (s, s[order])
        ]
        assert_close(results[1][0], results[0][0], torch.float64)
        assert_close(results[1][1], results[0][1][order], torch.float64)

    @settings(max_examples=25, deadline=None)
    @given(seed=st.integers(0, 10**6), nodes=st.integers(1, 20), clusters=st.integers(2, 6))
    def test_soft_assignments_stay_below_n_rho(self, seed, nodes, clusters):
        s = randn(nodes, clusters, seed=seed).mul(3).softmax(1)
        norm = asymmetric_norm(s, pointers(nodes), clusters - 1, backend="cpu").item()
        assert 0 <= norm <= nodes * (clusters - 1) + 1e-9


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("row", range(9))
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_non_finite_reaches_its_graph_only(bad, row, backend):
    s = randn(13, 3)
    clean = asymmetric_norm(s, pointers(9, 4), 2.0, backend=backend)
    s[row, 1] = bad
    norm = asymmetric_norm(s, pointers(9, 4), 2.0, backend=backend)
    assert not norm[0].isfinite()
    assert torch.equal(norm[1], clean[1])


def test_bitwise_equal_across_runs_and_threads(threads):
    s = randn(3000, 17, dtype=torch.float32).softmax(1)  # enough elements to be shared among threads
    results = []
    for count in (1, 2, 2):
        threads(count)
        results.append(value_and_gradients(lambda s: asymmetric_norm(s, pointers(1400, 1600), 16.0, backend="cpu"), s))
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))


class TestTorchLibrary:
    @pytest.mark.parametrize("sizes", [(5,), (2, 0, 3)], ids=str)
    @pytest.mark.parametrize("grad", [False, True], ids=["frozen", "trained"])
    def test_opcheck(self, sizes, grad):
        s = randn(5, 3).requires_grad_(grad)
        torch.library.opcheck(torch.ops.tvgnn.asymmetric_norm.default, (s, pointers(*sizes), 2.0, "cpu"))

    def test_compiles_without_graph_break(self):
        def balance(x, graph_ptr):
            return asymmetric_norm(x.softmax(1), graph_ptr, 2.0)

        compiled = torch.compile(balance, fullgraph=True, backend="aot_eager")
        x, graph_ptr = randn(9, 3), pointers(4, 5)
        expected = value_and_gradients(lambda x: balance(x, graph_ptr), x)
        actual = value_and_gradients(lambda x: compiled(x, graph_ptr), x)
        for a, b in zip(actual, expected, strict=True):
            assert_close(a, b, torch.float64)


class TestErrors:
    @pytest.mark.parametrize("rho", [0, -1.0, float("nan"), float("inf")])
    def test_rho_out_of_range(self, rho):
        with pytest.raises(ValueError, match=r"rho to be a positive number .*, got .*; K - 1"):
            asymmetric_norm(torch.zeros(4, 2), pointers(4), rho)

    @pytest.mark.parametrize("backend", BACKENDS)
    @pytest.mark.parametrize("bad", [(0, 3), (0, 5), (1, 4), (0, 3, 2, 4), (), (0.0, 4.0)], ids=str)
    def test_pointers_that_do_not_fit(self, bad, backend):
        with pytest.raises(GraphError, match="rise from 0 to 4"):
            asymmetric_norm(torch.zeros(4, 2), torch.tensor(bad), 1.0, backend=backend)

    def test_batched_assignments(self):
        with pytest.raises(GraphError, match=r"\(N, K\), got \(2, 4, 3\)"):
            asymmetric_norm(torch.zeros(2, 4, 3), pointers(8), 1.0)

    def test_unknown_backend(self):
        with pytest.raises(ValueError, match="got 'sort'"):
            asymmetric_norm(torch.zeros(4, 2), pointers(4), 1.0, backend="sort")

    def test_gpu_backend_is_refused_without_a_gpu(self, monkeypatch):
        monkeypatch.delenv("TRITON_INTERPRET", raising=False)
        with pytest.raises(BackendUnavailableError, match="use backend='auto'"):
            asymmetric_norm(torch.zeros(4, 2), pointers(4), 1.0, backend="gpu")


def test_long_columns_keep_their_digits_in_float32():
    torch.manual_seed(0)
    s = torch.softmax(20 * torch.randn(300_000, 4), dim=1)
    graph_ptr = torch.tensor([0, s.shape[0]])
    exact = asymmetric_norm(s.double(), graph_ptr, 3.0, backend="reference")
    assert asymmetric_norm(s, graph_ptr, 3.0, backend="cpu").item() == pytest.approx(exact.item(), rel=1e-6)
