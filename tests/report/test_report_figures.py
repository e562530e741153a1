"""Figures: what is drawn, at awkward sizes too, and components that do not depend on chance."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tvgnn.report.figures import clustering_figure, principal_components, save_figure


def test_components_are_those_of_the_covariance():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 5)) * [1, 7, 1, 3, 1] + 100
    scores = principal_components(x)
    np.testing.assert_allclose(scores.mean(axis=0), 0, atol=1e-10)
    assert abs(np.corrcoef(scores[:, 0], x[:, 1])[0, 1]) > 0.99
    assert abs(np.corrcoef(scores[:, 1], x[:, 3])[0, 1]) > 0.98
    singular = np.linalg.svd(x - x.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(np.linalg.norm(scores, axis=0), singular[:2])


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 30), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_components_keep_row_order_and_do_not_depend_on_shifts(rows, columns, seed):
    x = np.random.default_rng(seed).normal(size=(rows, columns))
    scores = principal_components(x)
    assert scores.shape == (rows, 2)
    np.testing.assert_allclose(np.abs(principal_components(x + 3)), np.abs(scores), atol=1e-6)
    for column in scores.T:
        assert column[np.abs(column).argmax()] >= 0


def test_a_single_column_gets_a_flat_second_component():
    assert principal_components([[1.0], [2.0], [4.0]])[:, 1].tolist() == [0, 0, 0]


def one_hot(labels, k):
    return np.eye(k, dtype=np.float32)[labels]


@pytest.mark.parametrize(("n", "k"), [(1, 1), (2, 1), (7, 3), (90, 25)])
def test_every_size_is_drawn(n, k):
    labels = np.arange(n) % k
    figure = clustering_figure(
        np.random.default_rng(0).normal(size=(n, 4)), one_hot(labels, k), [3.0, 1.0, 2.0], "title"
    )
    file = io.BytesIO()
    figure.savefig(file, dpi=40)
    assert file.getvalue().startswith(b"\x89PNG")
    numbers = {text.get_text() for text in figure.axes[0].texts}
    assert numbers == {str(label) for label in range(min(n, k))}


def test_rows_are_sorted_by_cluster_and_empty_clusters_keep_their_column():
    labels = np.array([2, 0, 2, 0, 0])
    figure = clustering_figure(np.zeros((5, 2)), one_hot(labels, 4), [1.0])
    image = figure.axes[1].images[0].get_array()
    assert image.argmax(axis=1).tolist() == [0, 0, 0, 2, 2]
    assert image.shape == (5, 4)


def test_the_loss_curve_marks_the_state_that_is_kept():
    figure = clustering_figure(np.zeros((2, 2)), np.eye(2), [3.0, 1.0, 2.0])
    curve, mark = figure.axes[2].lines
    assert curve.get_ydata().tolist() == [3, 1, 2]
    assert curve.get_xdata().tolist() == [1, 2, 3]
    assert (mark.get_xdata()[0], mark.get_ydata()[0]) == (2, 1)


def test_a_large_graph_is_thinned():
    n = 50_000
    labels = np.arange(n) % 3
    figure = clustering_figure(np.random.default_rng(0).normal(size=(n, 2)), one_hot(labels, 3), [1.0])
    assert sum(len(points.get_offsets()) for points in figure.axes[0].collections) == 20_000
    assert figure.axes[1].images[0].get_array().shape == (2_000, 3)


@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_a_figure_is_saved_in_the_format_of_its_ending(tmp_path, suffix, start):
    path = tmp_path / f"figure.{suffix}"
    save_figure(clustering_figure(np.zeros((2, 2)), np.eye(2), [1.0]), path, dpi=40)
    assert path.read_bytes().startswith(start)
