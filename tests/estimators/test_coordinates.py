"""Columns that are places, which edges join what is near in."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import normalized_mutual_info_score
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import StandardScaler

from tvgnn import Graph, TVClustering
from tvgnn.errors import DataError
from tvgnn.estimators.coordinates import coordinate_columns
from tvgnn.estimators.inputs import joined
from tvgnn.estimators.plans import prepare

QUALITY = {"preset": "quality", "n_init": 1, "random_state": 0}


def places(nodes=500, seed=0, metres=1000.0):
    """Nodes joined to the nearest in space; classes of three regions each, measurements of the class, and the place."""
    random = np.random.default_rng(seed)
    position = random.random((nodes, 2))
    centres = random.random((9, 2))
    y = np.square(position[:, None] - centres).sum(2).argmin(1) % 3
    measured = random.normal(size=(3, 4))[y] * 0.8 + random.normal(size=(nodes, 4))
    adjacency = kneighbors_graph(position, 7)
    return Graph.from_scipy(adjacency, x=np.hstack([measured, metres * position]), y=y)


@pytest.mark.parametrize("metres", [1e-3, 1.0, 1e5])
def test_places_are_found_whatever_their_unit(metres):
    assert coordinate_columns(places(metres=metres)) == [4, 5]


def test_places_that_are_given_twice():
    given = places()
    degrees = given.x[:, 4:] * [1e-5, 2e-5] + [13.3, 52.5]
    assert coordinate_columns(given.with_features(np.hstack([degrees, given.x]))) == [0, 1, 6, 7]


def test_a_line_a_grid_and_three_dimensions():
    random = np.random.default_rng(0)
    time = np.arange(200.0)
    signal = np.sin(time / 9)[:, None] + random.normal(size=(200, 3))
    line = Graph.from_edges(range(199), range(1, 200), x=np.hstack([time[:, None], signal]))
    assert coordinate_columns(line) == [0]
    rows, columns = (part.ravel() for part in np.mgrid[:15, :20])
    right, below = np.flatnonzero(columns < 19), np.flatnonzero(rows < 14)
    ends = np.hstack([[right, right + 1], [below, below + 20]])
    colour = (columns > 9)[:, None] + random.normal(size=(300, 3))
    picture = Graph.from_edge_index(ends, x=np.column_stack([rows, colour, columns]))
    assert coordinate_columns(picture) == [0, 4]
    position = random.random((600, 3))
    solid = Graph.from_scipy(kneighbors_graph(position, 8), x=np.hstack([position, (position > 0.5) + position * 0]))
    assert coordinate_columns(solid) == [0, 1, 2]


def test_what_is_no_place():
    random = np.random.default_rng(0)
    x = random.normal(size=(300, 5)) + 3 * random.normal(size=(4, 5))[np.arange(300) % 4]
    nearest = kneighbors_graph(StandardScaler().fit_transform(x), 8)
    assert coordinate_columns(Graph.from_scipy(nearest, x=x)) == []  # of all columns
    given = places()
    assert coordinate_columns(given.with_features(given.x[:, 4:])) == []  # nothing would be left
    noise = np.hstack([random.normal(size=(500, 3)), given.x[:, 4:]])
    assert coordinate_columns(given.with_features(noise)) == []  # others say nothing that neighbours share
    smooth = given.x[:, :4] + np.sin(given.x[:, 4:5] / 150)
    assert coordinate_columns(given.with_features(smooth)) == []  # a field, which does not tell who is near
    assert coordinate_columns(given.with_features(sp.csr_array(given.x))) == []
    assert coordinate_columns(places(nodes=49)) == []
    constant = np.hstack([np.ones((500, 2)), given.x])
    assert coordinate_columns(given.with_features(constant)) == [6, 7]
    hub = Graph.from_edges(np.zeros(299, int), range(1, 300), x=x)
    assert coordinate_columns(hub) == []


@pytest.mark.parametrize("columns", [2, 3, 4, 6])
@pytest.mark.parametrize("kind", ["normal", "heavy tails", "embeddings"])
def test_neighbours_that_the_preset_found_in_all_columns_are_no_places(columns, kind):
    random = np.random.default_rng(columns)
    x = random.normal(size=(400, columns)) + 2 * random.normal(size=(5, columns))[np.arange(400) % 5]
    x = np.exp(3 * x) if kind == "heavy tails" else x
    x = random.normal(size=(400, 40)) * 0.3 + x @ random.normal(size=(columns, 40)) if kind == "embeddings" else x
    graph = joined(Graph.from_edge_index(np.empty((2, 0), int), x=x), {"preset": "quality"})
    assert graph.num_edges
    assert prepare("quality", graph, "auto").left_out == []


def test_they_count_once_as_edges(tmp_path):
    graph = places(1200)
    model = TVClustering(3, **QUALITY).fit(graph)
    assert model.choices_["coordinates"] == [4, 5]
    assert model.feature_norm_ == "standardize"
    without = TVClustering(3, **QUALITY).fit(graph.with_features(graph.x[:, :4]))
    found, expected = (normalized_mutual_info_score(graph.y, one.labels_) for one in (model, without))
    kept = TVClustering(3, feature_norm="standardize", **QUALITY).fit(graph)
    assert kept.choices_["coordinates"] == []
    assert found == pytest.approx(expected, abs=0.02)
    assert found > normalized_mutual_info_score(graph.y, kept.labels_) + 0.2
    model.save(tmp_path)
    loaded = TVClustering.load(tmp_path)
    assert loaded.feature_scaling_.left_out == [4, 5]
    other = places(700, seed=1)
    np.testing.assert_array_equal(loaded.predict(other), model.predict(other))
    moved = other.with_features(other.x + np.array([0, 0, 0, 0, 1e4, -1e4]))
    np.testing.assert_array_equal(model.predict(moved), model.predict(other))


def test_new_rows_are_joined_to_what_is_near():
    """Without measurements of their own, which say little, they belong to their neighbourhood."""
    random = np.random.default_rng(0)
    position = random.random((800, 2))
    y = (position[:, 0] > 0.5).astype(int)
    x = np.hstack([1.5 * (2 * y - 1)[:, None] + random.normal(size=(800, 3)), position])
    model = TVClustering(2, **QUALITY).fit(Graph.from_scipy(kneighbors_graph(position, 7), x=x, y=y))
    assert model.choices_["coordinates"] == [3, 4]
    left, right = (
        model.predict(x[np.argmin(position[:, 0])][None])[0],
        model.predict(x[np.argmax(position[:, 0])][None])[0],
    )
    assert left != right
    unmeasured = np.zeros((40, 3)) + random.normal(size=(40, 3)) * 0.1
    place = np.column_stack([np.r_[np.linspace(0, 0.4, 20), np.linspace(0.6, 1, 20)], random.random(40)])
    found = model.predict(np.hstack([unmeasured, place]))
    assert (found == np.repeat([left, right], 20)).mean() > 0.9


def test_the_rest_decides_how_it_is_prepared():
    graph = places()
    counts = np.random.default_rng(0).poisson(np.exp(1 + 0.5 * graph.x[:, :4] @ np.ones((4, 40)) / 4))
    model = TVClustering(3, **QUALITY).fit(graph.with_features(np.hstack([counts, graph.x[:, 4:] - 500])))
    assert model.choices_["coordinates"] == [40, 41]
    assert model.feature_norm_ == TVClustering(3, **QUALITY).fit(graph.with_features(counts)).feature_norm_


def test_a_damaged_mask_is_refused(tmp_path):
    import safetensors.torch

    TVClustering(3, **QUALITY).fit(places()).save(tmp_path)
    arrays = safetensors.torch.load_file(tmp_path / "model.safetensors")
    arrays["scaling.kept"] = arrays["scaling.kept"].float()
    safetensors.torch.save_file(arrays, tmp_path / "model.safetensors")
    with pytest.raises(DataError, match=r"scaling\.kept"):
        TVClustering.load(tmp_path)


@pytest.mark.parametrize("stretch", [(1, 1), (1000, 1), (1, 1000)])
def test_new_rows_are_near_in_the_places_that_edges_were_made_of(stretch):
    random = np.random.default_rng(1)
    position, added = random.random((400, 2)), random.random((200, 2))
    y = (position[:, 1] > 0.5).astype(int)
    measured = y[:, None] + 0.3 * random.normal(size=(400, 3))
    adjacency = kneighbors_graph(position, 6)
    model = TVClustering(2, **QUALITY).fit(np.hstack([measured, position * stretch]), adjacency=adjacency)
    assert model.choices_["coordinates"] == [3, 4]
    unknown = np.hstack([0.5 + 0.3 * random.normal(size=(200, 3)), added * stretch])  # so that edges decide
    upper = np.bincount(model.labels_[y == 1], minlength=2).argmax()
    assert np.mean((model.predict(unknown) == upper) == (added[:, 1] > 0.5)) > 0.8
