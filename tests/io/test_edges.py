import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tvgnn.errors import DataError
from tvgnn.io import edges as edges_module
from tvgnn.io.edges import read_edges


@pytest.fixture
def write(tmp_path):
    def to_file(content, name="edges.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return to_file


def columns(table):
    weight = None if table.weight is None else table.weight.tolist()
    return list(table.source), list(table.target), weight


PAIRS = ([0, 1], [1, 2], None)


@pytest.mark.parametrize("text", [
    "0,1\n1,2\n",
    "0\t1\n1\t2\n",
    "0;1\n1;2\n",
    "0 1\n1   2\n",
    "  0  1\n  1  2",
    "0, 1\n1, 2\n",
    "0,1\r\n1,2\r\n",
    "0,1\r1,2\r",
    "\ufeff0,1\n1,2\n",
    "\ufeffsource,target\n0,1\n1,2\n",
    "source,target\n0,1\n1,2\n",
    "from;to\n0;1\n1;2\n",
    "a,b\n0,1\n1,2\n",
    "#FromNodeId\tToNodeId\n0\t1\n1\t2\n",
    "# a comment, with a comma\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n",
    "% sym unweighted\n0 1\n1 2\n",
    "0,1\n\n   \n1,2\n\n",
    "0,1\n# in between\n1,2\n",
    '"0","1"\n"1","2"\n',
    ",target,source\n7,1,0\n8,2,1\n",
], ids=repr)  # fmt: skip
def test_two_columns_of_integers_in_every_dress(write, text):
    assert columns(read_edges(write(text))) == PAIRS


@pytest.mark.parametrize("name", ["edges.csv.gz", "edges.csv"])
def test_gzip_is_found_by_its_content(write, name):
    assert columns(read_edges(write(gzip.compress(b"0,1\n1,2\n"), name))) == PAIRS


@pytest.mark.parametrize(("text", "expected"), [
    ("0,1,0.5\n1,2,2\n", ([0, 1], [1, 2], [0.5, 2])),
    ("0 1 1e-3\n1 2 2\n", ([0, 1], [1, 2], [0.001, 2])),
    ("source,target,weight\n0,1,0.5\n1,2,2\n", ([0, 1], [1, 2], [0.5, 2])),
    ("u,v,w\na,b,0.5\nb,c,2\n", (["a", "b"], ["b", "c"], [0.5, 2])),
    ("weight,target,source\n0.5,1,0\n2,2,1\n", ([0, 1], [1, 2], [0.5, 2])),
    ("source,target,year\n0,1,1999\n1,2,2001\n", ([0, 1], [1, 2], None)),
    ("source,target,year,weight\na,b,1999,3\nb,c,2001,4\n", (["a", "b"], ["b", "c"], [3, 4])),
    ("x,y,z\na,b,1\nb,c,2\n", (["a", "b"], ["b", "c"], None)),
])  # fmt: skip
def test_weights_are_the_named_or_the_third_column(write, text, expected):
    assert columns(read_edges(write(text))) == expected


def test_weight_column_can_be_named_numbered_or_left_out(write):
    path = write("source,target,year,cost\n0,1,1999,3\n1,2,2001,4\n")
    assert columns(read_edges(path, weight_column="cost"))[2] == [3, 4]
    assert columns(read_edges(path, weight_column=2))[2] == [1999, 2001]
    assert columns(read_edges(path, weight_column=None))[2] is None
    plain = write("0,1,1999,3\n1,2,2001,4\n", "plain.csv")
    assert columns(read_edges(plain, weight_column=3))[2] == [3, 4]
    with pytest.raises(DataError, match="4 columns and no header"):
        read_edges(plain)
    with pytest.raises(DataError, match=r"no column is named 'price'; the names are \('source', "):
        read_edges(path, weight_column="price")
    for position in (0, 9):
        with pytest.raises(DataError, match=f"weight_column={position} must be the position"):
            read_edges(path, weight_column=position)


@pytest.mark.parametrize(("text", "expected"), [
    ("alice,bob\nbob,carol\n", (["alice", "bob"], ["bob", "carol"])),
    ("u,v\nv,w\n", (["u", "v"], ["v", "w"])),
    ("alice,3\n1,2\n", (["alice", 1], [3, 2])),
    ("#python,#numpy\n#numpy,#scipy\n", (["#python", "#numpy"], ["#numpy", "#scipy"])),
    ('"Smith, J.",Lee\nLee,"O""Hara"\n', (["Smith, J.", "Lee"], ["Lee", 'O"Hara'])),
    ("é ü\nü 漢\n", (["é", "ü"], ["ü", "漢"])),
])  # fmt: skip
def test_text_ids_are_kept_and_no_edge_is_taken_for_a_header(write, text, expected):
    assert columns(read_edges(write(text)))[:2] == expected


@pytest.mark.parametrize("odd", ["007", "+7", "-0", "1.0", "1_0", "00", "1e3", "٣"])
@pytest.mark.parametrize("separator", [",", " "])
def test_only_plain_integers_become_int(write, odd, separator):
    path = write(f"5{separator}{odd}\n{odd}{separator}-12\n")
    assert columns(read_edges(path))[:2] == ([5, odd], [odd, -12])


def test_integers_of_any_size_are_exact(write):
    assert columns(read_edges(write("9223372036854775807,1\n")))[:2] == ([2**63 - 1], [1])
    assert columns(read_edges(write("9223372036854775808,1\n")))[:2] == ([2**63], [1])


def test_header_can_be_stated(write):
    path = write("ann,bob\nbob,cid\n")
    assert columns(read_edges(path, header=True))[:2] == (["bob"], ["cid"])
    assert columns(read_edges(write("source,target\nbob,cid\n"), header=False))[0] == ["source", "bob"]
    assert columns(read_edges(write("a|b\nb|c\n"), delimiter="|"))[:2] == (["a", "b"], ["b", "c"])
    assert columns(read_edges(write("a,1 b,2\n"), delimiter=" "))[:2] == (["a,1"], ["b,2"])
    with pytest.raises(DataError, match="one character"):
        read_edges(path, delimiter="::")


@pytest.mark.parametrize(("content", "message"), [
    (b"", "empty"),
    (b" \n\n", "empty"),
    (b"# only a comment\n", "holds none"),
    (b"source,target\n", "below the header in line 1, there are none"),
    (b"# c\nsource,target\n", "below the header in line 2"),
    (b"\x7fELF\x02\x01\x00\x00\x80", "binary"),
    (b"PK\x03\x04\x00\x00", "binary"),
    (b"\x80\x81\x82,\xff\n", "UTF-8"),
    ("0,1\n1,2\n".encode("utf-16"), "UTF-16"),
    ("é,b\n".encode("latin-1"), "UTF-8"),
    (b"<!DOCTYPE html>\n<html><body>404</body></html>", "web page"),
    (b"\n  <html>404</html>", "web page"),
    (b"0,1\n1\n", "line 2: expected 2 columns as in the first row, got 1"),
    (b"0,1\n1,2\n\n3,4,5\n", "line 4: expected 2 columns as in the first row, got 3"),
    (b"source,target\na,b\nb\n", "line 3: expected 2 columns"),
    (b"0\n1\n", "line 1: expected at least two columns"),
    (b"a,b\nb,\n", "line 2: expected two node ids, one is empty"),
    (b"0,1,1\n1,2,-3\n", "line 2: expected a finite non-negative weight, got -3"),
    (b"# c\n0,1,1\n\n1,2,nan\n", "line 4: expected a finite non-negative weight, got nan"),
    (b"0 1 1\n1 2 inf\n", "line 2: expected a finite"),
    (b"a,b,1\nb,c,-0.5\n", "line 2: expected a finite non-negative weight, got '-0.5'"),
    (b"source,target,weight\na,b,1\nb,c,x\n", "line 3: expected a finite non-negative weight, got 'x'"),
    (b"0,1,1\n1,2,1e39\n", "line 2: expected a finite non-negative weight, got 1e.39"),
    (b"a,b,1\nb,c,1e39\n", "line 2: expected a finite non-negative weight, got '1e39'"),
    (b"a,b,knows\n", "line 1: expected a finite non-negative weight, got 'knows'"),
    (b"0,1,\n", "line 1: expected a finite non-negative weight, got ''"),
    (b"a;b;1,5\n", "line 1: expected a finite non-negative weight, got '1,5'"),
    (gzip.compress(b"0,1\n" * 999)[:-9], "damaged or cut off"),
    (gzip.compress(b"0,1\n")[:15] + b"\xff" * 20, "damaged"),
    (b'a,b\n"' + b"x" * 200_000 + b'",c\n', "not readable as delimited text"),
], ids=lambda value: repr(value[:24]) if isinstance(value, bytes) else "")  # fmt: skip
def test_hostile_files_are_refused_naming_the_line(write, content, message):
    path = write(content)
    with pytest.raises(DataError, match=message) as error:
        read_edges(path)
    assert str(path) in str(error.value)


def test_pipe_is_not_called_missing():
    with pytest.raises(DataError, match="pipe or device"):
        read_edges("/dev/null")


def test_missing_file_and_folder_are_named(tmp_path):
    with pytest.raises(DataError, match=r"absent\.csv: there is no such file"):
        read_edges(tmp_path / "absent.csv")
    with pytest.raises(DataError, match="this is a folder"):
        read_edges(tmp_path)


def test_both_readers_agree(write, monkeypatch):
    rng = np.random.default_rng(0)
    lines = [f"{a},{b},{w:.3g}" for a, b, w in zip(*rng.integers(-99, 99, (2, 500)), rng.random(500), strict=True)]
    path = write("\n".join(lines))
    fast = read_edges(path)
    assert isinstance(fast.source, np.ndarray)
    monkeypatch.setattr(edges_module, "_read_integers", lambda table, columns: None)
    assert columns(read_edges(path)) == columns(fast)


number = st.sampled_from(
    ["7", "0", "-3", "10", "007", "+1", "-0", "-05", "0.5", "1e+05", "1e-05", "-0.5", "100", "1.05"]
)


@settings(max_examples=100, deadline=None)
@given(st.lists(number, min_size=1, max_size=6), st.integers(1, 8))
def test_unusual_numbers_are_found_across_block_borders(tmp_path_factory, numbers, block):
    path = tmp_path_factory.mktemp("scan") / "numbers.txt"
    path.write_text(" ".join(numbers) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edges_module, "_CHUNK", block)
        found = edges_module._has_unusual_numbers(path)
    assert found == bool({"007", "+1", "-0", "-05"} & set(numbers))
