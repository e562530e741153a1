"""Clusters in one direction from the mean, and at the mean: lengths of rows tell them apart."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import adjusted_rand_score

from tvgnn import Graph, TVClustering
from tvgnn.estimators.quality.preparation import have_lengths

QUALITY = {"preset": "quality", "n_init": 1, "random_state": 0}


def levels(columns, clusters, seed=0):
    """Low, middle and high in every column, and edges to the nearest in a place of their own."""
    random = np.random.default_rng(seed)
    y = np.repeat(np.arange(clusters), 50)
    x = 3 * y[:, None] + random.normal(size=(y.size, columns))
    place = random.random((y.size, 2)) + np.c_[y, 0 * y]
    return Graph.from_scipy(Graph.from_features(place, 6).adjacency(), x=x, y=y)


@pytest.mark.parametrize("columns", [3, 5, 12])
@pytest.mark.parametrize("clusters", [3, 5])
def test_levels_are_told_apart_in_any_number_of_columns(columns, clusters):
    graph = levels(columns, clusters)
    model = TVClustering(clusters, **QUALITY).fit(graph)
    assert adjusted_rand_score(graph.y, model.labels_) > 0.95
    assert not all(view["unit_rows"] for view in model.choices_["views"])
    for view in model.choices_["views"]:
        assert view["nats_by_steps"][str(view["smoothing_steps"])] == pytest.approx(view["nats_kmeans"], rel=1e-3)
    np.testing.assert_array_equal(model.predict(graph), model.labels_)


def test_directions_stay_where_lengths_say_hardly_more():
    random = np.random.default_rng(0)
    y = np.repeat([0, 1, 2, 3], 60)
    x = 1.5 * random.normal(size=(4, 10))[y] + random.normal(size=(240, 10))
    place = random.random((240, 2)) + np.c_[y, 0 * y]
    model = TVClustering(4, **QUALITY).fit(x, adjacency=Graph.from_features(place, 6).adjacency())
    assert all(view["unit_rows"] for view in model.choices_["views"])


def test_which_rows_have_lengths():
    x = np.random.default_rng(0).normal(size=(20, 5)).astype(np.float32)
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    unit[3] = 0
    assert [have_lengths(rows) for rows in (x, unit, np.zeros((3, 4)))] == [True, False, False]
    assert [have_lengths(sp.csr_array(rows)) for rows in (x, unit, np.zeros((3, 4)))] == [True, False, False]
