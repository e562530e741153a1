"""Cut metrics: exact values, networkx as reference, invariances, degenerate graphs."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from tvgnn.errors import GraphError
from tvgnn.metrics import (
    asymmetric_cheeger_cut,
    cheeger_cut,
    conductance,
    cut,
    cut_fraction,
    cuts,
    modularity,
    normalized_cut,
    ratio_cut,
)

METRICS = [
    asymmetric_cheeger_cut,
    cheeger_cut,
    conductance,
    cut,
    cut_fraction,
    modularity,
    normalized_cut,
    ratio_cut,
]


def adjacency_of(edges, n, weights=None):
    source, target = np.array(edges, dtype=int).reshape(-1, 2).T
    weights = np.ones(source.size, np.float32) if weights is None else np.asarray(weights, np.float32)
    matrix = csr_array((np.r_[weights, weights], (np.r_[source, target], np.r_[target, source])), shape=(n, n))
    matrix.sum_duplicates()
    return matrix


@st.composite
def partitioned_graphs(draw):
    n = draw(st.integers(1, 12))
    upper = np.triu(draw(arrays(np.float32, (n, n), elements=st.integers(0, 3))), 1)
    labels = draw(arrays(np.int64, n, elements=st.integers(0, 3)))
    return csr_array(upper + upper.T), labels


def test_values_by_hand():
    # Triangle 0-1-2 and pair 3-4, joined by the edge 2-3 of weight 2: volumes 8 and 4, cut 2.
    graph = adjacency_of([(0, 1), (1, 2), (0, 2), (3, 4), (2, 3)], 5, [1, 1, 1, 1, 2])
    labels = [0, 0, 0, 1, 1]
    assert cut(graph, labels) == 2
    assert cut_fraction(graph, labels) == pytest.approx(2 / 6)
    assert ratio_cut(graph, labels) == pytest.approx(2 / 3 + 2 / 2)
    assert normalized_cut(graph, labels) == pytest.approx(2 / 8 + 2 / 4)
    assert cheeger_cut(graph, labels) == pytest.approx(2 / 2 + 2 / 2)
    assert asymmetric_cheeger_cut(graph, labels) == pytest.approx(2 / 2 + 2 / 2)
    assert asymmetric_cheeger_cut(graph, labels, n_clusters=3) == pytest.approx(2 / 2 + 2 / 3)
    assert conductance(graph, labels) == pytest.approx(2 / 4)
    assert modularity(graph, labels) == pytest.approx(6 / 12 - (8 / 12) ** 2 + 2 / 12 - (4 / 12) ** 2)


def test_hard_split_of_the_path_on_four_nodes():
    path = adjacency_of([(0, 1), (1, 2), (2, 3)], 4)
    assert cut_fraction(path, [0, 0, 1, 1]) == pytest.approx(1 / 3)
    assert cut_fraction(10 * path, [0, 0, 1, 1]) == pytest.approx(1 / 3)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("edges", "n", "labels"),
    [
        ([], 4, [0, 1, 0, 1]),
        ([], 1, [0]),
        ([(0, 1), (1, 2)], 4, [0, 0, 0, 0]),
        ([(0, 1), (1, 2)], 4, [0, 0, 0, 1]),
    ],
    ids=["no edges", "one node", "one cluster", "cluster of an isolated node"],
)
def test_degenerate_partitions_score_zero(metric, edges, n, labels):
    assert metric(adjacency_of(edges, n), labels) == 0


@pytest.mark.parametrize("metric", METRICS)
def test_self_loops_change_nothing(metric):
    path = adjacency_of([(0, 1), (1, 2), (2, 3)], 4)
    assert metric(csr_array(path + 5 * np.eye(4)), [0, 0, 1, 1]) == metric(path, [0, 0, 1, 1])


def test_empty_clusters_do_not_enter_the_mean_conductance():
    path = adjacency_of([(0, 1), (1, 2), (2, 3)], 4)
    assert conductance(path, [0, 0, 3, 3]) == conductance(path, [0, 0, 1, 1]) == pytest.approx(1 / 3)


@settings(max_examples=50, deadline=None)
@given(partitioned_graphs())
def test_agrees_with_networkx(case):
    adjacency, labels = case
    graph = nx.from_scipy_sparse_array(adjacency)
    groups = [set(np.flatnonzero(labels == k).tolist()) for k in np.unique(labels)]
    between = sum(nx.cut_size(graph, group, weight="weight") for group in groups) / 2
    assert cut(adjacency, labels) == pytest.approx(between)
    if graph.number_of_edges():
        assert modularity(adjacency, labels) == pytest.approx(nx.community.modularity(graph, groups), abs=1e-6)
    volumes = [nx.volume(graph, group, weight="weight") for group in groups]
    if min(volumes) > 0 and len(groups) > 1:
        assert conductance(adjacency, labels) == pytest.approx(
            np.mean([nx.conductance(graph, group, weight="weight") for group in groups])
        )
        assert normalized_cut(adjacency, labels) == pytest.approx(
            sum(nx.cut_size(graph, g, weight="weight") / v for g, v in zip(groups, volumes, strict=True))
        )


@settings(max_examples=50, deadline=None)
@given(partitioned_graphs(), st.permutations(range(4)), st.randoms(use_true_random=False))
def test_renaming_clusters_and_nodes_changes_nothing(case, names, random):
    adjacency, labels = case
    order = list(range(labels.size))
    random.shuffle(order)
    renamed = np.array(names)[labels][order]
    moved = csr_array(adjacency[order][:, order])
    for metric in METRICS:
        if metric is asymmetric_cheeger_cut:
            assert metric(moved, renamed, 4) == pytest.approx(metric(adjacency, labels, 4))
        else:
            assert metric(moved, renamed) == pytest.approx(metric(adjacency, labels), abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(partitioned_graphs(), st.sampled_from([0.25, 3.0, 1e6]))
def test_ranges_and_scaling_of_the_weights(case, scale):
    adjacency, labels = case
    for metric in (conductance, cut_fraction, modularity, normalized_cut):
        assert metric(scale * adjacency, labels) == pytest.approx(metric(adjacency, labels), abs=1e-6)
    for metric in (cut, ratio_cut, cheeger_cut):
        assert metric(scale * adjacency, labels) == pytest.approx(scale * metric(adjacency, labels))
    assert 0 <= cut_fraction(adjacency, labels) <= 1
    assert 0 <= conductance(adjacency, labels) <= 1
    assert -0.5 <= modularity(adjacency, labels) < 1


@pytest.mark.parametrize("block", [1, 2, 5])
def test_small_blocks_give_the_same_sums(monkeypatch, block):
    star = adjacency_of([(0, i) for i in range(1, 9)], 10)
    labels = np.arange(10) % 3
    whole = [metric(star, labels) for metric in METRICS]
    monkeypatch.setattr(cuts, "_BLOCK_ENTRIES", block)
    assert [metric(star, labels) for metric in METRICS] == whole


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        ([0, 1, 0], "N = 3"),
        ([0, -1, 0, 1], "node 1 has label -1"),
        ([0.0, 1.0, 0.0, 1.0], "integer codes"),
    ],
)
def test_bad_partitions_are_refused(labels, says):
    with pytest.raises(GraphError, match=says):
        cut(adjacency_of([(0, 1)], 4), labels)


def test_dense_adjacency_is_refused():
    with pytest.raises(GraphError, match="scipy sparse matrix; got ndarray"):
        cut(np.eye(3), [0, 1, 2])


def test_label_beyond_the_number_of_clusters_is_refused():
    with pytest.raises(GraphError, match=r"\[0, 2\); node 3 has label 2"):
        asymmetric_cheeger_cut(adjacency_of([(0, 1)], 4), [0, 1, 0, 2], n_clusters=2)
