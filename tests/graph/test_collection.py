from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from tvgnn import Graph
from tvgnn.errors import GraphError
from tvgnn.graph.collection import GraphCollection
from tvgnn.graph.held_features import held


def some_graphs():
    one = Graph.from_edge_index([[], []], x=[[4.0]])
    return [
        Graph.from_edges([0, 1], [1, 2], x=[[1.0], [2.0], [3.0]]),
        one,
        # a TU folder may hold graphs without nodes, which the constructors refuse
        replace(one, indptr=one.indptr[:1], x=one.x[:0], node_ids=()),
        Graph.from_edges([0], [1], x=[[5.0], [6.0]]),
    ]


def test_a_batch_is_its_graphs_end_to_end():
    batch = GraphCollection(some_graphs()).batch([3, 2, 0, 1])
    assert batch.x.flatten().tolist() == [5, 6, 1, 2, 3, 4]
    assert batch.edge_index.tolist() == [[0, 1, 2, 3, 3, 4], [1, 0, 3, 2, 4, 3]]
    assert batch.edge_weight is None
    assert batch.groups.pointers.tolist() == [0, 2, 2, 5, 6]
    assert batch.groups.batch.tolist() == [0, 0, 2, 2, 2, 3]
    assert batch.groups.longest == 3
    assert batch.adjacency.symmetric


def test_positions_beyond_int32_are_int64(monkeypatch):
    collection, numbers = GraphCollection(some_graphs()), [3, 2, 0, 1]
    expected = collection.batch(numbers).adjacency
    assert expected.indptr.dtype == expected.indices.dtype == torch.int32
    monkeypatch.setattr("tvgnn.graph.sparse_matrix._INT32_MAX", 5)
    wide = collection.batch(numbers).adjacency
    assert wide.indptr.dtype == wide.indices.dtype == torch.int64
    assert torch.equal(wide.indptr, expected.indptr.long())
    assert torch.equal(wide.indices, expected.indices.long())


def test_an_empty_last_graph_and_no_graph_at_all():
    collection = GraphCollection(some_graphs())
    assert collection.batch([0, 2]).groups.size == 2
    assert collection.batch([2]).x.shape == (0, 1)
    assert collection.batch([]).groups.size == 0


def test_weights_of_some_graphs_are_ones_in_the_others():
    weighted = Graph.from_edges([0], [1], [0.5], x=[[1.0], [2.0]])
    batch = GraphCollection([weighted, some_graphs()[0]]).batch([1, 0])
    assert batch.edge_weight.tolist() == [1, 1, 1, 1, 0.5, 0.5]


def test_sparse_features_come_back_dense():
    graphs = [graph.with_features(sp.csr_array(graph.x)) for graph in some_graphs()]
    assert torch.equal(GraphCollection(graphs).batch([0, 3]).x, GraphCollection(some_graphs()).batch([0, 3]).x)


@pytest.mark.parametrize(
    ("graphs", "message"),
    [
        ([], "at least one graph"),
        ([*some_graphs(), Graph.from_edges([0], [1])], "got none for graph 4"),
        ([*some_graphs(), Graph.from_edges([0], [1], x=np.ones((2, 2)))], "expected 1 features as in graph 0, got 2"),
    ],
)
def test_what_cannot_be_collected_is_named(graphs, message):
    with pytest.raises(GraphError, match=message):
        GraphCollection(graphs)


def test_empty_batch_of_weighted_graphs():
    weighted = Graph.from_edges([0], [1], [0.5], x=[[1.0], [2.0]])
    assert GraphCollection([weighted]).batch([]).edge_weight.shape == (0,)


def test_features_of_the_graphs_are_not_copied_but_prepared_once():
    pair, other = Graph.from_edges([0], [1], x=np.eye(2)), Graph.from_edges([0], [1], x=[[2.0], [3.0]])
    assert np.shares_memory(GraphCollection([pair])._x[0], held(pair))
    assert np.shares_memory(GraphCollection([other])._x[0], other.x)
    called = []
    collection = GraphCollection([pair, pair], lambda rows: called.append(1) or rows * 3)
    for _ in range(2):
        assert collection.batch([0]).x.tolist() == [[3, 0], [0, 3]]
    assert len(called) == 2


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("prepare", [None, lambda rows: (rows - 0.1).astype(np.float32)])
def test_features_are_float32_and_as_exact_in_any_company(convert, prepare):
    times = 1_700_000_000 + np.arange(3.0)[:, None]
    exact = Graph.from_edges([0, 1], [1, 2], x=convert(times), dtype="float64")
    rough = Graph.from_edges([0], [1], x=convert([[0.1], [0.2]]), dtype="float32")
    collection = GraphCollection([rough, exact], prepare)
    together, alone = collection.batch([1, 0]).x, collection.batch([0]).x
    assert together.dtype == alone.dtype == torch.float32
    assert torch.equal(together[3:], alone)


def test_wide_indices_of_a_graph_fit_the_batch():
    pair = Graph.from_edges([0], [1], x=[[1.0], [2.0]])
    wide = replace(pair, indptr=pair.indptr.astype(np.int64), indices=pair.indices.astype(np.int64))
    batch = GraphCollection([pair, wide]).batch([1, 0])
    assert batch.adjacency.indices.dtype == batch.adjacency.indptr.dtype == torch.int32
    assert batch.edge_index.tolist() == [[0, 1, 2, 3], [1, 0, 3, 2]]
