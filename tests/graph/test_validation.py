import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch

from tvgnn import Graph
from tvgnn.errors import GraphError
from tvgnn.graph.validation import as_features, as_labels

P3 = [[0, 1, 1, 2], [1, 0, 2, 1]]


@pytest.mark.parametrize("x", [
    [0, 1, 3], [[0], [1], [3]], np.array([0, 1, 3], dtype=np.uint8), np.array([[0.0], [1.0], [3.0]]),
    torch.tensor([[0.0], [1.0], [3.0]], requires_grad=True), torch.tensor([0, 1, 3]),
    torch.tensor([0, 1, 3], dtype=torch.bfloat16), pd.DataFrame({"a": [0, 1, 3]}), np.array([[0], [1], [3]], order="F"),
], ids=["list", "nested", "uint8", "float64", "grad", "int-tensor", "bfloat16", "frame", "fortran"])  # fmt: skip
def test_dense_features_become_float32_columns(x):
    result = Graph.from_edge_index(P3, x=x).x
    assert result.dtype == np.float32
    assert result.flags.c_contiguous
    assert result.tolist() == [[0], [1], [3]]


@pytest.mark.parametrize("kinds", [("float64", "bool"), ("Int64", "Float64"), ("boolean", "int8")])
def test_frames_of_several_numeric_types_are_features(kinds):
    frame = pd.DataFrame({"a": [0, 1, 1], "b": [1, 0, 1]}).astype(dict(zip("ab", kinds, strict=True)))
    assert Graph.from_edge_index(P3, x=frame).x.tolist() == [[0, 1], [1, 0], [1, 1]]
    with pytest.raises(GraphError, match="encode text"):
        Graph.from_edge_index(P3, x=frame.assign(c=["r", "g", "b"]))


def test_masked_entries_are_refused_not_unmasked():
    masked = np.ma.array([0.0, 1.0, 3.0], mask=[False, True, False])
    with pytest.raises(GraphError, match="x has masked entries"):
        Graph.from_edge_index(P3, x=masked)
    with pytest.raises(GraphError, match="adjacency has masked entries"):
        Graph.from_scipy(np.ma.array(np.ones((2, 2)), mask=[[0, 1], [1, 0]]))
    assert Graph.from_edge_index(P3, x=masked.filled(9)).x.ravel().tolist() == [0, 9, 3]


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_sparse_tensors_of_half_precision_are_features(kind):
    assert Graph.from_edge_index(P3, x=torch.eye(3, dtype=kind).to_sparse()).x.toarray().tolist() == np.eye(3).tolist()


def test_bool_features_and_the_float64_flag():
    assert Graph.from_edge_index(P3, x=[True, False, True]).x.tolist() == [[1], [0], [1]]
    third = Graph.from_edge_index(P3, x=[1 / 3] * 3, dtype="float64").x
    assert third.dtype == np.float64
    assert third[0, 0] == 1 / 3


@pytest.mark.parametrize("dtype", ["int32", "float16", "nonsense", None])
def test_other_dtypes_are_refused(dtype):
    with pytest.raises(GraphError, match="'float32' or 'float64'"):
        Graph.from_edge_index(P3, dtype=dtype)


@pytest.mark.parametrize("x", [
    np.array([1j, 0, 0]), np.array(["a", "b", "c"]), np.array([1, "b", None], dtype=object),
    pd.DataFrame({"a": [1, 2, 3], "b": ["u", "v", "w"]}), sp.csr_array(np.eye(3) * 1j),
], ids=["complex", "text", "object", "frame", "sparse-complex"])  # fmt: skip
def test_features_that_are_not_real_numbers_are_refused(x):
    with pytest.raises(GraphError, match="real numbers"):
        Graph.from_edge_index(P3, x=x)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e300])
@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_feature_that_is_not_finite_names_row_and_column(bad, wrap):
    x = wrap(np.array([[1.0, 2.0], [3.0, bad], [5.0, np.inf]]))
    with pytest.raises(GraphError, match=r"node 'b' \(index 1\), column 1: .* not a finite float32"):
        Graph.from_edge_index(P3, x=x, node_ids=["a", "b", "c"])


@pytest.mark.parametrize(("x", "message"), [
    (np.zeros((3, 2, 2)), "3 dimensions"),
    (np.zeros((3, 0)), "no columns"),
    ([[1, 2], [3], [4, 5]], "rectangular"),
    (5.0, "shape"),
    (np.float64(5.0), "shape"),
])  # fmt: skip
def test_features_of_wrong_shape_are_refused(x, message):
    with pytest.raises(GraphError, match=message):
        Graph.from_edge_index(P3, x=x)


def test_sparse_features_stay_csr_and_become_canonical():
    rows, columns, values = [0, 0, 2, 1], [1, 1, 0, 0], [200, 200, 0, 1]
    coo = sp.coo_array((np.array(values, dtype=np.uint8), (rows, columns)), shape=(3, 2))
    x = Graph.from_edge_index(P3, x=coo).x
    assert isinstance(x, sp.csr_array)
    assert x.dtype == np.float32
    assert x.nnz == 2
    assert x.has_sorted_indices
    assert x.toarray().tolist() == [[0, 400], [1, 0], [0, 0]]


@pytest.mark.parametrize("layout", ["csr", "coo"])
@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
def test_sparse_tensors_are_features_too(layout):
    tensor = torch.tensor([[0.0, 2.0], [1.0, 0.0], [0.0, 0.0]])
    x = Graph.from_edge_index(P3, x=tensor.to_sparse_csr() if layout == "csr" else tensor.to_sparse()).x
    assert sp.issparse(x)
    assert x.toarray().tolist() == tensor.tolist()


@pytest.mark.parametrize(("y", "codes", "names"), [
    ([5, 2, 2], [1, 0, 0], (2, 5)),
    ([0, 1, -1], [0, 1, -1], (0, 1)),
    (np.array([1, 0, 2], dtype=np.uint8), [1, 0, 2], (0, 1, 2)),
    ([[1], [0], [1]], [1, 0, 1], (0, 1)),
    ([1.0, np.nan, 0.0], [1, -1, 0], (0, 1)),
    ([True, False, True], [1, 0, 1], (False, True)),
    (["b", "a", ""], [1, 0, -1], ("a", "b")),
    (np.array(["b", None, float("nan")], dtype=object), [0, -1, -1], ("b",)),
    (np.array(["b", 1, "a"], dtype=object), [2, 0, 1], (1, "a", "b")),
    (pd.Series(["x", "y", "x"], dtype="category"), [0, 1, 0], ("x", "y")),
    (torch.tensor([2, 2, 2]), [0, 0, 0], (2,)),
    ([-1, -1, -1], [-1, -1, -1], ()),
])  # fmt: skip
def test_labels_become_codes_with_names(y, codes, names):
    graph = Graph.from_edge_index(P3, y=y)
    assert graph.y.dtype == np.int64
    assert graph.y.tolist() == codes
    assert graph.class_names == names
    assert graph.num_classes == len(names)


@pytest.mark.parametrize(("y", "message"), [
    ([0, 1], r"one label per node, shape \(3,\)"),
    (np.eye(3), "one label per node"),
    ([0.5, 1.0, 2.0], "not whole numbers"),
    ([np.inf, 1.0, 2.0], "not whole numbers"),
    (np.array([1j, 2, 3]), "integers or text"),
])  # fmt: skip
def test_bad_labels_are_refused(y, message):
    with pytest.raises(GraphError, match=message):
        as_labels(y, 3)


def test_labels_beyond_int64_are_refused_not_wrapped():
    with pytest.raises(GraphError, match="whole"):
        as_labels([1e30, 1.0, float("nan")], 3)


def test_missing_values_of_pandas_are_unknown_labels():
    codes, names = as_labels(pd.array(["a", None, "b"], dtype="string"), 3)
    assert codes.tolist() == [0, -1, 1]
    assert names == ("a", "b")


def test_features_do_not_share_memory_with_the_caller():
    x = np.ones((2, 2), dtype=np.float32)
    assert not np.shares_memory(as_features(x, range(2), np.dtype("float32")), x)


def test_na_of_pandas_in_labels_is_unknown_and_in_numbers_named():
    for kind, known in (("Int64", 1), ("Float64", 1), ("boolean", True), ("string", "1")):
        for values in (pd.array([known, None, known], dtype=kind), pd.Series([known, None, known], dtype=kind)):
            graph = Graph.from_edges([0, 1], [1, 2], y=values)
            assert (graph.y.tolist(), graph.class_names) == ([0, -1, 0], (known,))
    for values in (pd.array([1, None], dtype="Int64"), pd.Series([1, None], dtype="Float64")):
        with pytest.raises(GraphError, match=r"edge 1 .*has weight nan: weights must be finite"):
            Graph.from_edges([0, 1], [1, 2], values)
        with pytest.raises(GraphError, match="x, node 1, column 0: NaN is not a finite"):
            Graph.from_edges([0], [1], x=values)
