"""Categories of a table: what a partition only repeats is no finding."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from tvgnn import Graph, TVClustering
from tvgnn.estimators.quality import recipe
from tvgnn.estimators.quality.categories import category_columns, levels
from tvgnn.estimators.quality.information import PartitionInformation


def _columns(x):
    return [columns.tolist() for columns in category_columns(x)]


@pytest.fixture(scope="module")
def table():
    """Four classes that four columns and half of the edges say a little about, and two categories that say nothing."""
    random = np.random.default_rng(4)
    y = random.integers(0, 4, 900)
    levels = [np.eye(8)[random.integers(0, 8, 900)] for _ in range(2)]
    measured = 0.5 * random.normal(size=(4, 4))[y] + random.normal(size=(900, 4))
    sources, anywhere = random.integers(0, 900, (2, 3600))
    order, sizes = np.argsort(y, kind="stable"), np.bincount(y)
    alike = order[np.searchsorted(y[order], y[sources]) + (random.random(3600) * sizes[y[sources]]).astype(int)]
    edges = np.stack([sources, np.where(random.random(3600) < 0.5, alike, anywhere)])
    x = np.hstack([*levels, np.exp(measured)]).astype(np.float32)
    return Graph.from_edge_index(edges, num_nodes=900, x=x, y=y)


def _fitted(graph):
    return TVClustering(4, preset="quality", n_init=1, random_state=0).fit(graph)


def test_a_category_is_not_repeated(table, monkeypatch):
    model = _fitted(table)
    assert model.choices_["categories"] == 2
    assert adjusted_rand_score(table.y, model.labels_) > 0.25
    monkeypatch.setattr(recipe, "category_columns", lambda x: [])
    assert adjusted_rand_score(table.y, _fitted(table).labels_) < 0.05


@pytest.mark.parametrize("sparse", [False, True])
def test_dummies_side_by_side_are_a_category(sparse):
    random = np.random.default_rng(0)
    color, size, member = (
        np.eye(3)[random.integers(0, 3, 80)],
        np.eye(4)[random.integers(0, 4, 80)],
        random.random(80) < 0.5,
    )
    price = random.gamma(2, 30, (80, 2))
    x = np.hstack([color, price[:, :1], size, member[:, None], price[:, 1:]])
    given = sp.csr_array(x) if sparse else x
    assert _columns(given) == [[0, 1, 2], [4, 5, 6, 7], [8]]
    alone = np.hstack([color, size])
    assert _columns(sp.csr_array(alone) if sparse else alone) == [[0, 1, 2], [3, 4, 5, 6]]


def test_a_level_that_is_left_out_leaves_a_category():
    random = np.random.default_rng(0)
    without_first = np.eye(4)[random.integers(0, 4, 80), 1:]
    assert _columns(np.hstack([without_first, random.normal(size=(80, 2))])) == [[0, 1, 2]]


@pytest.mark.parametrize("sparse", [False, True])
def test_levels_that_do_not_occur_are_no_bar(sparse):
    levels = np.random.default_rng(0).integers(0, 4, 80)
    x = np.insert(np.eye(4)[levels], [0, 2, 4], 0, axis=1)
    assert _columns(sp.csr_array(x) if sparse else x) == [[1, 2, 4, 5]]
    beside = np.hstack([x, np.random.default_rng(1).gamma(2, 30, (80, 1))])
    assert _columns(sp.csr_array(beside) if sparse else beside) == [[1, 2, 4, 5]]
    assert _columns(np.zeros((80, 3))) == []


@pytest.mark.parametrize("sparse", [False, True])
def test_levels_say_what_their_dummies_do(sparse):
    """From the table of clusters and levels alone, also where rows have no level."""
    random = np.random.default_rng(0)
    labels = random.integers(0, 5, 900)
    level = np.where(random.random(900) < 0.5, labels, random.integers(0, 10, 900))
    dummies = np.eye(10)[level][:, :9].astype(np.float32)
    edges = sp.csr_array((900, 900))
    read = levels(sp.csr_array(dummies) if sparse else dummies, np.arange(9))
    assert np.array_equal(read, level)
    x = random.normal(size=(900, 3)).astype(np.float32)
    known = PartitionInformation(edges, x, categories=[read])
    plain, dense = (PartitionInformation(edges, part) for part in (x, dummies))
    for partition in (labels, random.integers(0, 5, 900)):
        assert known.of(partition, 5) == pytest.approx(plain.of(partition, 5) - dense.of(partition, 5), rel=1e-3)


def test_of_many_codes_the_one_counts_that_a_partition_repeats_most():
    """As genotypes are, thousands of columns of 0, 1 and 2."""
    random = np.random.default_rng(0)
    labels = random.integers(0, 5, 900)
    codes = random.integers(0, 3, (900, 200)).astype(np.float32)
    codes[:, 40] = np.where(random.random(900) < 0.6, labels == 0, codes[:, 40])
    codes[:, 41] = 2  # of one value only
    x = random.normal(size=(900, 3)).astype(np.float32)
    edges = sp.csr_array((900, 900))
    plain = PartitionInformation(edges, x).of(labels, 5)
    known = PartitionInformation(edges, x, categories=list(codes.T[:, :, None])).of(labels, 5)
    alone = [PartitionInformation(edges, column).of(labels, 5) for column in codes.T[:, :, None]]
    assert int(np.argmax(alone)) == 40
    assert known == pytest.approx(plain - max(alone), rel=1e-5)
    repeated = PartitionInformation(edges, x, categories=[codes[:, :1], labels[:, None].astype(np.float32)])
    assert repeated.of(labels, 5) < plain - 900  # the partition is that code: next to nothing is left within clusters


def test_codes_keep_their_values():
    x = np.array([[3.0, 0.5], [5, 0.5], [4, 0.5]])
    assert levels(x, np.array([0])).tolist() == [[3], [5], [4]]


@pytest.mark.parametrize("equal_rows", [False, True])
def test_words_are_no_categories(equal_rows):
    random = np.random.default_rng(0)
    x = (random.random((100, 40)) < 0.1).astype(float)
    if equal_rows:
        x = np.zeros((100, 40))
        for row in x:
            row[random.choice(40, 4, replace=False)] = 1
    assert _columns(x) == _columns(sp.csr_array(x)) == []


def test_codes_have_few_values_that_occur_often():
    random = np.random.default_rng(0)
    x = np.stack(
        [random.integers(0, 5, 400), random.normal(size=400), random.integers(0, 60, 400), np.ones(400)], axis=1
    )
    assert _columns(x) == [[0]]
    assert _columns(x[:80]) == []  # 16 rows a value: may be rounded
    assert _columns(sp.csr_array(x)) == []
    assert _columns(np.zeros((0, 3))) == _columns(np.zeros((4, 0))) == []


def test_pictures_have_no_categories():
    assert _columns(load_digits().data) == []


def test_what_is_said_of_the_best_explained_category_does_not_count(table):
    x = table.x - table.x.mean(0)
    columns = [np.arange(8), np.arange(8, 16)]
    plain = PartitionInformation(table.adjacency(), x)
    fair = PartitionInformation(table.adjacency(), x, categories=[levels(table.x, one) for one in columns])
    alone = [PartitionInformation(table.adjacency(), x[:, one]).feature_information(table.y, 4) for one in columns]
    expected = plain.feature_information(table.y, 4) - max(alone)
    assert fair.feature_information(table.y, 4) == pytest.approx(expected, rel=1e-3)
    repeated = table.x[:, :8].argmax(1) % 4
    assert plain.feature_information(repeated, 4) > plain.feature_information(table.y, 4)
    assert fair.feature_information(repeated, 4) < fair.feature_information(table.y, 4)
