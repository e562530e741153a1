"""What marks each cluster, against values worked out by hand or by plain loops."""

import numpy as np
import pytest
import scipy.sparse as sp
from page_cases import cliques_view, soft

from tvgnn.errors import DataError
from tvgnn.report.page import ClusteringView
from tvgnn.report.page.findings import findings, sentences
from tvgnn.report.page.loss_curve import loss_curve
from tvgnn.report.page.payload import class_colors
from tvgnn.report.page.run_metrics import checked_metrics
from tvgnn.report.page.summary import (
    cluster_edges,
    confusion,
    doubtful_nodes,
    feature_differences,
    neighbor_agreement,
    typical_nodes,
)


def test_edges_between_clusters_count_each_edge_once():
    weights = cluster_edges(cliques_view())
    assert weights.tolist() == [[10, 1, 1], [1, 10, 1], [1, 1, 10]]


def test_agreement_with_neighbors():
    path = sp.csr_array(np.array([[0, 1, 0, 0], [1, 0, 3, 0], [0, 3, 0, 0], [0, 0, 0, 0]], dtype=float))
    agreement = neighbor_agreement(ClusteringView(soft([0, 0, 1, 1], 2), path))
    np.testing.assert_allclose(agreement, [1, 0.25, 0, np.nan])


@pytest.mark.parametrize("sparse", [False, True])
def test_feature_differences_match_plain_formulas(sparse):
    rng = np.random.default_rng(1)
    x, labels = rng.poisson(1.0, size=(40, 70)).astype(float) + 3 * (not sparse), rng.integers(0, 3, 40)
    view = ClusteringView(soft(labels, 3), sp.csr_array((40, 40)), x=sp.csr_array(x) if sparse else x)
    found = feature_differences(view)
    for cluster in range(3):
        inside, outside = x[labels == cluster], x[labels != cluster]
        expected = (inside.mean(0) - outside.mean(0)) / np.sqrt((inside.var(0) + outside.var(0)) / 2)
        np.testing.assert_allclose(found.difference[cluster], expected, atol=1e-9)
        np.testing.assert_allclose(found.inside[cluster], inside.mean(0))
        np.testing.assert_allclose(found.outside[cluster], outside.mean(0))


def test_feature_differences_are_finite_without_variance():
    x = np.array([[1.0, 5, 1e8], [1, 5, 1e8 + 1], [2, 5, 1e8], [2, 5, 1e8 + 1]])
    found = feature_differences(ClusteringView(soft([0, 0, 1, 1], 3), sp.csr_array((4, 4)), x=x))
    assert np.isfinite(found.difference).all()
    np.testing.assert_allclose(found.difference[:, 0], [-2, 2, 0])
    assert not found.difference[:, 1:].any()
    assert found.marking(0, 6) == [0]


def test_a_mean_of_zero_is_zero():
    x = np.array([0.0, 0, 0, 0.8, 0.1, 0.2, 0.3])[:, None]  # less their mean, these do not sum to exactly 0
    found = feature_differences(ClusteringView(soft([0, 0, 0, 1, 1, 1, 1], 2), sp.csr_array((7, 7)), x=x))
    assert found.inside[0].tolist() == [0]
    np.testing.assert_allclose(found.outside[0], 0.35)


def test_typical_and_doubtful_nodes():
    shares = np.array([[0.9, 0.1], [0.6, 0.4], [0.99, 0.01], [0.2, 0.8], [0.45, 0.55]])
    view = ClusteringView(shares, sp.csr_array((5, 5)))
    agreement = neighbor_agreement(view)
    assert typical_nodes(view, agreement, 2) == [[2, 0], [3, 4]]
    assert doubtful_nodes(view, agreement, 2) == [[1, 0], [4, 3]]


def test_among_equally_sure_nodes_neighbors_decide():
    chain = sp.csr_array(np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1))
    view = ClusteringView(soft([0, 0, 1, 1], 2), chain)
    agreement = neighbor_agreement(view)
    assert doubtful_nodes(view, agreement, 1) == [[1], [2]]
    assert typical_nodes(view, agreement, 1) == [[0], [3]]


def test_confusion_skips_unknown_classes():
    view = cliques_view(y=np.array([-1] * 5 + [0] * 5 + [1] * 5))
    assert confusion(view).tolist() == [[0, 0, 0], [5, 0, 0], [0, 5, 0]]
    assert class_colors(confusion(view))[:2] == [1, 2]  # the colour of the cluster that each class matches


def titles(view):
    return " / ".join(f.title for f in findings(view, cluster_edges(view), neighbor_agreement(view)))


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"assignments": soft([0] * 15, 3)}, "Only 1 cluster of 3 is in use"),
        ({"assignments": soft([0] * 13 + [1, 2], 3)}, "sizes are uneven: from 1 to 13 nodes"),
        (
            {"metrics": {"converged": False, "epochs": 200}},
            "it ended after 200 epochs while the loss was still falling",
        ),
        (
            {"metrics": {"converged": False, "epochs": 200}, "loss_history": [1.0] * 200},
            "ended after 200 epochs without the early stop",
        ),
        ({"assignments": soft(np.repeat([0, 1, 2], 5), 3, 0.34)}, "nearly uniform"),
        ({"assignments": soft(np.repeat([0, 1, 2], 5), 3, 0.55)}, "not sharp: 55 % on average"),
        (
            {"metrics": {"choices": {"over_edges": False, "neighbor_agreement": 0.01}}},
            "Edges join nodes as good as at random, so the clusters are of the features alone",
        ),
        ({"metrics": {"choices": {"over_edges": True, "neighbor_agreement": 0.01}}}, "Neighbours hardly agree"),
        ({"metrics": {"choices": {"over_edges": False, "features_made_of": "degrees"}}}, "nodes of like degree"),
        ({"metrics": {"choices": {"missing_features": 4}}}, "4 of 15 nodes have no features"),
        ({"metrics": {"choices": {"missing_features": 4, "nothing_known": 2}}}, "4 of 15 nodes have no features"),
        ({"metrics": {"modularity": 0.1}}, "few more edges than chance would give them (modularity 0.10)"),
        (
            {"assignments": soft(np.arange(15) % 3, 3)},
            "nodes have most of their edges' weight in other clusters",
        ),
    ],
)
def test_findings(parts, words):
    assert words in titles(cliques_view(**parts))


def test_a_good_clustering_has_no_findings():
    assert titles(cliques_view(metrics={"converged": True, "modularity": 0.6})) == ""
    assert titles(cliques_view(metrics={"choices": {"over_edges": True, "neighbor_agreement": 0.8}})) == ""
    of_edges = {"over_edges": True, "neighbor_agreement": 0.01, "features_made_of": "edges"}
    assert titles(cliques_view(metrics={"choices": of_edges})) == ""


def test_loss_curve():
    curve = loss_curve([2.0, 1.0, 0.5, 0.75])
    assert curve.path.startswith("M0.0,0.0L")
    assert curve.path.count("L") == 3
    assert curve.lowest == (round(620 * 2 / 3, 2), 230.0, "lowest: 0.5000 in epoch 3")
    assert [text for _, text in curve.x_ticks] == ["1", "2", "3", "4"]
    assert loss_curve([1.0]) is None
    assert loss_curve([1.0] * 5).y_ticks
    assert loss_curve(np.linspace(1, 0, 5000)).path.count("L") == 599


@pytest.mark.parametrize(
    ("metrics", "words"),
    [
        ({"nmi": 0.5, "acc": 0.25}, "Agreement with the known classes: NMI 0.500, accuracy 0.250."),
        ({"nmi": 0.5}, "Agreement with the known classes: NMI 0.500."),
        ({"acc": 0.25, "nmi": None}, "Agreement with the known classes: accuracy 0.250."),
    ],
)
def test_agreement_tells_what_is_known(metrics, words):
    view = cliques_view(metrics=metrics)
    assert words in sentences(view, cluster_edges(view))


def test_metrics_may_be_numpys():
    given = {
        "cluster_sizes": np.array([3, 2]),
        "converged": np.bool_(True),
        "nmi": np.float32(0.5),
        "epochs": np.int64(3),
    }
    assert checked_metrics(given) == {"cluster_sizes": [3, 2], "converged": True, "nmi": 0.5, "epochs": 3}


@pytest.mark.parametrize("choices", [
    {}, None, {"missing_features": None, "nothing_known": None, "neighbor_agreement": None},
    {"neighbor_agreement": 0.01, "views": [{"layers": 2}]},
], ids=str)  # fmt: skip
def test_choices_of_a_run_may_lack_anything(choices):
    view = cliques_view(metrics={"choices": choices})
    edges = cluster_edges(view)
    assert len(findings(view, edges, neighbor_agreement(view))) == bool(choices and choices.get("neighbor_agreement"))


@pytest.mark.parametrize(("choices", "message"), [
    ([1], r"expected choices to be an object of what the data chose, got list \[1\]"),
    ("many", "expected choices to be an object"),
    ({"missing_features": "3"}, "expected missing_features of choices to be a finite number, got str '3'"),
    ({"nothing_known": [3]}, "expected nothing_known of choices"),
    ({"neighbor_agreement": np.nan}, "expected neighbor_agreement of choices"),
], ids=str)  # fmt: skip
def test_choices_of_another_kind_are_refused(choices, message):
    with pytest.raises(DataError, match=message):
        checked_metrics({"choices": choices})
