"""Products of assignments: what the picture holds, in which order, on which scale."""

import io

import numpy as np
import pytest

from tvgnn.errors import GraphError
from tvgnn.report.assignment_figure import assignment_figure, sorted_products
from tvgnn.report.figures import save_figure


def soft(n, k, seed=0):
    return np.random.default_rng(seed).dirichlet(np.full(k, 0.3), size=n)


def images(figure):
    return {axes.get_title(): axes.images[0] for axes in figure.axes if axes.images}


def test_a_panel_is_the_logarithm_of_the_products_in_the_order_of_matched_clusters():
    labels = np.array([2, 0, 1, 1, 0, 2, 2])
    s = np.eye(3)[[0, 1, 2, 2, 1, 0, 1]] * 0.98 + 0.02 / 3  # cluster 0 is class 2, 1 is 0, 2 is 1
    order = [1, 4, 6, 2, 3, 0, 5]  # classes 0 0 0 1 1 2 2
    image = images(assignment_figure({"a": s}, labels))["a"].get_array()
    np.testing.assert_allclose(image, np.log(s @ s.T)[np.ix_(order, order)])


def test_the_scale_is_common_and_cut_off_at_the_floor():
    figure = assignment_figure({"sharp": np.eye(2)[[0, 1, 1]], "smooth": np.full((3, 4), 0.25)}, [0, 1, 1], floor=-6)
    pictures = images(figure)
    assert {picture.get_clim() for picture in pictures.values()} == {(-6, 0)}
    np.testing.assert_allclose(pictures["sharp"].get_array(), [[0, -6, -6], [-6, 0, 0], [-6, 0, 0]])
    np.testing.assert_allclose(pictures["smooth"].get_array(), np.full((3, 3), np.log(0.25)))


def test_the_last_panel_shows_true_classes_and_unknown_ones_alike_to_none():
    figure = assignment_figure({"a": np.ones((4, 1))}, [1, -1, 0, 1], floor=-3)
    assert list(images(figure)) == ["a", "true labels"]
    expected = [[0, -3, -3, -3], [-3, 0, 0, -3], [-3, 0, 0, -3], [-3, -3, -3, -3]]
    np.testing.assert_allclose(images(figure)["true labels"].get_array(), expected)


def test_of_many_nodes_evenly_spaced_ones_keep_the_share_of_each_block():
    labels = np.repeat([0, 1], [9_000, 3_000])[np.random.default_rng(0).permutation(12_000)]
    figure = assignment_figure({"a": np.eye(2)[1 - labels]}, labels)
    for picture in images(figure).values():
        image = picture.get_array()
        assert image.shape == (1_000, 1_000)
        assert np.count_nonzero(image[0] == 0) == pytest.approx(750, abs=1)
    assert len(sorted_products(np.eye(2)[labels], labels, max_rows=10)) == 10


@pytest.mark.parametrize(("n", "k", "panels"), [(1, 1, 1), (2, 5, 2), (30, 3, 4), (30, 3, 9)])
def test_every_size_is_drawn(n, k, panels):
    figure = assignment_figure({f"method {i}": soft(n, k, i) for i in range(panels)}, np.arange(n) % 3)
    assert len(images(figure)) == panels + 1
    file = io.BytesIO()
    figure.savefig(file, dpi=40)
    assert file.getvalue().startswith(b"\x89PNG")


def test_panels_keep_a_legible_size():
    figure = assignment_figure({f"method {i}": soft(9, 2) for i in range(9)}, np.arange(9) % 2)
    figure.draw_without_rendering()
    for picture in images(figure).values():
        box = picture.axes.get_window_extent()
        assert min(box.width, box.height) / figure.dpi > 1.5  # inches


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_it_is_saved_as_a_picture_and_as_vectors(tmp_path, suffix):
    save_figure(assignment_figure({"a": soft(5, 2)}, [0, 1, 0, 1, 1]), tmp_path / f"a.{suffix}", dpi=40)
    assert (tmp_path / f"a.{suffix}").stat().st_size > 1_000


@pytest.mark.parametrize(
    ("panels", "labels", "message"),
    [
        ({}, [0, 1], "at least one entry"),
        ({"a": np.eye(3)}, [0, 1], r"assignments of 'a' of shape \(2, K\), one row a node, got \(3, 3\)"),
        ({"a": [0.5, 0.5]}, [0, 1], r"got \(2,\)"),
        ({"a": [[0.5, np.nan], [1, 0]]}, [0, 1], "not negative.*got nan in row 0, column 1"),
        ({"a": [[0.5, 0.5], [1.5, -0.5]]}, [0, 1], "got -0.5 in row 1, column 1"),
        ({"a": [["x", "y"]]}, [0], "expected numbers"),
        ({"a": np.eye(2)}, ["x", "y"], "np.unique"),
        ({"a": np.eye(2)}, [-1, -1], "class"),
    ],
)
def test_bad_input_is_explained(panels, labels, message):
    with pytest.raises(GraphError, match=message):
        assignment_figure(panels, labels)


@pytest.mark.parametrize("options", [{"floor": 0}, {"floor": -np.inf}, {"max_rows": 0}])
def test_bad_options_are_explained(options):
    with pytest.raises(ValueError, match="expected a finite floor below 0"):
        assignment_figure({"a": np.eye(2)}, [0, 1], **options)
