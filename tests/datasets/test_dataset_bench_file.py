"""The published files of the benchmark: read without running a pickle, whatever is in it."""

import io
import os
import pickle
import pickletools
import shutil
import struct
import warnings
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from tvgnn.datasets import dataset_split, load_dataset
from tvgnn.datasets.bench_file import read_bench
from tvgnn.datasets.pickled_arrays import read_objects
from tvgnn.errors import DataError

real = pytest.mark.real_data("bench/easy_small.npz", "bench/hard_small.npz")


def object_array(items):
    result = np.empty(len(items), dtype=object)
    result[:] = items
    return result


def path_graph(size):
    dense = np.eye(size, k=1) + np.eye(size, k=-1)
    return sp.csr_matrix(dense.astype(np.float32))


def arrays(**changes):
    """Return the arrays of a file of 3 + 2 + 1 path graphs."""
    result = {}
    for prefix, sizes in (("tr", (2, 3, 4)), ("val", (5, 6)), ("te", (7,))):
        result[f"{prefix}_adj"] = object_array([path_graph(size) for size in sizes])
        result[f"{prefix}_feat"] = object_array([np.eye(size, 5, dtype=np.float32) for size in sizes])
        result[f"{prefix}_class"] = np.eye(3, dtype=np.float32)[[size % 3 for size in sizes]]
    return {key: value for key, value in (result | changes).items() if value is not None}


def save(path, content):
    np.savez(path, allow_pickle=True, **content)
    return path


class Reduced:
    """Pickled as a call of anything."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


class Stateful:
    def __init__(self, marker):
        self.marker = marker

    def __setstate__(self, state):
        Path(state["marker"]).touch()


def hostile(marker):
    """Return objects that create ``marker`` when they are unpickled."""
    return {
        "method of a path": Reduced(Path.touch, marker),
        "os.system": Reduced(os.system, f"touch {marker}"),
        "builtins.eval": Reduced(eval, f"open({str(marker)!r}, 'w').close()"),
        "chain of getattr": Reduced(marker.touch),  # pickled as getattr(marker, "touch")
        "partial": Reduced(partial(Path.touch, marker)),
        "setstate": Stateful(marker),
    }


HOSTILE = list(hostile(Path("any")))


@real
def test_published_files(mirror, tmp_path):
    for name, sizes in (("bench-easy-small", (239, 30, 31)), ("bench-hard-small", (245, 29, 26))):
        graphs = load_dataset(name, root=tmp_path, mirror=mirror, seed=5)
        assert len(graphs) == 300
        assert np.bincount([graph.label for graph in graphs]).tolist() == [100, 100, 100]
        assert {graph.report.notes for graph in graphs} == {("published file",)}
        assert not any(graph.report.was_directed or graph.report.num_self_loops for graph in graphs)
        assert {graph.num_features for graph in graphs} == {5}
        split = dataset_split(name, root=tmp_path, mirror=mirror)
        assert {part: len(positions) for part, positions in split.items()} == dict(
            zip(("train", "val", "test"), sizes, strict=True)
        )
        assert [positions.start for positions in split.values()] == [0, sizes[0], sizes[0] + sizes[1]]


@real
@pytest.mark.parametrize("name", ["easy_small", "hard_small"])
def test_same_arrays_as_unpickled(name, mirror):
    path = mirror / "bench" / f"{name}.npz"
    graphs, split = read_bench(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # modules of old scipy
        with np.load(path, allow_pickle=True) as file:  # its origin is known here
            for part, prefix in (("train", "tr"), ("val", "val"), ("test", "te")):
                adjacencies, features, classes = (file[f"{prefix}_{kind}"] for kind in ("adj", "feat", "class"))
                assert len(split[part]) == len(adjacencies)
                for position, adjacency, x, label in zip(split[part], adjacencies, features, classes, strict=True):
                    assert np.array_equal(graphs[position].adjacency().toarray(), adjacency.toarray())
                    assert np.array_equal(graphs[position].x, x)
                    assert graphs[position].label == label.argmax()


@real
def test_a_file_in_root_comes_before_the_mirror(mirror, tmp_path):
    (tmp_path / "bench").mkdir()
    shutil.copyfile(mirror / "bench" / "hard_small.npz", tmp_path / "bench" / "easy_small.npz")
    assert len(dataset_split("bench-easy-small", root=tmp_path, mirror=mirror)["train"]) == 245
    assert len(load_dataset("bench-easy-small", root=tmp_path)) == 300


def test_files_written_by_todays_numpy(tmp_path):
    graphs, split = read_bench(save(tmp_path / "set.npz", arrays()))
    assert [graph.num_nodes for graph in graphs] == [2, 3, 4, 5, 6, 7]
    assert [graph.num_edges for graph in graphs] == [1, 2, 3, 4, 5, 6]
    assert [graph.label for graph in graphs] == [2, 0, 1, 2, 0, 1]
    assert split == {"train": range(3), "val": range(3, 5), "test": range(5, 6)}


@pytest.mark.parametrize("protocol", [2, 3, 4])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_all_kinds_come_back(protocol, order):
    kinds = ["<f4", "<f8", ">f4", "<i4", "<i8", "|b1", "|u1"]
    items = [np.arange(6).reshape(2, 3).astype(kind, order=order) for kind in kinds]
    items += [np.zeros((0, 3)), sp.csr_array(np.eye(3))] if protocol > 2 else []
    read = read_objects(pickle.dumps(object_array(items), protocol), len(items))
    for item, array in zip(items, read, strict=True):
        if sp.issparse(item):
            assert (item != array).nnz == 0
        else:
            assert np.array_equal(item, array)
            assert item.dtype == array.dtype


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("kind", HOSTILE)
def test_code_never_runs(kind, protocol, tmp_path):
    marker = tmp_path / "code-ran"
    payload = hostile(marker)[kind]
    for content in (
        pickle.dumps(payload, protocol),
        pickle.dumps(object_array([np.zeros(2), payload]), protocol),
        pickle.dumps(object_array([path_graph(2), {"_shape": payload}]), protocol),
    ):
        with pytest.raises(DataError):
            read_objects(content, 2)
    assert not marker.exists()


@pytest.mark.parametrize("kind", [kind for kind in HOSTILE if kind != "setstate"])
def test_the_payloads_work(kind, tmp_path):
    marker = tmp_path / "code-ran"
    pickle.loads(pickle.dumps(hostile(marker)[kind]))
    assert marker.exists(), "the payload must work, or the test above proves nothing"


@pytest.mark.parametrize("key", ["tr_adj", "te_feat", "val_class"])
def test_a_hostile_member_is_named(key, tmp_path):
    marker = tmp_path / "code-ran"
    changed = object_array([Reduced(os.system, f"touch {marker}")])
    with pytest.raises(DataError, match=r"set\.npz is not usable: .*it names '(posix|nt)\.system'; nothing was run"):
        read_bench(save(tmp_path / "set.npz", arrays(**{key: changed})))
    assert not marker.exists()


def program(*instructions):
    """Assemble a pickle of protocol 2 by hand."""
    codes = {opcode.name: opcode.code.encode("latin1") for opcode in pickletools.opcodes}
    parts = [b"\x80\x02"]
    for instruction in instructions:
        name, *arguments = instruction if isinstance(instruction, tuple) else (instruction,)
        parts += [codes[name], *arguments]
    return b"".join(parts) + b"."


CSR = ("GLOBAL", b"scipy.sparse.csr\ncsr_matrix\n")
ARRAY = [
    ("GLOBAL", b"numpy.core.multiarray\n_reconstruct\n"),
    ("GLOBAL", b"numpy\nndarray\n"),
    *("EMPTY_TUPLE", "NONE", "TUPLE3", "REDUCE"),
]


@pytest.mark.parametrize(
    "content",
    [
        program(CSR, "EMPTY_DICT", "BUILD"),  # sets attributes of what a name stands for
        program(("GLOBAL", b"_codecs\nencode\n"), "EMPTY_DICT", "BUILD"),
        program(CSR, "EMPTY_TUPLE", "REDUCE", "EMPTY_TUPLE", "REDUCE"),  # calls a result
        program(*ARRAY),
        program(*ARRAY, "NONE", "BUILD"),
        program(("GLOBAL", b"numpy.core.multiarray\nscalar\n")),
        program(("GLOBAL", b"numpy\nload\n"), "EMPTY_TUPLE", "REDUCE"),
        program(("GLOBAL", b"scipy.sparse.csr\n__builtins__\n")),
        program("EMPTY_DICT", "EMPTY_TUPLE", "NONE", "SETITEM"),
        program("NONE", ("LONG_BINPUT", struct.pack("<I", 2**32 - 1)), "POP"),
        program(("BINGET", b"\x07")),
        program("TUPLE3"),
        program("APPENDS"),
        program("MARK", "NONE", "LIST"),
        program("MARK", ("GLOBAL", b"os\nsystem\n"), "OBJ"),
        program(("INST", b"os\nsystem\n")),
        program(("BINPERSID",)),
        program(("EXT1", b"\x01")),
        program("EMPTY_LIST", *["TUPLE1"] * 200_000),
        program(*[("BINUNICODE", struct.pack("<I", 2**31) + b"x")]),
        program(("LONG4", struct.pack("<i", 2**31 - 1))),
        b"",
        b"\x80",
        b"not a pickle",
    ],
)
def test_strange_programs_are_refused(content):
    with pytest.raises(DataError):
        read_objects(content, 1)


def pickled_matrix(**changes):
    matrix = sp.csr_matrix(path_graph(3))
    vars(matrix).update(changes)
    return pickle.dumps(object_array([matrix, matrix]), 4)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"indices": np.array([1, 0, 3, 1], dtype=np.int32)}, r"indices of a CSR matrix in 0\.\.2"),
        ({"indices": np.array([1, 0, -1, 1], dtype=np.int32)}, r"indices of a CSR matrix in 0\.\.2"),
        ({"indices": np.array([1, 0], dtype=np.int32)}, r"\(2,\) indices and \(4,\) values"),
        ({"indices": np.array([1.0, 0.0, 2.0, 1.0])}, "CSR matrix of 3 rows"),
        ({"indptr": np.array([0, 1, 3, 5], dtype=np.int32)}, "row pointers"),
        ({"indptr": np.array([0, 3, 1, 4], dtype=np.int32)}, "row pointers"),
        ({"indptr": np.array([1, 1, 3, 4], dtype=np.int32)}, "row pointers"),
        ({"indptr": np.array([0, 4], dtype=np.int32)}, "CSR matrix of 3 rows"),
        ({"_shape": (10**15, 3)}, "CSR matrix of 1000000000000000 rows"),
        ({"_shape": (-1, 3)}, "CSR matrix of -1 rows"),
        ({"_shape": (3, 3, 3)}, "damaged or something else"),
        ({"_shape": (3.0, 3)}, "the instruction BINFLOAT"),
        ({"data": object_array([1, 2, 3, 4])}, "array of objects within one"),
        ({"data": np.array(["a", "b", "c", "d"])}, "expected arrays of numbers"),
    ],
)
def test_matrices_that_do_not_fit_are_refused(changes, says):
    with pytest.raises(DataError, match=says):
        read_objects(pickled_matrix(**changes), 2)


def test_nested_object_arrays_are_refused():
    with pytest.raises(DataError, match="an array of objects within one"):
        read_objects(pickle.dumps(object_array([object_array([np.zeros(2)])]), 4), 1)


def test_repeats_cannot_multiply_memory():
    one = np.zeros(10_000, dtype=np.uint8)
    with pytest.raises(DataError, match="no larger than their file"):
        read_objects(pickle.dumps(object_array([one] * 10_000), 4), 10_000)


def test_numbers_of_objects_must_agree():
    with pytest.raises(DataError, match="expected 3 objects"):
        read_objects(pickle.dumps(object_array([np.zeros(2)]), 4), 3)


def square(size, value=1.0):
    return sp.csr_matrix(np.full((size, size), value, dtype=np.float32))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"te_adj": None}, "expected an array te_adj, there is none"),
        ({"te_adj": object_array([sp.csr_matrix(np.ones((7, 6)))])}, "square CSR matrix of ones .* graph 5"),
        ({"te_adj": object_array([square(7, 0.5)])}, "square CSR matrix of ones .* graph 5"),
        ({"te_adj": object_array([np.eye(7)])}, "square CSR matrix of ones .* graph 5"),
        ({"te_adj": object_array([square(7), square(7)])}, "as many te_adj and te_feat as te_class"),
        ({"te_feat": object_array([np.eye(6, 5)])}, "features of graph 5"),
        ({"te_feat": object_array([np.eye(7, 4)])}, "features of graph 5"),
        ({"te_feat": object_array([np.full((7, 5), np.nan)])}, "features of graph 5"),
        ({"te_feat": object_array([np.ones(7)])}, "features of graph 5"),
        ({"te_class": np.zeros((1, 3))}, "one-hot classes"),
        ({"te_class": np.array([2])}, "one-hot classes"),
        ({"te_class": np.array([["a"]])}, "expected te_class to hold numbers"),
    ],
)
def test_other_contents_are_refused(changes, says, tmp_path):
    with pytest.raises(DataError, match=says):
        read_bench(save(tmp_path / "set.npz", arrays(**changes)))


def test_a_header_that_announces_too_much_is_refused(tmp_path):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (10**12, 3)})
    path = save(tmp_path / "set.npz", arrays(tr_class=None))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("tr_class.npy", file.getvalue())
    with pytest.raises(DataError, match="0 bytes do not fit the shape"):
        read_bench(path)


@pytest.mark.parametrize("kind", ["cut", "byte", "text", "empty"])
def test_damaged_files_are_refused(kind, tmp_path):
    path = save(tmp_path / "easy_small.npz", arrays())
    content = path.read_bytes()
    path.write_bytes(
        {
            "cut": content[: len(content) // 2],
            "byte": content[:500] + bytes([content[500] ^ 255]) + content[501:],
            "text": b"<html>",
            "empty": b"",
        }[kind]
    )
    with pytest.raises(DataError, match=r"easy_small\.npz.*Fetch the file again, or remove it to draw the set"):
        read_bench(path)


def test_any_cut_of_a_pickle_is_a_data_error():
    content = pickle.dumps(object_array([path_graph(2), np.zeros(2)]), 2)
    for end in range(len(content)):
        with pytest.raises(DataError):
            read_objects(content[:end], 2)


def test_any_changed_byte_gives_arrays_or_a_data_error():
    content = pickle.dumps(object_array([path_graph(3), np.arange(4.0)]), 4)
    for position in range(len(content)):
        for bit in range(8):
            changed = bytearray(content)
            changed[position] ^= 1 << bit
            try:
                assert len(read_objects(bytes(changed), 2)) == 2
            except DataError:
                continue
