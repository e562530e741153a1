"""Matrices of similarities: the strongest edges of each node count, in the fit and after it."""

import numpy as np
import pytest
import scipy.sparse as sp

from tvgnn import Graph, TVClustering
from tvgnn.estimators.quality.edges import independent_share
from tvgnn.estimators.quality.similarities import STRONGEST, is_similarity_matrix, strongest_edges
from tvgnn.metrics import normalized_mutual_info

NODES = 200


def points(seed=0, columns=5):
    """Three groups of unequal sizes that overlap."""
    random = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], [100, 60, 40])
    return random.normal(0, 1.3, (3, columns))[y] + random.normal(size=(NODES, columns)), y


def kernel(seed=0, pairs=1.0):
    x, y = points(seed)
    squares = np.square(x[:, None] - x).sum(2)
    weights = np.exp(-squares / np.median(squares))
    np.fill_diagonal(weights, 0)
    weights[weights < np.quantile(weights, 1 - pairs)] = 0
    noisy = x + np.random.default_rng(seed).normal(0, 2, x.shape)
    return Graph.from_scipy(sp.csr_array(weights), x=noisy, y=y)


def amounts(seed=0, pairs=1.0, ratio=2.0):
    random = np.random.default_rng(seed)
    x, y = points(seed)
    weights = np.where(y[:, None] == y, ratio, 1) * random.lognormal(0, 1, (NODES, NODES))
    weights = np.triu(weights * (random.random(weights.shape) < pairs), 1)
    return Graph.from_scipy(sp.csr_array(weights + weights.T), x=x, y=y)


def correlations(seed=0):
    profiles = points(seed, columns=40)[0]
    found = np.clip(np.corrcoef(profiles), 0, None)
    np.fill_diagonal(found, 0)
    return Graph.from_scipy(sp.csr_array(found))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("graph", "similar"),
    [
        (kernel, True),
        (lambda seed: kernel(seed, pairs=0.4), True),
        (correlations, True),
        (amounts, False),
        (lambda seed: amounts(seed, pairs=0.4), False),
        (lambda seed: kernel(seed, pairs=0.1), False),  # sparse enough to be used as it is
        (lambda seed: Graph.from_scipy((kernel(seed, pairs=0.4).adjacency() > 0).astype(float)), False),  # no weights
    ],
    ids=["kernel", "kernel of 40 %", "correlations", "amounts", "amounts of 40 %", "kernel of 10 %", "unweighted"],
)
def test_similarities_are_told_from_other_dense_networks(graph, similar, seed):
    assert is_similarity_matrix(graph(seed)) is similar


def test_equal_weights_are_chosen_by_lot_and_make_no_hubs():
    equal = np.ones((NODES, NODES)) - np.eye(NODES)
    equal[0, 1] = equal[1, 0] = 2
    graph = Graph.from_scipy(sp.csr_array(equal))
    kept = strongest_edges(graph)
    assert np.diff(kept.indptr).max() < 4 * STRONGEST
    assert not is_similarity_matrix(graph)
    assert (strongest_edges(graph).indices == kept.indices).all()


def test_strongest_edges_of_either_end_are_kept_with_all_else():
    graph = Graph.from_edges(
        ["a", "a", "b", "c", "d"],
        ["b", "c", "c", "d", "e"],
        [5.0, 4.0, 3.0, 2.0, 1.0],
        x=np.arange(6),
        node_ids=list("abcdef"),
    )
    kept = strongest_edges(graph, 1)
    assert kept.adjacency().toarray()[0].tolist() == [0, 5, 4, 0, 0, 0]
    assert kept.num_edges == 4  # b's strongest is a, c's is a, d's is c, e's is d; f has none
    assert kept.node_ids == graph.node_ids
    assert kept.x.shape == (6, 1)
    assert strongest_edges(graph, 9).indices.tolist() == graph.indices.tolist()


def test_common_neighbours_where_all_are_joined_are_no_triangles():
    assert independent_share(amounts()) == 1
    assert independent_share(amounts(pairs=0.5)) == pytest.approx(1, abs=0.05)
    assert independent_share(strongest_edges(kernel())) < 0.5


@pytest.fixture(scope="module")
def fitted():
    return TVClustering(3, preset="quality", n_init=1, random_state=0).fit(kernel())


def test_a_kernel_is_clustered_by_its_strongest_edges(fitted):
    graph = kernel()
    assert fitted.choices_["strongest_edges"] == STRONGEST
    assert fitted.graph_.num_edges == graph.num_edges  # the caller's
    assert normalized_mutual_info(graph.y, fitted.labels_) > 0.7


def test_the_network_sees_the_strongest_edges_ever_after(fitted, tmp_path):
    graph = kernel()
    np.testing.assert_array_equal(fitted.predict(graph), fitted.labels_)
    fitted.save(tmp_path)
    loaded = TVClustering.load(tmp_path)
    np.testing.assert_array_equal(loaded.predict(graph), fitted.labels_)
    other = kernel(seed=3)
    np.testing.assert_array_equal(loaded.predict(other), fitted.predict(strongest_edges(other)))
    rows = graph.x[:20] + np.float32(0.01)
    of_strongest = TVClustering(3, preset="quality", n_init=1, random_state=0).fit(strongest_edges(graph))
    np.testing.assert_array_equal(loaded.predict(rows), of_strongest.predict(rows))


def test_other_networks_keep_all_edges():
    model = TVClustering(3, preset="quality", n_init=1, random_state=0).fit(amounts())
    assert model.choices_["strongest_edges"] is None


@pytest.mark.filterwarnings("ignore::tvgnn.errors.ClusteringWarning")
def test_the_papers_network_takes_edges_as_they_are():
    model = TVClustering(3, preset="paper", max_iter=5, hidden_channels=8, mlp_channels=4, random_state=0)
    assert "strongest_edges" not in model.fit(kernel()).choices_
