"""The denoising task: colours mixed by features and matched assignments, products below."""

import io

import numpy as np
import pytest
from matplotlib.collections import PathCollection

from tvgnn.datasets import load_dataset
from tvgnn.errors import GraphError
from tvgnn.report.denoising_figure import denoising_figure, spring_positions
from tvgnn.report.palette import mixed_colors

PLACES = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
LABELS = np.array([0, 2, 1, 0])
NOISY = np.array([[1.4, 0.2, -1.0], [0.0, 0.3, 0.9], [0.1, 0.1, 0.1], [-1.0, -2.0, -0.1]])
SOFT = np.array([[0.1, 0.9, 0.0], [1.0, 0.0, 0.0], [0.0, 0.2, 0.8], [0.0, 1.0, 0.0]])


def colors(axes):
    (points,) = (c for c in axes.collections if isinstance(c, PathCollection))
    return points.get_facecolors()[:, :3]


def panels(figure):
    """By title: the graph and the matrix below it."""
    axes = [a for a in figure.axes if a.collections or a.images]
    graphs = {a.get_title(): a for a in axes if any(isinstance(c, PathCollection) for c in a.collections)}
    columns = len(graphs)
    matrices = [a.images[0].get_array() for a in figure.axes if a.images]
    assert len(matrices) == columns
    return graphs, dict(zip(graphs, matrices, strict=True))


def test_colours_show_communities_noise_and_matched_assignments():
    graphs, _ = panels(denoising_figure(PLACES, [[0], [1]], NOISY, LABELS, {"a": SOFT}))
    assert list(graphs) == ["original", "with noise", "a"]
    np.testing.assert_allclose(colors(graphs["original"]), mixed_colors(np.eye(3)[LABELS]))
    np.testing.assert_allclose(colors(graphs["with noise"]), mixed_colors(NOISY))
    np.testing.assert_allclose(colors(graphs["a"]), mixed_colors(SOFT[:, [1, 2, 0]]))  # columns in communities' order


def test_matrices_are_products_sorted_by_community():
    _, matrices = panels(denoising_figure(PLACES, None, NOISY, LABELS, {"a": SOFT}))
    order = [0, 3, 2, 1]
    truth = np.eye(3)[LABELS][order]
    np.testing.assert_allclose(matrices["original"], truth @ truth.T)
    np.testing.assert_allclose(matrices["with noise"], NOISY[order] @ NOISY[order].T)
    np.testing.assert_allclose(matrices["a"], SOFT[order] @ SOFT[order].T)


def test_clusters_that_no_node_chose_or_that_match_no_community_keep_a_colour_of_their_own():
    soft = np.eye(5)[[4, 4, 4, 0]]
    graphs, _ = panels(denoising_figure(PLACES, None, NOISY, LABELS, {"a": soft, "one": np.ones((4, 1))}))
    shown = {tuple(color) for color in colors(graphs["a"])}
    assert len(shown) == 2
    assert len({tuple(color) for color in colors(graphs["one"])}) == 1


def test_the_task_of_the_paper_is_drawn():
    graph = load_dataset("sbm-denoising")
    ends = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    edges = np.stack([ends, graph.indices])
    places = spring_positions(edges, graph.num_nodes)
    centers = np.stack([places[graph.y == community].mean(axis=0) for community in range(3)])
    nearest = np.linalg.norm(places[:, None] - centers, axis=2).argmin(axis=1)
    assert (nearest == graph.y).mean() > 0.95  # communities are seen as groups
    figure = denoising_figure(places, edges, graph.x, graph.y, {"truth": np.eye(3)[graph.y]})
    graphs, matrices = panels(figure)
    np.testing.assert_array_equal(matrices["truth"], matrices["original"])
    np.testing.assert_array_equal(colors(graphs["truth"]), colors(graphs["original"]))


def test_one_node_is_drawn():
    figure = denoising_figure(spring_positions(None, 1), None, [[0.3]], [0], {"a": [[1.0]]})
    file = io.BytesIO()
    figure.savefig(file, dpi=40)
    assert file.getvalue().startswith(b"\x89PNG")


def test_places_repeat_themselves_and_differ_by_seed():
    edges = [[0, 1, 2], [1, 2, 3]]
    np.testing.assert_array_equal(spring_positions(edges, 5, 1), spring_positions(edges, 5, 1))
    assert (spring_positions(edges, 5, 1) != spring_positions(edges, 5, 2)).any()
    assert spring_positions(None, 0).shape == (0, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"panels": {}}, "at least one entry"),
        ({"positions": PLACES[:, :1]}, r"positions of shape \(N, 2\)"),
        ({"features": NOISY[:2]}, r"features of shape \(4, K\)"),
        ({"labels": [0, 1]}, r"labels of shape \(4,\)"),
        ({"edges": [[0], [9]]}, "between nodes 0 to 3"),
        ({"panels": {"a": SOFT - 1}}, "not negative"),
    ],
)
def test_bad_input_is_explained(change, message):
    given = {"positions": PLACES, "edges": None, "features": NOISY, "labels": LABELS, "panels": {"a": SOFT}}
    with pytest.raises(GraphError, match=message):
        denoising_figure(**(given | change))
