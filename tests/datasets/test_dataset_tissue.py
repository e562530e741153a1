"""The simulated tissue: contiguous domains, which features alone do not show."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.spatial import Delaunay
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from tvgnn.datasets import simulate_tissue
from tvgnn.errors import DataError


@pytest.mark.parametrize("seed", range(4))
def test_every_domain_is_one_region(seed):
    tissue = simulate_tissue(2000, seed=seed)
    triangles = Delaunay(tissue.positions).simplices
    source, target = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]).T
    inside = tissue.domains[source] == tissue.domains[target]
    graph = sp.coo_array((np.ones(inside.sum()), (source[inside], target[inside])), shape=(2000, 2000))
    assert connected_components(graph, directed=False)[0] == 12
    assert np.bincount(tissue.domains, minlength=12).min() > 0


def test_features_show_types_and_not_domains():
    tissue = simulate_tissue(3000)
    labels = KMeans(12, n_init=2, random_state=0).fit_predict(tissue.x)
    assert adjusted_rand_score(tissue.domains, labels) < 0.5
    assert adjusted_rand_score(tissue.domains, labels) < adjusted_rand_score(tissue.types, labels)


def test_recipe_of_the_features():
    tissue = simulate_tissue(4000, noise=0.5, n_types=6)
    means = np.array([tissue.x[tissue.types == kind].mean(axis=0) for kind in range(6)])
    assert means.std() == pytest.approx(1, abs=0.15)  # 300 draws
    assert (tissue.x - means[tissue.types]).std() == pytest.approx(0.5, abs=0.01)
    assert tissue.positions.min() >= 0
    assert tissue.positions.max() <= 10 * np.sqrt(4000)


def test_seed_decides_the_draw():
    first, again, other = (simulate_tissue(500, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(first.x, again.x)
    assert np.array_equal(first.domains, again.domains)
    assert not np.array_equal(first.positions, other.positions)


def test_graph_and_anndata_hold_the_same_cells():
    tissue = simulate_tissue(200, n_features=4, n_domains=3)
    graph, adata = tissue.graph(n_neighbors=5), tissue.to_anndata()
    assert (graph.num_nodes, graph.num_features, graph.num_classes) == (200, 4, 3)
    assert np.array_equal(graph.x, adata.X)
    assert np.array_equal(adata.obsm["spatial"], tissue.positions)
    assert adata.obs["domain"].tolist() == [f"domain {i}" for i in tissue.domains]


@pytest.mark.parametrize("sizes", [{"n_cells": 2}, {"n_cells": 5}, {"n_features": 0}, {"noise": -1.0}, {"n_types": 0}])
def test_impossible_tissues_are_refused(sizes):
    with pytest.raises(DataError, match="a tissue needs"):
        simulate_tissue(**sizes)
