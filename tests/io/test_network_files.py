"""GEXF as input, and what each of the two formats can hold."""

import gzip

import networkx as nx
import pytest

from tvgnn.errors import DataError, GraphError
from tvgnn.io.graph_files import read_graph
from tvgnn.io.network_files import read_network, write_network


def gexf(edges, nodes="", attributes="", kind="undirected"):
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><gexf xmlns="http://gexf.net/1.3" version="1.3">'
        f'<graph defaultedgetype="{kind}">{attributes}<nodes>{nodes}</nodes><edges>{edges}</edges></graph></gexf>'
    )


NODES = '<node id="007" label="Bond"/><node id="7"/><node id="Zoë"/>'


def test_gexf_keeps_ids_weights_and_isolated_nodes(tmp_path):
    edges = '<edge id="0" source="007" target="7" weight="2.5"/>'
    (tmp_path / "g.gexf").write_text(gexf(edges, NODES), encoding="utf-8")
    graph = read_graph(tmp_path / "g.gexf")
    assert graph.node_ids == ("007", 7, "Zoë")
    assert graph.adjacency().toarray().tolist() == [[0, 2.5, 0], [2.5, 0, 0], [0, 0, 0]]
    (tmp_path / "g.gexf.gz").write_bytes(gzip.compress((tmp_path / "g.gexf").read_bytes()))
    assert read_graph(tmp_path / "g.gexf.gz").num_edges == 1


def test_a_weight_that_gexf_leaves_out_is_1(tmp_path):
    edges = '<edge id="0" source="007" target="7" weight="2.5"/><edge id="1" source="7" target="Zoë"/>'
    (tmp_path / "g.gexf").write_text(gexf(edges, NODES), encoding="utf-8")
    assert read_graph(tmp_path / "g.gexf").adjacency()[1].toarray().tolist() == [2.5, 0, 1]
    assert not read_graph(tmp_path / "g.gexf", weight_column=None).is_weighted
    (tmp_path / "g.gexf").write_text(gexf('<edge id="0" source="007" target="7"/>', NODES), encoding="utf-8")
    assert not read_graph(tmp_path / "g.gexf").is_weighted


def test_attributes_form_the_features(tmp_path):
    attributes = '<attributes class="node"><attribute id="0" title="age" type="float"/></attributes>'
    nodes = "".join(f'<node id="{i}"><attvalues><attvalue for="0" value="{i}.5"/></attvalues></node>' for i in range(2))
    (tmp_path / "g.gexf").write_text(gexf('<edge id="0" source="0" target="1"/>', nodes, attributes))
    assert read_graph(tmp_path / "g.gexf", node_attributes=["age"]).x.tolist() == [[0.5], [1.5]]
    with pytest.raises(GraphError, match="'size' is missing"):
        read_graph(tmp_path / "g.gexf", node_attributes=["size"])


def test_directed_edges_are_united_with_a_note(tmp_path):
    (tmp_path / "g.gexf").write_text(gexf('<edge id="0" source="7" target="007"/>', NODES, kind="directed"))
    assert read_graph(tmp_path / "g.gexf").report.was_directed


@pytest.mark.parametrize("content", ["", "<html>404</html>", "<gexf>", "junk", gexf('<edge source="a"/>')])
def test_broken_gexf_is_refused(tmp_path, content):
    (tmp_path / "g.gexf").write_text(content)
    with pytest.raises(DataError, match="not readable as GEXF"):
        read_graph(tmp_path / "g.gexf")


@pytest.mark.parametrize("suffix", ["graphml", "gexf"])
def test_attributes_of_several_types_get_one(tmp_path, suffix):
    graph = nx.Graph()
    for name, number, mixed in (("a", 1, 1), ("b", 2.5, "x"), ("c", 3, True)):
        graph.add_node(name, number=number, mixed=mixed)
    write_network(tmp_path / f"g.{suffix}", graph)
    back = read_network(tmp_path / f"g.{suffix}")
    assert [back.nodes[name]["number"] for name in "abc"] == [1.0, 2.5, 3.0]
    assert [back.nodes[name]["mixed"] for name in "abc"] == ["1", "x", "True"]


def test_what_only_gexf_holds_becomes_text_in_graphml(tmp_path):
    graph = nx.Graph()
    graph.add_node("a", label="A", spells=[(1, 2)], pid=None, viz={"size": 3.0})
    write_network(tmp_path / "g.graphml", graph, converted=True)
    assert read_network(tmp_path / "g.graphml").nodes["a"] == {"label": "A", "spells": "[(1, 2)]"}


def test_large_graphs_are_not_indented(tmp_path, monkeypatch):
    graph = nx.path_graph(["a", "b", "c"])
    for suffix in ("graphml", "gexf"):
        write_network(tmp_path / f"nice.{suffix}", graph)
        monkeypatch.setattr("tvgnn.io.network_files._INDENTED", 1)
        write_network(tmp_path / f"dense.{suffix}", graph)
        monkeypatch.undo()
        nice, dense = ((tmp_path / f"{name}.{suffix}").read_text() for name in ("nice", "dense"))
        assert nice.count("\n") > 5 > dense.count("\n")
        assert list(read_network(tmp_path / f"dense.{suffix}").edges) == [("a", "b"), ("b", "c")]
