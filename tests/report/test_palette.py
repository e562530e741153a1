"""Colours: apart for everyone, repeated with other markers, mixed by shares."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_rgb

from tvgnn.report.palette import COLORS, MARKERS, UNKNOWN, color_of, marker_of, mixed_colors

# Complete dichromacy, in linear light: Machado, Oliveira & Fernandes 2009, table of severity 1.0
VISION = {
    "full": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab(colors, vision):
    """CIE L*a*b* of sRGB colours as somebody with that vision sees them."""
    rgb = np.array([to_rgb(color) for color in colors])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = np.clip(linear @ np.transpose(vision), 0, 1) @ XYZ.T / XYZ.sum(axis=1)
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1)


@pytest.mark.parametrize("vision", VISION)
def test_colors_stay_apart(vision):
    seen = lab(COLORS, VISION[vision])
    distance = np.linalg.norm(seen[:, None] - seen, axis=2)
    assert distance[np.triu_indices(len(COLORS), 1)].min() > 18  # a just noticeable difference is about 2.3


def test_no_two_colors_are_grey():
    chroma = np.linalg.norm(lab(COLORS, VISION["full"])[:, 1:], axis=1)
    assert (chroma < 10).sum() == 1


def test_no_two_numbers_share_colour_and_marker():
    looks = {(color_of(number), marker_of(number)) for number in range(len(COLORS) * len(MARKERS))}
    assert len(looks) == 60
    assert (color_of(-1), marker_of(-1)) == (UNKNOWN, "o")


def test_a_share_of_one_is_the_colour_itself_and_none_is_white():
    np.testing.assert_allclose(mixed_colors(np.eye(10)), [to_rgb(color) for color in COLORS])
    assert mixed_colors(np.zeros((1, 3))).tolist() == [[1, 1, 1]]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-5, 5), min_size=1, max_size=12))
def test_mixtures_are_colours_and_paler_with_smaller_shares(row):
    color = mixed_colors([row])
    assert color.shape == (1, 3)
    assert ((color >= 0) & (color <= 1)).all()
    shares = np.clip(row, 0, 1) / max(np.clip(row, 0, 1).sum(), 1)
    assert (mixed_colors([shares * 0.5]) >= color - 1e-12).all()
