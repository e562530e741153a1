import numpy as np
import pytest
from benchmarks.quality.graphs import Problem, block_graph, problem, tissue
from benchmarks.quality.matched import Margins, matched_settings, simulate_like
from benchmarks.quality.matching import difference, search, statistics
from benchmarks.quality.simulated import CitationSettings, simulate_citations
from benchmarks.quality.tables import table
from benchmarks.quality.variants import VARIANTS, fitted

from tvgnn import Graph
from tvgnn.errors import DataError


def share_of_edges_within_classes(graph):
    adjacency = graph.adjacency().tocoo()
    return np.mean(graph.y[adjacency.row] == graph.y[adjacency.col])


@pytest.mark.parametrize("number", range(6))
def test_simulated_citations_resemble_the_real_ones(number):
    settings = CitationSettings.draw(number)
    graph = simulate_citations(settings, seed=number)
    assert graph.num_nodes == settings.nodes
    assert graph.num_features == settings.words
    assert graph.num_classes == settings.classes
    assert 0.5 < share_of_edges_within_classes(graph) < 0.95
    degrees = np.diff(graph.indptr)
    assert degrees.mean() == pytest.approx(settings.degree, rel=0.25)
    assert degrees.max() > 5 * degrees.mean()
    assert graph.x.nnz / graph.num_nodes < 2 * settings.length
    assert (graph.x.data == 1).all() == (settings.kind == "binary")


def test_simulated_citations_depend_on_the_seed_only():
    settings = CitationSettings.draw(0)
    one, same, other = (simulate_citations(settings, seed) for seed in (0, 0, 1))
    assert np.array_equal(one.indices, same.indices)
    assert np.array_equal(one.x.data, same.x.data)
    assert not np.array_equal(one.y, other.y)


@pytest.mark.parametrize("draw", [block_graph, tissue])
def test_features_and_edges_both_carry_the_classes(draw):
    graph = draw(0)
    assert share_of_edges_within_classes(graph) > 1.5 / graph.num_classes
    means = np.stack([graph.x[graph.y == k].mean(0) for k in range(graph.num_classes)])
    assert means.std(0).max() > 0.1


def test_graphs_without_classes_get_the_clusters_of_the_paper():
    assert (problem("ring", 0).n_clusters, problem("grid", 0).n_clusters) == (5, 10)
    assert problem("blocks", 0).n_clusters == 6
    with pytest.raises(DataError, match="unknown dataset"):
        problem("citations-x", 0)


def test_a_variant_replaces_its_part_and_puts_it_back():
    given = Problem(block_graph(0, nodes=200, classes=3), 3)
    before = fitted("one run", given, 0)
    means = fitted("means (GCN) for GTV steps", given, 0)
    unrefined = fitted("without refinement", given, 0)
    assert fitted("one run", given, 0)["nats"] == before["nats"]
    assert means["views"][0]["nats_kmeans"] != before["views"][0]["nats_kmeans"]
    assert (unrefined["refinement_steps"], unrefined["nats"]) == (0, unrefined["nats_before_refinement"])
    assert all(view["nats"] == view["nats_kmeans"] for view in unrefined["views"])


def test_table_averages_and_names_what_is_missing():
    records = [
        {"graph": "citations-0", "variant": "recipe", "nmi": 0.5, "acc": 0.7, "nats": 10.0},
        {"graph": "citations-1", "variant": "recipe", "nmi": 0.7, "acc": 0.9, "nats": 20.0},
        {"graph": "ring", "variant": "one run", "modularity": 0.25},
    ]
    assert table(records).splitlines()[2:] == [
        "| recipe | 0.600 / 80.0, 15 | - |",
        "| one run | - | modularity 0.250 |",
    ]
    assert "recipe" in VARIANTS


def margins(nodes=300, words=120, classes=4):
    random = np.random.default_rng(0)
    degrees, frequency = random.integers(1, 9, nodes), np.linspace(60, 2, words)
    return Margins(nodes, classes, int(degrees.sum()) // 2, degrees, random.integers(5, 20, nodes), frequency)


@pytest.mark.parametrize("name", ["cora", "citeseer"])
def test_networks_like_a_given_one_have_its_margins_and_carry_classes(name):
    settings = matched_settings(name)
    assert len(settings) == 24
    for one in settings:
        assert one.l0 + one.l1 + one.l2 + one.l3 == pytest.approx(1)
    given = margins()
    graph = simulate_like(given, settings[0], seed=0, stray=0.0)
    assert graph.num_nodes == 300
    assert graph.num_edges == pytest.approx(given.edges, rel=0.25)  # fewer, as drawn edges may be equal
    assert set(graph.x.data) == {1.0}
    assert np.diff(graph.x.indptr).mean() == pytest.approx(given.lengths.mean(), rel=0.25)
    assert share_of_edges_within_classes(graph) > 0.5
    same = simulate_like(given, settings[0], seed=0, stray=0.0)
    assert np.array_equal(same.indices, graph.indices)
    assert np.array_equal(same.x.indices, graph.x.indices)


def test_strays_are_filed_elsewhere_and_change_nothing_else():
    given, (settings, *_) = margins(), matched_settings("cora")
    true, filed = (simulate_like(given, settings, seed=1, stray=share) for share in (0.0, 0.4))
    assert np.array_equal(true.indices, filed.indices)
    assert (true.y != filed.y).mean() == pytest.approx(0.4 * 3 / 4, abs=0.1)


def test_a_number_beyond_the_settings_is_refused():
    with pytest.raises(DataError, match="a number below 24"):
        problem("like-cora-24", 0)


def test_matching_comes_nearer_to_a_network_it_does_not_know():
    random = np.random.default_rng(0)
    given, (settings, *_) = margins(nodes=400, words=300), matched_settings("cora")
    graph = simulate_like(given, settings, seed=5)
    unlabelled = Graph.from_scipy(graph.adjacency(), x=graph.x)
    assert difference(statistics(graph, 4), statistics(unlabelled, 4)) == 0
    found = search(unlabelled, 4, [], 4, random)
    assert [value for value, _ in found] == sorted(value for value, _ in found)
    again = simulate_like(given, settings, seed=6)
    assert difference(statistics(again, 4), statistics(unlabelled, 4)) < found[0][0]
    parents = [(value, settings) for value, settings in found * 20]
    further = search(unlabelled, 4, parents, 2, random)
    assert len(further) == len(parents) + 2
    assert all(sum((one.l0, one.l1, one.l2, one.l3)) == pytest.approx(1) for _, one in further)
