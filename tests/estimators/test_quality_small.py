"""Graphs of a handful of nodes, where every component counts."""

import numpy as np
import pytest
import scipy.sparse as sp

from tvgnn import Graph, TVClustering


def _chain_of_cliques(number: int, size: int) -> sp.csr_array:
    adjacency = np.kron(np.eye(number), 1 - np.eye(size))
    for last in range(size - 1, number * size - 1, size):
        adjacency[last, last + 1] = adjacency[last + 1, last] = 1
    return sp.csr_array(adjacency)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("number", "size"), [(2, 2), (2, 3), (2, 4), (2, 5), (3, 3), (3, 4), (4, 5)])
def test_cliques_in_a_chain_are_found_from_the_graph_alone(number, size, seed):
    model = TVClustering(number, preset="quality", features="spectral", random_state=seed)
    labels = model.fit_predict(Graph.from_scipy(_chain_of_cliques(number, size)))
    blocks = labels.reshape(number, size)
    assert (blocks == blocks[:, :1]).all()
    assert len(set(labels)) == number


def test_one_column_each_node_keeps_what_the_edges_say():
    labels = TVClustering(2, preset="quality", random_state=0).fit_predict(np.eye(8), adjacency=_chain_of_cliques(2, 4))
    assert labels[:4].tolist() == [labels[0]] * 4
    assert labels[4:].tolist() == [1 - labels[0]] * 4
