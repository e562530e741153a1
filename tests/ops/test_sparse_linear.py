import pytest
import scipy.sparse
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from op_cases import (
    GPU,
    SIZES,
    WIDTHS,
    assert_close,
    assert_same_as_reference,
    both_ways,
    general,
    randn,
    star,
    symmetric,
    value_and_gradients,
)

from tvgnn.errors import BackendUnavailableError, GraphError
from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.sparse_matrix import SparseMatrix
from tvgnn.ops.sparse_linear import sparse_linear

BACKENDS = ("reference", "cpu")
WITH_GPU = (*BACKENDS, GPU)


def rectangular(rows: int, columns: int, *, weighted: bool = True, seed: int = 0, density: float = 0.1):
    """Entries in no order within a row, among them stored zeros; some rows and columns hold none."""
    matrix = scipy.sparse.random_array((rows, columns), density=density, rng=seed, format="csr")
    values = torch.from_numpy(matrix.data.copy())
    values[::7] = 0
    return SparseMatrix.from_csr(
        torch.from_numpy(matrix.indptr), torch.from_numpy(matrix.indices), values if weighted else None, columns
    )


def check_against_reference(x, weight, dtype):
    def product(weight, values, *, backend):
        return sparse_linear(x.with_values(values), weight, backend=backend)

    assert_same_as_reference(product, (weight, x.values), ("weight", "values"), dtype)


def dense(x: SparseMatrix) -> torch.Tensor:
    """The matrix with duplicates summed."""
    values = torch.ones(x.num_entries, dtype=torch.float64) if x.values is None else x.values.double()
    return torch.zeros(x.shape, dtype=torch.float64).index_put((x.rows(), x.indices.long()), values, accumulate=True)


class TestAgainstReference:
    @pytest.mark.parametrize("weighted", [False, True], ids=["ones", "values"])
    @pytest.mark.parametrize("columns", [1, 30])
    @pytest.mark.parametrize("rows", SIZES)
    def test_sizes(self, rows, columns, weighted):
        check_against_reference(rectangular(rows, columns, weighted=weighted), randn(columns, 17), torch.float64)

    @pytest.mark.parametrize("width", WIDTHS)
    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    def test_widths_and_dtypes(self, dtype, width):
        x = rectangular(63, 30).to(dtype=dtype)
        check_against_reference(x, randn(30, width, dtype=dtype), dtype)

    @pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
    @pytest.mark.parametrize("build", [general, symmetric])
    def test_adjacency_times_assignments(self, build, weighted):
        check_against_reference(build(63, weighted, torch.float64), randn(63, 5), torch.float64)

    @pytest.mark.parametrize("leaves", [700, 5000], ids=["longer than HUB", "longer than several tasks"])
    def test_cut_rows(self, leaves):
        check_against_reference(star(leaves), randn(leaves + 1, 5), torch.float64)

    def test_cut_columns(self):
        x = rectangular(5000, 2, density=0.9)  # the gradient gathers along columns of 4500 entries
        check_against_reference(x, randn(2, 5), torch.float64)

    def test_float32_values_with_float64_weight(self):
        check_against_reference(rectangular(63, 30).to(dtype=torch.float32), randn(30, 4), torch.float64)

    def test_no_columns(self):
        x = SparseMatrix.from_csr(torch.zeros(4, dtype=torch.int64), torch.zeros(0, dtype=torch.int64), None, 0)
        assert torch.equal(sparse_linear(x, randn(0, 3), backend="cpu"), torch.zeros(3, 3, dtype=torch.float64))


class TestSmallExactInputs:
    @pytest.mark.parametrize("backend", WITH_GPU)
    def test_by_hand(self, backend):
        x = SparseMatrix.from_torch(torch.tensor([[0.0, 2.0, 3.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]).to_sparse())
        weight = torch.tensor([[1.0, 4.0], [10.0, 5.0], [100.0, 6.0]])
        assert sparse_linear(x, weight, backend=backend).tolist() == [[320, 28], [0, 0], [1, 4]]

    @pytest.mark.parametrize("backend", WITH_GPU)
    def test_duplicates_add_up(self, backend):
        x = SparseMatrix.from_csr(torch.tensor([0, 2]), torch.tensor([1, 1]), torch.tensor([2.0, 3.0]), 2)
        assert sparse_linear(x, torch.tensor([[1.0], [10.0]]), backend=backend).tolist() == [[50]]


@settings(max_examples=25, deadline=None)
@given(rows=st.integers(0, 15), columns=st.integers(1, 15), seed=st.integers(0, 1000), weighted=st.booleans())
def test_equals_the_dense_product(rows, columns, seed, weighted):
    x, weight = rectangular(rows, columns, weighted=weighted, seed=seed, density=0.3), randn(columns, 3, seed=seed)
    expected = value_and_gradients(lambda w: dense(x) @ w, weight)
    actual = value_and_gradients(lambda w: sparse_linear(x, w, backend="cpu"), weight)
    for a, b in zip(actual, expected, strict=True):
        assert_close(a, b, torch.float64)


class TestGradient:
    def test_gradcheck(self):
        x = rectangular(6, 4, density=0.5)

        def product(weight, values):
            return sparse_linear(x.with_values(values), weight, backend="cpu")

        inputs = (randn(4, 3).requires_grad_(), x.values.requires_grad_())
        assert torch.autograd.gradcheck(product, inputs)

    def test_frozen_inputs_get_none(self):
        x, weight = rectangular(6, 4, density=0.5), randn(4, 3)
        x.values.requires_grad_()
        sparse_linear(x, weight, backend="cpu").sum().backward()
        assert weight.grad is None
        assert_close(x.values.grad, weight.sum(1)[x.indices.long()], torch.float64)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_non_finite_reaches_its_rows_only(bad, backend, dtype):
    x = SparseMatrix.from_csr(torch.tensor([0, 1, 3, 4]), torch.tensor([0, 0, 1, 1]), None, 2)
    weight = torch.ones(2, 17, dtype=dtype)
    weight[0] = bad
    out = sparse_linear(x, weight, backend=backend)
    assert (out[:2].isnan() if bad != bad else out[:2] == bad).all()
    assert torch.all(out[2] == 1)


def test_bitwise_equal_across_runs_and_threads(threads):
    x = rectangular(1000, 40).to(dtype=torch.float32)
    long_row = SparseMatrix.from_csr(
        torch.tensor([0, 4000, 4000, 4010]), torch.arange(4010) % 40, randn(4010, dtype=torch.float32), 40
    )
    results = []
    for count in (1, 2, 2):
        threads(count)
        results.append(
            [
                tensor
                for matrix in (x, long_row)
                for tensor in value_and_gradients(
                    lambda w, v, m=matrix: sparse_linear(m.with_values(v), w, backend="cpu"),
                    randn(40, 17, dtype=torch.float32),
                    matrix.values,
                )
            ]
        )
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))


class TestTorchLibrary:
    @pytest.mark.parametrize("kind", ["values", "ones", "symmetric", "frozen values", "frozen weight"])
    def test_opcheck(self, kind):
        if kind == "symmetric":
            x = symmetric(5, True, torch.float64)
            columns = (None, None, None)
        else:
            x = rectangular(5, 5, weighted=kind != "ones", density=0.4)
            columns = (x.transposed.indptr, x.transposed.indices, x.transposed.perm)
        values = x.values
        if values is not None and kind != "frozen values":
            values.requires_grad_()
        weight = randn(5, 3).requires_grad_(kind != "frozen weight")
        torch.library.opcheck(
            torch.ops.tvgnn.sparse_linear.default, (weight, x.indptr, x.indices, values, *columns, "cpu")
        )

    @pytest.mark.parametrize("weighted", [False, True], ids=["unweighted", "weighted"])
    def test_compiles_without_graph_break(self, weighted):
        def pooled(s, edges, weights):
            s = s.softmax(1)
            return s.T @ sparse_linear(Adjacency.from_edge_index(edges, weights, s.shape[0]), s)

        edges = both_ways([(0, 1), (1, 2), (2, 3)])
        inputs = (randn(5, 3), torch.rand(6, dtype=torch.float64) if weighted else None)
        compiled = torch.compile(pooled, fullgraph=True, backend="aot_eager")
        expected = value_and_gradients(lambda s, w: pooled(s, edges, w), *inputs)
        actual = value_and_gradients(lambda s, w: compiled(s, edges, w), *inputs)
        for a, b in zip(actual, expected, strict=True):
            assert_close(a, b, torch.float64)


class TestErrors:
    def setup_method(self):
        self.x = rectangular(3, 4, density=0.5)

    @pytest.mark.parametrize("backend", BACKENDS)
    @pytest.mark.parametrize("shape", [(3, 2), (5, 2), (4,)])
    def test_weight_of_another_shape(self, shape, backend):
        with pytest.raises(GraphError, match=r"weight of shape \(4, H\)"):
            sparse_linear(self.x, torch.zeros(shape), backend=backend)

    def test_missing_column_lists(self):
        bare = SparseMatrix(self.x.indptr, self.x.indices, self.x.values, 4)
        with pytest.raises(GraphError, match=r"from_csr\(\)"):
            sparse_linear(bare, randn(4, 2).requires_grad_(), backend="cpu")
        weight = randn(4, 2)
        assert torch.equal(sparse_linear(bare, weight, backend="cpu"), sparse_linear(self.x, weight, backend="cpu"))

    def test_unknown_backend(self):
        with pytest.raises(ValueError, match="got 'scipy'"):
            sparse_linear(self.x, randn(4, 2), backend="scipy")

    def test_gpu_backend_is_refused_without_a_gpu(self, monkeypatch):
        monkeypatch.delenv("TRITON_INTERPRET", raising=False)
        with pytest.raises(BackendUnavailableError, match="use backend='auto'"):
            sparse_linear(self.x, randn(4, 2), backend="gpu")


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(("rows", "columns"), [(2000, 5), (700, 33), (257, 1), (1000, 300)])
def test_gradient_in_tiles_is_the_same(monkeypatch, rows, columns, weighted):
    """The way of large gradients that are gathered many times over, here made to be taken by small ones."""
    from tvgnn.ops.sparse_linear import cpu

    x = rectangular(rows, columns, weighted=weighted, density=0.3)
    weight, grad = randn(columns, 19).requires_grad_(), randn(rows, 19)
    expected = torch.autograd.grad(sparse_linear(x, weight, backend="reference"), weight, grad)[0]
    monkeypatch.setattr(cpu, "_CACHE_BYTES", 0)
    monkeypatch.setattr(cpu, "_TIMES_REUSED", 0)
    before = torch.get_num_threads()
    try:
        for threads in (1, 2, 7):
            torch.set_num_threads(threads)
            torch.testing.assert_close(
                torch.autograd.grad(sparse_linear(x, weight, backend="cpu"), weight, grad)[0], expected
            )
    finally:
        torch.set_num_threads(before)
