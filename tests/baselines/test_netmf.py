"""NetMF's matrix against its dense definition."""

import numpy as np
import pytest
import scipy.sparse as sp

from tvgnn import Graph
from tvgnn.baselines import netmf
from tvgnn.baselines.netmf import LogMatrix, NetMF
from tvgnn.errors import ClusteringWarning

TRIANGLE_AND_TAIL = np.array([[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 1], [0, 0, 1, 0]], dtype=float)


def dense_definition(adjacency, order, negative_samples):
    """Qiu et al. (2018), algorithm 3."""
    degrees = adjacency.sum(1)
    transition = adjacency / degrees[:, None]
    powers = sum(np.linalg.matrix_power(transition, r) for r in range(1, order + 1))
    m = degrees.sum() / (negative_samples * order) * powers / degrees[None, :]
    return np.log(np.maximum(m, 1))


def stacked(matrix):
    return sp.vstack(list(matrix.blocks())).toarray()


def test_four_nodes_by_hand():
    # order 1: M_ij = 8 a_ij / (d_i d_j) with degrees 2, 2, 3, 1
    expected = np.log(np.maximum([[0, 2, 4 / 3, 0], [2, 0, 4 / 3, 0], [4 / 3, 4 / 3, 0, 8 / 3], [0, 0, 8 / 3, 0]], 1))
    assert np.allclose(stacked(LogMatrix(sp.csr_array(TRIANGLE_AND_TAIL), 1, 1)), expected)


@pytest.mark.parametrize("order", [1, 2, 3, 10])
@pytest.mark.parametrize("negative_samples", [1, 5])
def test_equals_the_dense_definition(order, negative_samples):
    random = np.random.default_rng(0)
    upper = np.triu(random.random((30, 30)) * (random.random((30, 30)) < 0.2), 1)
    for adjacency in (TRIANGLE_AND_TAIL, upper + upper.T + np.eye(30, k=1) + np.eye(30, k=-1)):
        matrix = LogMatrix(sp.csr_array(adjacency), order, negative_samples)
        assert np.allclose(stacked(matrix), dense_definition(adjacency, order, negative_samples))


def test_blocks_and_recomputation_change_nothing(monkeypatch):
    random = np.random.default_rng(1)
    upper = np.triu(random.random((60, 60)) < 0.1, 1)
    adjacency = sp.csr_array((upper + upper.T).astype(float))
    whole = LogMatrix(adjacency, 2, 1)
    monkeypatch.setattr(netmf, "_BLOCK_ENTRIES", 50)
    cut = LogMatrix(adjacency, 2, 1, kept_entries=10)
    assert len(list(cut.blocks())) > 5
    dense = random.random((60, 4))
    assert np.allclose(cut.multiply(dense), whole.multiply(dense))
    assert np.allclose(stacked(cut), stacked(whole))


def test_embedding_is_the_truncated_svd():
    random = np.random.default_rng(2)
    upper = np.triu(random.random((80, 80)) < 0.1, 1)
    graph = Graph.from_scipy((upper + upper.T).astype(float))
    embedding = NetMF(2, dimensions=5, random_state=0).fit(graph).embedding_
    u, values, _ = np.linalg.svd(stacked(LogMatrix(graph.adjacency(), 2, 1)))
    expected = u[:, :5] * np.sqrt(values[:5])
    assert np.allclose(np.abs(np.sum(embedding * expected, 0)), values[:5], rtol=1e-2)
    assert np.allclose(np.linalg.norm(embedding, axis=0), np.sqrt(values[:5]), rtol=1e-2)


def test_a_hub_needs_no_matrix_of_all_pairs():
    nodes = 6000
    star = Graph.from_edge_index([np.zeros(nodes - 1, dtype=int), np.arange(1, nodes)])
    with pytest.warns(ClusteringWarning, match="1 are in use"):  # every entry is 1, whose logarithm is 0
        fitted = NetMF(2, dimensions=2, svd_iterations=1, random_state=0).fit(star)  # P^2 has 36 million entries
    assert fitted.embedding_.shape == (nodes, 2)
