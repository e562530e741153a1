"""Bench-easy and Bench-hard as they are drawn."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.neighbors import kneighbors_graph

from tvgnn.datasets import bench, dataset_split, list_datasets, load_dataset
from tvgnn.datasets.bench import BENCH_SETS, generate_bench
from tvgnn.datasets.bench_file import read_bench

SMALL = ["bench-easy-small", "bench-hard-small"]


def block_shares(graphs, label):
    """Return the share of edges between each two of the three clouds, over all graphs of a class."""
    counts = np.zeros((3, 3))
    for graph in graphs:
        if graph.label == label:
            cloud = np.minimum(graph.x.argmax(axis=1) // 2, 2)
            source = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
            np.add.at(counts, (cloud[source], cloud[graph.indices]), 1)
    return counts / counts.sum()


@pytest.mark.parametrize(
    ("name", "nodes", "edges"),
    [
        ("bench-easy", 147.82, 922.66),
        ("bench-hard", 148.32, 572.32),
        ("bench-easy-small", 58.25, 358.8),
        ("bench-hard-small", 58.64, 224.9),
    ],
)
def test_averages_are_the_published_ones(name, nodes, edges, monkeypatch):
    monkeypatch.setitem(BENCH_SETS, name, replace(BENCH_SETS[name], graphs_per_class=100))  # 1800 graphs take seconds
    graphs = generate_bench(name)
    sizes = np.array([graph.num_nodes for graph in graphs])
    entries = np.array([2 * graph.num_edges for graph in graphs])
    # Sizes are uniform: their standard deviation is (most - fewest) / sqrt(12), that of the mean of 300 graphs 1.7
    # (small: 0.67). Of two means the difference has sqrt(2) times that; four of those never fail by chance.
    recipe = BENCH_SETS[name]
    deviation = (recipe.most - recipe.fewest) / np.sqrt(12 * len(graphs)) * np.sqrt(2)
    assert sizes.mean() == pytest.approx(nodes, abs=4 * deviation)
    assert entries.mean() == pytest.approx(edges, abs=4 * deviation * edges / nodes)
    # Entries per node hardly depend on the size: their standard error over 300 graphs is below 0.01.
    assert entries.sum() / sizes.sum() == pytest.approx(edges / nodes, abs=4 * np.sqrt(2) * 0.01)


@pytest.mark.parametrize("name", SMALL)
def test_classes_features_and_records(name):
    graphs = load_dataset(name)
    assert np.bincount([graph.label for graph in graphs]).tolist() == [100, 100, 100]
    assert np.bincount([graph.label for graph in graphs[:30]]).tolist() == [10, 10, 10]
    for graph in graphs:
        third = graph.num_nodes // 3
        half = (third + 1) // 2
        assert graph.num_nodes == 3 * third
        assert graph.x.dtype == np.float32
        assert (graph.x.sum(axis=1) == 1).all()
        assert graph.x.sum(axis=0)[[0, 1, 4]].tolist() == [third // 2, half, third]
        assert graph.report.notes == ("generated, seed 0",)
        assert not graph.report.was_directed
    info = next(info for info in list_datasets() if info.name == name)
    assert (info.graphs, info.features, info.classes) == (300, 5, 3)
    assert info.nodes == sum(graph.num_nodes for graph in graphs)
    assert info.edges == sum(graph.num_edges for graph in graphs)
    assert info.embedded


def test_seed_decides_the_draw():
    first, again, other = (load_dataset("Bench-Hard-Small", seed=seed) for seed in (3, 3, 4))
    assert all(np.array_equal(a.indices, b.indices) for a, b in zip(first, again, strict=True))
    assert [graph.num_nodes for graph in first] != [graph.num_nodes for graph in other]
    assert first[0].report.notes == ("generated, seed 3",)
    assert dataset_split("bench-hard-small") is None


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.real_data("bench/easy_small.npz", "bench/hard_small.npz")
def test_clouds_are_arranged_as_in_the_published_file(name, mirror):
    published, _ = read_bench(mirror / BENCH_SETS[name].file)
    drawn = generate_bench(name)
    for label in range(3):
        expected = block_shares(published, label)
        # Between clouds the classes differ by 0.01 to 0.05; between draws of 100 graphs a share varies by 0.004.
        assert np.abs(block_shares(drawn, label) - expected).max() < 0.012


def test_neighbors_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    for label in (0, 1, 2):
        points, _ = bench._draw_points(BENCH_SETS["bench-easy"], label, rng)
        found = np.zeros((len(points), len(points)))
        np.put_along_axis(found, bench._neighbors(points, 5), 1, axis=1)
        assert np.array_equal(found, kneighbors_graph(points, 5).toarray())
        assert points.max(axis=0).tolist() == [1, 1]
