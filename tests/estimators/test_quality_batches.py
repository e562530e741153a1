"""``batch_size`` of the quality preset: what is estimated from batches stands for the whole graph."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.metrics import adjusted_rand_score
from sparse_blocks import blocks
from topic_graphs import topics
from torch import nn

from tvgnn import Graph, TVClustering
from tvgnn.errors import ClusteringWarning, MemoryLimitError
from tvgnn.estimators.plans import expected_bytes
from tvgnn.estimators.presets import PRESETS
from tvgnn.estimators.quality import candidates, ordering
from tvgnn.estimators.quality.batches import NodeBatches
from tvgnn.estimators.quality.directions import neighborhood_directions, principal_components
from tvgnn.estimators.quality.information import PartitionInformation
from tvgnn.estimators.quality.inputs import FitInputs
from tvgnn.estimators.quality.refinement import refine
from tvgnn.graph.adjacency import Adjacency
from tvgnn.losses import share_balance_loss, total_variation_loss


@pytest.fixture(scope="module")
def graph():
    return topics(nodes=1200, words=80, clusters=4)


@pytest.fixture(scope="module")
def weighted(graph):
    adjacency = graph.adjacency().tocoo()
    weights = 1 + (adjacency.row + adjacency.col) % 7
    alone = sp.csr_array((weights, (adjacency.row, adjacency.col)), shape=(1205, 1205))  # five nodes without edges
    return Graph.from_scipy(alone, x=sp.vstack([graph.x, graph.x[:5]]))


def _random():
    return np.random.RandomState(0)


def _fitted(graph, **options):
    return TVClustering(4, preset="quality", n_init=1, random_state=0, **options).fit(graph)


class TestNodeBatches:
    @pytest.mark.parametrize("kind", ["graph", "weighted"])
    @pytest.mark.parametrize("size", [1, 100])
    def test_a_batch_has_all_edges_of_its_nodes(self, kind, size, request):
        given = request.getfixturevalue(kind)
        nodes, edges = NodeBatches(given, size, _random(), "cpu").draw()
        assert len(np.unique(nodes)) == len(nodes) == edges.num_nodes
        dense = np.zeros((len(nodes), len(nodes)))
        dense[edges.rows(), edges.indices.long()] = edges.weights(torch.float64)
        expected = given.adjacency().toarray()[np.ix_(nodes, nodes)]
        assert np.array_equal(dense[:size], expected[:size])
        assert not dense[size:].any()
        assert set(given.adjacency()[nodes[:size].numpy()].indices) <= set(nodes.tolist())

    def test_draws_differ_and_are_those_of_the_seed(self, graph):
        first, again = (NodeBatches(graph, 50, _random(), "cpu") for _ in range(2))
        draws = [first.draw()[0].tolist() for _ in range(2)]
        assert draws[0] != draws[1]
        assert draws == [again.draw()[0].tolist() for _ in range(2)]

    def test_losses_and_gradients_are_those_of_the_whole_graph_on_average(self, weighted):
        """Of the sum over edges, which batches divide by their own weight."""
        assignments = torch.rand(weighted.num_nodes, 3, dtype=torch.float64).softmax(1).requires_grad_()
        adjacency = Adjacency.from_graph(weighted, torch.float64)
        whole = total_variation_loss(assignments, adjacency) * adjacency.total_weight(torch.float64)
        (expected,) = torch.autograd.grad(whole, assignments)
        batches, size = NodeBatches(weighted, 241, _random(), "cpu"), 241
        found, gradient, draws = 0.0, torch.zeros_like(expected), 400
        for _ in range(draws):
            nodes, edges = batches.draw()
            edges = edges.to(dtype=torch.float64)
            loss = total_variation_loss(assignments[nodes], edges) * edges.total_weight(torch.float64)
            loss = loss * weighted.num_nodes / size / draws
            found += loss.item()
            gradient += torch.autograd.grad(loss, assignments)[0]
        assert found == pytest.approx(whole.item(), rel=0.01)
        assert (gradient - expected).abs().mean() < 0.1 * expected.abs().mean()


class TestParts:
    def test_neighbourhoods_of_all_nodes_in_blocks_give_the_same_directions(self, graph, monkeypatch):
        monkeypatch.setattr("tvgnn.estimators.quality.directions._BLOCK", 100)
        x = graph.x.astype(np.float32)
        basis, reduced = principal_components(x, _random())
        (whole, *_) = neighborhood_directions(graph, x, basis, reduced, 8)
        order = np.random.default_rng(0).permutation(graph.num_nodes)
        (blocked, *_) = neighborhood_directions(graph, x, basis, reduced[order], 8, order)
        assert blocked.ratios == pytest.approx(whole.ratios, rel=1e-4)
        assert blocked.weight == pytest.approx(whole.weight, rel=1e-2, abs=1e-3)

    def test_nats_of_a_batch_stand_for_those_of_all(self, graph):
        random = np.random.default_rng(0)
        x = random.normal(size=(graph.num_nodes, 5)) + graph.y[:, None]
        whole = PartitionInformation(graph.adjacency(), x)
        all_nodes = random.permutation(graph.num_nodes)
        same = PartitionInformation(graph.adjacency(), x[all_nodes], all_nodes).of(graph.y, 4)
        assert same == pytest.approx(whole.of(graph.y, 4), rel=1e-5)
        some = all_nodes[:400]
        part = PartitionInformation(graph.adjacency(), x[some], some)
        told = whole.feature_information(graph.y, 4)
        assert part.feature_information(graph.y, 4) == pytest.approx(told, rel=0.1)

    def test_every_tenth_state_and_the_last_are_judged(self, graph):
        torch.manual_seed(0)
        head, embedding = nn.Linear(6, 4), torch.randn(graph.num_nodes, 6)
        seen = []

        def judge(labels):
            seen.append(len(labels))
            return float(len(seen))

        settings = {"totvar_coeff": 1.0, "balance_coeff": 0.5, "patience": 20, "tol": 0.0, "learning_rate": 0.01}
        batches = NodeBatches(graph, 100, _random(), "cpu")
        adjacency = Adjacency.from_graph(graph)
        losses, judged, kept = refine(head, embedding, adjacency, judge, max_iter=25, batches=batches, **settings)
        assert seen == [graph.num_nodes] * 4
        assert list(judged) == [0, 10, 20, 25]
        assert kept == 25
        assert len(losses) == 26

    @pytest.mark.parametrize("patience", [1, 5, 9, 10])
    def test_a_small_patience_waits_for_the_next_judgement(self, graph, patience):
        torch.manual_seed(0)
        head, embedding = nn.Linear(6, 4), torch.randn(graph.num_nodes, 6)
        settings = {"totvar_coeff": 1.0, "balance_coeff": 0.5, "tol": 0.0, "learning_rate": 0.01}
        batches = NodeBatches(graph, 100, _random(), "cpu")
        judgements = iter([1.0, 2.0, 1.5])
        _, judged, kept = refine(
            head, embedding, Adjacency.from_graph(graph), lambda _: next(judgements), max_iter=100, patience=patience,
            batches=batches, **settings,
        )  # fmt: skip
        assert list(judged) == [0, 10, 20]
        assert kept == 10

    def test_clusters_shall_have_their_share_of_a_batch(self, graph):
        torch.manual_seed(0)
        head, embedding = nn.Linear(6, 4), torch.randn(graph.num_nodes, 6)
        sizes = torch.bincount(head(embedding).argmax(1), minlength=4)
        nodes = NodeBatches(graph, 100, _random(), "cpu").draw()[0][:100]
        scaled = sizes * (100 / graph.num_nodes)
        assert scaled.min() > 1
        expected = share_balance_loss(head(embedding[nodes]).softmax(1), scaled).item()
        losses = refine(
            head, embedding, Adjacency.from_graph(graph), lambda _: 0.0, max_iter=1, patience=1, totvar_coeff=0.0,
            balance_coeff=1.0, tol=0.0, learning_rate=0.01, batches=NodeBatches(graph, 100, _random(), "cpu"),
        )[0]  # fmt: skip
        assert losses[0] == pytest.approx(expected, rel=1e-5)

    @pytest.mark.parametrize("to_the_end", [True, False])
    def test_starts_are_compared_on_a_sample(self, monkeypatch, to_the_end):
        monkeypatch.setattr(candidates, "_SAMPLE", 300)
        random = np.random.RandomState(0)
        centers = 5 * np.eye(4)
        truth = np.arange(2000) % 4
        rows = centers[truth] + random.normal(size=(2000, 4))
        found, labels = candidates.clustered(rows, 4, random, to_the_end=to_the_end)
        assert adjusted_rand_score(truth, labels) > 0.95
        nearest = np.square(rows[:, None] - found).sum(2).argmin(1)
        assert (labels == nearest).mean() > 0.99


class TestFit:
    def test_a_batch_of_all_nodes_is_the_whole_graph(self, graph):
        whole, same = _fitted(graph), _fitted(graph, batch_size=graph.num_nodes)
        assert np.array_equal(whole.assignments_, same.assignments_)
        assert whole.choices_ == same.choices_

    def test_batches_find_nearly_what_the_whole_graph_does(self, monkeypatch):
        graph = blocks(2000, shared=0.7, degree=6, apart=1.5)
        monkeypatch.setattr(candidates, "_SAMPLE", 500)
        options = {"preset": "quality", "n_init": 1, "random_state": 0}
        whole = TVClustering(3, **options).fit(graph)
        batched, again = (TVClustering(3, batch_size=500, **options).fit(graph) for _ in range(2))
        assert np.array_equal(batched.assignments_, again.assignments_)
        assert not np.array_equal(batched.assignments_, whole.assignments_)
        reached = adjusted_rand_score(graph.y, whole.labels_)
        assert 0.5 < reached < 1
        assert adjusted_rand_score(graph.y, batched.labels_) > reached - 0.05
        assert batched.embedding_.shape == whole.embedding_.shape

    @pytest.mark.parametrize("size", [4, 5, 17, 150])
    def test_small_batches_and_weights_and_nodes_alone(self, weighted, size):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = _fitted(weighted, batch_size=size)
        assert np.isfinite(model.assignments_).all()
        assert model.choices_["nats"] >= model.choices_["nats_before_refinement"]
        # as few nodes as clusters do not show them all
        lost = model.n_clusters_found_ < 4
        assert not (lost and size > 10)
        remedy = f"ask for fewer, or take batches of more than {size} nodes"
        assert [remedy in str(warning.message) for warning in caught] == [True] * lost

    def test_no_edges_dense_features(self):
        random = np.random.default_rng(0)
        x = np.repeat(np.eye(4) * 9, 100, axis=0) + random.normal(size=(400, 4))
        model = TVClustering(4, preset="quality", random_state=0, batch_size=80)
        with pytest.warns(ClusteringWarning, match="the graph has no edges"):
            model.fit(x, adjacency=sp.csr_array((400, 400)))
        assert adjusted_rand_score(np.repeat(range(4), 100), model.labels_) > 0.95

    def test_edges_that_say_nothing_are_left_aside(self):
        graph = blocks(600, shared=0.0, degree=6, apart=3)
        options = {"preset": "quality", "random_state": 0, "n_init": 1}
        with pytest.warns(UserWarning, match="left aside"):
            model = TVClustering(3, batch_size=300, **options).fit(graph)
        assert model.choices_["over_edges"] is False

    def test_the_order_of_the_nodes_is_not_told(self, monkeypatch):
        """Large graphs are put into another order first; results are in the caller's."""
        line = sp.diags_array([np.ones(599), np.ones(599)], offsets=[-1, 1], shape=(600, 600))
        y = np.arange(600) // 150
        x = np.eye(4)[y] + np.random.default_rng(0).normal(size=(600, 4))
        order = np.random.default_rng(1).permutation(600)
        moved = Graph.from_scipy(sp.csr_array(line)[order][:, order], x=x[order])
        seen = []
        original = FitInputs.__init__

        def recorded(self, graph, *arguments, **options):
            seen.append(graph)
            original(self, graph, *arguments, **options)

        monkeypatch.setattr(FitInputs, "__init__", recorded)
        monkeypatch.setattr(ordering, "_WORTH_ORDERING", 0)
        model = _fitted(moved)
        far = np.abs(np.diff(seen[0].adjacency().tocoo().coords, axis=0)).max()
        assert far == 1  # a path again
        assert adjusted_rand_score(y[order], model.labels_) > 0.9
        assert np.array_equal(model.predict(moved), model.labels_)


class TestInput:
    @pytest.mark.parametrize("bad", [0, -1, 2.5, "many", True])
    def test_refuses_what_is_no_number_of_nodes(self, graph, bad):
        with pytest.raises(ValueError, match="expected batch_size to be an integer >= 1"):
            _fitted(graph, batch_size=bad)

    def test_refuses_fewer_nodes_than_clusters(self, graph):
        with pytest.raises(ValueError, match="expected batch_size >= n_clusters, got batch_size=3 and n_clusters=4"):
            _fitted(graph, batch_size=3)

    @pytest.mark.parametrize("preset", ["paper", "quick", "released"])
    def test_refused_by_presets_that_train_on_the_whole_graph(self, graph, preset):
        with pytest.raises(ValueError, match=f"preset='{preset}'.*got batch_size; .* or take preset='quality'$"):
            TVClustering(4, preset=preset, batch_size=100).fit(graph)

    def test_a_limit_of_memory_names_batches(self, graph):
        with pytest.raises(MemoryLimitError, match="use a smaller batch_size or hidden_channels or fewer features, or"):
            _fitted(graph, max_memory="1MB")

    def test_is_expected_to_take_less_memory(self):
        random = np.random.default_rng(0)
        wide = sp.random_array((30_000, 1500), density=0.001, rng=random)
        graph = Graph.from_edge_index([[0, 1], [1, 0]], x=wide)
        needed = [
            expected_bytes("quality", graph, 3, PRESETS["quality"] | {"batch_size": size}, "normal", "float32")
            for size in (None, 5_000)
        ]
        assert needed[1] < 0.7 * needed[0]
