"""Partitions in the plane: colours, paleness, edges and the curves of the largest assignment."""

import io

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_rgb

from tvgnn.datasets import load_dataset
from tvgnn.errors import GraphError
from tvgnn.report.palette import color_of
from tvgnn.report.ring_grid_figure import graph_partition_figure

PLACES = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
SOFT = np.array([[1.0, 0.0], [0.4, 0.6], [0.0, 1.0], [0.5, 0.5]])


def nodes(axes):
    (points,) = (c for c in axes.collections if isinstance(c, PathCollection))
    return points


def test_a_node_has_the_colour_of_its_cluster_and_is_paler_the_smaller_its_assignment():
    top, _ = graph_partition_figure({"a": (PLACES, None, SOFT)}).axes
    np.testing.assert_array_equal(nodes(top).get_offsets(), PLACES)
    first, second = np.array(to_rgb(color_of(0))), np.array(to_rgb(color_of(1)))
    expected = [first, 1 - 0.6 * (1 - second), second, 1 - 0.5 * (1 - first)]
    np.testing.assert_allclose(nodes(top).get_facecolors()[:, :3], expected)


def test_curves_are_the_largest_assignments_sorted_or_in_order():
    panels = {"a": (PLACES, None, SOFT)}
    largest = {"sorted": [0.5, 0.6, 1, 1], "order": [1, 0.6, 1, 0.5]}
    for curve, expected in largest.items():
        _, bottom = graph_partition_figure(panels, curve=curve).axes
        assert bottom.lines[0].get_ydata().tolist() == expected
        assert bottom.get_ylim() == (0, 1.05)  # the same in every panel


def test_edges_join_their_nodes_and_each_cluster_has_its_number():
    top, _ = graph_partition_figure({"a": (PLACES, [[0, 1], [1, 2]], SOFT)}).axes
    (edges,) = (c for c in top.collections if isinstance(c, LineCollection))
    assert [segment.tolist() for segment in edges.get_segments()] == [PLACES[:2].tolist(), PLACES[1:3].tolist()]
    assert [text.get_text() for text in top.texts] == ["0", "1"]
    assert all(text.xy in PLACES for text in top.texts)


def test_the_datasets_of_the_paper_are_drawn_with_all_edges():
    for name, k in (("ring", 5), ("grid", 10)):
        graph = load_dataset(name)
        ends = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
        soft = np.eye(k)[np.arange(graph.num_nodes) * k // graph.num_nodes]
        top, bottom = graph_partition_figure({name: (graph.x, [ends, graph.indices], soft)}).axes
        (edges,) = (c for c in top.collections if isinstance(c, LineCollection))
        assert len(edges.get_segments()) == graph.num_edges
        assert set(bottom.lines[0].get_ydata()) == {1}


@pytest.mark.parametrize(("n", "k", "panels"), [(1, 1, 1), (3, 12, 2), (40, 25, 5)])
def test_every_size_is_drawn(n, k, panels):
    rng = np.random.default_rng(0)
    figure = graph_partition_figure(
        {f"method {i}": (rng.normal(size=(n, 2)), [[], []], rng.dirichlet(np.ones(k), n)) for i in range(panels)}
    )
    assert len(figure.axes) == 2 * panels
    file = io.BytesIO()
    figure.savefig(file, dpi=40)
    assert file.getvalue().startswith(b"\x89PNG")


def test_the_eleventh_cluster_has_another_marker():
    top, _ = graph_partition_figure({"a": (PLACES[:2], None, np.eye(11)[[0, 10]])}).axes
    circle, square = (c for c in top.collections if isinstance(c, PathCollection))
    assert (circle.get_facecolors() == square.get_facecolors()).all()
    assert circle.get_paths()[0].vertices.shape != square.get_paths()[0].vertices.shape


@pytest.mark.parametrize(
    ("panels", "message"),
    [
        ({}, "at least one entry"),
        ({"a": (np.eye(3), None, SOFT)}, r"positions of 'a' of shape \(N, 2\)"),
        ({"a": (PLACES, None, SOFT[:3])}, r"assignments of 'a' of shape \(4, K\)"),
        ({"a": (PLACES, [[0], [4]], SOFT)}, "between nodes 0 to 3"),
        ({"a": (PLACES, None, -SOFT)}, "not negative"),
    ],
)
def test_bad_input_is_explained(panels, message):
    with pytest.raises(GraphError, match=message):
        graph_partition_figure(panels)


def test_an_unknown_curve_is_refused():
    with pytest.raises(ValueError, match="expected curve to be 'sorted' or 'order', got 'up'"):
        graph_partition_figure({"a": (PLACES, None, SOFT)}, curve="up")
