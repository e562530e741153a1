"""Clusters in GraphML and GEXF, read back by networkx."""

from itertools import pairwise
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pytest

from tvgnn import Graph, coarsened_graph
from tvgnn.colors import COLORS
from tvgnn.errors import DataError
from tvgnn.io import read_graph, write_clustered_graph, write_coarsened_graph

HOSTILE = ["<img src=x onerror=alert(1)>", "a & b", "007", "7", "two  words", "Zoë 漢", 'say "hi"', "tab\there"]
FORMATS = {"graphml": nx.read_graphml, "gexf": nx.read_gexf}
each_format = pytest.mark.parametrize("suffix", FORMATS)


def path_graph(ids, weights=None, **attributes):
    """Return a path of all ids but the last, which is isolated."""
    return Graph.from_edges(ids[:-2], ids[1:-1], weights, node_ids=ids, **attributes)


def rgb(data, suffix):
    color = data["viz"]["color"] if suffix == "gexf" else data
    return "#{:02x}{:02x}{:02x}".format(*(int(color[name]) for name in "rgb"))


@each_format
def test_ids_edges_weights_and_results_survive(tmp_path, suffix):
    weights = np.array([0.1, 2.0, 1e-3, 5e8, 1.5, 3.0], dtype=np.float32)
    graph = path_graph(HOSTILE, weights, y=["x & y", None, "<b>", "x & y", None, "<b>", "<b>", "x & y"])
    labels, confidence = np.array([0, 0, 1, 1, 2, 2, 0, 1]), np.linspace(0.3, 1, 8, dtype=np.float32)
    file = tmp_path / f"out.{suffix}"
    names = write_clustered_graph(file, graph, labels, confidence=confidence)
    assert names == ["cluster", "confidence", "class"]
    back = FORMATS[suffix](file)
    assert list(back) == HOSTILE
    assert [back.nodes[name]["cluster"] for name in HOSTILE] == [str(label) for label in labels]
    assert np.array_equal(np.float32([back.nodes[name]["confidence"] for name in HOSTILE]), confidence)
    assert [back.nodes[name].get("class") for name in HOSTILE][:3] == ["x & y", None, "<b>"]
    assert [rgb(back.nodes[name], suffix) for name in HOSTILE] == [COLORS[label] for label in labels]
    assert back.number_of_edges() == 6
    assert back.degree("tab\there") == 0
    found = [back.edges[pair]["weight"] for pair in pairwise(HOSTILE[:-1])]
    assert np.array_equal(np.float32(found), weights)
    assert found[0] == 0.1  # and not what float32 makes of it


@each_format
def test_a_graph_without_weights_has_none(tmp_path, suffix):
    file = tmp_path / f"out.{suffix}"
    write_clustered_graph(file, path_graph([3, 1, 2]), [0, 0, 0])
    back = FORMATS[suffix](file)
    assert list(back) == ["3", "1", "2"]
    assert all("weight" not in data for *_, data in back.edges(data=True))
    assert all("confidence" not in data for _, data in back.nodes(data=True))


@each_format
def test_what_is_written_can_be_clustered_again(tmp_path, suffix):
    graph = path_graph(HOSTILE, [1, 2, 3, 4, 5, 6.5])
    file = tmp_path / f"out.{suffix}"
    write_clustered_graph(file, graph, np.arange(8), confidence=np.arange(8) / 8)
    back = read_graph(file, node_attributes=["confidence"])
    assert back.node_ids == ("<img src=x onerror=alert(1)>", "a & b", "007", 7, *HOSTILE[4:])
    assert np.array_equal(back.adjacency().toarray(), graph.adjacency().toarray())
    assert back.x[:, 0].tolist() == (np.arange(8) / 8).tolist()


def test_colours_repeat_with_another_shape_in_gexf(tmp_path):
    graph = Graph.from_edges(np.arange(20), np.arange(1, 21))
    write_clustered_graph(tmp_path / "out.gexf", graph, np.arange(21))
    found = ElementTree.parse(tmp_path / "out.gexf").iter("{http://www.gexf.net/1.2draft}node")
    viz = "{http://www.gexf.net/1.2draft/viz}"
    nodes = [(node.find(f"{viz}color").attrib, node.find(f"{viz}shape")) for node in found]
    assert nodes[3][0] == nodes[13][0]
    assert nodes[3][0] != nodes[4][0]
    assert [None if shape is None else shape.get("value") for _, shape in nodes[9:21:10]] == [None, "square"]
    assert nodes[20][1].get("value") == "triangle"


def test_positions(tmp_path):
    graph, points = path_graph(["a", "b", "c", "d"]), np.array([[0, 0], [0.5, 1], [1, 0], [0.25, 0.5]])
    write_clustered_graph(tmp_path / "out.graphml", graph, [0] * 4, positions=points)
    data = nx.read_graphml(tmp_path / "out.graphml").nodes
    assert [[data[name]["x"], data[name]["y"]] for name in "abcd"] == points.tolist()
    write_clustered_graph(tmp_path / "out.gexf", graph, [0] * 4, positions=points)
    data = nx.read_gexf(tmp_path / "out.gexf").nodes
    found = [[data[name]["viz"]["position"][axis] for axis in "xy"] for name in "abcd"]
    np.testing.assert_allclose(found, points * 60)  # two nodes a side, 30 each


@pytest.fixture
def source(tmp_path):
    """Write a directed GraphML file with attributes of its own, some of them called like ours."""
    graph = nx.DiGraph(name="mine")
    graph.add_node("x", age=3, cluster="old", r=1, end="late", ok=True)
    graph.add_node("007", age=4.5, tvgnn_cluster=1)
    graph.add_node("alone")
    graph.add_edge("007", "x", weight=2.5, type="friend")
    graph.add_edge("x", "x", weight=1.0, type="self")
    nx.write_graphml(graph, tmp_path / "in.graphml")
    return tmp_path / "in.graphml"


def test_a_graphml_file_keeps_what_it_has(tmp_path, source):
    before = nx.read_graphml(source)
    names = write_clustered_graph(tmp_path / "out.graphml", read_graph(source), [0, 1, 1], confidence=[0.5, 0.75, 1],
                                  source=source)  # fmt: skip
    assert names == ["tvgnn_cluster_2", "confidence"]
    after = nx.read_graphml(tmp_path / "out.graphml")
    assert after.is_directed()
    assert after.graph["name"] == "mine"
    assert list(after.edges(data=True)) == list(before.edges(data=True))
    for row, name in enumerate(["x", "007", "alone"]):
        ours = {"tvgnn_cluster_2": str(min(row, 1)), "confidence": [0.5, 0.75, 1.0][row]}
        assert after.nodes[name] == before.nodes[name] | ours


def test_from_graphml_to_gexf_and_back(tmp_path, source):
    graph = read_graph(source)
    write_clustered_graph(tmp_path / "out.gexf", graph, [0, 1, 1], source=source)
    middle = nx.read_gexf(tmp_path / "out.gexf")
    assert middle.nodes["x"]["end_"] == "late"
    assert [data["type_"] for *_, data in middle.edges(data=True)] == ["self", "friend"]
    assert middle.edges["007", "x"]["weight"] == 2.5
    write_clustered_graph(tmp_path / "back.graphml", graph, [1, 0, 0], source=tmp_path / "out.gexf")
    back = nx.read_graphml(tmp_path / "back.graphml")
    assert back.nodes["007"]["tvgnn_cluster"] == 1
    assert back.nodes["007"]["tvgnn_cluster_3"] == "0"
    assert back.nodes["x"]["ok"] is True
    assert rgb(back.nodes["007"], "graphml") in COLORS


def test_a_gexf_file_gets_colours_and_keeps_places(tmp_path):
    graph = nx.Graph()
    graph.add_node("a", label="Anna", viz={"color": {"r": 9, "g": 9, "b": 9, "a": 1}, "size": 5.0,
                                           "position": {"x": 1.0, "y": 2.0, "z": 0.0}})  # fmt: skip
    graph.add_edge("a", "b", weight=3.0)
    nx.write_gexf(graph, tmp_path / "in.gexf")
    write_clustered_graph(tmp_path / "out.gexf", read_graph(tmp_path / "in.gexf"), [1, 0], source=tmp_path / "in.gexf")
    data = nx.read_gexf(tmp_path / "out.gexf").nodes["a"]
    assert (data["label"], data["viz"]["size"], data["viz"]["position"]["y"]) == ("Anna", 5.0, 2.0)
    assert rgb(data, "gexf") == COLORS[1]


@each_format
@pytest.mark.parametrize("character", ["\x00", "\x1b", "\ud800", "\uffff"])
def test_a_character_that_xml_cannot_hold_is_an_error_that_names_the_id(tmp_path, suffix, character):
    bad = f"cell{character}7"
    with pytest.raises(DataError) as error:
        write_clustered_graph(tmp_path / f"out.{suffix}", path_graph(["a", bad, "b"]), [0, 0, 0])
    assert repr(bad) in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_left_where_writing_fails(tmp_path, monkeypatch):
    def broken(graph, path, **settings):
        path.write_text("half")
        raise OSError("disk full")

    monkeypatch.setattr(nx, "write_gexf", broken)
    with pytest.raises(OSError, match="disk full"):
        write_clustered_graph(tmp_path / "out.gexf", path_graph(["a", "b", "c"]), [0, 0, 0])
    assert list(tmp_path.iterdir()) == []


def test_an_existing_file_is_refused_unless_told_otherwise(tmp_path):
    file, graph = tmp_path / "out.gexf", path_graph(["a", "b", "c"])
    file.write_text("mine")
    with pytest.raises(DataError, match="exists"):
        write_clustered_graph(file, graph, [0, 0, 0])
    assert file.read_text() == "mine"
    write_clustered_graph(file, graph, [0, 0, 0], overwrite=True)
    assert len(nx.read_gexf(file)) == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": [0, 1]}, "one cluster a node, 3 integers"),
        ({"labels": [0, 1, -1]}, "integers from 0"),
        ({"confidence": [1, 1]}, "one number a node in confidence"),
        ({"confidence": [1, np.nan, 1]}, "finite numbers in confidence"),
        ({"assignments": np.ones(3)}, r"shape \(N, K\)"),
        ({"positions": np.ones((3, 3))}, r"positions of shape \(3, 2\)"),
        ({"path": "out.gml"}, r"endings \.graphml, \.gexf, got \.gml"),
        ({"path": "out"}, "got none"),
    ],
)
def test_bad_input_is_named(tmp_path, change, message):
    given = {"path": "out.gexf", "graph": path_graph(["a", "b", "c"]), "labels": [0, 0, 0]} | change
    with pytest.raises(DataError, match=message):
        write_clustered_graph(**given | {"path": tmp_path / given["path"]})


def test_ids_that_are_equal_as_text_are_refused(tmp_path):
    with pytest.raises(DataError, match="two nodes called '1'"):
        write_clustered_graph(tmp_path / "out.gexf", path_graph([1, "1", "b"]), [0, 0, 0])


def test_a_source_with_other_nodes_is_refused(tmp_path, source):
    with pytest.raises(DataError, match="such as 'x', which was not clustered"):
        write_clustered_graph(tmp_path / "out.gexf", path_graph(["a", "b", "c"]), [0, 0, 0], source=source)
    with pytest.raises(DataError, match="the 4 nodes that were clustered, got 3"):
        write_clustered_graph(tmp_path / "out.gexf", path_graph(["x", "007", "alone", "b"]), [0] * 4, source=source)


@each_format
def test_clusters_as_nodes(tmp_path, suffix):
    graph = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], [1, 2, 4, 8])
    coarse = coarsened_graph(graph, [0, 0, 1, 1, 1], n_clusters=3)
    file = tmp_path / f"out.{suffix}"
    write_coarsened_graph(file, coarse, attributes={"confidence": [0.5, 1, np.nan]},
                          positions=[[0, 0], [1, 2], [np.nan, np.nan]])  # fmt: skip
    back = FORMATS[suffix](file)
    assert np.array_equal(nx.to_numpy_array(back), coarse.adjacency.toarray())
    assert [back.nodes[name]["members"] for name in "012"] == [2, 3, 0]
    assert [back.nodes[name]["inside"] for name in "012"] == [1, 12, 0]
    assert [back.nodes[name].get("confidence") for name in "012"] == [0.5, 1, None]
    assert [rgb(back.nodes[name], suffix) for name in "012"] == list(COLORS[:3])
    assert back.degree("2") == 0
    places = [data["viz"] if suffix == "gexf" else data for _, data in back.nodes(data=True)]
    assert places[1]["size"] == 60 > places[0]["size"] > places[2]["size"] > 0
    assert "position" not in places[2]
    assert "x" not in places[2]


def test_one_cluster(tmp_path):
    write_coarsened_graph(tmp_path / "out.csv", coarsened_graph(path_graph(["a", "b", "c"]), [0, 0, 0]))
    assert (tmp_path / "out.csv").read_text() == "source,target,weight\n0,0,2.0\n"
    write_coarsened_graph(tmp_path / "out.gexf", coarsened_graph(path_graph(["a", "b", "c"]), [0, 0, 0]))
    assert nx.read_gexf(tmp_path / "out.gexf").number_of_edges() == 1


def test_igraph_reads_the_graphml(tmp_path):
    import igraph

    ids = [name.replace("&", "+") for name in HOSTILE]  # igraph 1.0 reads "&amp;" in an id as "&#38;"
    graph = path_graph(ids, [1, 2, 3, 4, 5, 6.5])
    write_clustered_graph(tmp_path / "out.graphml", graph, np.arange(8), confidence=np.arange(8) / 8)
    back = igraph.Graph.Read_GraphML(str(tmp_path / "out.graphml"))
    assert back.vs["id"] == ids
    assert back.vs["cluster"] == [str(label) for label in range(8)]
    assert back.vs["confidence"] == (np.arange(8) / 8).tolist()
    assert back.es["weight"] == [1, 2, 3, 4, 5, 6.5]
