import pytest
import scipy.sparse
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tvgnn.errors import GraphError
from tvgnn.graph.sparse_matrix import SparseMatrix, index_dtype, row_pointers

DENSE = torch.tensor([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]])


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta:UserWarning")
@pytest.mark.parametrize("convert", [torch.Tensor.to_sparse, torch.Tensor.to_sparse_csr])
def test_from_torch(convert):
    matrix = SparseMatrix.from_torch(convert(DENSE))
    assert matrix.shape == (2, 3)
    assert matrix.num_entries == 3
    assert matrix.indptr.tolist() == [0, 1, 3]
    assert matrix.indices.tolist() == [1, 0, 2]
    assert matrix.values.tolist() == [2, 1, 3]
    assert matrix.rows().tolist() == [0, 1, 1]
    assert matrix.transposed.indptr.tolist() == [0, 1, 2, 3]
    assert matrix.transposed.indices.tolist() == [1, 0, 1]
    assert matrix.transposed.perm.tolist() == [1, 0, 2]
    assert not matrix.symmetric


def test_from_torch_sums_duplicates_of_coo():
    coo = torch.sparse_coo_tensor(
        torch.tensor([[0, 0], [1, 1]]), torch.tensor([2.0, 3.0]), (1, 2), check_invariants=True
    )
    assert SparseMatrix.from_torch(coo).values.tolist() == [5]


def test_from_torch_keeps_the_gradient_of_coo_values():
    values = torch.tensor([2.0, 3.0], requires_grad=True)
    coo = torch.sparse_coo_tensor(torch.tensor([[0, 1], [1, 0]]), values, (2, 2), check_invariants=True)
    SparseMatrix.from_torch(coo).values.mul(torch.tensor([1.0, 10.0])).sum().backward()
    assert values.grad.tolist() == [1, 10]


@pytest.mark.parametrize(
    ("matrix", "got"),
    [
        (DENSE, r"layout torch.strided and shape \(2, 3\)"),
        (torch.zeros(2, 2, 2).to_sparse(), r"layout torch.sparse_coo and shape \(2, 2, 2\)"),
        (DENSE.to_sparse(1), r"layout torch.sparse_coo and shape \(2, 3\)"),
    ],
    ids=["dense", "3-D", "hybrid"],
)
def test_from_torch_refuses_other_layouts(matrix, got):
    with pytest.raises(GraphError, match=f"2-D torch matrix.*got {got}"):
        SparseMatrix.from_torch(matrix)


@settings(max_examples=30, deadline=None)
@given(rows=st.integers(0, 12), columns=st.integers(0, 12), seed=st.integers(0, 1000))
def test_transposed_lists_are_those_of_scipy(rows, columns, seed):
    matrix = scipy.sparse.random_array((rows, columns), density=0.3, rng=seed, format="csr")
    ours = SparseMatrix.from_csr(*map(torch.from_numpy, (matrix.indptr, matrix.indices, matrix.data)), columns)
    lists = ours.transposed
    csc = scipy.sparse.csc_array((ours.values[lists.perm.long()], lists.indices, lists.indptr), shape=(rows, columns))
    assert (csc.toarray() == matrix.toarray()).all()
    assert ours.indices.dtype == lists.indices.dtype == lists.perm.dtype == lists.indptr.dtype == torch.int32


def test_with_values_keeps_the_pattern():
    matrix = SparseMatrix.from_torch(DENSE.to_sparse())
    other = matrix.with_values(torch.tensor([7.0, 8.0, 9.0]))
    assert other.values.tolist() == [7, 8, 9]
    assert other.indices is matrix.indices
    assert matrix.with_values(None).values is None
    assert matrix.values.tolist() == [2, 1, 3]


@pytest.mark.parametrize("shape", [(2,), (4,), (3, 1), ()])
def test_with_values_of_another_length(shape):
    with pytest.raises(GraphError, match=r"expected values of shape \(3,\), one per entry, got \("):
        SparseMatrix.from_torch(DENSE.to_sparse()).with_values(torch.zeros(shape))


def test_to_moves_every_array_and_converts_values_only():
    matrix = SparseMatrix.from_torch(DENSE.to_sparse())
    assert matrix.to(dtype=torch.float64).values.dtype == torch.float64
    assert matrix.to(dtype=torch.float64).indices.dtype == torch.int32
    moved = matrix.to("meta")
    lists = moved.transposed
    tensors = (moved.indptr, moved.indices, moved.values, lists.indptr, lists.indices, lists.perm)
    assert all(tensor.device.type == "meta" for tensor in tensors)
    assert matrix.with_values(None).to("cpu", torch.float64).values is None


def test_index_dtype_is_wide_where_positions_do_not_fit():
    assert index_dtype(10, 10) == torch.int32
    assert index_dtype(2**31 - 2, 0) == torch.int32
    assert index_dtype(2**31 - 1, 0) == torch.int64
    assert index_dtype(10, 2**31) == torch.int64


def test_row_pointers_count_entries():
    assert row_pointers(torch.tensor([3, 0, 3]), 5).tolist() == [0, 1, 1, 1, 3, 3]
    assert row_pointers(torch.tensor([], dtype=torch.int64), 0).tolist() == [0]
