"""A small network that was fitted once for the tests of a file."""

import pytest
from cliques import small
from sklearn.datasets import make_blobs


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(60, n_features=3, centers=3, cluster_std=0.5, random_state=0)[0]


@pytest.fixture(scope="module")
def fitted(blobs):
    return small(3, n_neighbors=5).fit(blobs)
