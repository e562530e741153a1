"""Graphs built together equal graphs built one by one."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from tvgnn import Graph
from tvgnn.datasets.block_graphs import BlockGraphs

graph_entries = st.integers(0, 5).flatmap(
    lambda size: st.tuples(
        st.just(size), st.lists(st.tuples(*[st.integers(0, size - 1)] * 2), max_size=12) if size else st.just([])
    )
)


def assert_same_graph(graph, expected):
    """Compare everything that a graph holds."""
    for name in ("indptr", "indices", "weights"):
        found, wanted = getattr(graph, name), getattr(expected, name)
        assert np.array_equal(found, wanted)
        assert found.dtype == wanted.dtype
        assert not found.flags.writeable
    assert graph.report == expected.report
    assert (graph.is_weighted, graph.y, graph.class_names) == (expected.is_weighted, expected.y, expected.class_names)
    assert (graph.node_ids, graph.label) == (expected.node_ids, expected.label)
    assert type(graph.x) is type(expected.x)
    if graph.x is not None:
        dense = [x.toarray() if sp.issparse(x) else x for x in (graph.x, expected.x)]
        assert np.array_equal(*dense)
        assert graph.x.dtype == expected.x.dtype


def build(entries, x=None, notes=()):
    sizes = np.array([size for size, _ in entries])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    pairs = [(a + start, b + start) for (_, edges), start in zip(entries, starts, strict=False) for a, b in edges]
    source, target = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return BlockGraphs.from_edges(source, target, sizes).cut(x, list(range(len(entries))), notes)


@given(st.lists(graph_entries, min_size=1, max_size=6))
def test_as_if_built_one_by_one(entries):
    graphs = build(entries)
    assert len(graphs) == len(entries)
    for position, (graph, (size, edges)) in enumerate(zip(graphs, entries, strict=True)):
        if size == 0:
            assert (graph.num_nodes, graph.num_edges, graph.label) == (0, 0, position)
            assert (graph.report.num_components, graph.report.num_isolated) == (0, 0)
        else:
            index = np.array(edges, dtype=np.int64).reshape(-1, 2).T
            assert_same_graph(graph, Graph.from_edge_index(index, num_nodes=size).with_label(position))


@given(st.lists(graph_entries, min_size=1, max_size=4), st.booleans())
def test_features_are_cut_too(entries, sparse):
    total = sum(size for size, _ in entries)
    x = np.arange(3 * total, dtype=np.float32).reshape(total, 3)
    graphs = build(entries, sp.csr_array(x) if sparse else x)
    start = 0
    for graph, (size, edges) in zip(graphs, entries, strict=True):
        rows = x[start : start + size]
        start += size
        if size:
            index = np.array(edges, dtype=np.int64).reshape(-1, 2).T
            expected = Graph.from_edge_index(index, x=sp.csr_array(rows) if sparse else rows)
            assert_same_graph(graph, expected.with_label(graph.label))
        else:
            assert graph.x.shape == (0, 3)


def test_notes_are_added_to_each_report():
    directed, symmetric = build([(2, [(0, 1)]), (2, [(0, 1), (1, 0)])], notes=("a note",))
    assert directed.report.notes == ("directed input symmetrised: union of both directions", "a note")
    assert symmetric.report.notes == ("a note",)


def test_a_graph_kept_alone_does_not_keep_the_set():
    graph = build([(3, [(0, 1), (1, 0)]), (500, [])], np.ones((503, 2), dtype=np.float32))[0]
    assert all(array.base is None for array in (graph.indptr, graph.indices, graph.x))
