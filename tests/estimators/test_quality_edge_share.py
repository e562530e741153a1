"""Edges that close triangles say less of their own, and a node in a clique relies more on itself."""

from contextlib import nullcontext

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from tvgnn import Graph, TVClustering
from tvgnn.errors import ClusteringWarning
from tvgnn.estimators.quality import edge_use, inputs
from tvgnn.estimators.quality.directions import averaging_matrix, mean_edge_weight, neighborhood_directions
from tvgnn.estimators.quality.edges import _common_neighbors, independent_share, own_share, rewired
from tvgnn.estimators.quality.information import PartitionInformation, edge_information
from tvgnn.graph.adjacency import Adjacency
from tvgnn.models.smoothed_clustering import (
    SmoothedClusteringConfig,
    SmoothedClusteringModel,
    SmoothedView,
    averaging_adjacency,
)
from tvgnn.ops.gtv_step import gtv_step


def cliques(size, number=4, weight=1.0):
    matrix = sp.block_diag([weight * (np.ones((size, size)) - np.eye(size))] * number)
    return Graph.from_scipy(sp.csr_array(matrix))


def random_graph(nodes, edges, seed=0):
    random = np.random.default_rng(seed)
    popular = (nodes * random.random((2, edges)) ** 2).astype(int)
    return Graph.from_edge_index(popular, num_nodes=nodes)


def groups(seed=0, meant=0.8, apart=1.5):
    """Nodes of three classes that are all joined with the members of groups of ten, mostly of their class."""
    random = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], 200)
    edges = []
    for _ in range(150):
        of_one = random.choice(np.flatnonzero(y == random.integers(3)), 10, replace=False)
        members = np.where(random.random(10) < meant, of_one, random.integers(0, 600, 10))
        edges += [(a, b) for a in members for b in members if a < b]
    x = random.normal(0, apart, (3, 40))[y] + random.normal(0, 3, (600, 40))
    return Graph.from_edge_index(np.array(edges).T, num_nodes=600, x=x, y=y)


@pytest.mark.parametrize("size", [3, 4, 6, 13])
@pytest.mark.parametrize("weight", [1.0, 0.25])
def test_edges_of_a_clique_count_as_those_of_triangles(size, weight):
    graph = cliques(size, number=500, weight=weight)
    assert independent_share(graph) == pytest.approx(3 / size, rel=0.02)
    spanning_trees, all_edges = 500 * (size - 1), graph.num_edges
    assert independent_share(graph) == pytest.approx(1.5 * spanning_trees / all_edges, rel=0.02)


@pytest.mark.parametrize(
    "edges", [np.empty((2, 0), int), [[0], [1]], [[0, 1, 2], [1, 2, 3]], [[0] * 5, [1, 2, 3, 4, 5]]]
)
def test_edges_without_triangles_count_in_full(edges):
    assert independent_share(Graph.from_edge_index(np.array(edges), num_nodes=6)) == 1


@pytest.mark.parametrize(("nodes", "edges", "near"), [(60, 500, 1e-6), (400, 30_000, 0.02)])
def test_common_neighbours_of_all_edges_or_a_sample(nodes, edges, near):
    graph = random_graph(nodes, edges)
    adjacency = graph.adjacency()
    common = sp.csr_array(adjacency @ adjacency).multiply(adjacency).sum() / adjacency.nnz
    assert common > 3
    assert _common_neighbors(graph) == pytest.approx(common, rel=near)
    assert _common_neighbors(graph) == _common_neighbors(graph)


def test_triangles_by_chance_between_hubs_are_no_groups():
    hubs = random_graph(500, 12_000)
    assert _common_neighbors(hubs) > 9
    assert independent_share(hubs) > 0.9
    both = Graph.from_scipy(sp.block_diag([hubs.adjacency(), cliques(12, number=2500).adjacency()]))
    assert independent_share(both) == pytest.approx(3 / 12, rel=0.1)
    assert independent_share(both) == independent_share(both)


def test_edges_joined_at_random_keep_degrees_and_no_edge():
    for graph in (cliques(6, number=30), random_graph(2000, 20_000)):
        other = rewired(graph, np.random.RandomState(0))
        assert np.abs(np.diff(other.indptr) - np.diff(graph.indptr)).sum() <= 0.001 * graph.indices.size
        assert (other.adjacency().multiply(graph.adjacency())).nnz < 0.2 * graph.indices.size
    full = Graph.from_scipy(sp.csr_array(np.ones((4, 4)) - np.eye(4)))
    assert rewired(full, np.random.RandomState(0)).num_edges <= 6


@pytest.mark.parametrize(
    ("share", "agreement", "expected"),
    [
        (1.0, 5.0, 0),
        (0.5, None, 0),
        (0.5, 0.0, 0),
        (0.5, -0.2, 0),
        (0.75, 1.0, 1 / 6),
        (0.5, 1.0, 0.5),
        (0.1, 3.0, 0.75),
        (0.1, 1e12, 1.0),
    ],
)
def test_a_node_relies_on_itself_where_edges_are_redundant_and_neighbours_agree(share, agreement, expected):
    assert own_share(share, agreement) == pytest.approx(expected)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_network_and_encoder_average_alike(share):
    graph = random_graph(60, 300)
    loop = mean_edge_weight(graph)
    adjacency = averaging_adjacency(Adjacency.from_graph(graph), loop, share)
    rows = adjacency.rows().numpy(), adjacency.indices.numpy()
    means = averaging_matrix(graph, share).toarray()
    np.testing.assert_allclose(means.sum(1), 1, rtol=1e-6)
    off = sp.coo_array((adjacency.values.numpy(), rows), shape=means.shape).toarray()
    np.testing.assert_allclose(off + np.diag(np.diag(means)), means, rtol=1e-5)
    degrees = np.asarray(graph.adjacency().sum(1)).ravel()
    np.testing.assert_allclose(np.diag(means), (loop + share * degrees) / (loop + (1 + share) * degrees), rtol=1e-5)


def test_a_node_that_counts_alone_has_no_noise_within_its_neighbourhood():
    graph = groups()
    x = graph.x - graph.x.mean(0)
    seen = graph, x, np.eye(40, dtype=np.float32), x.astype(np.float32), 8
    alone = neighborhood_directions(*seen, loop_share=1e6)[-1]
    total = x.T.astype(float) @ x
    ridge = 0.1 * np.trace(total) / 40
    np.testing.assert_allclose(alone.ratios, np.linalg.eigvalsh(total)[::-1][:8] / ridge, rtol=1e-3)
    plain, half = (neighborhood_directions(*seen, loop_share=share)[-1] for share in (0.0, 0.5))
    assert plain.ratios[0] < half.ratios[0] < alone.ratios[0]
    assert np.array_equal(neighborhood_directions(*seen)[-1].weight, plain.weight)


def test_model_smooths_with_its_share():
    torch.manual_seed(0)
    config = SmoothedClusteringConfig(3, 2, (SmoothedView(2, (0.5,), unit_rows=False),), loop_share=0.5)
    model = SmoothedClusteringModel(config)
    path = Adjacency.from_edge_index(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), None, 3)
    x = torch.randn(3, 3)
    expected = gtv_step(x @ model.convs[0].weight, averaging_adjacency(path, 1.0, 0.5), 0.5, 0.5)
    torch.testing.assert_close(model.embed(x, path), expected)
    assert SmoothedClusteringConfig(**config.to_dict()) == config


@pytest.mark.parametrize("share", [-0.1, float("inf"), float("nan")])
def test_refuses_a_share_out_of_range(share):
    with pytest.raises(ValueError, match="expected loop_share to be a number >= 0, got"):
        SmoothedClusteringConfig(3, 2, (SmoothedView(2, (0.5,)),), loop_share=share)


def test_only_a_share_of_the_nats_of_the_edges_counts():
    graph = groups()
    features = graph.x.astype(np.float32)
    whole, part = (PartitionInformation(graph.adjacency(), features, edge_share=share) for share in (1.0, 0.25))
    edges = edge_information(graph.adjacency(), graph.y, 3)
    assert edges > 0
    assert whole.of(graph.y, 3) - part.of(graph.y, 3) == pytest.approx(0.75 * edges)


def test_a_fit_on_groups_records_its_share_and_is_the_same_when_loaded(tmp_path):
    graph = groups()
    model = TVClustering(3, preset="quality", n_init=1, random_state=0).fit(graph)
    share = independent_share(graph)
    assert 0.2 < share < 0.6
    assert model.choices_["edge_share"] == round(share, 4)
    agreement = model.choices_["neighbor_agreement"]
    assert model.model_.config.loop_share == pytest.approx(own_share(share, agreement), abs=1e-3)
    model.save(tmp_path / "model.pt")
    assert np.array_equal(TVClustering.load(tmp_path / "model.pt").predict(graph), model.labels_)


@pytest.mark.parametrize("triangles", [False, True])
def test_a_graph_without_triangles_is_clustered_as_before(monkeypatch, triangles):
    graph = groups()
    if not triangles:  # between odd and even nodes only
        edges = random_graph(600, 4000).adjacency().tocoo()
        odd = (edges.row + edges.col) % 2 == 1
        ends = np.stack([edges.row, edges.col])[:, odd]
        graph = Graph.from_edge_index(ends, num_nodes=600, x=graph.x, y=graph.y)

    def fitted():
        return TVClustering(3, preset="quality", num_layers=2, n_init=1, random_state=0).fit(graph)

    model = fitted()
    monkeypatch.setattr(inputs, "independent_share", lambda graph: 1.0)
    before = fitted()
    assert np.array_equal(model.assignments_, before.assignments_) is not triangles
    assert (model.choices_["edge_share"] == 1) is not triangles


@pytest.mark.parametrize("random_edges", [False, True])
def test_whether_edges_say_anything_is_asked_without_regard_to_triangles(monkeypatch, random_edges):
    graph = groups(apart=4.0)
    if random_edges:  # between hubs, which close triangles too
        graph = Graph.from_scipy(random_graph(600, 6000).adjacency(), x=graph.x, y=graph.y)
    monkeypatch.setattr(edge_use, "_SHARED", np.inf)
    model = TVClustering(3, preset="quality", n_init=1, random_state=0)
    with pytest.warns(ClusteringWarning, match="left aside") if random_edges else nullcontext():
        model.fit(graph)
    assert (model.choices_["edge_share"] == 1) is random_edges  # triangles by chance
    assert model.choices_["over_edges"] is not random_edges
