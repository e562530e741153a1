"""The paper's generated graphs."""

import numpy as np
import pytest

from tvgnn.datasets import load_dataset
from tvgnn.datasets.synthetic import grid, ring, sbm_denoising
from tvgnn.errors import DataError


def test_denoising_follows_the_papers_recipe():
    inside, between, noise = [], [], []
    for seed in range(10):
        graph = sbm_denoising(seed)
        assert np.bincount(graph.y).tolist() == [67, 67, 66]
        adjacency = graph.adjacency().toarray()
        same = graph.y[:, None] == graph.y
        inside.append(adjacency[same & ~np.eye(200, dtype=bool)].mean())
        between.append(adjacency[~same].mean())
        noise.append(graph.x - np.eye(3)[graph.y])
    # Standard errors over ten graphs: 0.002, 0.0002, and 0.014 for the standard deviation of 6,000 draws.
    assert np.mean(inside) == pytest.approx(0.3, abs=0.008)
    assert np.mean(between) == pytest.approx(0.005, abs=0.001)
    assert np.std(noise) == pytest.approx(1.5, abs=0.06)
    assert np.mean(noise) == pytest.approx(0, abs=0.08)


def test_seed_decides_the_draw():
    first, again, other = (load_dataset("sbm-denoising", seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(first.x, again.x)
    assert np.array_equal(first.indices, again.indices)
    assert not np.array_equal(first.x, other.x)


def test_without_noise_the_features_are_the_communities():
    assert np.array_equal(sbm_denoising(noise=0).x, np.eye(3)[sbm_denoising(noise=0).y])


def test_ring_is_a_cycle_of_equally_spaced_points():
    graph = ring(12)
    assert np.diff(graph.indptr).tolist() == [2] * 12
    source = np.repeat(np.arange(12), 2)
    lengths = np.linalg.norm(graph.x[source] - graph.x[graph.indices], axis=1)
    assert lengths == pytest.approx(2 * np.sin(np.pi / 12))
    assert np.linalg.norm(graph.x, axis=1) == pytest.approx(1)


@pytest.mark.parametrize(("height", "width"), [(1, 1), (1, 5), (4, 1), (3, 4)])
def test_grid_joins_horizontal_and_vertical_neighbours(height, width):
    graph = grid(height, width)
    assert graph.num_nodes == height * width
    assert graph.num_edges == height * (width - 1) + width * (height - 1)
    source = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    steps = np.abs(graph.x[source] - graph.x[graph.indices]).sum(axis=1)
    assert steps == pytest.approx(1 / max(height - 1, width - 1, 1), rel=1e-5)
    assert graph.x.max() <= 1


@pytest.mark.parametrize("make", [lambda: sbm_denoising(n_nodes=2), lambda: sbm_denoising(noise=-1.0)])
def test_impossible_denoising_tasks_are_refused(make):
    with pytest.raises(DataError, match="n_nodes >= 3 and noise >= 0"):
        make()


def test_impossible_sizes_are_refused():
    with pytest.raises(DataError, match="n_nodes >= 3; got 2"):
        ring(2)
    with pytest.raises(DataError, match="got 0 x 4"):
        grid(0, 4)
