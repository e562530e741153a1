import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch

from tvgnn import Graph
from tvgnn.errors import GraphError

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # PyG calls torch.jit.script on import, which torch deprecates
    from torch_geometric import EdgeIndex
    from torch_geometric.data import Data, HeteroData


def dense(graph: Graph) -> list[list[float]]:
    return graph.adjacency().toarray().tolist()


# scipy


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float64])
@pytest.mark.parametrize("wrap", [sp.csr_array, sp.csc_matrix, sp.coo_array, sp.lil_array, np.asarray])
def test_matrix_of_ones_is_unweighted(dtype, wrap):
    graph = Graph.from_scipy(wrap(np.array([[0, 1], [1, 0]], dtype=dtype)))
    assert not graph.is_weighted
    assert dense(graph) == [[0, 1], [1, 0]]


def test_half_precision_array_is_accepted():
    graph = Graph.from_scipy(np.array([[0, 0.5], [0.5, 0]], dtype=np.float16))
    assert dense(graph) == [[0, 0.5], [0.5, 0]]


def test_matrix_with_other_values_is_weighted():
    graph = Graph.from_scipy(np.array([[0, 3], [3, 0]]))
    assert graph.is_weighted
    assert dense(graph) == [[0, 3], [3, 0]]


def test_stored_zeros_are_eliminated_and_counted():
    coordinates = ([0, 1, 0, 2], [1, 0, 2, 0])
    ones = Graph.from_scipy(sp.coo_array((np.array([1.0, 1.0, 0.0, 0.0]), coordinates), shape=(3, 3)))
    assert not ones.is_weighted
    assert (ones.num_edges, ones.report.num_zero_weights, ones.report.num_isolated) == (1, 2, 1)
    twos = Graph.from_scipy(sp.coo_array((np.array([2.0, 2.0, 0.0, 0.0]), coordinates), shape=(3, 3)))
    assert twos.is_weighted
    assert (twos.num_edges, twos.report.num_zero_weights) == (1, 2)


def test_duplicate_ones_of_a_coo_matrix_are_removed():
    coo = sp.coo_array((np.ones(3), ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    graph = Graph.from_scipy(coo)
    assert dense(graph) == [[0, 1], [1, 0]]
    assert graph.report.num_duplicates == 1


def test_csr_with_int64_indices_is_narrowed():
    csr = sp.csr_array(np.array([[0, 1], [1, 0]]))
    wide = sp.csr_array((csr.data, csr.indices.astype(np.int64), csr.indptr.astype(np.int64)), shape=(2, 2))
    assert Graph.from_scipy(wide).indices.dtype == np.int32


@pytest.mark.parametrize(("adjacency", "message"), [
    (np.ones((2, 3)), r"square, got shape \(2, 3\)"),
    (np.ones(4), "square"),
    (np.array([[0, 1j], [1j, 0]]), "real numbers"),
    (np.array([["a", "b"], ["c", "d"]]), "real numbers"),
    (sp.csr_array(np.array([[0, -1.0], [-1.0, 0]])), "has weight -1.0"),
    (np.array([[0, np.nan], [1, 0]]), "has weight nan"),
])  # fmt: skip
def test_bad_matrix_is_refused(adjacency, message):
    with pytest.raises(GraphError, match=message):
        Graph.from_scipy(adjacency)


# edge tables


def test_edge_table_keeps_text_ids_in_order_of_appearance():
    graph = Graph.from_edges(["b", "a"], ["a", "c"], [2.0, 0.5])
    assert graph.node_ids == ("b", "a", "c")
    assert dense(graph) == [[0, 2, 0], [2, 0, 0.5], [0, 0.5, 0]]
    assert not graph.report.was_directed


def test_integer_ids_are_sorted_and_none_is_invented():
    graph = Graph.from_edges([30, 10], [10, 7])
    assert graph.node_ids == (7, 10, 30)
    assert all(type(node_id) is int for node_id in graph.node_ids)
    far = Graph.from_edges(np.array([10**15, -5]), np.array([0, 0]))
    assert far.node_ids == (-5, 0, 10**15)
    assert dense(far) == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def test_integer_ids_of_any_width_stay_exact():
    narrow = Graph.from_edges(np.array([-100, 100], dtype=np.int8), np.array([100, 7], dtype=np.uint64))
    assert narrow.node_ids == (-100, 7, 100)
    big = 2**63 + 1
    assert Graph.from_edges([big, -1], [-1, 2**53 + 1]).node_ids == (big, -1, 2**53 + 1)
    assert Graph.from_edges(np.array([big], dtype=np.uint64), np.array([big - 1], dtype=np.uint64)).num_edges == 1


def test_numpy_integers_in_a_list_are_plain_ids():
    graph = Graph.from_edges([np.int64(5), 3], [np.int32(3), np.int64(4)])
    assert list(map(type, graph.node_ids)) == [int] * 3
    assert graph.node_ids == (3, 4, 5)


@pytest.mark.parametrize("num_nodes", [3.5, "3"])
def test_number_of_nodes_is_an_integer(num_nodes):
    with pytest.raises(GraphError, match="num_nodes must be an integer"):
        Graph.from_edge_index([[0], [1]], num_nodes=num_nodes)
    assert Graph.from_edge_index([[0], [1]], num_nodes=np.int64(3)).num_nodes == 3


def test_mixed_ids_are_not_turned_into_text():
    assert Graph.from_edges(["a", 1], [1, (2, 3)]).node_ids == ("a", 1, (2, 3))


def test_both_directions_are_averaged_over_the_listed_ones():
    once = Graph.from_edges(["a", "b", "b"], ["b", "a", "c"], [1.0, 3.0, 5.0])
    assert dense(once) == [[0, 2, 0], [2, 0, 5], [0, 5, 0]]
    assert once.report.was_directed
    directed = Graph.from_edges(["a", "b", "b"], ["b", "a", "c"], [1.0, 3.0, 5.0], directed=True)
    assert dense(directed) == [[0, 2, 0], [2, 0, 2.5], [0, 2.5, 0]]


def test_pandas_columns_and_tensors_are_accepted():
    frame = pd.DataFrame({"u": ["x", "y"], "v": ["y", "z"], "w": [1, 2]}, index=[5, 9])
    assert Graph.from_edges(frame["u"], frame["v"], frame["w"]).node_ids == ("x", "y", "z")
    assert Graph.from_edges(torch.tensor([4, 2]), torch.tensor([2, 9])).node_ids == (2, 4, 9)


def test_node_ids_give_order_and_isolated_nodes():
    graph = Graph.from_edges(["b"], ["a"], node_ids=["a", "b", "alone"], x=[1, 2, 3])
    assert dense(graph) == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    numbers = Graph.from_edges([30], [10], node_ids=[10, 20, 30])
    assert dense(numbers) == [[0, 0, 1], [0, 0, 0], [1, 0, 0]]


def test_integer_ids_are_rows_of_x_where_it_is_given():
    graph = Graph.from_edges([0], [2], x=np.zeros((4, 2)))
    assert graph.node_ids == range(4)
    assert graph.report.num_isolated == 2
    assert Graph.from_edges([0], [2], x=[0, 0, 0, 0]).num_nodes == 4
    with pytest.raises(GraphError, match=r"edge 0 \(0, 4\) is out of range"):
        Graph.from_edges([0], [4], x=np.zeros((4, 2)))
    with pytest.raises(GraphError, match="pass node_ids"):
        Graph.from_edges(["a"], ["b"], x=np.zeros((2, 2)))


@pytest.mark.parametrize(("source", "target", "options", "message"), [
    (["a", "b"], ["b"], {}, "same length, got 2 and 1"),
    (["a", "q"], ["b", "b"], {"node_ids": ["a", "b"]}, "source row 1 names node 'q'"),
    ([10, 20], [20, 99], {"node_ids": [10, 20]}, "target row 1 names node 99"),
    (["a", None], ["b", "c"], {}, "source row 1: the node id is missing"),
    (["a", float("nan")], ["b", "c"], {}, "source row 1: the node id is missing"),
    (pd.Series(["a", pd.NA], dtype="string"), ["b", "c"], {}, "source row 1: the node id is missing"),
    ([["a"]], [["b"]], {}, "hashable"),
    ([["a"]], ["b"], {"node_ids": ["a", "b"]}, "hashable"),
    (np.zeros((2, 2)), [0, 1], {}, "one column"),
    (["a"], ["b"], {"weight": [1, 2]}, "one weight per edge"),
    (["a"], ["b"], {"weight": ["x"]}, "weight must hold real numbers"),
    (["a"], ["b"], {"weight": [-2]}, "node 'a' .* to node 'b' .* weight -2"),
])  # fmt: skip
def test_bad_edge_table_is_refused(source, target, options, message):
    with pytest.raises(GraphError, match=message):
        Graph.from_edges(source, target, **options)


# networkx


def test_networkx_keeps_names_order_and_isolated_nodes():
    source = nx.Graph([("b", "a")])
    source.add_node("c")
    graph = Graph.from_networkx(source)
    assert set(graph.node_ids) == {"a", "b", "c"}
    assert graph.node_ids == ("b", "a", "c")
    assert dense(graph) == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert not graph.is_weighted
    assert not graph.report.was_directed


def test_networkx_attributes_become_features_labels_and_weights():
    source = nx.Graph()
    source.add_node("a", size=1, position=[0.5, 2.0], kind="u")
    source.add_node("b", size=2, position=[1.5, 3.0], kind="v")
    source.add_edge("a", "b", weight=0.25, cost=4)
    graph = Graph.from_networkx(source, features=["size", "position"], label="kind")
    assert graph.x.tolist() == [[1, 0.5, 2], [2, 1.5, 3]]
    assert graph.y.tolist() == [0, 1]
    assert graph.class_names == ("u", "v")
    assert graph.weights.tolist() == [0.25, 0.25]
    assert Graph.from_networkx(source, features="size").x.tolist() == [[1], [2]]
    assert Graph.from_networkx(source, weight="cost").weights.tolist() == [4, 4]
    assert not Graph.from_networkx(source, weight=None).is_weighted


def test_networkx_directed_and_multigraphs_follow_the_policies():
    directed = Graph.from_networkx(nx.DiGraph([(0, 1, {"weight": 2.0})]))
    assert directed.weights.tolist() == [1, 1]
    assert directed.report.was_directed
    parallel = nx.MultiGraph([(0, 1, {"weight": 2.0}), (1, 0, {"weight": 3.0})])
    assert Graph.from_networkx(parallel).weights.tolist() == [5, 5]
    assert Graph.from_networkx(parallel, weight=None).weights.tolist() == [1, 1]


def test_networkx_attribute_on_some_nodes_or_edges_lists_those_without():
    source = nx.path_graph(8)
    source.nodes[3]["size"] = 1
    with pytest.raises(GraphError, match=r"'size' is missing on 7 of 8 nodes, first 0, 1, 2, 4, 5, \.\.\."):
        Graph.from_networkx(source, features=["size"])
    source.edges[0, 1]["weight"] = 1
    with pytest.raises(GraphError, match=r"'weight' is missing on 6 of 7 edges, first \(1, 2\)"):
        Graph.from_networkx(source)


def test_networkx_text_attribute_is_no_feature():
    source = nx.path_graph(2)
    nx.set_node_attributes(source, "red", "colour")
    with pytest.raises(GraphError, match="'colour' holds text"):
        Graph.from_networkx(source, features=["colour"])


# PyG


def test_pyg_data():
    edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    weight = torch.tensor([1.0, 1.0, 2.0, 2.0])
    x, y = torch.tensor([[0.0], [1.0], [3.0], [7.0]]), torch.tensor([0, 0, 1, 1])
    graph = Graph.from_pyg(Data(x=x, edge_index=edge_index, edge_weight=weight, y=y))
    assert dense(graph) == [[0, 1, 0, 0], [1, 0, 2, 0], [0, 2, 0, 0], [0, 0, 0, 0]]
    assert graph.x.ravel().tolist() == [0, 1, 3, 7]
    assert graph.y.tolist() == [0, 0, 1, 1]
    assert graph.is_weighted


def test_pyg_number_of_nodes_comes_from_the_data_not_the_edges():
    edge_index = torch.tensor([[0, 1], [1, 0]])
    assert Graph.from_pyg(Data(edge_index=edge_index, num_nodes=5)).num_nodes == 5
    assert Graph.from_pyg(Data(edge_index=edge_index, x=torch.zeros(4, 2))).num_nodes == 4
    assert Graph.from_pyg(Data(edge_index=edge_index, x=torch.zeros(4, 0), num_nodes=4)).x is None


def test_pyg_fields_that_are_not_used_leave_a_note():
    edge_index = torch.tensor([[0, 1], [1, 0]])
    graph = Graph.from_pyg(Data(edge_index=edge_index, edge_attr=torch.ones(2, 3), y=torch.ones(3), num_nodes=2))
    assert graph.y is None
    assert [note.split(" is")[0] for note in graph.report.notes] == ["edge_attr", "y"]


def test_pyg_data_without_edges_or_of_many_types_is_refused():
    with pytest.raises(GraphError, match="no edge_index"):
        Graph.from_pyg(Data(x=torch.zeros(2, 1)))
    with pytest.raises(GraphError, match="HeteroData"):
        Graph.from_pyg(HeteroData())


def test_edge_index_class_is_read_whatever_its_undirected_flag_says():
    graph = Graph.from_edge_index(EdgeIndex(torch.tensor([[0, 1], [1, 2]]), sparse_size=(3, 3)))
    assert dense(graph) == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize("layout", ["coo", "csr"])
def test_torch_sparse_adjacency(layout):
    dense = torch.tensor([[0.0, 2.0, 0.0], [2.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # torch calls its CSR type beta, once a process
        sparse = dense.to_sparse() if layout == "coo" else dense.to_sparse_csr()
    assert np.array_equal(Graph.from_scipy(sparse).adjacency().toarray(), dense.numpy())


def test_networkx_graph_as_adjacency_names_its_adapter():

    with pytest.raises(GraphError, match="from_networkx"):
        Graph.from_scipy(nx.path_graph(3))
