"""Neighbourhoods: some nodes of a graph and all that lies a few edges around them."""

import networkx as nx
import numpy as np
import pytest

from tvgnn import Graph
from tvgnn.graph.neighborhoods import Neighborhoods


def random_graph(nodes=60, edges=70, weighted=False):
    random = np.random.default_rng(0)
    ends = random.integers(nodes, size=(2, edges))
    return Graph.from_edge_index(ends, edge_weight=random.random(edges) + 0.1 if weighted else None, num_nodes=nodes)


@pytest.mark.parametrize("hops", [0, 1, 2, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_all_within_so_many_edges_are_there_and_no_other(hops, weighted):
    graph = random_graph(weighted=weighted)
    parts, whole = Neighborhoods(graph, hops), nx.from_scipy_sparse_array(graph.adjacency())
    assert sorted(parts.order) == list(range(60))
    for first, last in ((0, 7), (7, 8), (8, 60), (0, 60)):
        part = parts.around(first, last)
        asked = parts.order[first:last]
        away = nx.multi_source_dijkstra_path_length(whole, {int(node) for node in asked}, cutoff=hops, weight=None)
        assert sorted(part.nodes) == sorted(away)
        np.testing.assert_array_equal(part.nodes[part.asked], asked)
        assert {int(node) for node in part.nodes[part.inner]} >= {node for node, far in away.items() if far < hops}
        adjacency = parts.adjacency(part)
        assert adjacency.num_entries == part.entries
        rows = adjacency.rows().numpy()
        there = {(int(part.nodes[i]), int(part.nodes[j])) for i, j in zip(rows, adjacency.indices.numpy(), strict=True)}
        inner = part.nodes[part.inner].tolist() if hops else []
        assert there == {(node, other) for node in inner for other in whole[node]}
        if weighted:
            dense, lists = graph.adjacency().toarray(), zip(rows, adjacency.indices.numpy(), strict=True)
            expected = [dense[part.nodes[i], part.nodes[j]] for i, j in lists]
            np.testing.assert_allclose(adjacency.values.numpy(), expected)
        else:
            assert adjacency.values is None
