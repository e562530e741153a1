import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp

from tvgnn.errors import DataError, GraphError
from tvgnn.io.graph_files import read_graph, read_named_graph, read_named_nodes, read_nodes


@pytest.fixture
def folder(tmp_path):
    def write(**files):
        for name, content in files.items():
            (tmp_path / f"{name}.csv").write_text(content)
        return tmp_path

    return write


def dense(graph):
    return graph.adjacency().toarray().tolist()


def test_edges_alone_name_the_nodes(folder):
    path = folder(edges="b,a\na,c\n", numbers="30,10\n10,7\n")
    assert read_graph(path / "edges.csv").node_ids == ("b", "a", "c")
    assert read_graph(path / "numbers.csv").node_ids == (7, 10, 30)


def test_keyed_features_define_nodes_and_order_and_labels_may_be_partial(folder):
    path = folder(
        edges="source,target,weight\nb,a,2\n", features="id,f\na,1\nalone,2\nb,3\n", labels="node_id,label\nb,u\na,v\n"
    )
    graph = read_graph(path / "edges.csv", path / "features.csv", path / "labels.csv")
    assert graph.node_ids == ("a", "alone", "b")
    assert dense(graph) == [[0, 0, 2], [0, 0, 0], [2, 0, 0]]
    assert graph.x.tolist() == [[1], [2], [3]]
    assert graph.y.tolist() == [1, -1, 0]
    assert graph.class_names == ("u", "v")
    assert graph.report.num_isolated == 1


def test_edge_to_a_node_without_features_names_id_and_line(folder):
    path = folder(edges="source,target\na,b\n\nb,q\n", features="a,1\nb,2\n", numbers="1,1\n2,2\n", pairs="1,2\n2,3\n")
    with pytest.raises(DataError, match=r"edges\.csv, line 4: node 'q' has no row in .*features\.csv"):
        read_graph(path / "edges.csv", path / "features.csv")
    with pytest.raises(DataError, match=r"pairs\.csv, line 2: node 3 has no row in .*numbers\.csv"):
        read_graph(path / "pairs.csv", path / "numbers.csv")


def test_edges_and_features_with_other_ids_say_how_many_match(folder):
    path = folder(
        edges="source,target\np1,p2\np2,p3\n", features="id,f\n1,1\n2,2\n3,3\n", some="id,f\np1,1\np2,2\nq,3\n"
    )
    with pytest.raises(
        DataError, match=r"edges\.csv: 0 of 3 ids match those of features\.csv: are these the same ids\?"
    ) as error:
        read_graph(path / "edges.csv", path / "features.csv")
    assert "edges.csv has 'p1', 'p2', 'p3'; features.csv has 1, 2, 3" in str(error.value)
    with pytest.raises(
        DataError,
        match=r"line 3: node 'p3' has no row in .*; 2 of 3 ids match, without a row: 'p3'; add rows for them .where",
    ):
        read_graph(path / "edges.csv", path / "some.csv")


def test_an_edge_of_names_is_no_unknown_node(folder):
    path = folder(edges="person,friend\na,b\nb,c\nc,a\n", features="id,f\na,1\nb,2\nc,3\n")
    with pytest.raises(
        DataError, match=r"line 1: node 'person' has no row.* where line 1 holds names pass header=True"
    ):
        read_graph(path / "edges.csv", path / "features.csv")
    np.save(path / "x.npy", np.ones((3, 1)))
    with pytest.raises(DataError, match=r"expected nodes 0\.\.2, .*'person'; .* line 1 holds names, pass header=True"):
        read_graph(path / "edges.csv", path / "x.npy")
    (note,) = read_graph(path / "edges.csv").report.notes
    assert "(person, friend) was read as an edge; pass header=True" in note


def test_a_node_that_was_taken_for_a_header_is_told_where_its_edge_fails(folder):
    path = folder(edges="cell,dog\ndog,eel\n", features="cell,1,2\ndog,3,4\neel,5,6\n")
    with pytest.raises(
        DataError, match=r"'cell' has no row.* \(cell, 1, 2\) was taken for names.* begins with node_id"
    ):
        read_graph(path / "edges.csv", path / "features.csv")


def test_features_of_nodes_without_edges_are_told(folder):
    path = folder(edges="a,b\n", features="id,f\na,1\nb,2\nzoe,3\nyan,4\n", loop="a,a\nb,b\nzoe,yan\n")
    (note,) = read_graph(path / "edges.csv", path / "features.csv").report.notes
    assert note == "2 of the 4 ids in features.csv not found in edges.csv, kept as nodes without edges: 'zoe', 'yan'"
    assert read_graph(path / "loop.csv", path / "features.csv").report.notes == ()
    numbers = folder(edges="0,1\n", features="id,f\n0,1\n1,2\n7,3\n")
    assert read_graph(numbers / "edges.csv", numbers / "features.csv").report.notes[0].endswith(": 7")


@pytest.mark.parametrize("text", ["id,a\n01234,2\n02345,4", "id,a\n12E4,2\n13E4,4\n", "01234,2\n02345,4\n",
                                  "zip,a\n01234,2\n02345,4\n", "node,a\n1.5,2\n2.5,4\n"])  # fmt: skip
def test_codes_that_look_like_numbers_are_ids(folder, text):
    path = folder(nodes=text)
    ids = [row.split(",")[0] for row in text.split()][-2:]
    assert read_nodes(path / "nodes.csv").node_ids == tuple(ids)


@pytest.mark.parametrize("text", ["0.5,1.5\n0.25,3\n", "5.1,3.5\n4,3\n", "height,weight\n1.75,80\n1.8,75\n"])
def test_measurements_in_the_first_column_are_no_ids(folder, text):
    path = folder(nodes=text)
    with pytest.raises(DataError, match="expected a node id in the first column, got the number"):
        read_nodes(path / "nodes.csv")


def test_names_of_features_come_with_the_graph(folder):
    path = folder(edges="a,b\n", features="id,age,size\na,1,2\nb,3,4\n", bars="a|1\nb|2\n", stated="7|8\na|1\nb|2\n")
    assert read_named_graph(path / "edges.csv", path / "features.csv").feature_names == ["age", "size"]
    assert read_named_graph(path / "edges.csv").feature_names is None
    assert read_named_nodes(path / "bars.csv", delimiter="|").feature_names is None
    assert read_named_nodes(path / "stated.csv", delimiter="|", header=True).feature_names == ["8"]


def test_features_in_node_order_give_the_number_of_nodes(folder):
    path = folder(edges="0,1\n1,2\n", beyond="0,1\n# c\n1,5\n", text="a,b\nb,c\n")
    np.save(path / "x.npy", np.arange(10.0).reshape(5, 2))
    graph = read_graph(path / "edges.csv", path / "x.npy", dtype="float64")
    assert graph.num_nodes == 5
    assert graph.node_ids == range(5)
    assert graph.x.dtype == np.float64
    with pytest.raises(DataError, match=r"beyond\.csv, line 3: expected nodes 0\.\.4, .* got 5"):
        read_graph(path / "beyond.csv", path / "x.npy")
    with pytest.raises(DataError, match=r"text\.csv, line 1: expected nodes 0\.\.4, .* got 'a'"):
        read_graph(path / "text.csv", path / "x.npy")


def test_isolated_nodes_after_the_last_edge_are_kept_with_sparse_features(folder):
    path = folder(edges="0,1\n")
    sp.save_npz(path / "x.npz", sp.eye_array(4, format="csr"))
    graph = read_graph(path / "edges.csv", path / "x.npz")
    assert graph.num_nodes == 4
    assert sp.issparse(graph.x)


def test_directed_and_weight_options_reach_the_graph(folder):
    path = folder(edges="s,t,cost\n0,1,4\n")
    assert dense(read_graph(path / "edges.csv", weight_column="cost")) == [[0, 4], [4, 0]]
    assert dense(read_graph(path / "edges.csv", weight_column="cost", directed=True)) == [[0, 2], [2, 0]]
    assert not read_graph(path / "edges.csv").is_weighted


def test_labels_in_node_order_and_with_unknown_ids(folder):
    path = folder(edges="a,b\nb,c\n", labels="a,1\nzoe,2\n", headed="who,kind\na,1\nb,2\n")
    np.save(path / "y.npy", np.array([0, 1, 1]))
    assert read_graph(path / "edges.csv", labels=path / "y.npy").y.tolist() == [0, 1, 1]
    assert read_graph(path / "edges.csv", labels=path / "headed.csv").y.tolist() == [0, 1, -1]
    graph = read_graph(path / "edges.csv", labels=path / "labels.csv")
    assert graph.y.tolist() == [0, -1, -1]
    unlabelled = "2 of 3 nodes have no known class and do not count where the result is compared with the classes"
    assert graph.report.notes == (
        "1 of the 2 ids in labels.csv not found in the graph, left out: 'zoe'",
        unlabelled,
    )
    folder(labels="ann,1\nzoe,2\n")
    with pytest.raises(
        DataError, match=r"labels\.csv: 0 of 2 ids match those of the graph: .*'ann', 'zoe'.*'a', 'b', 'c'"
    ):
        read_graph(path / "edges.csv", labels=path / "labels.csv")
    np.save(path / "y.npy", np.array([0, 1]))
    with pytest.raises(DataError, match="one row per node, 3 in all, got 2"):
        read_graph(path / "edges.csv", labels=path / "y.npy")


def test_a_missing_label_is_no_class(folder):
    path = folder(edges="a,b\nb,c\nc,d\n", labels="id,class\na,NA\nb,2\nc,\nd,2\n")
    np.save(path / "y.npy", np.array(["nan", "2", "", "2"]))
    pd.DataFrame({"id": list("abcd"), "class": ["?", "2", None, "2"]}).to_parquet(path / "y.parquet", index=False)
    count = "2 of 4 nodes have no known class and do not count where the result is compared with the classes"
    for name, mark in (("labels.csv", "'NA'"), ("y.npy", "'nan'"), ("y.parquet", "'?'")):
        graph = read_graph(path / "edges.csv", labels=path / name)
        assert (graph.y.tolist(), len(graph.class_names)) == ([-1, 0, -1, 0], 1)
        told = f"{mark} in {name} was taken for an unknown label, not a class"
        assert graph.report.notes[-2:] == (told, count)
    folder(labels="a,1\nb,2\nc,\nd,1\n")
    assert read_graph(path / "edges.csv", labels=path / "labels.csv").report.notes == (
        "1 of 4 nodes has no known class and does not count where the result is compared with the classes",
    )


def test_feature_that_is_not_finite_is_named_by_id(folder):
    path = folder(edges="a,b\n", features="a,1\nb,nan\n")
    with pytest.raises(DataError, match=r"features\.csv, line 2, column '1': expected a finite .* node 'b', got 'nan'"):
        read_graph(path / "edges.csv", path / "features.csv")


@pytest.fixture
def matrix():
    return sp.csr_array(np.array([[0, 2.0, 0], [2, 0, 1], [0, 1, 0]]))


@pytest.mark.parametrize("suffix", [".npz", ".mtx"])
def test_matrices_with_features_in_either_form(folder, matrix, suffix):
    path = folder(numbers="2,30\n0,10\n1,20\n", names="u,10\nv,20\nw,30\n", short="u,1\nv,2\n")
    edges = path / f"a{suffix}"
    if suffix == ".npz":
        sp.save_npz(edges, matrix)
    else:
        scipy.io.mmwrite(edges, matrix)
    np.save(path / "x.npy", np.array([10.0, 20, 30]))
    assert dense(read_graph(edges)) == matrix.toarray().tolist()
    for features in ("x.npy", "numbers.csv", "names.csv"):
        graph = read_graph(edges, path / features)
        assert graph.x.ravel().tolist() == [10, 20, 30]
        assert dense(graph) == matrix.toarray().tolist()
    assert graph.node_ids == ("u", "v", "w")
    assert f"nodes: the rows of {edges.name} in the order of names.csv" in graph.report.notes
    with pytest.raises(DataError, match="entries of a matrix are its weights; leave weight_column=None out"):
        read_graph(edges, weight_column=None)
    with pytest.raises(DataError, match="expected 3 rows"):
        read_graph(edges, path / "short.csv")


def test_graphml_keeps_ids_weights_and_chosen_attributes(folder):
    path = folder(features="c,3\nb,2\na,1\n", short="a,1\n")
    source = nx.Graph()
    for name, age in (("b", 1.5), ("a", 2), ("c", 3)):
        source.add_node(name, age=age, kind="x")
    source.add_edge("b", "a", weight=0.5, cost=3.0)
    nx.write_graphml(source, path / "g.graphml")
    graph = read_graph(path / "g.graphml", node_attributes=["age"])
    assert graph.node_ids == ("b", "a", "c")
    assert graph.x.tolist() == [[1.5], [2], [3]]
    assert graph.weights.tolist() == [0.5, 0.5]
    assert read_graph(path / "g.graphml", weight_column="cost").weights.tolist() == [3, 3]
    assert not read_graph(path / "g.graphml", weight_column=None).is_weighted
    assert read_graph(path / "g.graphml", path / "features.csv").x.tolist() == [[2], [1], [3]]
    with pytest.raises(DataError, match="2 of 3 nodes have no row, first 'b', 'c'"):
        read_graph(path / "g.graphml", path / "short.csv")
    with pytest.raises(GraphError, match="'kind' holds text"):
        read_graph(path / "g.graphml", node_attributes=["kind"])
    with pytest.raises(DataError, match="not from both"):
        read_graph(path / "g.graphml", path / "features.csv", node_attributes=["age"])
    folder(features="c,3\nb,2\na,1\nzoe,4\n")
    extra = read_graph(path / "g.graphml", path / "features.csv")
    assert extra.x.tolist() == [[2], [1], [3]]
    assert extra.report.notes[-1].endswith("not found in the graph, left out: 'zoe'")
    with pytest.raises(DataError, match="no edge has the attribute 'cots'; attributes of edges: 'cost', 'weight'"):
        read_graph(path / "g.graphml", weight_column="cots")
    with pytest.raises(DataError, match="named by an edge attribute, got the position 2"):
        read_graph(path / "g.graphml", weight_column=2)


def test_graphml_integer_ids_become_int(tmp_path):
    nx.write_graphml(nx.path_graph(3), tmp_path / "g.graphml")
    assert read_graph(tmp_path / "g.graphml").node_ids == (0, 1, 2)


def test_graphml_ids_that_differ_in_blanks_are_refused(tmp_path):
    graph = nx.Graph([("7", " 7"), (" 7", "b")])
    nx.write_graphml(graph, tmp_path / "g.graphml")
    with pytest.raises(DataError, match="nodes '7' and ' 7' differ in blanks only"):
        read_graph(tmp_path / "g.graphml")
    nx.write_graphml(nx.Graph([(" 7", "b")]), tmp_path / "g.graphml")
    assert read_graph(tmp_path / "g.graphml").node_ids == (7, "b")


def test_graphml_without_nodes_is_refused(tmp_path):
    nx.write_graphml(nx.Graph(), tmp_path / "g.graphml")
    with pytest.raises(DataError, match="expected nodes, the graph has none"):
        read_graph(tmp_path / "g.graphml")


@pytest.mark.parametrize(
    "content", ["", "<html>404</html>", "<graphml>", "junk", "<a/>", "<?xml version='1.0' encoding='utq-8'?><a/>"]
)
def test_broken_graphml_is_refused(tmp_path, content):
    (tmp_path / "g.graphml").write_text(content)
    with pytest.raises(DataError, match="not readable as GraphML"):
        read_graph(tmp_path / "g.graphml")


def test_wrong_kinds_of_files_are_refused(folder, tmp_path):
    path = folder(edges="a,b\n")
    np.save(path / "a.npy", np.eye(2))
    with pytest.raises(DataError, match=r"text, \.npz, \.mtx, \.graphml or \.gexf"):
        read_graph(path / "a.npy")
    with pytest.raises(DataError, match="GraphML and GEXF files only"):
        read_graph(path / "edges.csv", node_attributes=["age"])
    with pytest.raises(DataError, match="no such file"):
        read_graph(path / "edges.csv", path / "absent.csv")
    np.savez(path / "dense.npz", np.ones((2, 3)))
    with pytest.raises(GraphError, match="square"):
        read_graph(path / "dense.npz")
