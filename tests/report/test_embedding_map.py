"""Maps of embeddings: points and colours of what is drawn, and UMAP at awkward sizes and without its package."""

import io
import warnings

import numpy as np
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_rgba

from tvgnn.errors import GraphError
from tvgnn.report.embedding_map import embedding_figure, umap_points
from tvgnn.report.palette import UNKNOWN, color_of


def drawn(axes):
    """Colour of each drawn point."""
    found = {}
    for points in (c for c in axes.collections if isinstance(c, PathCollection)):
        for place, color in zip(points.get_offsets(), points.get_facecolors(), strict=True):
            found[tuple(np.asarray(place).tolist())] = tuple(color)
    return found


def lines(axes):
    return [c for c in axes.collections if isinstance(c, LineCollection)]


def test_points_are_coloured_by_matched_cluster_above_and_by_class_below():
    points = np.arange(10.0).reshape(5, 2)
    y = np.array([0, 0, 1, 1, -1])
    clusters = np.array([1, 1, 0, 2, 0])  # 1 is class 0, one of the others class 1, the third none
    top, bottom = embedding_figure({"a": points}, {"a": clusters}, y).axes
    below = [to_rgba(color_of(0))] * 2 + [to_rgba(color_of(1))] * 2 + [to_rgba(UNKNOWN)]
    assert drawn(bottom) == {tuple(p): color for p, color in zip(points.tolist(), below, strict=True)}
    above = [drawn(top)[tuple(p)] for p in points.tolist()]
    assert above[0] == above[1] == to_rgba(color_of(0))
    assert above[2] == above[4] != above[3]
    assert {above[2], above[3]} == {to_rgba(color_of(1)), to_rgba(color_of(2))}


def test_edges_are_drawn_once_between_their_points():
    points = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 5.0]])
    both = [[0, 1, 1, 2, 2], [1, 0, 2, 1, 2]]  # each in both directions, and a self-loop
    for axes in embedding_figure({"a": points}, {"a": [0, 0, 1]}, [0, 0, 1], both).axes:
        (edges,) = lines(axes)
        assert [segment.tolist() for segment in edges.get_segments()] == [points[:2].tolist(), points[1:].tolist()]
        assert edges.get_rasterized()


@pytest.mark.parametrize("edges", [None, np.empty((2, 0), dtype=int), [[], []]])
def test_no_edges_draw_no_lines(edges):
    figure = embedding_figure({"a": np.eye(2)}, {"a": [0, 1]}, [0, 1], edges)
    assert not any(lines(axes) for axes in figure.axes)


def test_a_large_graph_is_thinned_evenly():
    n = 50_000
    points = np.random.default_rng(0).normal(size=(n, 2))
    node = np.arange(n)
    top, _ = embedding_figure({"a": points}, {"a": node % 3}, node % 3, [node, (node + 1) % n]).axes
    assert len(drawn(top)) == 20_000
    (edges,) = lines(top)
    assert len(edges.get_segments()) == 20_000


@pytest.mark.parametrize(("n", "k", "panels"), [(1, 1, 1), (3, 9, 2), (40, 25, 6)])
def test_every_size_is_drawn(n, k, panels):
    rng = np.random.default_rng(0)
    titles = [f"method {i}" for i in range(panels)]
    points = {title: rng.normal(size=(n, 2)) for title in titles}
    clusters = {title: rng.integers(k, size=n) for title in titles}
    figure = embedding_figure(points, clusters, np.arange(n) % 2, class_names=["first", "second"])
    assert len(figure.axes) == 2 * panels
    assert {axes.get_title() for axes in figure.axes} == {"", *titles}
    file = io.BytesIO()
    figure.savefig(file, dpi=40)
    assert file.getvalue().startswith(b"\x89PNG")


def test_the_legend_names_classes_and_clusters_beyond_them():
    figure = embedding_figure({"a": np.eye(3, 2)}, {"a": [0, 1, 2]}, [0, 1, -1], class_names=["cat", "dog"])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["unknown", "cat", "dog", "no class (1)"]


@pytest.mark.parametrize(
    ("points", "clusters", "y", "edges", "message"),
    [
        ({}, {}, [0], None, "at least one entry"),
        ({"a": np.eye(2)}, {"b": [0, 1]}, [0, 1], None, r"clusters of the panels \['a'\], got those of \['b'\]"),
        ({"a": np.eye(3)}, {"a": [0, 1, 2]}, [0, 1, 2], None, r"points of 'a' of shape \(3, 2\)"),
        ({"a": np.eye(2)}, {"a": [0, 1, 2]}, [0, 1], None, r"clusters of 'a' of shape \(2,\)"),
        ({"a": np.eye(2)}, {"a": [0, 1]}, [0, 1], [[0, 1]], r"shape \(2, E\)"),
        ({"a": np.eye(2)}, {"a": [0, 1]}, [0, 1], [[0], [2]], "between nodes 0 to 1, got node 0 to node 2"),
    ],
)
def test_bad_input_is_explained(points, clusters, y, edges, message):
    with pytest.raises(GraphError, match=message):
        embedding_figure(points, clusters, y, edges)


def test_umap_keeps_groups_together_and_repeats_itself():
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2], 20)
    embedding = rng.normal(size=(60, 8)) + 20 * np.eye(3, 8)[groups]
    points = umap_points(embedding, random_state=3)
    assert points.shape == (60, 2)
    assert points.dtype == np.float64
    distance = np.linalg.norm(points[:, None] - points, axis=2)
    distance[np.diag_indices(60)] = np.inf
    assert (groups[distance.argmin(axis=1)] == groups).all()
    np.testing.assert_array_equal(points, umap_points(embedding, random_state=3))


@pytest.mark.parametrize("n", [1, 2, 4, 5, 6, 16])
def test_umap_takes_few_and_equal_rows_without_a_word(n):
    for embedding in (np.random.default_rng(0).normal(size=(n, 3)), np.ones((n, 1))):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            points = umap_points(embedding)
        assert points.shape == (n, 2)
        assert np.isfinite(points).all()


def test_umap_refuses_what_is_no_embedding():
    with pytest.raises(GraphError, match="finite numbers in the embedding, got nan in row 1"):
        umap_points([[0.0], [np.nan]])


def test_missing_umap_names_the_install_line(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "umap", None)
    with pytest.raises(ImportError, match=r"pip install 'tvgnn\[viz\]'"):
        umap_points(np.eye(6))
