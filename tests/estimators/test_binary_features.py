"""Features of nothing but presence: words, answers, dummies."""

import numpy as np
import pytest
import scipy.sparse as sp

from tvgnn import TVClustering
from tvgnn.estimators.binary_features import are_binary, has_equal_rows
from tvgnn.estimators.quality.preparation import choose_steps
from tvgnn.metrics import normalized_mutual_info


def answers(seed=0, rows=400, columns=40, often=0.0):
    """Yes or no, with odds by class and question."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 3, rows)
    odds = random.normal(0, 1.2, (3, columns))[y] + random.normal(0, 1, columns) + often
    return (random.random((rows, columns)) < 1 / (1 + np.exp(-odds))).astype(float), y


def words(columns, share, rows=300):
    random = np.random.default_rng(0)
    return (random.random((rows, columns)) < share * random.uniform(0.1, 1.9, columns)).astype(float)


def dummies(levels=6, categories=5, rows=200):
    random = np.random.default_rng(0)
    return np.hstack([np.eye(levels)[random.integers(levels, size=rows)] for _ in range(categories)])


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    ("x", "steps"),
    [
        (answers()[0], ("l2",)),
        (answers(often=-3)[0], ("l2",)),
        (words(256, 0.05), ("l2",)),
        (words(257, 0.05), ("idf", "l2")),
        (words(400, 0.3), ("smooth-idf", "l2")),
        (dummies(), ("idf", "l2")),
        (dummies(levels=4, categories=100), ("idf", "l2")),
    ],
    ids=["answers", "rare answers", "few columns", "words", "many words a row", "dummies", "many dummies"],
)
@pytest.mark.parametrize("norm", [None, 1, 2])
def test_steps_of_presence(x, steps, wrap, norm):
    """Whether rows were divided by their sum or length before makes no difference."""
    if norm is not None:
        x = x / np.maximum(np.linalg.norm(x, norm, axis=1, keepdims=True), 1e-9)
    assert choose_steps(wrap(x.astype(np.float32))) == steps


@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_what_is_no_presence(wrap):
    ones = answers()[0]
    assert are_binary(wrap(ones))
    assert not are_binary(wrap(ones * np.arange(1, 41)))
    assert not are_binary(wrap(-ones))
    assert not are_binary(wrap(np.zeros((5, 3))))
    assert not are_binary(wrap(np.zeros((0, 3))))
    single = np.zeros((6, 4))
    single[np.arange(6), np.arange(6) % 4] = np.arange(1, 7)  # one amount a row, of which nothing tells what it is
    assert not are_binary(wrap(single))
    assert are_binary(wrap(np.sign(single)))


def test_stored_zeros_are_zeros():
    x = sp.csr_array(answers()[0])
    x.data[::3] = 0
    assert are_binary(x)
    assert not has_equal_rows(x)
    assert has_equal_rows(sp.csr_array(dummies()))


@pytest.mark.parametrize("often", [0, -1.5])
def test_answers_are_told_apart(often):
    """With an IDF, answers that most give would hardly count: 0.05 to 0.5 of NMI less on simulated ones."""
    scores = []
    for seed in range(3):
        x, y = answers(seed, often=often)
        model = TVClustering(3, preset="quality", n_init=1, random_state=0).fit(x)
        other = TVClustering(3, preset="quality", n_init=1, random_state=0, feature_norm="idf+l2").fit(x)
        assert model.feature_norm_ == "l2"
        scores.append([normalized_mutual_info(y, one.labels_) for one in (model, other)])
    with_l2, with_idf = np.mean(scores, axis=0)
    assert with_l2 > 0.65
    assert with_l2 > with_idf + 0.05
