"""Sizes of datasets by hand."""

from classification_cases import small_graphs

from tvgnn.experiments.dataset_statistics import GraphSetSize, GraphSize, graph_set_size, graph_size
from tvgnn.graph.graph import Graph


def test_an_undirected_edge_counts_twice_and_loops_not_at_all():
    graph = Graph.from_edges([0, 1, 2, 2], [1, 2, 0, 2], x=[[1.0, 2.0]] * 3, y=["a", "b", "a"])
    assert graph_size(graph) == GraphSize(vertices=3, edges=6, attributes=2, classes=2)


def test_sums_over_the_graphs_of_a_set():
    graphs = small_graphs("mutag")[:2]  # a path of 5 nodes, a ring of 6
    assert graph_set_size(graphs) == GraphSetSize(2, 2, 11, 8 + 12, graphs[0].num_features)
