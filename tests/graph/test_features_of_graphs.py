"""Normalisation, structural features and nearest-neighbour graphs."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_digits

from tvgnn import Graph
from tvgnn.errors import GraphError
from tvgnn.graph import leading_eigenvectors

P3 = [[0, 1, 1, 2], [1, 0, 2, 1]]


def with_rows(x, dtype="float32") -> Graph:
    return Graph.from_edge_index([[], []], x=x, dtype=dtype)


def dense(x) -> np.ndarray:
    return x.toarray() if sp.issparse(x) else x


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_rows_are_divided_by_their_norm_and_zero_rows_stay(wrap):
    graph = with_rows(wrap(np.array([[3.0, -4.0], [0.0, 0.0], [0.0, 2.0]])))
    assert dense(graph.normalize_features("l1").x) == pytest.approx(np.array([[3 / 7, -4 / 7], [0, 0], [0, 1]]))
    assert dense(graph.normalize_features("l2").x) == pytest.approx(np.array([[0.6, -0.8], [0, 0], [0, 1]]))
    assert graph.normalize_features(None) is graph
    assert graph.normalize_features("l1").x.dtype == np.float32
    assert sp.issparse(graph.normalize_features("l1").x) == sp.issparse(graph.x)
    assert dense(graph.x)[0, 0] == 3


@settings(max_examples=50, deadline=None)
@given(
    arrays(np.float64, (3, 4), elements=st.floats(-1e300, 1e300).filter(lambda v: v == 0 or abs(v) > 1e-300)),
    st.sampled_from(["l1", "l2"]),
)
def test_norms_are_one_at_any_scale_and_equal_for_sparse_rows(x, norm):
    result = with_rows(x, "float64").normalize_features(norm).x
    lengths = np.abs(result).sum(axis=1) if norm == "l1" else np.sqrt((result**2).sum(axis=1))
    assert lengths == pytest.approx(np.where((x == 0).all(axis=1), 0, 1))
    assert (np.sign(result) * np.sign(x) >= 0).all()
    assert with_rows(sp.csr_array(x), "float64").normalize_features(norm).x.toarray() == pytest.approx(result)


def test_normalising_float32_rows_near_the_limits():
    graph = with_rows(np.array([[3e38, 3e38], [1e-44, 0.0]], dtype=np.float32)).normalize_features("l2")
    assert graph.x == pytest.approx(np.array([[0.5**0.5, 0.5**0.5], [1, 0]]))


def test_normalised_features_are_read_only_and_bad_requests_refused():
    graph = with_rows([[1.0, 2.0]])
    assert not graph.normalize_features("l1").x.flags.writeable
    with pytest.raises(GraphError, match="'l1' or 'l2', got 'max'"):
        graph.normalize_features("max")
    with pytest.raises(GraphError, match="no features to normalise"):
        Graph.from_edge_index(P3).normalize_features("l1")


def test_degree_features_are_one_hot_with_a_shared_last_column():
    star = Graph.from_edge_index([[0, 0, 0], [1, 2, 3]], num_nodes=5)
    full = star.with_structural_features("degree")
    assert full.x.toarray().tolist() == [[0, 0, 0, 1], [0, 1, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0]]
    assert star.with_structural_features("degree", dim=2).x.toarray()[:, 1].tolist() == [1, 1, 1, 1, 0]
    assert full.report.notes[-1] == "features: degree, dim=4"


def test_ones_features():
    assert Graph.from_edge_index(P3).with_structural_features("ones", dim=2).x.tolist() == [[1, 1]] * 3


def test_spectral_features_separate_components_and_skip_the_constant():
    triangles = [[0, 1, 2, 3, 4, 5], [1, 2, 0, 4, 5, 3]]
    x = Graph.from_edge_index(triangles, num_nodes=7).with_structural_features("spectral", dim=1).x
    assert np.abs(x[:6]) == pytest.approx(np.full((6, 1), np.sqrt(7 / 6)), rel=1e-5)
    assert np.sign(x[0]) == -np.sign(x[3])
    assert x[6] == 0


def test_spectral_solvers_agree_and_repeat(monkeypatch):
    ring = np.arange(40)
    graph = Graph.from_edge_index([ring, (ring + 1) % 40], np.linspace(1, 2, 40))
    exact = graph.with_structural_features("spectral", dim=3).x
    monkeypatch.setattr(leading_eigenvectors, "_DENSE_LIMIT", 0)
    lanczos = graph.with_structural_features("spectral", dim=3).x
    assert lanczos == pytest.approx(exact, abs=1e-3)
    assert np.array_equal(lanczos, graph.with_structural_features("spectral", dim=3).x)
    assert (exact**2).mean(axis=0) == pytest.approx(np.ones(3), rel=1e-5)


def test_spectral_features_of_a_graph_without_edges_are_zero():
    assert not Graph.from_edge_index([[], []], num_nodes=4).with_structural_features("spectral").x.any()


@pytest.mark.parametrize(("kind", "dim", "message"), [
    ("pagerank", None, "'degree', 'spectral' or 'ones'"),
    ("ones", 0, "at least 1"),
    ("spectral", 1.5, "integer"),
    ("spectral", 3, "dim=3 for 3 nodes"),
])  # fmt: skip
def test_impossible_structural_features_are_refused(kind, dim, message):
    with pytest.raises(GraphError, match=message):
        Graph.from_edge_index(P3).with_structural_features(kind, dim)


def test_spectral_features_of_one_node_are_refused():
    with pytest.raises(GraphError, match="for 1 nodes"):
        Graph.from_edge_index([[], []], num_nodes=1).with_structural_features("spectral")


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_nearest_neighbour_graph_is_the_union_of_directions(wrap):
    x = wrap(np.array([[0.0], [1.0], [3.0], [30.0]]))
    graph = Graph.from_features(x, n_neighbors=1, node_ids="abcd", y=[0, 0, 1, 1])
    assert graph.adjacency().toarray().tolist() == [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]]
    assert not graph.is_weighted
    assert graph.node_ids == tuple("abcd")
    assert graph.y.tolist() == [0, 0, 1, 1]
    assert dense(graph.x).ravel().tolist() == [0, 1, 3, 30]
    assert "1 nearest neighbours" in graph.report.notes[0]


def test_coinciding_rows_are_neighbours_of_each_other_not_of_themselves():
    graph = Graph.from_features(np.zeros((5, 2)), n_neighbors=2)
    assert (np.diff(graph.indptr) >= 2).all()
    assert graph.report.num_self_loops == 0


def test_too_many_neighbours_are_reduced_with_a_note():
    graph = Graph.from_features([0, 1, 2])
    assert graph.num_edges == 3
    assert "n_neighbors=15 reduced to 2" in graph.report.notes[1]
    assert Graph.from_features([[1.0, 2.0]]).num_edges == 0


def test_metric_is_passed_on_and_bad_ones_refused():
    x = [[1.0, 0.0], [10.0, 1.0], [1.0, 1.0], [0.0, 1.0]]
    assert Graph.from_features(x, 1, metric="cosine").adjacency()[0, 1] == 1
    assert Graph.from_features(x, 1).adjacency()[0, 1] == 0
    with pytest.raises(GraphError, match="metric='nearness'"):
        Graph.from_features(x, 1, metric="nearness")
    with pytest.raises(GraphError, match="at least 1, got 0"):
        Graph.from_features(x, 0)
    with pytest.raises(GraphError, match="not a finite"):
        Graph.from_features([[np.nan], [1.0]])


@pytest.mark.parametrize("threads", ["1", "2"])
def test_equally_near_rows_give_the_same_graph_for_any_number_of_threads(threads):
    code = (
        "import hashlib; from sklearn.datasets import load_digits; from tvgnn import Graph;"
        "g = Graph.from_features(load_digits().data);"
        "print(g.num_edges, hashlib.sha256(g.indices.tobytes()).hexdigest())"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"OMP_NUM_THREADS": threads},
        capture_output=True,
        text=True,
        check=True,
    )
    edges, digest = run.stdout.split()
    graph = Graph.from_features(load_digits().data)
    assert int(edges) == graph.num_edges
    assert digest == hashlib.sha256(graph.indices.tobytes()).hexdigest()
