import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tvgnn.cli.wording import as_option
from tvgnn.errors import DataError
from tvgnn.io import edges as edges_module
from tvgnn.io.edges import read_edges
from tvgnn.wording import worded_by


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
    "Source Node;target_id\n0;1\n1;2\n",
    "id_1,id_2\n0,1\n1,2\n",
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
    with pytest.raises(
        DataError, match="no column is named 'price'; the names are 'source', 'target', 'year', 'cost'; "
    ):
        read_edges(path, weight_column="price")
    for position in (0, 9):
        with pytest.raises(DataError, match=f"weight_column={position} must be one of the 4 columns"):
            read_edges(path, weight_column=position)


@pytest.mark.parametrize(("text", "expected"), [
    ("alice,bob\nbob,carol\n", (["alice", "bob"], ["bob", "carol"])),
    ("u,v\nv,w\n", (["u", "v"], ["v", "w"])),
    ("u,v\nu,v\nv,w\n", (["u", "u", "v"], ["v", "v", "w"])),
    ("from,to\nto,from\n", (["from", "to"], ["to", "from"])),
    ("[deleted],(none)\nann,[deleted]\n", (["[deleted]", "ann"], ["(none)", "[deleted]"])),
    ("(0,1)\t(0,2)\n(0,2)\t(1,2)\n", (["(0,1)", "(0,2)"], ["(0,2)", "(1,2)"])),
    ("{6F96},{11D2}\n{11D2},{B42D}\n", (["{6F96}", "{11D2}"], ["{11D2}", "{B42D}"])),
    ("graph,b\nb,c\n", (["graph", "b"], ["b", "c"])),
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
    (b"", "the file is empty; expected two node ids and optionally a weight in each line"),
    (b"# only a comment\n", "comments and empty rows only"),
    (b"source,target\n", "a header in line 1 and no edges below it; expected two node ids"),
    (b"# c\nsource,target\n", "a header in line 2 and no edges"),
    (b"person,friend,weight\n", "a header in line 1 and no edges"),
    (b"\x7fELF\x02\x01\x00\x00\x80", "binary"),
    (b"PK\x03\x04\x00\x00", r"formats that are read: text \(CSV, .* \.mtx and \.npz, .*\.graphml.*\.npy.*\.h5ad"),
    (b"PK\x03\x04 spreadsheet", "save it as CSV"),
    (b"%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 1\n", "ending .mtx"),
    (b"<graphml>", "GraphML is known by the ending"),
    (b"\x80\x81\x82,\xff\n", "UTF-8"),
    ("0,1\n1,2\n".encode("utf-16"), "UTF-16"),
    ("é,b\n".encode("latin-1"), "UTF-8"),
    (b"<!DOCTYPE html>\n<html><body>404</body></html>", "web page"),
    (b"\n  <html>404</html>", "web page"),
    (b"0,1\n1\n", "line 2: expected 2 columns as in the first row, got 1; .* separated by commas: .* double quotes"),
    (b"0,1\n1,2\n\n3,4,5\n", "line 4: expected 2 columns as in the first row, got 3"),
    (b"source,target\na,b\nb\n", "line 3: expected 2 columns"),
    (b"0\n1\n", "line 1: expected at least two columns"),
    (b"a,b\nb,\n", "line 2: expected two node ids, one is empty"),
    (b",bob\nann,bob\n", "line 1: expected two node ids, one is empty"),
    (b",bob,cid\nann,bob,dan\n", "line 1: expected two node ids, one is empty"),
    (b"0,1,1\n1,2,-3\n", "line 2: expected a finite non-negative weight, got -3"),
    (b"# c\n0,1,1\n\n1,2,nan\n", "line 4: expected a finite non-negative weight, got nan"),
    (b"0 1 1\n1 2 inf\n", "line 2: expected a finite"),
    (b"a,b,1\nb,c,-0.5\n", "line 2: expected a finite non-negative weight, got -0.5; drop such edges, or map"),
    (b"a,b,1\nb,c,inf\n", "line 2: expected a finite non-negative weight, got inf; drop such edges$"),
    (b"source,target,weight\na,b,1\nb,c,x\n", "line 3: expected a finite .*, got 'x' in column 'weight'; .*=None"),
    (b"0,1,1\n1,2,1e39\n", "line 2: expected a finite non-negative weight, got 1e.39; .*divide all weights"),
    (b"a,b,1\nb,c,1e39\n", "line 2: expected a finite non-negative weight, got 1e39; .* all weights by the largest"),
    (b"a,b,knows\n", "line 1: expected a finite .*, got 'knows' in column 3; pass weight_column=None where"),
    (b"a,b,kind\nb,c,likes\nc,d,hates\n", r"line 2: expected .*, got 'likes' in column 3 \(line 1: 'kind'\)"),
    (b"a,b,likes,4\nb,c,likes,5\n", "4 columns and no header: say which .* such as weight_column=3, or pass weight"),
    (b"source,target,weight,n\na,b,likes,4\n", "line 2: .*'likes' in column 'weight'; .*, weight_column='n' where"),
    (b"a,b,1\nb,c,\n", "line 2: expected a finite .*, got '' in column 3; fill in missing values"),
    (b"a,b,NA\nb,c,2\n", "line 1: expected a finite .*, got 'NA' in column 3; fill in missing values"),
    (b"a;b;1,5\n", "line 1: expected a finite .*, got '1,5' in column 3; decimal comma\\? save with points"),
    (b"source;target;weight\na;b;2,32\n", "line 2: .*'2,32' in column 'weight'; decimal comma"),
    (b"person;friend;weight\na;b;2,32\nb;c;2\n", "line 2: .*'2,32' in column 'weight'; decimal comma"),
    (b'a,b,1\nb,c,"1,234.5"\n', "line 2: .*'1,234.5' in column 3; decimal comma or separated thousands"),
    (b"a,b,1\nb,c,1_000\n", "line 2: .*'1_000' in column 3; .*separated thousands"),
    (b"source,target,weight,w\na,b,1,2\n", "2 columns could be the weight: 'weight' and 'w'; .* weight_column=2"),
    (b"person,weight\na,1\nb,2\n", "two columns of node ids beside the weight, got 1"),
    (b"source,target\na,b,1\n", "the header names 2 columns, the rows below have 3"),
    (b'a,b\n"ann,bob\ncid,dan\n"eve,fay\n', "line 2: a quoted cell goes on in the next line"),
    (b'"ann,bob\ncid,dan\n"eve,fay\n', "line 1: a quoted cell goes on in the next line"),
    (b"source,target\na,b\nsource,target\nc,d\n", "line 3: the header again; were files joined"),
    (b"[0, 1]\n[1, 2]\n", "got brackets around it"),
    (b"(0,1)\n(1,2)\n", "got brackets around it"),
    (b'{"edges": [[0, 1]]}\n', "got JSON, GML or DOT"),
    (b"graph [\n  node [\n", "got JSON, GML or DOT"),
    (b"strict digraph G {\n  a -> b\n}\n", "got JSON, GML or DOT"),
    (b"0 1 0,5\n1 2 0,7\n", "line 1: .*'0,5' in column 3; decimal comma"),
    (b"a,b,50%\nb,c,20\n", "line 1: .*'50%' in column 3; save the number alone"),
    ("0,1,\N{MINUS SIGN}3\n".encode(), "line 1: .* in column 3; save the number alone"),
    (b"a,b," + b"x" * 9999 + b"\n", "got 'x{60}...' in column 3"),
    (b"0\t1\n1 2\n", "line 2: expected 2 columns as in the first row, got 1; columns are separated by tabs"),
    (b"a,b,\nb,c,\n" * 30 + b"c,d,e\n", "line 61: expected 2 columns as in the first row, got 3"),
    (gzip.compress(b"0,1\n" * 999, mtime=0)[:-9], "damaged or cut off"),
    (gzip.compress(b"0,1\n", mtime=0)[:15] + b"\xff" * 20, "damaged"),
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


@pytest.mark.parametrize("text", [
    "007,008\n9,10\n10,11\n",
    "a,2\n8,4\n9,5\n",
    "12E4,3F5\n1,2\n2,3\n",
    "ann,bob,2\n8,9,1\n9,8,1\n",
    "ann,bob\ncid,dan\neve,fay\n",
    "u,v\nv,w\nw,x\n",
], ids=repr)  # fmt: skip
def test_a_first_edge_unlike_the_others_is_kept_without_a_word(write, text):
    table = read_edges(write(text))
    assert len(table.source) == 3
    assert (table.notes, table.doubt) == ((), None)


def test_a_header_that_is_guessed_is_told_and_can_be_denied(write):
    path = write("person,friend\n0,1\n1,2\n")
    guessed = read_edges(path)
    assert columns(guessed) == PAIRS
    (note,) = guessed.notes
    assert note.startswith("the first line of edges.csv (person, friend) was taken for names of columns")
    assert "pass header=False" in note
    assert columns(read_edges(path, header=False))[0] == ["person", 0, 1]
    for sure in ("source,target\na,b\nb,c\n", "person,friend,weight\na,b,1\nb,c,2\n"):
        assert read_edges(write(sure)).notes == ()
    assert read_edges(path, header=True).notes == ()
    assert "(u, v) was taken for names" in read_edges(write("u,v\nx,y\ny,z\n")).notes[0]


NAMED = "person,friend,kind\nann,bob,likes\nbob,cid,likes\ncid,ann,hates\n"


def test_a_first_edge_that_looks_like_a_header_is_kept_and_told(write):
    table = read_edges(write(NAMED), weight_column=None)
    assert columns(table)[:2] == (["person", "ann", "bob", "cid"], ["friend", "bob", "cid", "ann"])
    assert table.doubt == (
        "the first line of edges.csv (person, friend, kind) was read as an edge; pass header=True if it is a header"
    )
    assert read_edges(write(NAMED), weight_column=None, header=False).doubt is None
    stated = read_edges(write(NAMED), weight_column=None, header=True)
    assert columns(stated)[0] == ["ann", "bob", "cid"]
    assert stated.doubt is None


@pytest.mark.parametrize(("text", "weight_column", "expected"), [
    ("weight,person,friend\n0.5,ann,bob\n2,bob,cid\n", "weight", (["ann", "bob"], ["bob", "cid"], [0.5, 2])),
    ("weight,person,friend\n0.5,ann,bob\n2,bob,cid\n", "auto", (["ann", "bob"], ["bob", "cid"], [0.5, 2])),
    ("person,strength,friend\nann,0.5,bob\nbob,2,cid\n", "strength", (["ann", "bob"], ["bob", "cid"], [0.5, 2])),
    ("0.5,ann,bob\n2,bob,cid\n", 0, (["ann", "bob"], ["bob", "cid"], [0.5, 2])),
    ("0.5,0,1\n2,1,2\n", 0, ([0, 1], [1, 2], [0.5, 2])),
    ("weight,person,friend\n0.5,ann,bob\n2,bob,cid\n", None, (["ann", "bob"], ["bob", "cid"], None)),
    ("weight,year,person,friend\n1,2,a,b\n3,4,b,c\n", "year", (["a", "b"], ["b", "c"], [2, 4])),
    (",person,friend\n0,ann,bob\n1,bob,cid\n", "auto", (["ann", "bob"], ["bob", "cid"], None)),
    (",person,friend,weight\n0,ann,bob,2\n1,bob,cid,3\n", "auto", (["ann", "bob"], ["bob", "cid"], [2, 3])),
])  # fmt: skip
def test_the_ends_are_never_the_weight_or_numbers_of_rows(write, text, weight_column, expected):
    assert columns(read_edges(write(text), weight_column=weight_column)) == expected


def test_columns_that_are_not_used_are_told(write):
    (note,) = read_edges(write("source,target,year,cost\n0,1,1999,3\n")).notes
    assert note == "columns of edges.csv: not used: 'year', 'cost'; where one is the weight: weight_column='year'"
    (note,) = read_edges(write("source,target,kind\n0,1,likes\n")).notes
    assert note == "columns of edges.csv: not used: 'kind'"
    notes = read_edges(write("year,person,friend\n1999,ann,bob\n2000,bob,ann\n"), header=True).notes
    assert notes[0].startswith("columns of edges.csv: an edge joins 'year' and 'person', not used: 'friend'")
    assert read_edges(write("source,target,year\n0,1,1999\n"), weight_column=None).notes == ()


def test_a_weight_by_an_ambiguous_or_denied_name_is_refused(write):
    path = write("source,target,w1,w1\na,b,1,2\n")
    with pytest.raises(DataError, match="more than one column is named 'w1'"):
        read_edges(path, weight_column="w1")
    assert read_edges(path, weight_column=3).weight.tolist() == [2]
    with pytest.raises(DataError, match="weight_column='w1', got header=False; give the position"):
        read_edges(path, weight_column="w1", header=False)


@pytest.mark.parametrize("text", [
    "0,1,\n1,2,\n",
    "0,1,,\n,,,\n1,2,,\n",
    "source,target,\n0,1,\n1,2,\n",
    "source,target\n0,1,\n1,2,\n",
    "0,1\n1,2,\n",
    "0 1 \n1 2 \n",
    "0,\t1\n1,\t2\n",
    "0 1\n1\t2\n",
    '"0" 1\n1 "2"\n',
    "%c\r\n0;1\r\n# c\r\n1;2\r\n",
    "sep=;\r\n0;1\r\n1;2\r\n",
], ids=repr)  # fmt: skip
def test_cells_without_content_and_blanks_beside_delimiters_change_nothing(write, text):
    assert columns(read_edges(write(text))) == PAIRS


@pytest.mark.parametrize(("text", "expected"), [
    ("0 1\t0.5\n1 2\t2\n", ([0, 1], [1, 2], [0.5, 2])),
    ("ann lee\tbob\nbob\tcid\n", (["ann lee", "bob"], ["bob", "cid"], None)),
    ('"ann lee" bob\nbob "cid ""c"""\n', (["ann lee", "bob"], ["bob", 'cid "c"'], None)),
    ("Smith; J,Lee\nLee,Kim\n", (["Smith; J", "Lee"], ["Lee", "Kim"], None)),
    ("Smith, J;Lee\nLee;Kim\n", (["Smith, J", "Lee"], ["Lee", "Kim"], None)),
    ('" 7",8\n7 ,9\n', ([7, 7], [8, 9], None)),
    ('source,target,"the\nweight"\na,b,1\n', (["a"], ["b"], None)),
])  # fmt: skip
def test_delimiters_are_those_that_split_all_lines_alike(write, text, expected):
    assert columns(read_edges(write(text))) == expected


def test_remedies_are_worded_for_the_shell(write):
    with worded_by(as_option):
        with pytest.raises(
            DataError, match="pass --weight-column none where there is no weight, --header where line 1"
        ):
            read_edges(write(NAMED))
        with pytest.raises(DataError, match="--weight-column w1, got --no-header"):
            read_edges(write(NAMED), weight_column="w1", header=False)
        assert "pass --header if it is" in str(read_edges(write(NAMED), weight_column=None).doubt)
    assert "pass header=True if it is" in str(read_edges(write(NAMED), weight_column=None).doubt)


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


def test_numbers_of_rows_are_no_ends(tmp_path):
    (tmp_path / "e.csv").write_text("Unnamed: 0,who,whom\n3,ann,bob\n8,bob,cid\n")
    edges = read_edges(tmp_path / "e.csv")
    assert (edges.source, edges.target, edges.notes) == (["ann", "bob"], ["bob", "cid"], ())


@pytest.mark.parametrize(
    "text", ["ann -> bob\nbob -> cid\n", "0 -> 47\n1 -> 5\n", "a,--,b\nb,--,c\n", "a <-> b\nb <-> c\n"]
)
def test_arrows_are_no_nodes(tmp_path, text):
    (tmp_path / "e.txt").write_text(text)
    with pytest.raises(DataError, match=r"line 1: expected two node ids, got '(->|--|<->)' between them; take it out"):
        read_edges(tmp_path / "e.txt")


@pytest.mark.parametrize(("text", "told"), [
    ("0,0,47\n1,0,7\n2,3,42\n", True),
    ("1 a 4\n2 b 7\n3 a 2\n", True),
    ("0,0,4.5\n1,0,7\n2,3,42\n", False),
    ("0,1,1\n1,2,1\n3,0,1\n", False),
    ("row,source,target\n0,0,47\n1,0,7\n2,3,42\n", False),
    ("0,5\n1,5\n2,6\n", False),
])  # fmt: skip
def test_a_first_column_that_counts_the_rows_is_told(tmp_path, text, told):
    (tmp_path / "e.csv").write_text(text)
    notes = [note for note in read_edges(tmp_path / "e.csv").notes if "counts the rows" in note]
    assert len(notes) == told
