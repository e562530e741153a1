"""Spectral clustering: scikit-learn's without regularisation, the rows it keeps, graphs that look like chains."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import SpectralClustering

from tvgnn import Graph
from tvgnn.baselines import BASELINES
from tvgnn.baselines._base import numbered_by_size, seed_from


@pytest.mark.parametrize("regularization", [0, 1])
def test_spectral_keeps_the_rows_given_to_k_means(regularization):
    graph = Graph.from_scipy(sp.block_diag([np.ones((6, 6)), np.ones((9, 9))]))
    fitted = BASELINES["spectral"](2, random_state=0, regularization=regularization).fit(graph)
    assert fitted.embedding_.shape == (15, 2)
    assert len(np.unique(fitted.embedding_.round(6), axis=0)) == 2


def test_spectral_without_regularization_is_scikit_learns():
    joined = sp.lil_array(sp.block_diag([np.ones((6, 6)), np.ones((9, 9)), np.ones((7, 7))]))
    joined[0, 6] = joined[6, 0] = joined[14, 15] = joined[15, 14] = 1
    graph = Graph.from_scipy(joined)
    for seed in range(3):
        fitted = BASELINES["spectral"](4, random_state=seed, regularization=0).fit(graph)
        theirs = SpectralClustering(
            4, affinity="precomputed", random_state=seed_from(np.random.RandomState(seed))
        ).fit_predict(sp.csr_matrix(graph.adjacency().astype(np.float64)))
        assert (fitted.labels_ == numbered_by_size(theirs)).all()
    assert BASELINES["spectral"](22, random_state=0, regularization=0).fit(graph).embedding_.shape == (22, 22)


@pytest.mark.parametrize("nodes", [3000, 20_000])
def test_spectral_cuts_long_rings_into_arcs(nodes):
    ring = np.arange(nodes)
    labels = BASELINES["spectral"](5, random_state=0).fit(Graph.from_edges(ring, (ring + 1) % nodes)).labels_
    assert (labels != np.roll(labels, 1)).sum() == 5  # each cluster is one arc
    assert np.bincount(labels).min() > nodes / 8
