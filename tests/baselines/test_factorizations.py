"""TADW, BANE and TENE: sparse half steps against dense references, objectives that never rise."""

import numpy as np
import pytest
import scipy.sparse as sp

from tvgnn import Graph
from tvgnn.baselines import BANE, TADW, TENE, bane, tadw, tene
from tvgnn.baselines._linear_algebra import transition_matrix, truncated_svd
from tvgnn.errors import GraphError

RANDOM = np.random.default_rng(0)


def random_graph(nodes=40, features=12, sparse=False):
    upper = np.triu(RANDOM.random((nodes, nodes)) * (RANDOM.random((nodes, nodes)) < 0.15), 1)
    upper[:, -1] = 0  # the last node is isolated
    x = RANDOM.random((nodes, features)) * (RANDOM.random((nodes, features)) < 0.4)
    return Graph.from_scipy(upper + upper.T, x=sp.csr_array(x) if sparse else x, dtype="float64")


def dense_transition(graph):
    a = graph.adjacency().toarray().astype(float)
    return a / np.maximum(a.sum(1, keepdims=True), np.finfo(float).tiny)


def descends(history):
    steps = np.diff(history)
    return (steps <= 1e-9 * np.abs(history[0])).all()


@pytest.mark.parametrize("shape", [(30, 8), (8, 30)])
def test_truncated_svd(shape):
    a = RANDOM.random(shape)
    u, values, v = truncated_svd(lambda y: a @ y, lambda y: a.T @ y, shape[1], 3, 30, np.random.RandomState(0))
    exact = np.linalg.svd(a)
    assert np.allclose(values, exact[1][:3])
    assert np.allclose(u * values @ v.T, exact[0][:, :3] * exact[1][:3] @ exact[2][:3])
    assert (np.take_along_axis(u, np.abs(u).argmax(0)[None], 0) > 0).all()


def test_tadw_half_steps_solve_the_dense_problem():
    graph = random_graph()
    p, walks, lam = dense_transition(graph), transition_matrix(graph.adjacency()), 0.7
    m, t, h = (p + p @ p) / 2, RANDOM.random((5, 40)), RANDOM.random((3, 5))
    w = tadw.solve_w(walks, h, t, lam)
    # gradients of ||M - W^T H T||^2 + lambda / 2 (||W||^2 + ||H||^2), halved
    assert np.allclose(-(h @ t) @ (m - w.T @ h @ t).T + lam / 2 * w, 0, atol=1e-10)
    h = tadw.solve_h(walks, w, t, lam)
    assert np.allclose(-w @ (m - w.T @ h @ t) @ t.T + lam / 2 * h, 0, atol=1e-10)
    value = np.sum((m - w.T @ h @ t) ** 2) + lam / 2 * (np.sum(w**2) + np.sum(h**2)) - np.sum(m**2)
    assert tadw.tadw_objective(walks, w, h, t, lam) == pytest.approx(value)


def test_tadw_features_are_reduced_and_free_of_units():
    graph = random_graph(sparse=True)
    t = tadw.reduced_features(graph.x, 4, 30, np.random.RandomState(0))
    u, _, _ = np.linalg.svd(graph.x.toarray(), full_matrices=False)
    assert np.allclose(np.abs(t), np.abs(u[:, :4].T) * np.sqrt(40))
    scaled = TADW(3, random_state=0).fit(graph.with_features(graph.x * 1000))
    assert (scaled.labels_ == TADW(3, random_state=0).fit(graph).labels_).all()


def test_tadw_rows_beyond_the_rank_of_the_features_are_zeros():
    x = RANDOM.random((40, 3)) @ RANDOM.random((3, 12))
    t = tadw.reduced_features(x, 5, 10, np.random.RandomState(0))
    assert np.allclose(np.mean(t**2, axis=1), [1, 1, 1, 0, 0])
    assert not tadw.reduced_features(0 * x, 5, 10, np.random.RandomState(0)).any()


def test_bane_proximity_and_half_steps_equal_the_dense_ones():
    graph, gamma, order, alpha = random_graph(sparse=True), 0.6, 3, 0.3
    x = graph.x.toarray()
    a = graph.adjacency().toarray() + np.eye(40)
    laplacian = np.diag(a.sum(1)) - a
    p = np.linalg.matrix_power(np.eye(40) - gamma * np.diag(1 / a.sum(1)) @ laplacian, order) @ x
    implicit = bane.WeisfeilerLehman(graph.adjacency(), graph.x, order, gamma)
    assert np.allclose(implicit.multiply(np.eye(12)), p)
    assert np.allclose(implicit.transposed(np.eye(40)), p.T)
    b = np.where(RANDOM.random((40, 4)) < 0.5, -1.0, 1.0)
    z = bane.solve_z(implicit, b, alpha)
    assert np.allclose(z, np.linalg.inv(b.T @ b + alpha * np.eye(4)) @ b.T @ p)

    def objective(codes):
        return np.sum((p - codes @ z) ** 2) + alpha * np.sum(z**2) - np.sum(p**2)

    assert bane.bane_objective(implicit, b, z, alpha) == pytest.approx(objective(b))
    solved = bane.solve_b(implicit.multiply(z.T), b, z, 50)
    assert objective(solved) <= objective(b)
    for node, column in np.ndindex(solved.shape):  # no single bit can do better
        flipped = solved.copy()
        flipped[node, column] *= -1
        assert objective(flipped) >= objective(solved) - 1e-9


def test_tene_update_equals_the_dense_one_and_never_rises():
    graph, alpha, beta = random_graph(sparse=True), 0.1, 0.2
    s, t = transition_matrix(graph.adjacency()), graph.x
    sizes = [(40, 3)] * 3 + [(12, 3), (3, 3)]
    factors = tene.Factors(*(RANDOM.random(size) for size in sizes))
    history = []
    for _ in range(30):
        m, u, q, v, c = factors
        value = np.sum((s.toarray() - m @ u.T) ** 2) + alpha * np.sum((q - u @ c.T) ** 2)
        history.append(value + beta * np.sum((t.toarray() - q @ v.T) ** 2))
        assert tene.tene_objective(s, t, factors, alpha, beta) == pytest.approx(history[-1])
        factors = tene.tene_update(s, t, factors, alpha, beta)
        dense = tene.tene_update(s.toarray(), t.toarray(), tene.Factors(m, u, q, v, c), alpha, beta)
        assert all(np.allclose(a, b) for a, b in zip(factors, dense, strict=True))
    assert descends(history)
    assert history[-1] < history[0] / 5


def test_tene_embedding_is_free_of_lengths_that_factors_share():
    graph = random_graph()
    s, t = transition_matrix(graph.adjacency()), graph.x
    factors = TENE(3, iterations=20, random_state=0).fit(graph).factors_
    lengths = RANDOM.uniform(0.1, 10, 32)
    other = factors._replace(m=factors.m * lengths, u=factors.u / lengths, c=factors.c * lengths)
    assert tene.tene_objective(s, t, other, 0.1, 0.1) == pytest.approx(tene.tene_objective(s, t, factors, 0.1, 0.1))
    assert np.allclose(tene.tene_embedding(other), tene.tene_embedding(factors))


@pytest.mark.parametrize("method", [TADW(3, regularization=0.2, random_state=0), BANE(3, random_state=0)])
def test_objective_never_rises(method):
    history = method.fit(random_graph(60, 20)).objective_history_
    assert len(history) > 1
    assert descends(history)


def test_bane_gives_codes():
    assert set(np.unique(BANE(3, random_state=0).fit(random_graph()).embedding_)) == {-1.0, 1.0}


def test_tene_refuses_negative_features():
    graph = random_graph()
    with pytest.raises(GraphError, match="expected features >= 0"):
        TENE(2).fit(graph.with_features(graph.x - 1))


@pytest.mark.parametrize(
    ("method", "name"),
    [
        (TADW(2, regularization=0.0), "regularization"),
        (TADW(2, iterations=0), "iterations"),
        (BANE(2, gamma=1.5), "gamma"),
        (BANE(2, order=-1), "order"),
        (TENE(2, alpha=float("nan")), "alpha"),
    ],
)
def test_parameters_out_of_range(method, name):
    with pytest.raises(ValueError, match=name):
        method.fit(random_graph())
