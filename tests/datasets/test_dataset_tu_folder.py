"""A user's own TU folder: what is read, and every way in which its files can be wrong."""

import zipfile
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tvgnn import Graph
from tvgnn.datasets import read_tu_folder, tu_text
from tvgnn.errors import DataError

TRIANGLE_AND_EDGE = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n1, 3\n3, 1\n4, 5\n5, 4\n",
    "graph_indicator": "1\n1\n1\n2\n2\n",
    "graph_labels": "7\n-3\n",
    "node_labels": "4\n6\n4\n4\n6\n",
    "node_attributes": "0.5, 1\n-2, 3e-1\n.25, 0\n1., 1\n0, 0\n",
}


def write(folder, content=None, prefix="DS", **changes):
    """Write a dataset with some files changed; None leaves a file out."""
    for kind, text in ((TRIANGLE_AND_EDGE if content is None else content) | changes).items():
        if text is not None:
            (folder / f"{prefix}_{kind}.txt").write_bytes(text.encode())
    return folder


def test_graphs_features_and_labels(tmp_path):
    triangle, edge = read_tu_folder(write(tmp_path))
    assert (triangle.num_nodes, triangle.num_edges, triangle.label) == (3, 3, 7)
    assert (edge.num_nodes, edge.num_edges, edge.label) == (2, 1, -3)
    assert triangle.x.dtype == np.float32
    # attributes, then a column for each label from 4 to 6, the absent 5 included
    assert np.array_equal(triangle.x, np.float32([[0.5, 1, 1, 0, 0], [-2, 0.3, 0, 0, 1], [0.25, 0, 1, 0, 0]]))
    assert triangle.report.notes == ("features: one-hot node labels 4 to 6",)


def test_a_note_on_features_goes_with_them(tmp_path):
    graph = read_tu_folder(write(tmp_path))[0]
    assert graph.with_features(np.ones((3, 2))).report.notes == ()
    assert graph.with_structural_features("degree", 3).report.notes == ("features: degree, dim=3",)
    assert graph.with_label(1).report.notes == graph.report.notes


@pytest.mark.parametrize("names", [("edge_labels",), ("edge_attributes",), ("edge_labels", "edge_attributes")])
def test_what_edges_carry_is_told_not_to_be_used(names, tmp_path):
    folder = write(tmp_path, **dict.fromkeys(names, "1\n2\n"))  # of any length, as they are not read
    expected = f"{' and '.join(names)} not used: pass scalar weights of edges to Graph.from_edges"
    archive = tmp_path / "set.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in folder.iterdir():
            if path != archive:
                file.write(path, path.name)
    for place in (archive, folder):
        assert all(graph.report.notes[-1] == expected for graph in read_tu_folder(place))


def test_the_prefix_is_any(tmp_path):
    assert len(read_tu_folder(write(tmp_path, prefix="my_A.set"))) == 2


def test_several_labels_a_node(tmp_path):
    graph = read_tu_folder(write(tmp_path, node_labels="0,5\n1,5\n0,6\n0,5\n0,5\n"), features="labels")[0]
    assert graph.x.tolist() == [[1, 0, 1, 0], [0, 1, 1, 0], [1, 0, 0, 1]]
    assert graph.report.notes == ("features: one-hot node labels 0 to 1, 5 to 6",)


def test_without_labels_and_attributes_degrees_are_the_features(tmp_path):
    only = {"A": TRIANGLE_AND_EDGE["A"], "graph_indicator": TRIANGLE_AND_EDGE["graph_indicator"]}
    triangle, edge = read_tu_folder(write(tmp_path, only))
    assert triangle.x.tolist() == [[0, 0, 1]] * 3
    assert edge.x.tolist() == [[0, 1, 0]] * 2
    assert triangle.label is None
    assert triangle.report.notes == ("features: degree, dim=3",)


def test_targets_serve_where_there_are_no_classes(tmp_path):
    graphs = read_tu_folder(write(tmp_path, graph_labels=None, graph_attributes="0.5\n-1e3\n"))
    assert [graph.label for graph in graphs] == [0.5, -1000.0]
    with_classes = tmp_path / "both"
    with_classes.mkdir()
    graphs = read_tu_folder(write(with_classes, graph_attributes="0.5\n-1e3\n"))
    assert [graph.label for graph in graphs] == [7, -3]


def test_cleaning_is_reported_for_the_graph_it_happened_in(tmp_path):
    edges = "1,1\n1,2\n1,2\n4,5\n5,4\n"
    first, second = read_tu_folder(write(tmp_path, A=edges))
    assert (first.report.num_self_loops, first.report.num_duplicates, first.report.was_directed) == (1, 1, True)
    assert (first.report.num_isolated, first.report.num_components) == (1, 2)
    assert first.report.notes[:1] == ("directed input symmetrised: union of both directions",)
    assert (second.report.num_self_loops, second.report.num_duplicates, second.report.was_directed) == (0, 0, False)


def test_nodes_of_a_graph_may_lie_apart(tmp_path):
    first, second = read_tu_folder(
        write(tmp_path, graph_indicator="1\n2\n1\n2\n1\n", A="1,3\n3,1\n2,4\n4,2\n", node_attributes="1\n2\n3\n4\n5\n"),
        features="attributes",
    )
    assert first.x.ravel().tolist() == [1, 3, 5]
    assert second.x.ravel().tolist() == [2, 4]
    assert first.adjacency().toarray().tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]


def test_graphs_without_nodes_are_kept(tmp_path):
    indicator = TRIANGLE_AND_EDGE["graph_indicator"].replace("2", "3")
    graphs = read_tu_folder(write(tmp_path, graph_indicator=indicator, graph_labels="7\n8\n9\n"))
    assert [(graph.num_nodes, graph.label) for graph in graphs] == [(3, 7), (0, 8), (2, 9)]
    assert graphs[1].x.shape == (0, 5)


def test_a_set_without_edges(tmp_path):
    assert [graph.num_edges for graph in read_tu_folder(write(tmp_path, A=""))] == [0, 0]


@pytest.mark.parametrize("top", ["", "DS/"], ids=["flat", "in a folder"])
def test_archives_are_read_without_unpacking(top, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    expected = read_tu_folder(write(folder))
    with zipfile.ZipFile(tmp_path / "set.zip", "w") as archive:
        for path in folder.iterdir():
            archive.write(path, f"{top}{path.name}")
        archive.writestr("__MACOSX/._DS_A.txt", "junk")
    graphs = read_tu_folder(tmp_path / "set.zip")
    assert [graph.x.tolist() for graph in graphs] == [graph.x.tolist() for graph in expected]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "set.zip"]


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["unix", "windows"])
@pytest.mark.parametrize("tail", ["", "\n\n  \n"], ids=["one end", "blank lines"])
def test_line_ends_byte_order_marks_and_a_missing_last_end(end, tail, tmp_path):
    content = {kind: "\ufeff" + text.rstrip("\n").replace("\n", end) + tail for kind, text in TRIANGLE_AND_EDGE.items()}
    assert [graph.label for graph in read_tu_folder(write(tmp_path, content))] == [7, -3]


def bad(says, **changes):
    return pytest.param(changes, says, id=says[:50])


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        bad(r"expected the edges of one dataset in a file DS_A\.txt, got none", A=None),
        bad(r"DS_graph_indicator\.txt is missing: .* graph of every node", graph_indicator=None),
        bad(r"DS_A\.txt, line 2: expected 2 integers separated by commas, got '2'", A="1,2\n2\n"),
        bad(r"DS_A\.txt, line 1: expected 2 integers .* got '1,2,3'", A="1,2,3\n"),
        bad(r"DS_A\.txt, line 3: expected 2 integers .* got ''", A="1,2\n2,1\n\n2,3\n"),
        bad(r"DS_A\.txt, line 2: expected 2 integers .* got '2,x'", A="1,2\n2,x\n"),
        bad(r"DS_A\.txt, line 2: expected 2 integers .* got '2,1\.5'", A="1,2\n2,1.5\n"),
        bad(r"DS_A\.txt, line 2: expected 2 integers .* got '2,'", A="1,2\n2,\n"),
        bad(r"DS_A\.txt, line 1: expected 2 integers .* got '1 2'", A="1 2\n"),
        bad(r"DS_A\.txt, line 2: expected 2 integers .* got '2 3,1'", A="1,2\n2 3,1\n"),
        bad(r"DS_A\.txt, line 1: expected 2 integers .* got '1;2'", A="1;2\n"),
        bad(r"DS_A\.txt, line 1: expected 2 integers .* got '<html>", A="<html>\n"),
        bad(r"DS_A\.txt, line 1: expected 2 integers .* got '1,-9{20}'", A="1,-" + "9" * 20 + "\n"),
        bad(r"DS_A\.txt, line 1: expected 2 integers .* got '1,-\+2'", A="1,-+2\n"),
        bad(r"DS_A\.txt, line 2: expected nodes 1\.\.5, .* has 5 lines, got 6", A="1,2\n2,6\n"),
        bad(r"DS_A\.txt, line 1: expected nodes 1\.\.5, .* got 0", A="0,1\n"),
        bad(r"line 2: expected both nodes in one graph, got node 3 of graph 1 and node 4 of graph 2", A="1,2\n3,4\n"),
        bad(r"DS_graph_labels\.txt: expected a line a graph, .* names 2 graphs \(line 4\), got 1", graph_labels="1\n"),
        bad(r"names 2 graphs \(line 4\), got 3 lines", graph_labels="1\n1\n1\n"),
        bad(r"DS_graph_labels\.txt, line 2: expected one integer, got 'b'", graph_labels="1\nb\n"),
        bad(r"DS_graph_indicator\.txt, line 1: expected a graph number .* got 0", graph_indicator="0\n0\n0\n1\n1\n"),
        bad(r"DS_graph_indicator\.txt: expected a line a node, the file holds none", graph_indicator="\n"),
        bad(r"DS_node_labels\.txt: expected 5 lines, one a node .*, got 4", node_labels="1\n1\n1\n1\n"),
        bad(r"DS_node_labels\.txt: expected labels that take up to 65536 values", node_labels="1\n99999999\n1\n1\n1\n"),
        bad(r"DS_node_attributes\.txt, line 2: expected 2 numbers", node_attributes="1,2\n1\n1,2\n1,2\n1,2\n"),
        bad(r"DS_node_attributes\.txt, line 2: expected one number, got 'nan'", node_attributes="1\nnan\n1\n1\n1\n"),
        bad(r"line 3: expected finite float32 numbers, got 1e\+99 in", node_attributes="1\n1\n1e99\n1\n1\n"),
        bad(r"line 1: expected one number, got '1e'", node_attributes="1e\n1\n1\n1\n1\n"),
        bad(
            r"DS_graph_attributes\.txt: expected one target a graph, got 2",
            graph_labels=None,
            graph_attributes="1,2\n3,4",
        ),
        bad(r"line 2: expected a finite number", graph_labels=None, graph_attributes="1\n1e999\n"),
    ],
)
def test_wrong_files_are_told_by_name_and_line(changes, says, tmp_path):
    with pytest.raises(DataError, match=says):
        read_tu_folder(write(tmp_path, **changes))


def test_wild_graph_numbers_are_told_without_labels(tmp_path):
    indicator = "1\n1\n1\n2\n900000000\n"
    with pytest.raises(DataError, match=r"line 5: expected graphs numbered 1\.\.G, got 900000000 for 5 nodes"):
        read_tu_folder(write(tmp_path, graph_indicator=indicator, graph_labels=None))


def test_two_datasets_in_a_folder_are_told(tmp_path):
    write(write(tmp_path), prefix="OTHER")
    with pytest.raises(DataError, match=r"got 2 \(DS_A\.txt, OTHER_A\.txt\)"):
        read_tu_folder(tmp_path)


def test_places_that_hold_nothing_are_told(tmp_path):
    with pytest.raises(DataError, match=r"nowhere: expected a folder of DS_A\.txt"):
        read_tu_folder(tmp_path / "nowhere")
    (tmp_path / "edges.csv").write_text("a,b\n")
    with pytest.raises(DataError, match=r"edges\.csv: expected a zip archive"):
        read_tu_folder(tmp_path / "edges.csv")


@pytest.mark.parametrize("piece", [7, 8, 9, 30])
def test_lines_are_numbered_across_pieces(piece, tmp_path, monkeypatch):
    monkeypatch.setattr(tu_text, "_PIECE", piece)
    folder = write(tmp_path)
    assert [graph.num_edges for graph in read_tu_folder(folder)] == [3, 1]
    write(tmp_path, A=TRIANGLE_AND_EDGE["A"] + "4,5\n5,oh\n")
    with pytest.raises(DataError, match=r"DS_A\.txt, line 10: expected 2 integers"):
        read_tu_folder(folder)


def test_lines_without_end_are_refused_before_they_fill_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(tu_text, "_PIECE", 64)
    with pytest.raises(DataError, match="expected lines of text, got one of more than 64 bytes"):
        read_tu_folder(write(tmp_path, A="1" * 1000))


def test_a_line_of_many_commas_is_told_briefly(tmp_path):
    lines = "," * 100_000 + "\n" + "1\n" * 100_000
    with pytest.raises(DataError, match=r"line 1: expected 100001 numbers") as caught:
        read_tu_folder(write(tmp_path, node_attributes=lines))
    assert len(str(caught.value)) < 400


attribute = st.floats(width=32, allow_nan=False, allow_infinity=False)
one_graph = st.integers(1, 5).flatmap(
    lambda size: st.tuples(
        st.lists(st.tuples(attribute, attribute), min_size=size, max_size=size),
        st.lists(st.integers(-4, 4), min_size=size, max_size=size),
        st.lists(st.tuples(*[st.integers(0, size - 1)] * 2), max_size=10),
        st.integers(-5, 10**12),
    )
)


@given(st.lists(one_graph, min_size=1, max_size=5))
def test_written_sets_come_back(tmp_path_factory, graphs):
    folder = tmp_path_factory.mktemp("tu")
    lines = {kind: [] for kind in TRIANGLE_AND_EDGE}
    first = 1
    for number, (attributes, labels, edges, label) in enumerate(graphs, 1):
        lines["A"] += [f"{a + first}, {b + first}" for a, b in edges]
        lines["graph_indicator"] += [str(number)] * len(labels)
        lines["graph_labels"].append(str(label))
        lines["node_labels"] += map(str, labels)
        lines["node_attributes"] += [f"{a!r}, {b!r}" for a, b in attributes]
        first += len(labels)
    read = read_tu_folder(write(folder, {kind: "".join(f"{line}\n" for line in text) for kind, text in lines.items()}))
    smallest = min(min(labels) for _, labels, _, _ in graphs)
    width = max(max(labels) for _, labels, _, _ in graphs) - smallest + 1
    for graph, (attributes, labels, edges, label) in zip(read, graphs, strict=True):
        one_hot = np.eye(width)[np.array(labels) - smallest]
        x = np.hstack([np.float32(attributes), one_hot])
        expected = Graph.from_edge_index(np.array(edges, dtype=np.int64).reshape(-1, 2).T, x=x)
        assert graph.label == label
        assert np.array_equal(graph.x, expected.x)
        assert (graph.adjacency() != expected.adjacency()).nnz == 0
        note = f"features: one-hot node labels {smallest} to {smallest + width - 1}"
        assert graph.report == replace(expected.report, notes=(*expected.report.notes, note))
