import dataclasses
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from tvgnn import Graph
from tvgnn.errors import GraphError

P3 = [[0, 1, 1, 2], [1, 0, 2, 1]]


def dense(graph: Graph) -> np.ndarray:
    return graph.adjacency().toarray()


def test_path_is_read_as_symmetric_csr():
    graph = Graph.from_edge_index(P3, x=[0.0, 1.0, 3.0])
    assert graph.indptr.tolist() == [0, 1, 3, 4]
    assert graph.indices.tolist() == [1, 0, 2, 1]
    assert graph.weights.tolist() == [1, 1, 1, 1]
    assert graph.indptr.dtype == graph.indices.dtype == np.int32
    assert graph.weights.dtype == np.float32
    assert not graph.is_weighted
    assert (graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes) == (3, 2, 1, 0)
    assert graph.x.shape == (3, 1)
    assert graph.node_ids == range(3)
    assert not graph.report.was_directed
    assert graph.report.notes == ()


def test_two_edge_graph_is_not_taken_for_a_dense_adjacency():
    graph = Graph.from_edge_index(torch.tensor([[0, 1], [1, 0]]), x=[0, 1])
    assert graph.num_edges == 1
    assert dense(graph).tolist() == [[0, 1], [1, 0]]


def test_directed_unweighted_input_becomes_the_union_with_a_note():
    graph = Graph.from_edge_index([[0, 1], [1, 2]])
    assert dense(graph).tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert graph.report.was_directed
    assert graph.report.notes == ("directed input symmetrised: union of both directions",)


def test_directed_weighted_input_becomes_the_mean_with_absent_as_zero():
    graph = Graph.from_edge_index([[0, 1, 1], [1, 0, 2]], [2.0, 4.0, 3.0])
    assert dense(graph).tolist() == [[0, 3, 0], [3, 0, 1.5], [0, 1.5, 0]]
    assert graph.is_weighted
    assert graph.report.was_directed
    assert graph.report.notes == ("directed input symmetrised: mean of both directions",)


def test_duplicates_are_removed_without_weights_and_summed_with_them():
    twice = [[0, 0, 1, 1, 1, 2], [1, 1, 0, 0, 2, 1]]
    unweighted = Graph.from_edge_index(twice)
    assert dense(unweighted).tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert unweighted.report.num_duplicates == 2
    weighted = Graph.from_edge_index(twice, np.ones(6))
    assert dense(weighted).tolist() == [[0, 2, 0], [2, 0, 1], [0, 1, 0]]
    assert weighted.report.num_duplicates == 2
    assert not weighted.report.was_directed


def test_300_duplicates_do_not_wrap_around_a_small_counter():
    graph = Graph.from_edge_index([[0] * 256, [1] * 256])
    assert dense(graph).tolist() == [[0, 1], [1, 0]]
    assert graph.report.num_duplicates == 255


def test_self_loops_and_zero_weights_are_dropped_and_counted():
    graph = Graph.from_edge_index([[0, 0, 1, 1], [0, 1, 0, 2]], [5.0, 1.0, 1.0, 0.0], num_nodes=3)
    assert dense(graph).tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert graph.report.num_self_loops == 1
    assert graph.report.num_zero_weights == 1
    assert len(graph.weights) == len(graph.indices) == 2


def test_isolated_nodes_and_components_are_kept_and_counted():
    graph = Graph.from_edge_index(P3, x=[0, 1, 3, 7])
    assert graph.num_nodes == 4
    assert graph.indptr.tolist() == [0, 1, 3, 4, 4]
    assert (graph.report.num_isolated, graph.report.num_components) == (1, 2)


def test_graph_without_edges_is_fine():
    graph = Graph.from_edge_index([[], []], num_nodes=4)
    assert (graph.num_edges, graph.report.num_isolated, graph.report.num_components) == (0, 4, 4)
    assert graph.weights.dtype == np.float32
    assert Graph.from_edge_index(np.empty((2, 0), dtype=int), x=[[1.0]]).num_nodes == 1


@pytest.mark.parametrize("build", [
    lambda: Graph.from_edge_index([[], []]),
    lambda: Graph.from_scipy(sp.csr_array((0, 0))),
    lambda: Graph.from_edges([], []),
    lambda: Graph.from_features(np.empty((0, 3))),
], ids=["edge_index", "scipy", "edges", "features"])  # fmt: skip
def test_graph_without_nodes_is_refused(build):
    with pytest.raises(GraphError, match="at least one node"):
        build()


def test_the_number_of_nodes_is_never_guessed_where_it_is_known():
    assert Graph.from_edge_index(P3, num_nodes=5).num_nodes == 5
    assert Graph.from_edge_index(P3, x=np.zeros((6, 2))).num_nodes == 6
    assert Graph.from_edge_index(P3, node_ids="abcd").num_nodes == 4
    with pytest.raises(GraphError, match="num_nodes: 5, rows of x: 6"):
        Graph.from_edge_index(P3, num_nodes=5, x=np.zeros((6, 2)))
    with pytest.raises(GraphError, match="num_nodes: 3, rows of x: 2"):
        Graph.from_scipy(sp.eye_array(3), x=[1, 2])


@pytest.mark.parametrize("bad", [3, -1])
def test_index_out_of_range_names_the_edge(bad):
    with pytest.raises(GraphError, match=rf"edge 1 \({bad}, 1\) is out of range: node indices must be 0\.\.2"):
        Graph.from_edge_index([[0, bad], [1, 1]], num_nodes=3)


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf, 1e39])
def test_bad_weight_names_the_edge_by_index_and_id(bad):
    with pytest.raises(GraphError, match=r"edge 1 \(node 'b' \(index 1\) to node 'c' \(index 2\)\) has weight"):
        Graph.from_edge_index([[0, 1], [1, 2]], [1.0, bad], node_ids=["a", "b", "c"])


@pytest.mark.parametrize("weight", [[1.0], [1.0, 2.0, 3.0], [[1.0, 2.0], [1.0, 2.0]]])
def test_weight_of_wrong_length_is_refused(weight):
    with pytest.raises(GraphError, match=r"one weight per edge, shape \(2,\)"):
        Graph.from_edge_index([[0, 1], [1, 2]], weight)


def test_sum_of_weights_beyond_float32_names_the_pair():
    with pytest.raises(GraphError, match="between node 0 and node 1 is too large for float32"):
        Graph.from_edge_index([[0, 0, 1, 1], [1, 1, 0, 0]], [3e38] * 4)


def test_halved_weight_that_underflows_is_dropped_not_stored_as_zero():
    graph = Graph.from_edge_index([[0, 1], [1, 2]], np.float32([1e-45, 1.0]))
    assert graph.num_edges == 1
    assert graph.report.num_zero_weights == 1


def test_a_weight_beyond_float32_is_told_as_it_was_given():
    with pytest.raises(GraphError, match=r"has weight 1e\+300, which is too large .*divide all weights by the largest"):
        Graph.from_edge_index([[0, 1], [1, 2]], [1e300, 1.0])


@pytest.mark.parametrize("scale", [1e-40, 1e-50, 1e-300])
def test_weights_that_float32_would_lose_are_divided_by_the_largest(scale):
    import networkx as nx

    weights = np.array([[0, 1.0, 0], [1.0, 0, 0.5], [0, 0.5, 0]])
    network = nx.Graph([(0, 1, {"weight": scale}), (1, 2, {"weight": scale / 2})])
    for graph in (
        Graph.from_scipy(weights * scale),
        Graph.from_edges([0, 1], [1, 2], [scale, scale / 2]),
        Graph.from_edge_index([[0, 1, 1, 2], [1, 0, 2, 1]], np.array([2, 2, 1, 1]) * scale / 2),
        Graph.from_networkx(network),
    ):
        assert np.array_equal(graph.adjacency().toarray(), weights)
        assert graph.report.notes == (f"weights divided by the largest, {scale:.3g}",)


@pytest.mark.parametrize(("edge_index", "message"), [
    ([[0.0, 1.0], [1.0, 0.0]], "integer node indices, got dtype float64"),
    (np.zeros((5, 2), dtype=int), "pass its transpose"),
    ([0, 1], r"shape \(2, edges\)"),
    ([["a"], ["b"]], "from_edges"),
    ([[0, 1], [1]], "rectangular"),
])  # fmt: skip
def test_malformed_edge_index_is_refused(edge_index, message):
    with pytest.raises(GraphError, match=message):
        Graph.from_edge_index(edge_index)


def test_node_ids_of_any_hashable_type_map_back():
    graph = Graph.from_edge_index(P3, node_ids=["b", ("tile", 1), 7])
    assert graph.node_ids == ("b", ("tile", 1), 7)
    assert graph.index_of(("tile", 1)) == 1
    for unknown in ("nobody", ["b"]):
        with pytest.raises(GraphError, match="no node has the id"):
            graph.index_of(unknown)
    assert Graph.from_edge_index(P3, node_ids=np.array([10, 20, 30])).node_ids == (10, 20, 30)
    assert Graph.from_edge_index(P3, node_ids=torch.arange(3)).node_ids == range(3)


@pytest.mark.parametrize(("node_ids", "message"), [
    (["a", "b", "a"], "'a' is at positions 0 and 2"),
    (["a", ["b"], "c"], r"hashable .* got list \['b'\] at position 1"),
    (["a", None, "c"], "position 1 is missing"),
    (["a", "c", float("nan")], "position 2 is missing"),
    (["a", "b"], None),
])  # fmt: skip
def test_bad_node_ids_are_refused(node_ids, message):
    with pytest.raises(GraphError, match=message):
        Graph.from_edge_index(P3, node_ids=node_ids, num_nodes=3)


def test_graph_is_immutable_and_owns_its_features():
    x = np.zeros((3, 1), dtype=np.float32)
    graph = Graph.from_edge_index(P3, x=x, y=[0, 1, 1])
    x[0] = 5
    assert graph.x[0, 0] == 0
    for array in (graph.indptr, graph.indices, graph.weights, graph.x, graph.y, graph.adjacency().data):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.x = None
    sparse = Graph.from_edge_index(P3, x=sp.eye_array(3))
    with pytest.raises(ValueError, match="read-only"):
        sparse.x.data[0] = 1


def test_input_arrays_are_left_alone():
    matrix = sp.csr_array(np.array([[1.0, 0, 2], [0, 0, 1], [3, 0, 0]]))
    before = matrix.toarray()
    Graph.from_scipy(matrix, x=matrix)
    assert np.array_equal(matrix.toarray(), before)
    assert matrix.data.flags.writeable


def test_with_features_checks_and_keeps_the_type():
    graph = Graph.from_edge_index(P3, x=[0, 1, 2], dtype="float64")
    assert graph.with_features([[1, 2]] * 3).x.dtype == np.float64
    assert graph.with_features([1, 2, 3], dtype="float32").x.dtype == np.float32
    assert graph.with_features(None).x is None
    with pytest.raises(GraphError, match="one row per node: 3 nodes, but 2 rows"):
        graph.with_features([1, 2])


def test_with_labels_replaces_or_removes_them():
    graph = Graph.from_edge_index(P3).with_labels(["b", "a", "b"])
    assert graph.y.tolist() == [1, 0, 1]
    assert graph.class_names == ("a", "b")
    assert graph.with_labels(None).y is None


def test_repr_says_what_there_is():
    graph = Graph.from_edge_index(P3, np.ones(4), x=np.zeros((3, 2)), y=["u", "v", "v"])
    assert repr(graph) == "Graph(3 nodes, 2 edges, weighted, 2 features, 2 classes)"


def test_graph_survives_pickling():
    graph = pickle.loads(pickle.dumps(Graph.from_edge_index(P3, x=sp.eye_array(3), node_ids="abc")))
    assert graph.index_of("c") == 2
    assert dense(graph).sum() == 4
