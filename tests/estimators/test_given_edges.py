"""Edges that are given with weights that are distances."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import StandardScaler

from tvgnn import Graph, TVClustering
from tvgnn.errors import ClusteringWarning
from tvgnn.estimators.given_edges import correlation_with_distance

SMALL = {"preset": "quick", "max_iter": 3, "random_state": 0}


@pytest.fixture(scope="module")
def rows():
    x = make_blobs(200, n_features=6, centers=3, random_state=0)[0]
    return x * [1, 10, 100, 1, 1, 1]


def told(x, adjacency):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        TVClustering(3, **SMALL).fit(x, adjacency=adjacency)
    found = [one for one in seen if "distances" in str(one.message)]
    assert all(one.category is ClusteringWarning and one.filename == __file__ for one in found)
    return [str(one.message) for one in found]


@pytest.mark.parametrize("standardised", [False, True])
def test_distances_as_weights_are_told_of(rows, standardised):
    distances = kneighbors_graph(StandardScaler().fit_transform(rows) if standardised else rows, 8, mode="distance")
    (message,) = told(rows, distances.maximum(distances.T))
    assert "rank correlation 1.00" in message
    assert "1 / (1 + d)" in message


def test_similarities_counts_and_ones_are_not(rows):
    distances = kneighbors_graph(rows, 8, mode="distance")
    distances = sp.csr_array(distances.maximum(distances.T))
    similarities, counts, ones = distances.copy(), distances.copy(), distances.copy()
    similarities.data = 1 / (1 + distances.data)
    counts.data = np.random.default_rng(0).poisson(3, distances.nnz) + 1.0
    ones.data[:] = 1
    for adjacency in (similarities, counts.maximum(counts.T), ones):
        assert told(rows, adjacency) == []


def test_few_edges_and_equal_rows_say_nothing(rows):
    ring = Graph.from_edges(range(40), [*range(1, 40), 0], np.arange(1, 41), x=rows[:40])
    assert correlation_with_distance(ring, lambda x: x) == 0
    ends = np.arange(100)
    same = Graph.from_edges(ends, ends + 100, ends + 1, x=np.ones((200, 2)))
    assert correlation_with_distance(same, lambda x: x) == 0
    huge = Graph.from_edges(ends, ends + 100, ends + 1, x=np.full((200, 2), 3e38) * (-1) ** np.arange(200)[:, None])
    assert correlation_with_distance(huge, lambda x: np.sign(x)) == 0


def test_sparse_features(rows):
    x = sp.random_array((200, 300), density=0.05, rng=np.random.default_rng(0), format="csr")
    distances = kneighbors_graph(x.toarray(), 8, mode="distance")
    assert len(told(x, distances.maximum(distances.T))) == 1
