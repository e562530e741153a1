"""Label metrics: exact values, scikit-learn as reference, invariances."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import adjusted_rand_score, f1_score, normalized_mutual_info_score

from tvgnn.errors import GraphError
from tvgnn.metrics import (
    adjusted_rand_index,
    clustering_accuracy,
    macro_f1,
    match_clusters,
    normalized_mutual_info,
)

METRICS = [normalized_mutual_info, clustering_accuracy, adjusted_rand_index, macro_f1]


@st.composite
def labellings(draw, max_label=5):
    n = draw(st.integers(1, 30))
    codes = arrays(np.int64, n, elements=st.integers(0, max_label))
    return draw(codes), draw(codes)


def test_perfect_clustering_scores_one_whatever_the_numbers():
    for metric in METRICS:
        assert metric([0, 0, 1, 2], [9, 9, 4, 7]) == pytest.approx(1.0, abs=1e-12)


def test_values_by_hand():
    # Classes {0, 1}, clusters {0, 1}: counts [[2, 1], [0, 1]].
    y_true, y_pred = [0, 0, 0, 1], [0, 0, 1, 1]
    h_true = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    h_pred = np.log(2)
    mutual = 0.5 * np.log(0.5 / (0.75 * 0.5)) + 0.25 * np.log(0.25 / (0.75 * 0.5)) + 0.25 * np.log(0.25 / (0.25 * 0.5))
    assert normalized_mutual_info(y_true, y_pred) == pytest.approx(2 * mutual / (h_true + h_pred), abs=1e-12)
    assert clustering_accuracy(y_true, y_pred) == 0.75
    assert macro_f1(y_true, y_pred) == pytest.approx((2 * 2 / 5 + 2 * 1 / 3) / 2)
    # Pairs together in both: 1; in the class: 3; in the cluster: 2; all: 6. Expected 1, maximum 2.5.
    assert adjusted_rand_index(y_true, y_pred) == pytest.approx((1 - 1) / (2.5 - 1))


def test_more_clusters_than_classes():
    y_true, y_pred = [0, 0, 0, 1, 1], [3, 3, 1, 0, 2]
    assert clustering_accuracy(y_true, y_pred) == pytest.approx(3 / 5)
    matched = match_clusters(y_true, y_pred)
    assert matched[:2].tolist() == [0, 0]
    assert sorted(matched[2:].tolist()) == [1, 2, 3]  # one of two equal clusters takes class 1, the others stay apart
    assert matched[2] in (2, 3)


def test_fewer_clusters_than_classes():
    y_true, y_pred = [0, 0, 1, 1, 2], [1, 1, 0, 0, 0]
    assert match_clusters(y_true, y_pred).tolist() == [0, 0, 1, 1, 1]
    assert clustering_accuracy(y_true, y_pred) == pytest.approx(4 / 5)
    assert macro_f1(y_true, y_pred) == pytest.approx((1 + 4 / 5 + 0) / 3)


def test_greedy_matching_would_be_worse():
    # Counts [[3, 2], [2, 0]]: taking the 3 first gives 3 in all, the best matching gives 4.
    y_true, y_pred = [0] * 5 + [1] * 2, [0, 0, 0, 1, 1, 0, 0]
    assert clustering_accuracy(y_true, y_pred) == pytest.approx(4 / 7)


@pytest.mark.parametrize("metric", METRICS)
def test_unknown_labels_are_left_out(metric):
    assert metric([0, -1, 0, 1, -1], [2, 0, 2, 0, 2]) == pytest.approx(1.0)


def test_matching_names_the_clusters_of_unknown_nodes_too():
    assert match_clusters([0, 1, -1, -1], [5, 3, 3, 8]).tolist() == [0, 1, 1, 2]


@pytest.mark.parametrize("metric", [*METRICS, match_clusters])
@pytest.mark.parametrize(
    ("y_true", "y_pred", "says"),
    [
        ([0, 1], [0, 1, 2], "got 2 and 3 labels"),
        ([-1, -1], [0, 1], "every label in y_true is -1"),
        ([[0, 1]], [0, 1], r"shape \(1, 2\)"),
        ([0.5, 1.0], [0, 1], "dtype float64"),
        (["a", "b"], [0, 1], "np.unique"),
        ([], [], "empty"),
    ],
)
def test_bad_labels_are_refused(metric, y_true, y_pred, says):
    with pytest.raises(GraphError, match=says):
        metric(y_true, y_pred)


@settings(max_examples=60, deadline=None)
@given(labellings())
def test_agrees_with_scikit_learn(pair):
    y_true, y_pred = pair
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # scikit-learn doubts that many small classes are classes
        nmi, ari = normalized_mutual_info_score(y_true, y_pred), adjusted_rand_score(y_true, y_pred)
        matched = match_clusters(y_true, y_pred)
        f1 = f1_score(y_true, matched, average="macro", labels=np.unique(y_true), zero_division=0)
    assert normalized_mutual_info(y_true, y_pred) == pytest.approx(nmi, abs=1e-9)
    assert adjusted_rand_index(y_true, y_pred) == pytest.approx(ari, abs=1e-12)
    assert macro_f1(y_true, y_pred) == pytest.approx(f1, abs=1e-12)
    assert clustering_accuracy(y_true, y_pred) == pytest.approx((matched == y_true).mean(), abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(labellings(), st.permutations(range(6)), st.permutations(range(6)), st.randoms(use_true_random=False))
def test_renaming_classes_clusters_and_nodes_changes_nothing(pair, classes, clusters, random):
    y_true, y_pred = pair
    order = list(range(y_true.size))
    random.shuffle(order)
    for metric in METRICS:
        renamed = metric(np.array(classes)[y_true][order], np.array(clusters)[y_pred][order])
        assert renamed == pytest.approx(metric(y_true, y_pred), abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(labellings())
def test_ranges(pair):
    for metric in (normalized_mutual_info, clustering_accuracy, macro_f1):
        assert 0 <= metric(*pair) <= 1
    assert -0.5 <= adjusted_rand_index(*pair) <= 1


def test_pair_counts_do_not_overflow():
    n = 200_000
    y_true = np.arange(n) % 2
    assert adjusted_rand_index(y_true, 1 - y_true) == 1.0
    assert adjusted_rand_index(y_true, np.arange(n) // (n // 2)) == pytest.approx(0, abs=1e-4)
