"""Nearest-neighbour graphs: exact and approximate, metrics, mutual edges, weights, connection, awkward rows."""

import hashlib
import os
import subprocess
import sys

import numba
import numpy as np
import pynndescent.distances
import pynndescent.sparse
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from sklearn.metrics import pairwise_distances

from tvgnn import Graph
from tvgnn.errors import GraphError
from tvgnn.graph.knn import NeighborSettings, nearest_known_rows, search
from tvgnn.graph.knn.weights import SMALLEST_WEIGHT


def points(n=60, f=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, f)).astype(np.float32)


def by_definition(x, k, metric, mutual):
    """The same graph from all distances."""
    distances = pairwise_distances(x.toarray() if sp.issparse(x) else x, metric=metric)
    np.fill_diagonal(distances, np.inf)
    chosen = np.zeros(distances.shape, dtype=bool)
    np.put_along_axis(chosen, distances.argsort(axis=1)[:, :k], True, axis=1)
    return (chosen & chosen.T if mutual else chosen | chosen.T).astype(float)


@pytest.mark.parametrize("mutual", [False, True], ids=["union", "mutual"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan", "correlation", "chebyshev"])
def test_edges_are_those_of_the_definition(metric, mutual):
    x = points()
    graph = Graph.from_features(x, 4, metric=metric, mutual=mutual)
    np.testing.assert_array_equal(graph.adjacency().toarray(), by_definition(x, 4, metric, mutual))
    assert not graph.is_weighted


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_sparse_rows_give_the_edges_of_dense_ones(metric):
    x = points(f=8)
    x[np.random.default_rng(1).random(x.shape) < 0.5] = 0
    graph = Graph.from_features(sp.csr_array(x), 4, metric=metric)
    np.testing.assert_array_equal(graph.adjacency().toarray(), by_definition(x, 4, metric, False))
    assert sp.issparse(graph.x)


# pynndescent compiles anew for each metric and type of rows
@pytest.mark.parametrize(("metric", "wrap"), [("euclidean", np.asarray), ("cosine", sp.csr_array)])
def test_approximate_neighbours_are_nearly_all_right(metric, wrap):
    x = points(400, 12)
    exact = Graph.from_features(wrap(x), 10, metric=metric, method="exact").adjacency()
    found = Graph.from_features(wrap(x), 10, metric=metric, method="approximate").adjacency()
    assert exact.multiply(found).sum() / exact.sum() > 0.98


def test_the_seed_fixes_an_approximate_graph_for_any_number_of_threads():
    code = (
        "import hashlib, numba, numpy as np; from tvgnn import Graph;"
        "x = np.random.default_rng(0).normal(size=(3000, 30)).astype(np.float32);"
        "g = Graph.from_features(x, method='approximate', random_state=3);"
        "print(numba.get_num_threads(), hashlib.sha256(g.indices.tobytes()).hexdigest())"
    )
    environment = os.environ | {"NUMBA_NUM_THREADS": "3", "OMP_NUM_THREADS": "2"}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    numba.set_num_threads(1)
    try:
        here = Graph.from_features(points(3000, 30), method="approximate", random_state=3)
    finally:
        numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
    assert run.stdout.split() == ["3", hashlib.sha256(here.indices.tobytes()).hexdigest()]
    other = Graph.from_features(points(3000, 30), method="approximate", random_state=4)
    assert other.num_edges != here.num_edges or not np.array_equal(other.indices, here.indices)


def test_the_method_is_chosen_by_size_width_and_metric(monkeypatch):
    monkeypatch.setattr(search, "EXACT_ROWS", 50)
    choose = search.chosen_method
    assert choose(points(50, 30), "euclidean", "auto") == "exact"
    assert choose(points(51, 30), "euclidean", "auto") == "approximate"
    assert choose(points(51, 3), "euclidean", "auto") == "exact"
    assert choose(sp.csr_array(points(51, 3)), "euclidean", "auto") == "approximate"
    assert choose(points(51, 30), "jaccard", "auto") == "exact"
    assert choose(points(51, 30), "euclidean", "exact") == "exact"
    for name in search._APPROXIMATE_METRICS:
        assert name in pynndescent.distances.named_distances
    for name in search._SPARSE_APPROXIMATE_METRICS:
        assert name in pynndescent.sparse.sparse_named_distances
    graph = Graph.from_features(points(51, 30))
    assert "approximate by pynndescent with seed 0" in graph.report.notes[0]


def test_coinciding_rows_never_stop_the_approximate_search():
    x = np.repeat(points(6, 20), 100, axis=0)
    graph = Graph.from_features(x, 5, method="approximate")
    assert (np.diff(graph.indptr) >= 5).all()
    assert graph.report.num_components >= 6
    owner = np.repeat(np.arange(6), 100)
    source = np.repeat(np.arange(600), np.diff(graph.indptr))
    assert (owner[source] == owner[graph.indices]).all()


def test_self_tuning_weights_are_those_of_the_formula():
    x = np.array([[0.0], [1.0], [3.0], [10.0]])
    weights = Graph.from_features(x, 2, weights="heat_kernel").adjacency().toarray()
    scale = np.array([3.0, 2.0, 3.0, 9.0])  # to the second neighbour
    for i, j in ((0, 1), (1, 2), (0, 2), (2, 3), (1, 3)):
        assert weights[i, j] == pytest.approx(np.exp(-((x[i, 0] - x[j, 0]) ** 2) / (scale[i] * scale[j])), rel=1e-5)
    assert weights[0, 3] == 0
    np.testing.assert_array_equal(weights, weights.T)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_one_bandwidth_for_all(metric):
    x = points(20)
    weights = Graph.from_features(x, 3, metric=metric, weights="heat_kernel", bandwidth=0.7).adjacency().toarray()
    expected = np.exp(-((pairwise_distances(x, metric=metric) / 0.7) ** 2))
    np.testing.assert_allclose(weights[weights > 0], np.maximum(expected, SMALLEST_WEIGHT)[weights > 0], rtol=1e-4)


def test_no_edge_is_lost_to_the_heat_kernel():
    x = np.concatenate([np.zeros((10, 2)), [[1e6, 0.0], [0.0, 1e-3]]])
    plain = Graph.from_features(x, 3)
    weighted = Graph.from_features(x, 3, weights="heat_kernel")
    assert weighted.num_edges == plain.num_edges
    assert weighted.weights.min() >= np.float32(SMALLEST_WEIGHT)
    narrow = Graph.from_features(points(), 3, weights="heat_kernel", bandwidth=1e-300)
    assert narrow.num_edges == Graph.from_features(points(), 3).num_edges
    assert any("larger bandwidth" in note for note in narrow.report.notes)
    assert set(Graph.from_features(np.zeros((4, 1)), 2, weights="heat_kernel").weights) == {1.0}


@pytest.mark.parametrize("mutual", [False, True], ids=["union", "mutual"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_components_are_connected_by_a_minimum_spanning_tree(metric, mutual):
    x = np.concatenate([points(25, 3, seed) + 15 * np.eye(3)[seed % 3] * (seed + 1) for seed in range(5)])
    graph = Graph.from_features(x, 3, metric=metric, mutual=mutual)
    whole = Graph.from_features(x, 3, metric=metric, mutual=mutual, connect=True)
    assert graph.report.num_components >= 3
    assert whole.report.num_components == 1
    added = (whole.adjacency() - graph.adjacency()).tocoo()
    added.eliminate_zeros()
    distances = pairwise_distances(x, metric=metric)
    # The least total length that connects the components: edges of the graph cost next to nothing
    cost = distances.copy()
    cost[graph.adjacency().toarray() > 0] = 1e-6
    tree = minimum_spanning_tree(cost)
    assert added.nnz // 2 == graph.report.num_components - 1
    assert distances[added.row, added.col].sum() / 2 == pytest.approx(tree.data[tree.data > 2e-6].sum(), rel=1e-4)
    assert f"connect {graph.report.num_components} components" in " ".join(whole.report.notes)


def test_many_points_are_connected_without_all_pairs(monkeypatch):
    from tvgnn.graph.knn import connect

    monkeypatch.setattr(connect, "EXACT_ROWS", 40)
    monkeypatch.setattr(connect, "_MOST_STEPS", 5)
    x = np.concatenate([points(20, 2, seed) * 0.1 + [10 * (seed % 4), 10 * (seed // 4)] for seed in range(16)])
    graph = Graph.from_features(x, 3, connect=True)
    assert graph.report.num_components == 1
    source, target = graph.adjacency().nonzero()
    assert np.linalg.norm(x[source] - x[target], axis=1).max() < 15  # no farther than the next cloud on the diagonal


def test_identical_rows_are_connected():
    for kind in ({}, {"mutual": True}):
        graph = Graph.from_features(np.ones((40, 2)), 3, connect=True, **kind)
        assert connected_components(graph.adjacency())[0] == 1
    assert any("40 of the rows coincide" in note for note in graph.report.notes)


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_rows_of_zeros_have_no_neighbours_by_cosine(wrap):
    x = points(20)
    x[[3, 7]] = 0
    graph = Graph.from_features(wrap(x), 4, metric="cosine")
    degrees = np.diff(graph.indptr)
    assert degrees[[3, 7]].tolist() == [0, 0]
    assert (np.delete(degrees, [3, 7]) >= 4).all()
    assert "2 rows of zeros without neighbours by cosine" in graph.report.notes
    rest = np.delete(np.arange(20), [3, 7])
    np.testing.assert_array_equal(
        graph.adjacency().toarray()[np.ix_(rest, rest)], by_definition(x[rest], 4, "cosine", False)
    )
    assert Graph.from_features(wrap(np.zeros((5, 2))), 2, metric="cosine", connect=True).num_edges == 0


def test_constant_rows_have_no_neighbours_by_correlation():
    x = points(20) + np.float32(1000)
    x[4] = 0.1
    assert np.diff(Graph.from_features(x, 3, metric="correlation").indptr)[4] == 0
    with pytest.raises(GraphError, match="needs dense features"):
        Graph.from_features(sp.csr_array(x), 3, metric="correlation")


@pytest.mark.parametrize("options", [{}, {"mutual": True, "connect": True, "weights": "heat_kernel"}])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_fewer_rows_than_neighbours(n, options):
    graph = Graph.from_features(points(n), 5, **options)
    assert graph.num_edges == n * (n - 1) // 2
    assert graph.is_weighted == ("weights" in options)
    assert any("reduced to" in note for note in graph.report.notes)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"n_neighbors": 0}, "at least 1, got 0"),
        ({"n_neighbors": 2.5}, "at least 1, got 2.5"),
        ({"n_neighbors": True}, "got True"),
        ({"metric": "nearness"}, "metric='nearness'"),
        ({"metric": "precomputed"}, "use Graph.from_scipy"),
        ({"metric": "haversine"}, "metric='haversine'.* 2 dimensions"),
        ({"metric": np.linalg.norm}, "metric must be a name"),
        ({"mutual": "yes"}, "mutual must be True or False, got 'yes'"),
        ({"connect": 1}, "connect must be True or False"),
        ({"weights": "gaussian"}, "one of connectivity, heat_kernel, got 'gaussian'"),
        ({"bandwidth": 1.0}, "needs weights='heat_kernel'"),
        ({"weights": "heat_kernel", "bandwidth": 0.0}, "positive distance"),
        ({"weights": "heat_kernel", "bandwidth": float("nan")}, "positive distance"),
        ({"method": "fast"}, "one of auto, exact, approximate"),
        ({"method": "approximate", "metric": "jaccard"}, "take method='exact'"),
        ({"random_state": -1}, "random_state of a neighbour graph"),
    ],
)
def test_a_mistake_is_told(options, says):
    with pytest.raises(GraphError, match=says):
        Graph.from_features(points(), **options)


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_values_whose_squares_overflow_are_refused(wrap):
    assert Graph.from_features(wrap(points() * np.float32(1e15)), 3, weights="heat_kernel", connect=True).num_edges
    assert Graph.from_features(wrap(points() * np.float32(1e30)), 3, metric="cosine").num_edges
    with pytest.raises(GraphError, match="squared distances are finite, got values up to"):
        Graph.from_features(wrap(points() * np.float32(1e30)), 3)
    with pytest.raises(GraphError, match="squared distances are finite, got values up to"):
        Graph.from_features(wrap(points().astype(np.float64) * -1e200), 3, dtype="float64")


def test_a_row_that_is_not_a_number_is_named():
    x = points(10)
    x[6, 1] = np.nan
    with pytest.raises(GraphError, match=r"node 'g' \(index 6\), column 1: NaN is not a finite"):
        Graph.from_features(x, 2, node_ids="abcdefghij")


def test_a_metric_of_booleans_reads_numbers_without_a_warning():
    x = np.array([[0, 2, 0, 1], [0, 5, 0, 3], [4, 0, 1, 0], [1, 0, 9, 0]])
    assert Graph.from_features(x, 1, metric="jaccard").adjacency().nonzero()[1].tolist() == [1, 0, 3, 2]


def test_new_rows_find_their_nearest_known_ones():
    x = points(30)
    x[5] = 0
    new = points(4, seed=1)
    new[2] = 0
    found = nearest_known_rows(x, new, NeighborSettings(3, "cosine"))
    distances = pairwise_distances(new, x, metric="cosine")
    distances[:, 5] = np.inf
    assert found[[0, 1, 3]].tolist() == distances.argsort(axis=1)[[0, 1, 3], :3].tolist()
    assert found[2].tolist() == [-1, -1, -1]
    assert nearest_known_rows(x[:2], new[:1], NeighborSettings(9)).shape == (1, 2)
