"""Curves of the total variation, and the smoothed function that the steps descend."""

import io

import numpy as np
import pytest
import torch

from tvgnn.errors import GraphError
from tvgnn.graph.adjacency import Adjacency
from tvgnn.ops.gtv_step import gtv_step
from tvgnn.report.gtv_figures import gtv_steps_figure, smoothed_absolute_value, smoothed_total_variation_figure

CURVES = {
    0.311: {"per_feature": ([0, 1, 9], [8.0, 6.0, 6.5]), "shared": ([0, 1, 9], [8.0, 7.0, 1.0])},
    0.005: {"shared": ([0, 100], [8.0, 2.0])},
}


def test_each_step_size_has_a_panel_and_each_variant_a_curve():
    left, right = gtv_steps_figure(CURVES).axes
    assert [axes.get_title() for axes in (left, right)] == [r"$2\delta = 0.311$", r"$2\delta = 0.005$"]
    for line, (steps, values) in zip(left.lines, CURVES[0.311].values(), strict=True):
        assert line.get_xdata().tolist() == steps
        assert line.get_ydata().tolist() == values
    assert len({line.get_linestyle() for line in left.lines}) == 2  # told apart without colour as well
    assert len(right.lines) == 1


@pytest.mark.parametrize("values", [[0.0], [3.0], [3.0, 0.0]])
def test_curves_of_any_length_and_of_a_graph_without_edges_are_drawn(values):
    figure = gtv_steps_figure({0.1: {"other": (range(len(values)), values)}})
    file = io.BytesIO()
    figure.savefig(file, dpi=40)
    assert file.getvalue().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("curves", "message"),
    [
        ({}, "step size"),
        ({0.1: {}}, "variant"),
        ({0.1: {"shared": ([0, 1], [2.0])}}, r"for 'shared', got shapes \(2,\) and \(1,\)"),
        ({0.1: {"shared": ([], [])}}, r"got shapes \(0,\)"),
    ],
)
def test_bad_curves_are_explained(curves, message):
    with pytest.raises(GraphError, match=message):
        gtv_steps_figure(curves)


def test_the_smoothed_value_joins_the_exact_one_and_has_that_derivative():
    d, eps = np.linspace(-3, 3, 6001), 0.7
    value, derivative = smoothed_absolute_value(d, eps)
    outside = np.abs(d) >= eps
    np.testing.assert_array_equal(value[outside], np.abs(d)[outside])
    assert (value >= np.abs(d)).all()
    assert value.min() == eps / 2
    np.testing.assert_allclose(np.gradient(value, d)[1:-1], derivative[1:-1], atol=2e-3)
    assert (np.diff(derivative) >= 0).all()  # the smoothed value is convex


def test_the_derivative_is_what_a_step_moves_by():
    pair = Adjacency.from_edge_index(torch.tensor([[0, 1], [1, 0]]), None, 2)
    for difference in (-2.0, -1e-4, 0.0, 3e-4, 1.0):
        z = torch.tensor([[difference], [0.0]], dtype=torch.float64)
        moved = (z - gtv_step(z, pair, delta=0.1))[0, 0].item()
        assert moved == pytest.approx(0.1 * smoothed_absolute_value(difference, 1e-3)[1], abs=1e-12)


@pytest.mark.parametrize("eps", [1e-3, 1.0, 50.0])
def test_the_figure_shows_both_functions(eps):
    for number, axes in enumerate(smoothed_total_variation_figure(eps).axes):
        exact, smoothed = axes.lines
        expected = (np.abs, np.sign)[number]
        away = exact.get_xdata() != 0
        np.testing.assert_allclose(exact.get_ydata()[away], expected(exact.get_xdata()[away]))
        assert np.abs(smoothed.get_xdata()).max() == eps
        np.testing.assert_allclose(smoothed.get_ydata(), smoothed_absolute_value(smoothed.get_xdata(), eps)[number])


@pytest.mark.parametrize("eps", [0, -1, np.nan, np.inf])
def test_an_eps_that_smooths_nothing_is_refused(eps):
    for function in (smoothed_total_variation_figure, lambda eps: smoothed_absolute_value(0.0, eps)):
        with pytest.raises(ValueError, match="expected a positive eps"):
            function(eps)
