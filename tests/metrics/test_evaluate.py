"""The dictionary of all metrics, cluster sizes, sharpness."""

import json
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array

from tvgnn.errors import GraphError
from tvgnn.metrics import cluster_sizes, clustering_accuracy, cut_fraction, evaluate, sharpness, soft_entropy

PATH = csr_array(np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]], dtype=np.float32))
LABEL_KEYS = {"nmi", "acc", "ari", "macro_f1"}


def test_sizes_count_empty_clusters():
    assert cluster_sizes([2, 0, 2], 5).tolist() == [1, 0, 2, 0, 0]
    with pytest.raises(GraphError, match="node 0 has label 2"):
        cluster_sizes([2, 0, 2], 2)


def test_sharpness_values():
    assert sharpness(np.eye(3)) == 1
    assert sharpness(np.full((4, 5), 0.2, np.float32)) == pytest.approx(0.2)
    assert sharpness([[0.75, 0.25], [0.5, 0.5]]) == 0.625


def test_soft_entropy_is_a_share_of_the_highest():
    assert soft_entropy(np.eye(3)) == 0
    assert soft_entropy(np.full((4, 5), 0.2, np.float32)) == pytest.approx(1)
    assert soft_entropy([[0.5, 0.5, 0], [1, 0, 0]]) == pytest.approx(np.log(2) / np.log(3) / 2)
    assert soft_entropy(np.ones((4, 1))) == 0
    many = np.random.default_rng(0).dirichlet(np.ones(3), 70_000)
    assert soft_entropy(many) == pytest.approx(-(many * np.log(many)).sum(1).mean() / np.log(3))
    with pytest.raises(GraphError, match=r"row 1 has -0\.5 in 0"):
        soft_entropy([[0.5, 0.5], [-0.5, 1.5]])


@pytest.mark.parametrize("measure", [sharpness, soft_entropy])
@pytest.mark.parametrize(
    ("assignments", "says"),
    [([0.5, 0.5], r"shape \(2,\)"), (np.empty((0, 3)), "N, K >= 1"), ([[1.0, 0.0], [np.nan, 0.5]], "row 1")],
)
def test_bad_assignments_are_refused(assignments, says, measure):
    with pytest.raises(GraphError, match=says):
        measure(assignments)


def test_everything_known():
    assignments = np.array([[0.9, 0.1, 0], [0.8, 0.2, 0], [0.3, 0.7, 0], [0, 1, 0]])
    result = evaluate(PATH, [0, 0, 1, 1], assignments, y=[1, 1, 0, 1])
    assert result["n_clusters"] == 3
    assert result["n_clusters_found"] == 2
    assert result["cluster_sizes"] == [2, 2, 0]
    assert result["sharpness"] == pytest.approx(0.85)
    assert result["soft_entropy"] == soft_entropy(assignments)
    assert result["cut_fraction"] == cut_fraction(PATH, [0, 0, 1, 1])
    assert result["acc"] == clustering_accuracy([1, 1, 0, 1], [0, 0, 1, 1]) == 0.75
    assert json.loads(json.dumps(result)) == result


@pytest.mark.parametrize("y", [None, [-1, -1, -1, -1]])
def test_label_metrics_only_where_labels_are_known(y):
    assert not LABEL_KEYS & set(evaluate(PATH, [0, 0, 1, 1], y=y))


def test_assignments_of_another_shape_are_refused():
    with pytest.raises(GraphError, match=r"shape \(4, 3\); got shape \(4, 2\)"):
        evaluate(PATH, [0, 0, 1, 1], np.full((4, 2), 0.5), n_clusters=3)


def test_metrics_need_no_torch():
    code = "import sys, tvgnn.metrics; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
