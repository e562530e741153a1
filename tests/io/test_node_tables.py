import gzip
import io
import zipfile

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from tvgnn.errors import DataError, MemoryLimitError
from tvgnn.io._arrays import read_array, read_matrix
from tvgnn.io.graph_files import read_graph
from tvgnn.io.node_tables import read_features, read_labels


@pytest.fixture
def write(tmp_path):
    def to_file(content, name="nodes.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return to_file


def npy(array) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def forged(shape) -> bytes:
    """Return an array file whose header announces another shape than its data has."""
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return buffer.getvalue() + b"\0" * 16


# text


@pytest.mark.parametrize("text", [
    "a,1,2\nb,3,4\n",
    "node_id,x,y\na,1,2\nb,3,4\n",
    "node_id,0,1\na,1,2\nb,3,4\n",
    ",0,1\na,1,2\nb,3,4\n",
    "gene,x,y\na,1,2\nb,3,4\n",
    "x y\na 1 2\nb 3 4\n",
    "\ufeffa\t1\t2\r\nb\t3\t4\r\n",
    "# made by hand\na;1;2\n\nb;3.0;4e0\n",
    '"a","1","2"\n"b",3,4\n',
], ids=repr)  # fmt: skip
def test_features_in_every_dress(write, text):
    table = read_features(write(text))
    assert table.node_ids == ("a", "b")
    assert table.values.tolist() == [[1, 2], [3, 4]]
    assert table.values.dtype == np.float32


def test_features_keyed_by_integers_and_text(write):
    table = read_features(write("name,f\n10,1\n007,2\n-3,3\n"))
    assert table.node_ids == (10, "007", -3)
    assert read_features(write("a,0.1\n"), dtype="float64").values[0, 0] == 0.1
    assert read_features(write(gzip.compress(b"a,1\n"), "x.csv.gz")).values.tolist() == [[1]]


@pytest.mark.parametrize(("text", "message"), [
    ("a,1,2\nb,3\n", "line 2: expected 3 columns as in the first row, got 2; columns are separated by commas"),
    ("a,1,2\nb,3,4\nc,5,6,7\n", "line 3: expected 3 columns"),
    ("id,age,size\na,1,2\nb,,4\n", "line 3, column 'age': expected a number, got ''"),
    ("id,f\na,1\nb,\nc,3\n", "line 3, column 'f': expected a number, got ''"),
    ("a,1,2\nb,3,red\n", "line 2, column '2': expected a number, got 'red'"),
    ("a,1,red\nb,3,4\n", "line 1, column '2': expected a number, got 'red'"),
    ("id,f\na,1\nb,2\na,3\n", "line 4: node 'a' is already in line 2"),
    ("0,5\n1,7\n0,2\n", r"keep one row per node, whose id stands in the first column \(rows without ids: number them"),
    ("id,f\na,1\n,2\n", "line 3: expected a node id, got none"),
    (",1.5,2.5\nb,3,4\n", "line 1: expected a node id, got none"),
    ("a\nb\n", "line 1: expected a node id and at least one number"),
    ("id,f\n", "a header in line 1 and no nodes below it; expected a node id and its numbers"),
    ("", "empty; expected a node id and its numbers in each line"),
    ("id;a;b\nx;1,5;2,5\ny;2,5;3,5\n", "line 2, column 'a': expected a number, got '1,5'; decimal comma.* with points"),
    ('id,a\nx,"1,5"\n', "line 2, column 'a': expected a number, got '1,5'; decimal comma"),
    ("x;1,5\ny;2\nz;3\n", "line 1, column '1': expected a number, got '1,5'; decimal comma"),
    ('id,a\nx,"1,234.5"\n', "line 2, column 'a': expected a number, got '1,234.5'; .*thousands"),
    ("id,a\nx,1 234\n", "line 2, column 'a': .*'1 234'; .*thousands"),
    ("id,a\nx,50%\n", "line 2, column 'a': .*'50%'; save the number alone"),
    ("x,50%\ny,20\n", "line 1, column '1': .*'50%'; save the number alone"),
    ("id,a\nx,1\nid,a\ny,2\n", "line 3: the header again"),
    ("id,a\nx,inf\n", "line 2, column 'a': .*'inf'; leave such nodes out"),
    ("id,a\nx,1_000\n", "line 2, column 'a': .*'1_000'; .*thousands"),
    ("id,a\nx,tall\n", "line 2, column 'a': expected a number, got 'tall'; encode text as numbers, or leave .* out$"),
    ("x,12kg\ny,13\n", "line 1, column '1': expected a number, got '12kg'"),
    ("person,a\nx,1\ny,tall\n", "line 3, column 'a': expected a number, got 'tall'; encode .* column out$"),
    ("x,tall,1\ny,2,1\n", "line 1, column '1': .*'tall'; .*where this line holds names, begin it with node_id"),
    ("a,NA\nb,1\nc,2\n", "line 1, column '1': expected a number, got 'NA'; fill in missing values, or leave .*out$"),
    ("a,,2\n8,4,9\n9,1,2\n", "line 1, column '1': expected a number, got ''; fill in missing"),
    ("a,\nb,1\nc,2\n", "line 1, column '1': expected a number, got ''; fill in missing"),
    ("id,a,b,c\nx,1,2\n", "the header names 4 columns, the rows below have 3"),
    ("id,a\nx,1,2\ny,3,4\n", "the header names 2 columns, the rows below have 3"),
    ('id,a\n"x\ny",1\nz,2\n', "line 2: a quoted cell goes on in the next line"),
    ("id,a,b\nx,1\x1f2,3\n", "line 2: expected numbers, got a control character"),
    ("id,a,b\nx,1,2\ny,3,nan\n", "line 3, column 'b': expected a finite float32 number for node 'y', got 'nan'; "),
    ("id,a\nx,1\ny,1e39\n", "line 3, column 'a': .* for node 'y', got '1e39'; divide the column by a constant"),
    (b"a,1\0\n", "binary"),
    ("<html>404</html>", "web page"),
    (b"a,1\n\xff,2\n", "UTF-8"),
], ids=repr)  # fmt: skip
def test_bad_features_are_refused_naming_the_line(write, text, message):
    with pytest.raises(DataError, match=message):
        read_features(write(text))


@pytest.mark.parametrize(("text", "ids"), [
    ("a,2\n8,4\n9,5\n", ("a", 8, 9)),
    ("007,2\n8,4\n9,5\n", ("007", 8, 9)),
    ("what,1\n7,1\n8,2\n", ("what", 7, 8)),
    ("a,0\n8,4\n9,5\n", ("a", 8, 9)),
    ("a,2,0\n8,4,5\n", ("a", 8)),
])  # fmt: skip
def test_a_first_row_of_numbers_is_a_node(write, text, ids):
    table = read_features(write(text))
    assert table.node_ids == ids
    assert len(table.notes) == (ids[0] != "007")  # which is no name
    assert all("was read as a node; if it holds names, begin it with node_id" in note for note in table.notes)


@pytest.mark.parametrize(("text", "ids", "names"), [
    ("who,0,1\n7,1,2\n8,2,3\n", (7, 8), ["0", "1"]),
    ("person,age,2020\n7,1,2\n8,2,3\n", (7, 8), ["age", "2020"]),
    ("cell,1,2\ndog,3,4\n", ("dog",), ["1", "2"]),
    ("id,1.5,2.5\ndog,3,4\n", ("dog",), ["1.5", "2.5"]),
])  # fmt: skip
def test_a_guessed_header_of_features_is_told(write, text, ids, names):
    table = read_features(write(text))
    assert (table.node_ids, table.names) == (ids, names)
    (note,) = table.notes
    assert "was taken for names of columns; if it is a node, put a header above it that begins with node_id" in note
    stated = read_features(write(text), header=True)
    assert (stated.node_ids, stated.notes) == (ids, ())


@pytest.mark.parametrize(("text", "names"), [
    ("node_id,a,a\nx,1,2\n", ["a", "a"]),
    ("gene,a,b\nx,1,2\n", ["a", "b"]),
    (",0,1\nx,1,2\n", ["0", "1"]),
    ("a b\nx 1 2\ny 2 3\n", ["a", "b"]),
    ("a\nx 1\ny 2\n", ["a"]),
    ('id,"height\n(cm)",b\nx,1,2\n', ["height (cm)", "b"]),
    ("id,a,\nx,1,\ny,2,\n", ["a"]),
    ("x,1\ny,2\n", None),
])  # fmt: skip
def test_names_of_features_are_those_of_the_header(write, text, names):
    table = read_features(write(text))
    assert (table.names, table.notes) == (names, ())


BY_NAME = "node ids: the column 'node_id' of nodes.csv"
LEFT_OUT = "left out of nodes.csv, as numbers of its rows: "


@pytest.mark.parametrize(("text", "names", "notes"), [
    (",node_id,a\n0,7,1\n1,8,2\n", ["a"], (BY_NAME, LEFT_OUT + "the first, without a name")),
    (",node_id,a\n22,7,1\n5,8,2\n", ["a"], (BY_NAME, LEFT_OUT + "the first, without a name")),
    ("Unnamed: 0,node_id,a\n0,7,1\n1,8,2\n", ["a"], (BY_NAME, LEFT_OUT + "'Unnamed: 0'")),
    ("index,node_id,a\n0,7,1\n1,8,2\n", ["a"], (BY_NAME, LEFT_OUT + "'index'")),
    ("a node_id\n1 0.5 7\n2 0.25 8\n", ["a"], (BY_NAME, LEFT_OUT + "the first, without a name")),
    ("a,b,node_id\n3,1,7\n4,2,8\n", ["a", "b"], (BY_NAME + ", not the first one, 'a', which holds values",)),
    ("a,2020,node_id\n.5,1,7\n.5,2,8\n", ["a", "2020"], (BY_NAME + ", not the first one, 'a', which holds values",)),
    ("node_id,Unnamed: 0,a\n7,0,1\n8,1,2\n", ["a"], (LEFT_OUT + "'Unnamed: 0'",)),
    (",node_id,a\n.5,7,1\n.25,8,2\n", ["", "a"], (BY_NAME + ", not the first one, '', which holds values",)),
])  # fmt: skip
def test_numbers_of_rows_are_neither_ids_nor_features(write, text, names, notes):
    table = read_features(write(text))
    assert (table.node_ids, table.names, table.notes) == ((7, 8), names, notes)
    assert table.values.shape == (2, len(names))
    assert table.where(1).endswith("line 3")


@pytest.mark.parametrize(("text", "ids", "names"), [
    (",cell,a\n0,c7,1\n1,c8,2\n", ("c7", "c8"), ["a"]),
    (",customer_id,a\n0,c7,1\n1,c8,2\n", ("c7", "c8"), ["a"]),
    (",customer_id,a\n0,17,1\n1,18,2\n", (17, 18), ["a"]),
    (",customer_id,shop_id\n0,17,1\n1,18,2\n", (0, 1), ["customer_id", "shop_id"]),
    (",a,who\n0,1,ann\n1,2,bob\n", ("ann", "bob"), ["a"]),
    ("a,b,name\n.5,1,ann\n.5,2,bob\n", ("ann", "bob"), ["a", "b"]),
    ("who,cell,a\n3,7,1\n4,8,2\n", (3, 4), ["cell", "a"]),
    (",cell,node\n3,7,1\n4,8,2\n", (3, 4), ["cell", "node"]),
    (",cell,a\n3,.7,1\n4,.8,2\n", (3, 4), ["cell", "a"]),
    (",id,a\nann,7,1\nbob,8,2\n", ("ann", "bob"), ["id", "a"]),
    ("name,id,a\n3,7,1\n4,8,2\n", (3, 4), ["id", "a"]),
    (",a,b\n0,7,1\n1,8,2\n", (0, 1), ["a", "b"]),
    ("index,a,b\n0,7,1\n1,8,2\n", (0, 1), ["a", "b"]),
])  # fmt: skip
def test_other_names_of_ids_count_where_the_first_column_cannot_hold_them(write, text, ids, names):
    table = read_features(write(text))
    assert (table.node_ids, table.names) == (ids, names)


def test_errors_name_the_chosen_columns(write):
    with pytest.raises(DataError, match=r"line 3: node 7 is already in line 2; .* whose id stands in column 'node_id'"):
        read_features(write(",node_id,a\n0,7,1\n1,7,2\n"))
    with pytest.raises(DataError, match="line 3, column 'a': expected a number, got 'x'"):
        read_features(write(",node_id,a\n0,7,1\n1,8,x\n"))
    with pytest.raises(DataError, match=r"at least one number, .* got 1 column"):
        read_features(write(",node_id\n0,7\n1,8\n"))


@pytest.mark.parametrize("text", [
    ",node_id,label\n0,7,u\n1,8,v\n", "label,node_id\nu,7\nv,8\n", "Unnamed: 0,label,node_id\n0,u,7\n1,v,8\n",
])  # fmt: skip
def test_labels_are_found_beside_numbers_of_rows(write, text):
    table = read_labels(write(text))
    assert (table.node_ids, table.values.tolist()) == ((7, 8), ["u", "v"])
    assert table.notes[0].startswith(BY_NAME)


@pytest.mark.parametrize(("text", "names"), [
    ("id,a,b\nx,True,1\ny,False,2\n", ["a", "b"]),
    ("x,TRUE,1\ny, FALSE,2\n", None),
    ("x\ttrue\t1\ny\tfalse\t2\n", None),
    ("a,b,id\nTrue,1,x\nFalse,2,y\n", ["a", "b"]),
    ("id,a,b\nx,yes,1\ny,no,2\n", ["a", "b"]),
    ("x,Yes,1\ny, NO,2\n", None),
])  # fmt: skip
def test_true_and_false_are_numbers(write, text, names):
    table = read_features(write(text))
    assert (table.node_ids, table.names, table.values.tolist()) == (("x", "y"), names, [[1, 1], [0, 2]])


def test_a_word_beside_true_is_still_refused(write):
    with pytest.raises(DataError, match="line 2, column 'b': expected a number, got 'truely'"):
        read_features(write("id,a,b\nx,True,truely\n"))
    assert read_features(write("x,True,False\ny,False,True\n")).values.tolist() == [[1, 0], [0, 1]]


def test_answers_are_no_names_of_columns(write):
    assert read_features(write("x,yes,no\ny,no,yes\n")).values.tolist() == [[1, 0], [0, 1]]
    assert read_features(write("id,No,yes\nx,3,4\n")).names == ["No", "yes"]  # of columns all the same
    with pytest.raises(DataError, match="line 2, column 'b': expected a number, got 'yesterday'"):
        read_features(write("id,a,b\nx,yes,yesterday\n"))


def test_labels_keep_a_first_row_that_is_no_name(write):
    assert read_labels(write("a,3\n8,4\n9,5\n")).node_ids == ("a", 8, 9)
    assert read_labels(write("007,x\n8,y\n9,z\n")).node_ids == ("007", 8, 9)
    assert read_labels(write("ann,y\nbob,n\ncid,y\n")).node_ids == ("ann", "bob", "cid")
    guessed = read_labels(write("paper,topic\n10,3\n11,4\n"))
    assert guessed.node_ids == (10, 11)
    assert "was taken for names of columns" in guessed.notes[0]


@pytest.mark.parametrize(("values", "message"), [
    (np.array([["a", "b"]]), "expected numbers of shape"),
    (np.ones((2, 2, 2)), r"got float64 of shape \(2, 2, 2\)"),
    (np.ones((3, 0)), r"shape \(3, 0\)"),
])  # fmt: skip
def test_arrays_that_are_no_features_are_refused_by_name(write, values, message):
    with pytest.raises(DataError, match=message) as error:
        read_features(write(npy(values), "x.npy"))
    assert "x.npy" in str(error.value)


@pytest.mark.parametrize("text", [
    "a,u\nb,v\n", "node_id,label\na,u\nb,v\n", "a\tu\nb\tv\n", "# c\nwho,class\na,u\nb,v\n",
], ids=repr)  # fmt: skip
def test_labels_in_every_dress(write, text):
    table = read_labels(write(text))
    assert table.node_ids == ("a", "b")
    assert table.values.tolist() == ["u", "v"]


def test_marks_of_missing_labels_are_unknown_and_told(write):
    table = read_labels(write("a,NA\nb,?\nc,+\nd,-\ne,null\nf, None \ng,\nh,ND\n"))
    assert table.values.tolist() == [None, None, "+", "-", None, None, None, "ND"]
    assert table.notes == ("'NA', '?', 'null', 'None' in nodes.csv were taken for unknown labels",)
    assert read_labels(write("a,u\nb,\n")).notes == ()


def test_integer_labels_and_headers_are_told_apart(write):
    path = write("paper,topic\n10,3\n11,0\n")
    assert read_labels(path).node_ids == (10, 11)
    assert read_labels(path).values.tolist() == [3, 0]
    assert read_labels(path, known_ids={"paper", 10, 11}).node_ids == ("paper", 10, 11)
    assert read_labels(write("id,1\nb,2\n"), known_ids={"id", "b"}).node_ids == ("id", "b")


@pytest.mark.parametrize(("text", "message"), [
    ("a,u,1\n", "two columns, node id and label, got 3"),
    ("a,u\na,v\n", "line 2: node 'a' is already in line 1"),
    ("a,u\nb\n", "line 2: expected 2 columns"),
    ("node_id,label\n", "a header in line 1 and no labels below it; expected a node id and its label"),
], ids=repr)  # fmt: skip
def test_bad_labels_are_refused(write, text, message):
    with pytest.raises(DataError, match=message):
        read_labels(write(text))


def test_rows_are_aligned_to_the_nodes_by_id(write):
    table = read_features(write("b,2\na,1\nc,3\n"))
    values, notes = table.aligned(["a", "b", "c"])
    assert (values.ravel().tolist(), notes) == ([1, 2, 3], ())
    with pytest.raises(DataError, match="1 of 4 nodes have no row, first 'd'"):
        table.aligned(["a", "b", "c", "d"])
    values, notes = table.aligned(["a"])
    assert values.tolist() == [[1]]
    assert notes == ("2 of the 3 ids in nodes.csv not found in the graph, left out: 'b', 'c'",)
    for partial in (False, True):
        with pytest.raises(
            DataError, match=r"0 of 3 ids match those of the graph: are these the same ids\? .*'b', .*7, 8"
        ):
            table.aligned([7, 8], partial=partial)
    labels = read_labels(write("b,2\na,1\n"))
    values, notes = labels.aligned(["a", "x", "b"], partial=True)
    assert (values.tolist(), notes) == ([1, None, 2], ())


def test_more_than_five_missing_rows_are_cut_short(write):
    with pytest.raises(DataError, match=r"9 of 10 nodes have no row, first 1, 2, 3, 4, 5, \.\.\."):
        read_features(write("0,1\n")).aligned(range(10))


# arrays


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
def test_sparse_files_of_every_format(tmp_path, kind):
    dense = np.diag([1.0, 2, 3, 4]) + np.diag([5.0, 0, 7], 1)
    sp.save_npz(tmp_path / "x.npz", getattr(sp, f"{kind}_array")(dense))
    found = read_features(tmp_path / "x.npz").values
    assert (found.format, found.nnz, found.toarray().tolist()) == ("csr", 6, dense.tolist())
    sp.save_npz(tmp_path / "e.npz", getattr(sp, f"{kind}_array")(dense + dense.T))
    graph = read_graph(tmp_path / "e.npz")
    assert (graph.num_edges, graph.report.num_zero_weights) == (2, 0)


@pytest.mark.parametrize(("kind", "part", "value"), [
    ("bsr", "indices", np.array([0, 9], np.int32)), ("bsr", "data", np.ones(4)), ("dia", "offsets", np.array([0, 0])),
    ("dia", "offsets", np.array([0.5, 1])), ("dia", "data", np.ones(3)),
    ("bsr", "indptr", np.array([0, 9, 2], np.int32)),
])  # fmt: skip
def test_damaged_blocks_and_diagonals_are_refused(tmp_path, kind, part, value):
    dense = np.diag([1.0, 2, 3, 4]) + np.diag([5.0, 0, 7], 1)
    matrix = (
        sp.bsr_array(np.kron(np.eye(2), np.ones((2, 2))), blocksize=(2, 2)) if kind == "bsr" else sp.dia_array(dense)
    )
    sp.save_npz(tmp_path / "x.npz", matrix)
    with np.load(tmp_path / "x.npz") as arrays:
        parts = {**arrays, part: value}
    np.savez(tmp_path / "x.npz", **parts)
    with pytest.raises(DataError, match=r"not a valid|expected integers"):
        read_features(tmp_path / "x.npz")


def test_array_files_are_in_node_order(tmp_path, write):
    values = np.arange(6.0).reshape(3, 2)
    np.save(tmp_path / "x.npy", values)
    np.savez(tmp_path / "dense.npz", x=values)
    sp.save_npz(tmp_path / "sparse.npz", sp.csr_array(values))
    scipy.io.mmwrite(tmp_path / "x.mtx", sp.coo_array(values))
    for name in ("x.npy", "dense.npz", "sparse.npz", "x.mtx"):
        table = read_features(tmp_path / name)
        assert table.node_ids is None
        dense = table.values.toarray() if sp.issparse(table.values) else table.values
        assert np.array_equal(dense, values)
    np.save(tmp_path / "y.npy", np.array(["u", "v", "u"]))
    assert read_labels(tmp_path / "y.npy").values.tolist() == ["u", "v", "u"]
    with pytest.raises(DataError, match="expected one row per node, 2 in all, got 3"):
        read_features(tmp_path / "x.npy").aligned(["a", "b"])


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_sparse_formats_round_trip(tmp_path, kind):
    matrix = sp.random_array((5, 4), density=0.5, format=kind, rng=np.random.default_rng(0))
    sp.save_npz(tmp_path / "m.npz", matrix)
    assert np.array_equal(read_matrix(tmp_path / "m.npz").toarray(), matrix.toarray())


@pytest.mark.parametrize(("content", "message"), [
    (npy(np.array([{"a": 1}], dtype=object)), "Python objects"),
    (forged((10**12, 8)), "header announces 64000000000000 bytes"),
    (npy(np.arange(9.0))[:-8], "announces 72 bytes, there are 64"),
    (forged((-2, 8)), "cut off or damaged"),
    (npy(np.float64(1.0)), "single number"),
    (b"\x80\x04\x95 a pickle", "not a NumPy array file"),
    (b"", "not a NumPy array file"),
    (npy(np.arange(3.0)).replace(b"(3,)", b"(3,("), "not a NumPy array file"),
], ids=["objects", "huge", "cut", "negative", "scalar", "pickle", "empty", "header"])  # fmt: skip
def test_hostile_npy_is_refused(write, content, message):
    with pytest.raises(DataError, match=message):
        read_array(write(content, "x.npy"))


def archive(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, content in members.items():
            file.writestr(f"{name}.npy", content)
    return buffer.getvalue()


def csr_parts(**changes):
    parts = {
        "format": np.array(b"csr"), "shape": np.array([2, 2]), "data": np.ones(2), "indices": np.array([1, 0]),
        "indptr": np.array([0, 1, 2]),
    }  # fmt: skip
    return {name: npy(part) for name, part in (parts | changes).items()}


@pytest.mark.parametrize(("content", "message"), [
    (archive(**csr_parts(indices=np.array([1, 10**9]))), "not a valid csr matrix"),
    (archive(**csr_parts(indices=np.array([-5, 0]))), "not a valid csr matrix"),
    (archive(**csr_parts(indptr=np.array([0, 9, 2]))), "not a valid csr matrix"),
    (archive(**csr_parts(indptr=np.array([0.0, 1, 2]))), "expected integers"),
    (archive(**csr_parts(shape=np.array([2, 2, 2]))), "shape of a matrix"),
    (archive(**csr_parts(shape=np.array([-1, 2]))), "shape of a matrix"),
    (archive(**csr_parts(format=np.array(b"dok"))), "format csr, csc, coo, bsr or dia"),
    (archive(a=npy(np.ones(2)), b=npy(np.ones(2))), r"got \['a', 'b'\]"),
    (archive(data=npy(np.array([None], dtype=object))), "array 'data': holds Python objects"),
    (archive(data=forged((10**12,))), "header announces"),
    (archive(data=b"junk"), "not a NumPy array file"),
    (b"PK\x03\x04 cut off", "not a readable .npz"),
    (b"<html>", "not a readable .npz"),
], ids=lambda value: value if isinstance(value, str) else "")  # fmt: skip
def test_hostile_npz_is_refused(write, content, message):
    with pytest.raises(DataError, match=message):
        read_matrix(write(content, "x.npz"))


def test_shape_beyond_memory_is_refused_before_allocation(write):
    parts = {"format": np.array(b"coo"), "shape": np.array([10**13] * 2), "data": np.ones(1)}
    parts |= {"row": np.array([0]), "col": np.array([0])}
    path = write(archive(**{name: npy(part) for name, part in parts.items()}), "x.npz")
    with pytest.raises(MemoryLimitError, match="GiB"):
        read_matrix(path)


BANNER = "%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize(("content", "message"), [
    (BANNER + "3 3 1000000000000\n1 2 1\n", "announces 1000000000000 entries, there are 1"),
    (BANNER + "3 3 2\n1 2 1\n", "announces 2 entries, there are 1"),
    (BANNER + "3 3 2\n", "announces 2 entries, there are 0"),
    (BANNER + "3 3 1\n1 9 1\n", r"entry 1 is at \(1, 9\), outside the 3 x 3 matrix"),
    (BANNER + "3 3 1\n0 1 1\n", r"at \(0, 1\)"),
    (BANNER + "3 3 1\n1 two 1\n", "damaged"),
    (BANNER + "3 3 1\n1 2\n", "damaged"),
    (BANNER + "3 -3 1\n1 2 1\n", "expected 3 sizes"),
    (BANNER, "no line of sizes"),
    (BANNER.replace("real", "complex"), "got complex general"),
    (BANNER.replace("general", "skew-symmetric"), "got real skew-symmetric"),
    ("%%MatrixMarket matrix array real general\n2 2\n1\n", "announces 4 entries, there are 1"),
    ("%%MatrixMarket matrix array real symmetric\n2 2\n1\n", "not supported"),
    ("1 2 3\n", "not a Matrix Market file"),
    ("", "not a Matrix Market file"),
    (b"\xff\xfe\x00", "UTF-8"),
])  # fmt: skip
def test_hostile_mtx_is_refused(write, content, message):
    with pytest.raises(DataError, match=message):
        read_matrix(write(content, "x.mtx"))


def test_mtx_shape_beyond_memory_is_refused(write):
    with pytest.raises(MemoryLimitError, match="GiB"):
        read_matrix(write(BANNER + "10000000000000 10000000000000 1\n1 2 1\n", "x.mtx"))


@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
@pytest.mark.parametrize("field", ["real", "integer", "pattern"])
def test_mtx_is_read_as_scipy_reads_it(tmp_path, field, symmetry):
    values = np.random.default_rng(0).integers(0, 3, (6, 6))
    values = values + values.T if symmetry == "symmetric" else values
    matrix = sp.coo_array(values != 0 if field == "pattern" else values)
    scipy.io.mmwrite(tmp_path / "m.mtx", matrix, comment="made\nhere", field=field, symmetry=symmetry)
    assert np.array_equal(read_matrix(tmp_path / "m.mtx").toarray(), scipy.io.mmread(tmp_path / "m.mtx").toarray())


def test_mtx_in_the_array_layout(tmp_path):
    values = np.arange(6.0).reshape(2, 3)
    scipy.io.mmwrite(tmp_path / "m.mtx", values)
    assert np.array_equal(read_matrix(tmp_path / "m.mtx"), values)


def test_gzipped_mtx(write):
    matrix = read_matrix(write(gzip.compress((BANNER + "2 3 1\n1 3 5\n").encode()), "x.mtx.gz"))
    assert matrix.toarray().tolist() == [[0, 0, 5], [0, 0, 0]]
