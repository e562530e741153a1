"""Leading eigenvectors against a dense solver and known spectra, also where Lanczos does not converge."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence

from tvgnn import Graph
from tvgnn.errors import GraphError
from tvgnn.graph import leading_eigenvectors as module
from tvgnn.graph.leading_eigenvectors import leading_eigenvectors


def ring(nodes):
    return np.arange(nodes), (np.arange(nodes) + 1) % nodes


def path(nodes):
    return np.arange(nodes - 1), np.arange(1, nodes)


def grid(side):
    nodes = np.arange(side**2).reshape(side, side)
    return np.r_[nodes[:, 1:].ravel(), nodes[1:].ravel()], np.r_[nodes[:, :-1].ravel(), nodes[:-1].ravel()]


def tree(nodes):
    return np.arange(1, nodes), np.arange(nodes - 1) // 2


def rings(count, nodes):
    starts = nodes * np.repeat(np.arange(count), nodes)
    return starts + np.tile(ring(nodes)[0], count), starts + np.tile(ring(nodes)[1], count)


def normalized(edges, tau=0.0):
    """Normalised adjacency and the leading eigenvector at tau = 0."""
    adjacency = Graph.from_edges(*edges).adjacency().astype(np.float64)
    degrees = adjacency.sum(axis=1)
    scaling = sp.diags_array(1 / np.sqrt(degrees + tau))
    return sp.csr_array(scaling @ adjacency @ scaling), np.sqrt(degrees / degrees.sum())


def values_of(matrix, vectors):
    """Rayleigh quotients, after a check that these are eigenvectors."""
    values = np.einsum("ij,ij->j", vectors, matrix @ vectors)
    assert np.abs(vectors.T @ vectors - np.eye(values.size)).max() < 1e-8
    assert np.linalg.norm(matrix @ vectors - vectors * values, axis=0).max() < 1e-7
    return values


GRAPHS = {
    "ring": ring(900),
    "path": path(900),
    "grid": grid(30),
    "tree": tree(900),
    "12 rings": rings(12, 75),
    "star": (np.zeros(899, dtype=int), np.arange(1, 900)),
}


@pytest.mark.parametrize("edges", GRAPHS.values(), ids=GRAPHS)
@pytest.mark.parametrize("tau", [0.0, 2.0])
@pytest.mark.parametrize("k", [1, 5, 16])
def test_inverse_iteration_agrees_with_a_dense_solver(monkeypatch, edges, tau, k):
    monkeypatch.setattr(module, "_FIRST_RESTARTS", 1)
    matrix, _ = normalized(edges, tau)
    vectors = leading_eigenvectors(matrix, k, np.random.default_rng(0))
    assert values_of(matrix, vectors) == pytest.approx(np.linalg.eigvalsh(matrix.toarray())[-k:], abs=1e-10)


@pytest.mark.parametrize("edges", GRAPHS.values(), ids=GRAPHS)
def test_an_eigenvector_is_left_out(monkeypatch, edges):
    monkeypatch.setattr(module, "_FIRST_RESTARTS", 1)
    matrix, trivial = normalized(edges)
    skipped = sp.csr_array(trivial[:, None])
    vectors = leading_eigenvectors(matrix, 5, np.random.default_rng(0), skipped=skipped)
    assert np.abs(trivial @ vectors).max() < 1e-10
    assert values_of(matrix, vectors) == pytest.approx(np.linalg.eigvalsh(matrix.toarray())[-6:-1], abs=1e-10)


def test_long_rings_take_few_products(monkeypatch):
    matrix, _ = normalized(ring(20_000), tau=2.0)
    solves = []
    real = module.splu

    def counting(*given, **options):
        factor = real(*given, **options)
        solves.append(factor)
        return factor

    monkeypatch.setattr(module, "splu", counting)
    vectors = leading_eigenvectors(matrix, 5, np.random.default_rng(0))
    frequencies = np.array([2, 2, 1, 1, 0]) * 2 * np.pi / 20_000
    assert values_of(matrix, vectors) == pytest.approx(np.cos(frequencies) / 2, abs=1e-12)
    assert len(solves) == 1  # factorisations


def test_much_fill_is_left_to_lanczos(monkeypatch):
    matrix, _ = normalized(ring(300), tau=2.0)
    monkeypatch.setattr(module, "_FIRST_RESTARTS", 1)
    monkeypatch.setattr(module, "_FILL", 10)
    monkeypatch.setattr(module, "splu", lambda *_: pytest.fail("too much fill"))
    vectors = leading_eigenvectors(matrix, 3, np.random.default_rng(0))
    assert values_of(matrix, vectors)[-1] == pytest.approx(0.5, abs=1e-10)


def test_bounds_of_the_fill():
    assert module._fill_bound(normalized(path(500))[0]) <= 500
    assert module._fill_bound(normalized(ring(500))[0]) <= 1000
    assert module._fill_bound(normalized(tree(500))[0]) == 0  # leaves upon leaves
    assert module._fill_bound(normalized(np.random.default_rng(0).integers(500, size=(2, 2500)))[0]) > 500**2 / 20


def never_converges(monkeypatch):
    def failing(*_, **__):
        raise ArpackNoConvergence("no convergence", np.empty(0), np.empty((0, 0)))

    monkeypatch.setattr(module, "eigsh", failing)


def test_where_nothing_converges_the_error_says_what_to_do(monkeypatch):
    from tvgnn.baselines import BASELINES
    from tvgnn.errors import TrainingError

    never_converges(monkeypatch)
    graph = Graph.from_edges(*ring(300))
    with pytest.raises(TrainingError, match=r"3 leading eigenvectors.*try another n_clusters"):
        BASELINES["spectral"](3, random_state=0).fit(graph)
    with pytest.raises(GraphError, match=r"did not converge.*smaller dim"):
        graph.with_structural_features("spectral", 3)


def test_spectral_features_of_a_ring_have_sine_and_cosine():
    x = Graph.from_edges(*ring(1000)).with_structural_features("spectral", 16).x
    for first in range(0, 16, 2):
        assert (x[:, first : first + 2] ** 2).sum(axis=1) == pytest.approx(np.full(1000, 2.0), abs=1e-5)
