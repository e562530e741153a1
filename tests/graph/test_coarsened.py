"""``coarsened_graph``: S^T A S against the dense product, and what a cluster's numbers mean."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tvgnn import Graph, coarsened_graph
from tvgnn.errors import GraphError


@st.composite
def graphs(draw):
    """Draw a graph of up to 9 nodes, weighted or not, often with isolated nodes."""
    n = draw(st.integers(1, 9))
    upper = draw(hnp.arrays(np.float32, (n, n), elements=st.sampled_from([0.0, 0.0, 0.0, 1.0, 0.25, 7.5])))
    upper = np.triu(upper, 1)
    if draw(st.booleans()):
        upper = (upper > 0).astype(np.float32)
    return Graph.from_scipy(sp.csr_array(upper + upper.T))


def hard_labels(graph, k):
    return hnp.arrays(np.int64, graph.num_nodes, elements=st.integers(0, k - 1))


@given(st.data(), graphs(), st.integers(1, 5))
def test_hard_assignments_give_the_dense_product(data, graph, k):
    labels = data.draw(hard_labels(graph, k))
    s = np.eye(k)[labels]
    coarse = coarsened_graph(graph, labels, n_clusters=k)
    expected = s.T @ graph.adjacency().toarray().astype(np.float64) @ s
    assert np.array_equal(coarse.adjacency.toarray(), expected)
    assert coarse.sizes.tolist() == s.sum(axis=0).tolist()
    soft = coarsened_graph(graph, s)
    assert np.array_equal(soft.adjacency.toarray(), expected)


@given(st.data(), graphs(), st.integers(1, 5))
def test_soft_assignments_give_the_dense_product(data, graph, k):
    s = data.draw(hnp.arrays(np.float64, (graph.num_nodes, k), elements=st.floats(0, 1)))
    coarse = coarsened_graph(graph, s)
    expected = s.T @ graph.adjacency().toarray().astype(np.float64) @ s
    np.testing.assert_allclose(coarse.adjacency.toarray(), expected, rtol=1e-12, atol=1e-12)
    assert (coarse.adjacency != coarse.adjacency.T).nnz == 0
    np.testing.assert_allclose(coarse.sizes, s.sum(axis=0))


@given(st.data(), graphs())
def test_coarsening_twice_is_coarsening_by_the_product(data, graph):
    first = data.draw(hard_labels(graph, 4))
    second = data.draw(hnp.arrays(np.int64, 4, elements=st.integers(0, 1)))
    once = coarsened_graph(graph, second[first], n_clusters=2)
    twice = coarsened_graph(coarsened_graph(graph, first, n_clusters=4).adjacency, second, n_clusters=2)
    assert np.array_equal(once.adjacency.toarray(), twice.adjacency.toarray())


@given(st.data(), graphs())
def test_inside_and_between_are_all_the_weight(data, graph):
    coarse = coarsened_graph(graph, data.draw(hard_labels(graph, 3)), n_clusters=3)
    total = graph.weights.astype(np.float64).sum() / 2
    between = coarse.graph().weights.astype(np.float64).sum() / 2
    assert coarse.inside.sum() + between == total


def test_rows_are_taken_in_parts(monkeypatch):
    rng = np.random.default_rng(0)
    graph = Graph.from_edge_index(rng.integers(0, 50, (2, 200)), rng.random(200), num_nodes=50)
    s = rng.dirichlet(np.ones(3), 50)
    whole = coarsened_graph(graph, s).adjacency.toarray()
    monkeypatch.setattr("tvgnn.graph.coarsened._ENTRIES_AT_ONCE", 21)
    np.testing.assert_allclose(coarsened_graph(graph, s).adjacency.toarray(), whole, rtol=1e-13)


def test_empty_clusters_stay_as_nodes():
    coarse = coarsened_graph(Graph.from_edges([0, 1], [1, 2]), [0, 0, 3], n_clusters=5)
    assert coarse.sizes.tolist() == [2, 0, 0, 1, 0]
    assert (coarse.graph().num_nodes, coarse.graph().num_edges) == (5, 1)


def test_large_counts_are_exact():
    weight = np.float32(2**24)
    graph = Graph.from_edges([0, 1, 2], [1, 2, 3], [weight, 1.0, 1.0])
    assert coarsened_graph(graph, [0, 0, 0, 0]).adjacency[0, 0] == 2 * (2**24 + 2)


@pytest.mark.parametrize(
    ("matrix", "assignments", "message"),
    [
        ([[0, 1], [0, 0]], [0, 1], "symmetric"),
        ([[0, -1], [-1, 0]], [0, 1], "at least 0"),
        ([[0, np.nan], [np.nan, 0]], [0, 1], "finite"),
        ([[0, 1, 0], [1, 0, 0]], [0, 1], "square"),
        ([["a"]], [0], "square matrix of numbers"),
        ([[0, 1], [1, 0]], [0, 1, 1], r"for the 2 nodes, got \(3,\)"),
        ([[0, 1], [1, 0]], [0.5, 1], "as integers"),
        ([[0, 1], [1, 0]], [0, -1], r"got -1\.\.0"),
        ([[0, 1], [1, 0]], [[0.5, np.inf], [0, 1]], "finite soft"),
        ([[0, 1], [1, 0]], [[-0.5], [1]], "at least 0"),
    ],
)
def test_bad_input_is_named(matrix, assignments, message):
    with pytest.raises(GraphError, match=message):
        coarsened_graph(np.array(matrix), assignments)


def test_number_of_clusters_must_fit():
    graph = Graph.from_edges([0], [1])
    with pytest.raises(GraphError, match=r"0\.\.1, got 0\.\.2"):
        coarsened_graph(graph, [0, 2], n_clusters=2)
    with pytest.raises(GraphError, match="hard assignments"):
        coarsened_graph(graph, [[1.0], [1.0]], n_clusters=1)
