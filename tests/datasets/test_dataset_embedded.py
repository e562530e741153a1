"""Digits and photographs that scikit-learn installs."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_sample_image

from tvgnn.datasets import image_graph, load_dataset
from tvgnn.datasets.embedded import digits
from tvgnn.errors import DataError


def test_digits_join_each_image_to_its_nearest():
    graph, data = load_dataset("digits"), load_digits()
    assert np.array_equal(graph.y, data.target)
    assert np.array_equal(graph.x * 16, data.data)
    assert not graph.is_weighted
    assert np.diff(graph.indptr).min() >= 15
    edges = {(i, int(j)) for i in range(1797) for j in graph.indices[graph.indptr[i] : graph.indptr[i + 1]]}
    for i in (0, 7, 1796):
        squared = np.square(data.data - data.data[i]).sum(axis=1)
        ranked = sorted((distance, j) for j, distance in enumerate(squared) if j != i)
        assert all((i, j) in edges for _, j in ranked[:15])
    assert graph.num_edges <= 15 * 1797


@pytest.mark.parametrize("n_neighbors", [0, 1797])
def test_impossible_numbers_of_neighbours_are_refused(n_neighbors):
    with pytest.raises(DataError, match=f"got {n_neighbors}"):
        digits(n_neighbors)


@pytest.mark.parametrize("name", ["china", "flower"])
def test_photographs_keep_colour_and_place(name):
    graph, image = load_dataset(name), load_sample_image(f"{name}.jpg")
    assert graph.num_edges == 427 * 639 + 426 * 640
    assert not graph.is_weighted
    row, column = 100, 250
    node = row * 640 + column
    assert graph.x[node] == pytest.approx([*(image[row, column] / 255), row / 639, column / 639], abs=1e-6)
    neighbours = graph.indices[graph.indptr[node] : graph.indptr[node + 1]].tolist()
    assert neighbours == [node - 640, node - 1, node + 1, node + 640]


def test_colour_weights():
    image = np.zeros((1, 3, 3), dtype=np.uint8)
    image[0, 2] = 51  # 0.2 in each colour
    graph = image_graph(image, color_scale=0.2)
    assert graph.is_weighted
    assert graph.weights == pytest.approx([1, 1, np.exp(-1.5), np.exp(-1.5)])


def test_edges_whose_weight_underflows_are_dropped():
    image = np.array([[[0, 0, 0], [255, 255, 255], [255, 255, 255]]], dtype=np.uint8)
    assert image_graph(image, color_scale=1e-3).num_edges == 1


@pytest.mark.parametrize(
    "image",
    [np.zeros((4, 4), np.uint8), np.zeros((4, 4, 4), np.uint8), np.zeros((0, 4, 3), np.uint8), np.zeros((4, 4, 3))],
    ids=["grey", "with alpha", "empty", "float"],
)
def test_other_images_are_refused(image):
    with pytest.raises(DataError, match=r"\(height, width, 3\) array of uint8; got shape"):
        image_graph(image)


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan")])
def test_colour_scale_must_be_positive(scale):
    with pytest.raises(DataError, match="color_scale must be positive"):
        image_graph(np.zeros((2, 2, 3), np.uint8), color_scale=scale)
