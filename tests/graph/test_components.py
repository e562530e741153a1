"""Eigenvectors of components are known; what they tell apart is chosen."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tvgnn import Graph
from tvgnn.graph.components import _groups, component_vectors


def rings(sizes, isolated=0):
    blocks = [sp.csr_array(np.roll(np.eye(n), 1, 0) + np.roll(np.eye(n), -1, 0) > 0, dtype=float) for n in sizes]
    return sp.csr_array(sp.block_diag([*blocks, *[sp.csr_array((1, 1))] * isolated]))


def normalized(adjacency):
    degree = adjacency.sum(1)
    inverse = np.divide(1, np.sqrt(degree), out=np.zeros(len(degree)), where=degree > 0)
    return sp.csr_array(sp.diags_array(inverse) @ adjacency @ sp.diags_array(inverse)), np.sqrt(degree)


@settings(max_examples=30, deadline=None)
@given(sizes=st.lists(st.integers(2, 9), max_size=12), isolated=st.integers(1, 3), width=st.integers(1, 14))
def test_vectors_are_orthonormal_eigenvectors(sizes, isolated, width):
    matrix, root = normalized(rings(sizes, isolated))
    vectors, basis = component_vectors(matrix, root, width)
    assert basis.shape[1] == len(sizes)
    assert vectors.shape[1] <= min(width, max(len(sizes) - 1, 0))
    for columns in (vectors, basis.toarray()):
        assert columns.T @ columns == pytest.approx(np.eye(columns.shape[1]), abs=1e-12)
        assert matrix @ columns == pytest.approx(columns, abs=1e-12)
    assert root @ vectors == pytest.approx(np.zeros(vectors.shape[1]), abs=1e-9)


@pytest.mark.parametrize(("sizes", "width", "groups"), [
    ([7], 3, [7]),
    ([3, 5], 1, [5, 3]),
    ([20] * 4, 3, [20] * 4),
    ([20] * 4, 16, [20] * 4),
    ([2000] + [2] * 400, 16, [2000]),  # dust takes no column
    ([300] * 15 + [2] * 40, 16, [300] * 15),
    ([20] * 6, 2, [40, 40, 40]),  # too many for columns of their own
    ([90] + [20] * 6, 3, [90, 40, 40, 40]),
    ([2] * 30, 2, [20, 20, 20]),  # nothing but dust
])  # fmt: skip
def test_components_of_a_fair_size_are_groups_by_themselves(sizes, width, groups):
    group, sizes = _groups(np.array(sizes), width), np.array(sizes)
    assert np.bincount(group[group >= 0], sizes[group >= 0]).tolist() == groups


def test_thirty_components_have_columns_for_all_and_no_two_are_alike():
    x = Graph.from_scipy(rings([20] * 30)).with_structural_features("spectral").x
    assert x.shape == (600, 29 + 1)
    firsts = x[::20, :29]
    assert np.repeat(firsts, 20, axis=0) == pytest.approx(x[:, :29], abs=1e-9)
    distances = np.linalg.norm(firsts[:, None] - firsts, axis=2)
    assert distances[~np.eye(30, dtype=bool)].min() > 5


def test_dust_leaves_columns_for_a_large_component():
    adjacency = sp.block_diag([rings([600]), rings([3] * 100, isolated=5)])
    x = Graph.from_scipy(sp.csr_array(adjacency)).with_structural_features("spectral").x
    assert x.shape == (905, 16)
    assert x[600:] == pytest.approx(np.zeros((305, 16)), abs=1e-6)
    for first in range(0, 16, 2):  # sine and cosine of each frequency of the ring
        assert np.ptp((x[:600, first : first + 2] ** 2).sum(1)) < 1e-5
    assert not x[900:].any()
