"""Repeated GTV steps: against a plain computation, and what the paper says of Cora."""

import numpy as np
import pytest
import scipy.sparse as sp

from tvgnn import Graph
from tvgnn.datasets import load_dataset
from tvgnn.errors import GraphError
from tvgnn.experiments.gtv_steps import PAPER_STEPS, gtv_steps, random_features


def graph(weighted=False, n=12, seed=0):
    rng = np.random.default_rng(seed)
    a = np.triu(rng.random((n, n)) < 0.4, 1) * (rng.random((n, n)) if weighted else 1.0)
    return Graph.from_scipy(sp.csr_array(a + a.T), x=rng.integers(0, 2, size=(n, 9)).astype(float))


def plain(x, a, size, steps, variant, eps=1e-3):
    """The paper's equations 18 and 22 and its total variation, one matrix a feature."""
    values = []
    for _ in range(steps + 1):
        difference = np.abs(x[:, None] - x)
        values.append((a * difference.sum(2)).sum())
        shared = np.repeat(difference.sum(2)[..., None], x.shape[1], axis=2)
        gamma = a[..., None] / np.maximum(difference if variant == "per_feature" else shared, eps)
        x = x - size * (gamma.sum(1) * x - np.einsum("ijf,jf->if", gamma, x))
    return np.array(values)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("variant", ["per_feature", "shared"])
def test_curves_equal_a_plain_computation(variant, weighted):
    g = graph(weighted)
    curve = gtv_steps(g, {0.2: 25}, seed=5)[0.2][variant]
    assert curve.steps.tolist() == list(range(26))
    expected = plain(random_features(g, 5), g.adjacency().toarray().astype(float), 0.2, 25, variant)
    np.testing.assert_allclose(curve.total_variation, expected, rtol=1e-10)


def test_features_are_projected_by_a_standard_normal_kernel():
    x = random_features(Graph.from_edges([0], [1], x=np.eye(2, 500)), seed=1)
    np.testing.assert_array_equal(x, np.random.default_rng(1).standard_normal((500, 32))[:2])
    kernel = random_features(Graph.from_scipy(sp.csr_array((400, 400)), x=np.eye(400)))
    assert abs(kernel.mean()) < 0.05
    assert abs(kernel.std() - 1) < 0.05
    sparse = Graph.from_edges([0], [1], x=sp.csr_array(np.eye(2, 500)))
    np.testing.assert_array_equal(random_features(sparse, seed=1), x)


def test_the_same_seed_gives_the_same_curves_and_another_one_others():
    first, same, other = (gtv_steps(graph(), {0.1: 5}, seed=seed)[0.1]["shared"] for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.total_variation, same.total_variation)
    assert (first.total_variation != other.total_variation).all()


def test_many_steps_are_recorded_more_rarely_but_with_both_ends():
    steps = gtv_steps(graph(n=3), {0.01: 5_000})[0.01]["shared"].steps
    assert len(steps) < 420
    assert steps[0] == 0
    assert steps[-1] == 5_000
    assert (np.diff(steps) > 0).all()
    assert np.isin(np.arange(50), steps).all()


@pytest.mark.parametrize("variant", ["per_feature", "shared"])
def test_small_steps_lower_the_total_variation_every_time(variant):
    values = gtv_steps(graph(), {1e-4: 50})[1e-4][variant].total_variation
    assert (np.diff(values) < 0).all()


def test_a_graph_without_edges_or_steps_stays_as_it_is():
    lonely = Graph.from_edge_index([[], []], x=[[1.0]])
    for curve in gtv_steps(lonely, {0.3: 4})[0.3].values():
        assert curve.total_variation.tolist() == [0] * 5
    assert gtv_steps(graph(), {0.3: 0})[0.3]["shared"].steps.tolist() == [0]


def test_bad_input_is_explained():
    with pytest.raises(GraphError, match="expected a graph with features"):
        gtv_steps(Graph.from_edges([0], [1]))
    with pytest.raises(ValueError, match="numbers of steps of 0 or more"):
        gtv_steps(graph(), {0.1: -1})
    with pytest.raises(ValueError, match="expected eps > 0"):
        gtv_steps(graph(), {0.1: 1}, eps=0)


@pytest.mark.real_data("cora")
def test_on_cora_one_gamma_a_feature_gets_stuck_at_the_large_step_size(mirror):
    """Appendix A.3, figure (a); for that of (b) the curves cross after 20,000 steps, too many for a test."""
    assert set(PAPER_STEPS) == {0.311, 0.005}
    curves = gtv_steps(load_dataset("cora", mirror=mirror), {0.311: 400})[0.311]
    stuck, falling = curves["per_feature"].total_variation, curves["shared"].total_variation
    assert stuck[0] == falling[0]
    assert stuck[-1] > 0.6 * stuck[0]
    late = stuck[curves["per_feature"].steps > 100]
    assert np.ptp(late) < 0.05 * stuck[0]
    assert falling[-1] < 0.1 * falling[0]
