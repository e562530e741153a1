import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from tvgnn import Graph
from tvgnn.graph.held_features import held

ONE_HOT = np.eye(3)[[0, 2, 1, 1]]


def path(x):
    return Graph.from_edges([0, 1, 2], [1, 2, 3], x=x)


@pytest.mark.parametrize("again", [lambda g: g, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g)), replace])
def test_zeros_and_ones_are_held_as_bytes_and_given_as_floats(again):
    graph = again(path(ONE_HOT))
    assert held(graph).dtype == np.uint8
    assert graph.x.dtype == np.float32
    assert graph.num_features == 3
    np.testing.assert_array_equal(graph.x, ONE_HOT)
    with pytest.raises(ValueError, match="read-only"):
        graph.x[0, 0] = 2


@pytest.mark.parametrize(
    "x",
    [
        ONE_HOT / 2,
        np.where(ONE_HOT == 0, -0.0, 1.0),
        sp.csr_array(ONE_HOT),
        np.ones((4, 2**15)),
    ],
    ids=["other numbers", "minus zero", "sparse", "many"],
)
def test_other_features_are_held_as_they_are_given(x):
    graph = path(x)
    assert graph.x is held(graph)
    assert graph.x.dtype == np.float32
    given, made = (one.toarray() if sp.issparse(one) else one for one in (x, graph.x))
    np.testing.assert_array_equal(np.signbit(made), np.signbit(given))
    np.testing.assert_array_equal(made, given.astype(np.float32))


def test_no_features_and_float64_on_request():
    assert path(None).x is None
    exact = Graph.from_edges([0, 1, 2], [1, 2, 3], x=ONE_HOT, dtype="float64")
    assert exact.x is held(exact)
    assert exact.x.dtype == np.float64
