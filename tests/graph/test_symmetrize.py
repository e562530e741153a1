"""Properties of the symmetrisation that hold for every graph."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tvgnn import Graph

quick = settings(max_examples=60, deadline=None)


@st.composite
def entries(draw, weighted=None):
    num_nodes = draw(st.integers(1, 8))
    pairs = draw(st.lists(st.tuples(*[st.integers(0, num_nodes - 1)] * 2), max_size=30))
    edge_index = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    weight = None
    if draw(st.booleans()) if weighted is None else weighted:
        # quarters: sums and halves are exact, so that results can be compared bit for bit
        weight = np.array([draw(st.integers(0, 40)) / 4 for _ in pairs], dtype=np.float32)
    return num_nodes, edge_index, weight


def expected(num_nodes, edge_index, weight):
    matrix = np.zeros((num_nodes, num_nodes))
    np.add.at(matrix, tuple(edge_index), 1.0 if weight is None else weight)
    np.fill_diagonal(matrix, 0)
    return np.maximum(matrix > 0, matrix.T > 0).astype(float) if weight is None else (matrix + matrix.T) / 2


@quick
@given(entries())
def test_result_is_the_formula_and_valid_csr(case):
    num_nodes, edge_index, weight = case
    graph = Graph.from_edge_index(edge_index, weight, num_nodes=num_nodes)
    matrix = graph.adjacency().toarray()
    assert np.array_equal(matrix, expected(*case))
    assert np.array_equal(matrix, matrix.T)
    assert (graph.weights > 0).all()
    assert len(graph.indices) == len(graph.weights) == graph.indptr[-1] == 2 * graph.num_edges
    for node in range(num_nodes):
        row = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
        assert (np.diff(row) > 0).all()
        assert node not in row
    report = graph.report
    dropped = report.num_self_loops + report.num_duplicates + report.num_zero_weights
    if not report.was_directed:
        assert edge_index.shape[1] - dropped == len(graph.indices)


@quick
@given(entries())
def test_symmetric_graph_is_a_fixed_point(case):
    num_nodes, edge_index, weight = case
    once = Graph.from_edge_index(edge_index, weight, num_nodes=num_nodes)
    rows = np.repeat(np.arange(num_nodes), np.diff(once.indptr))
    given_weight = once.weights if once.is_weighted else None
    twice = Graph.from_edge_index(np.stack([rows, once.indices]), given_weight, num_nodes=num_nodes)
    for again in (twice, Graph.from_scipy(once.adjacency()), Graph.from_edges(rows, once.indices, given_weight,
                                                                              node_ids=range(num_nodes))):  # fmt: skip
        assert np.array_equal(again.indptr, once.indptr)
        assert np.array_equal(again.indices, once.indices)
        assert np.array_equal(again.weights, once.weights)
        assert not again.report.was_directed
        assert again.report.num_duplicates == again.report.num_self_loops == again.report.num_zero_weights == 0


@quick
@given(st.lists(st.floats(0, 2.0**127, width=32), min_size=3, max_size=3))
def test_symmetric_graph_of_any_float32_weights_is_a_fixed_point(values):
    edge_index = [[0, 1, 0, 2, 1, 2], [1, 0, 2, 0, 2, 1]]
    matrix = Graph.from_edge_index(edge_index, np.repeat(values, 2), num_nodes=3).adjacency().toarray()
    assert [matrix[0, 1], matrix[0, 2], matrix[1, 2]] == values


@quick
@given(entries(), st.randoms(use_true_random=False))
def test_order_of_entries_does_not_matter(case, random):
    num_nodes, edge_index, weight = case
    order = list(range(edge_index.shape[1]))
    random.shuffle(order)
    one = Graph.from_edge_index(edge_index, weight, num_nodes=num_nodes)
    other = Graph.from_edge_index(edge_index[:, order], None if weight is None else weight[order], num_nodes=num_nodes)
    assert np.array_equal(one.indices, other.indices)
    assert np.array_equal(one.weights, other.weights)
    assert one.report == other.report


@quick
@given(entries(), st.randoms(use_true_random=False))
def test_renaming_nodes_permutes_the_adjacency(case, random):
    num_nodes, edge_index, weight = case
    order = list(range(num_nodes))
    random.shuffle(order)
    one = Graph.from_edge_index(edge_index, weight, num_nodes=num_nodes).adjacency().toarray()
    other = Graph.from_edge_index(np.array(order)[edge_index], weight, num_nodes=num_nodes).adjacency().toarray()
    assert np.array_equal(other[np.ix_(order, order)], one)


@quick
@given(entries(weighted=True), st.sampled_from([0.25, 2.0, 1024.0]))
def test_scaling_the_weights_scales_the_adjacency(case, scale):
    num_nodes, edge_index, weight = case
    one = Graph.from_edge_index(edge_index, weight, num_nodes=num_nodes)
    other = Graph.from_edge_index(edge_index, weight * scale, num_nodes=num_nodes)
    assert np.array_equal(other.indices, one.indices)
    assert np.array_equal(other.weights, one.weights * np.float32(scale))


@quick
@given(entries())
def test_edge_table_listed_once_or_both_ways_is_the_same_graph(case):
    num_nodes, edge_index, weight = case
    first = np.unique(edge_index, axis=1, return_index=True)[1] if edge_index.size else []
    edge_index = edge_index[:, first]
    keep = edge_index[0] < edge_index[1]
    source, target = edge_index[:, keep]
    weight = None if weight is None else weight[first][keep] + 1
    once = Graph.from_edges(source, target, weight, node_ids=range(num_nodes))
    both = Graph.from_edges(
        np.r_[source, target], np.r_[target, source], None if weight is None else np.r_[weight, weight],
        node_ids=range(num_nodes),
    )  # fmt: skip
    assert np.array_equal(once.indices, both.indices)
    assert np.array_equal(once.weights, both.weights)
    assert not once.report.was_directed
    if weight is not None:
        assert once.adjacency().toarray()[source, target].tolist() == weight.tolist()
