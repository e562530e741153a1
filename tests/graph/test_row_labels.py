"""Labelled rows of pandas go to the nodes that they name."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from cliques import BLOCKS, CLIQUES, small

from tvgnn import Graph
from tvgnn.errors import GraphError
from tvgnn.graph.row_labels import row_labels

IDS = ["a", "b", "c"]
SHUFFLED = pd.DataFrame({"f": [30.0, 10.0, 20.0]}, index=["c", "a", "b"])
CLASSES = pd.Series(["C", "A", "B"], index=["c", "a", "b"])


def _values(graph):
    return dict(zip(graph.node_ids, graph.x.ravel().tolist(), strict=True))


def _classes(graph):
    return dict(zip(graph.node_ids, [graph.class_names[code] for code in graph.y], strict=True))


def test_features_and_labels_of_a_graph_that_has_ids():
    graph = Graph.from_edges(["a", "b"], ["b", "c"])
    assert _values(graph.with_features(SHUFFLED)) == {"a": 10, "b": 20, "c": 30}
    assert _values(graph.with_features(SHUFFLED["f"])) == {"a": 10, "b": 20, "c": 30}
    assert _classes(graph.with_labels(CLASSES)) == {"a": "A", "b": "B", "c": "C"}


@pytest.mark.parametrize("build", [
    lambda **given: Graph.from_edges(["a", "b"], ["b", "c"], **given),
    lambda **given: Graph.from_edge_index([[0, 1], [1, 2]], **given),
    lambda **given: Graph.from_scipy(np.eye(3), **given),
    lambda **given: Graph.from_features(n_neighbors=1, **given),
])  # fmt: skip
def test_features_and_labels_beside_ids(build):
    graph = build(x=SHUFFLED, y=CLASSES, node_ids=IDS)
    assert _values(graph) == {"a": 10, "b": 20, "c": 30}
    assert _classes(graph) == {"a": "A", "b": "B", "c": "C"}


def test_integer_ids_that_edges_name():
    frame = pd.DataFrame({"f": [2.0, 0.0, 1.0]}, index=[2, 0, 1])
    graph = Graph.from_edges([0, 1], [1, 2], x=frame, y=pd.Series([1, 0, 2], index=[1, 0, 2]))
    assert graph.x.ravel().tolist() == [0, 1, 2]
    assert graph.y.tolist() == [0, 1, 2]
    assert Graph.from_edges([7, 5], [5, 6], node_ids=[5, 6, 7], x=frame.set_axis([7, 5, 6])).x.ravel().tolist() == [
        0, 1, 2,
    ]  # fmt: skip


def test_labels_like_features_without_ids():
    graph = Graph.from_features(SHUFFLED, 1, y=CLASSES.loc[["a", "b", "c"]])
    assert [graph.class_names[code] for code in graph.y] == ["C", "A", "B"]
    assert graph.x.ravel().tolist() == [30, 10, 20]


def test_positions_are_kept_where_labels_say_nothing():
    rows = pd.DataFrame({"f": [30.0, 10.0, 20.0]})
    assert row_labels(rows) is None
    assert row_labels([1, 2]) is None
    graph = Graph.from_edges(["a", "b"], ["b", "c"])
    for index in (None, ["x", "y", "z"], ["a", "b", "d"], ["a", "a", "b"], [2, 0, 1]):
        given = rows if index is None else rows.set_axis(index)
        assert graph.with_features(given).x.ravel().tolist() == [30, 10, 20]
    # an edge_index and a matrix mean positions, whatever the integers of the index are
    given = rows.set_axis([2, 0, 1])
    assert Graph.from_edge_index([[0, 1], [1, 2]], x=given).x.ravel().tolist() == [30, 10, 20]
    assert Graph.from_scipy(np.eye(3), x=given).x.ravel().tolist() == [30, 10, 20]


def test_integers_that_may_be_positions_are_refused():
    graph = Graph.from_edges([0, 1], [1, 2])
    with pytest.raises(GraphError, match=r"index of x holds 0..2 in another order.*x\.sort_index\(\).*x\.to_numpy"):
        graph.with_features(pd.DataFrame({"f": [2.0, 0.0, 1.0]}, index=[2, 0, 1]))
    with pytest.raises(GraphError, match="index of y holds"):
        graph.with_labels(pd.Series([2, 0, 1], index=[2, 0, 1]))
    assert graph.with_labels(pd.Series([2, 0, 1])).y.tolist() == [2, 0, 1]


class TestAdjacency:
    weights = np.array([[0, 1.0, 0], [1.0, 0, 0.5], [0, 0.5, 0]])

    @pytest.mark.parametrize("rows", [[0, 1, 2], [2, 0, 1]])
    @pytest.mark.parametrize("columns", [[0, 1, 2], [1, 2, 0]])
    def test_of_ids_in_another_order(self, rows, columns):
        given = pd.DataFrame(self.weights, index=IDS, columns=IDS).iloc[rows, columns]
        for graph in (Graph.from_scipy(given, node_ids=IDS), Graph.from_scipy(given, x=SHUFFLED.loc[IDS])):
            assert np.array_equal(graph.adjacency().toarray(), self.weights)
        graph = Graph.from_scipy(given, y=CLASSES)
        order = [IDS[row] for row in rows]
        assert np.array_equal(graph.adjacency().toarray(), self.weights[rows][:, rows])
        assert [graph.class_names[code].lower() for code in graph.y] == order

    def test_of_a_fit(self):
        ids = [f"n{i}" for i in range(10)]
        frame = pd.DataFrame(BLOCKS, index=ids, columns=["u", "v"])
        given = pd.DataFrame(CLIQUES.toarray(), index=ids, columns=ids)
        order = np.random.RandomState(0).permutation(10)
        sparse = pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(CLIQUES), index=ids, columns=ids)
        for adjacency in (given, given.iloc[order, order], given.iloc[:, order], sparse.iloc[order, order]):
            model = small(max_iter=20).fit(frame, adjacency=adjacency)
            assert np.array_equal(model.graph_.adjacency().toarray(), CLIQUES.toarray() - np.eye(10))
