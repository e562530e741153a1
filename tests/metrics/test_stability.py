"""Agreement of several clusterings, and the modularity of graphs without communities."""

import numpy as np
import pytest
import scipy.sparse as sp

from tvgnn.errors import GraphError
from tvgnn.metrics import mean_pairwise_ari, pairwise_ari_error, random_modularity, stray_clusters


def random_graph(n, p, seed=0):
    upper = np.triu(np.random.default_rng(seed).random((n, n)) < p, k=1)
    return sp.csr_array((upper | upper.T).astype(np.float32))


def planted(seed, blocks=4, size=25):
    """Draw communities of different sizes that have a tenth as many edges between them."""
    y = np.repeat(np.arange(blocks), size + 5 * np.arange(blocks))
    chance = np.where(y[:, None] == y, 0.3, 0.03)
    upper = np.triu(np.random.default_rng(seed).random(chance.shape) < chance, k=1)
    return sp.csr_array((upper | upper.T).astype(np.float32)), y


@pytest.mark.parametrize("seed", range(5))
def test_nodes_left_over_are_strays_and_communities_are_none(seed):
    adjacency, y = planted(seed)
    assert stray_clusters(adjacency, y).tolist() == [False] * 4
    draw = np.random.default_rng(seed)
    for left in (1, 2, 3):  # nodes of one community, or of any
        for pool in (np.flatnonzero(y == 3), np.arange(len(y))):
            labels = y.copy()
            labels[draw.choice(pool, left, replace=False)] = 4
            assert stray_clusters(adjacency, labels, 6).tolist() == [False] * 4 + [True, False]


def test_weights_loops_and_nodes_without_edges():
    path = np.array([[9, 1, 0, 0], [1, 9, 3, 0], [0, 3, 9, 0], [0, 0, 0, 9]], dtype=np.float32)
    # node 0 alone; 1 and 2 with six times the weight inside; 3 has nothing but its loop, which is no edge
    assert stray_clusters(sp.csr_array(path), [0, 1, 1, 2]).tolist() == [True, False, True]
    assert stray_clusters(sp.csr_array(path), [0, 0, 1, 1]).tolist() == [True, True]


def test_mean_over_all_pairs():
    same, other = [0, 0, 1, 1], [0, 1, 0, 1]
    assert mean_pairwise_ari([same, same, other]) == pytest.approx((1 - 0.5 - 0.5) / 3)


def test_random_labels_agree_by_nothing_for_few_and_for_many_clusters():
    draw = np.random.default_rng(0)
    for k in (2, 20):
        assert abs(mean_pairwise_ari([draw.integers(k, size=3000) for _ in range(3)])) < 0.01


def test_the_error_is_that_of_the_jackknife():
    draw = np.random.default_rng(0)
    labelings = [np.where(draw.random(200) < 0.1 * r, 0, np.arange(200) // 50) for r in range(5)]
    without = [mean_pairwise_ari([one for number, one in enumerate(labelings) if number != r]) for r in range(5)]
    assert pairwise_ari_error(labelings) == pytest.approx(np.sqrt(4 / 5 * np.square(without - np.mean(without)).sum()))
    assert pairwise_ari_error(labelings[:2]) == 0


def test_one_labeling_is_refused():
    with pytest.raises(GraphError, match="at least two"):
        mean_pairwise_ari([[0, 1]])


def test_sparse_random_graphs_have_the_published_value():
    graph = random_graph(1000, 0.02)
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    published = 0.97 * np.sqrt(degrees).mean() / degrees.mean()
    assert random_modularity(graph) == pytest.approx(published, rel=0.02)


def test_scaled_weights_change_nothing():
    graph = random_graph(100, 0.1)
    assert random_modularity(5 * graph) == pytest.approx(random_modularity(graph))


def test_isolated_nodes_change_almost_nothing_and_no_edges_give_zero():
    graph = random_graph(200, 0.05)
    padded = sp.csr_array(sp.block_diag([graph, sp.csr_array((50, 50))]))
    assert random_modularity(padded) == pytest.approx(random_modularity(graph), rel=0.02)
    assert random_modularity(sp.csr_array((3, 3))) == 0
    assert random_modularity(sp.csr_array((1, 1))) == 0


def test_it_never_exceeds_the_factor():
    matching = sp.csr_array(sp.block_diag([np.array([[0, 1], [1, 0]])] * 50))
    assert random_modularity(matching) <= 0.97
