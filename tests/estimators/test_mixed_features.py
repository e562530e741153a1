"""Tables of measurements and dummies of categories are no bags of words, however many of their entries are 0."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

from tvgnn import TVClustering
from tvgnn.estimators.mixed_features import are_mixed
from tvgnn.estimators.quality.preparation import FeaturePreparation, choose_steps


def customers(nodes=600, seed=0):
    """A category of 20 levels that says nothing, one of 12; age, and spending that is 0 for some; and two classes."""
    draw = np.random.default_rng(seed)
    y = draw.integers(2, size=nodes)
    dummies = [np.eye(20)[draw.integers(20, size=nodes)], np.eye(12)[draw.integers(6, size=nodes) + 6 * y]]
    age = np.round(draw.normal(30 + 25 * y, 5, nodes))
    spent = np.where(draw.random(nodes) < 0.2, 0, np.round(draw.normal(1500 - 900 * y, 200, nodes), 2))
    return np.column_stack([*dummies, age, spent]), y


@pytest.mark.parametrize("as_given", [np.asarray, np.float32, sp.csr_array])
def test_tables_with_dummies_are_known(as_given):
    x = as_given(customers()[0])
    assert are_mixed(x)
    assert choose_steps(x) == ("standardize-numeric",)


def test_codes_that_are_never_zero_are_measurements():
    x = customers()[0]
    x[:, 33] = 1 + x[:, 32] // 60
    assert choose_steps(np.column_stack([x, x[:, 33:]])) == ("standardize-numeric",)


def test_measurements_that_the_user_standardised_are_known():
    x = customers()[0]
    x[:, 32:] = StandardScaler().fit_transform(x[:, 32:])
    assert choose_steps(x) == ("standardize-numeric",)
    assert choose_steps(x[:, 16:]) == ("standardize-numeric",)  # denser


def counts(length, nodes=500, words=300):
    draw = np.random.default_rng(0)
    return draw.poisson(length * draw.dirichlet(1 / np.arange(1, words + 1)), (nodes, words)).astype(float)


def others():
    draw = np.random.default_rng(0)
    yield "dummies alone", customers()[0][:, :32]
    yield "titles", counts(6)
    yield "texts", counts(60)
    yield "one frequent word, others at most once", np.hstack([np.minimum(counts(4), 1), draw.poisson(1.2, (500, 1))])
    yield "TF-IDF", counts(30) * draw.uniform(1, 6, 300)
    yield "measurements alone", draw.gamma(1, size=(50, 6))
    yield "zeros", np.zeros((50, 6))
    yield "no rows of words", np.zeros((50, 0))


@pytest.mark.parametrize("x", [pytest.param(x, id=name) for name, x in others()])
def test_bags_and_measurements_alone_are_not_mixed(x):
    assert not are_mixed(x)
    assert not are_mixed(sp.csr_array(x))


def test_sparse_features_stay_as_they_are():
    x = sp.csr_array(customers()[0])
    x.data[:3] = 0  # stored, and yet zeros
    given = x.copy()
    are_mixed(x)
    assert x.nnz == given.nnz
    assert (x.data == given.data).all()


@pytest.mark.parametrize("as_given", [np.asarray, sp.csr_array])
def test_measurements_are_standardised_and_dummies_share_a_scale(as_given):
    x = customers()[0]
    fitted = FeaturePreparation.fit(as_given(x))
    rows = fitted.transform(as_given(x))
    rows = rows.toarray() if sp.issparse(rows) else rows
    np.testing.assert_allclose(rows[:, 32:].std(0), 1, rtol=1e-4)
    np.testing.assert_allclose(rows[:, :32].std(0), 2 * x[:, :32].std(0), rtol=1e-4)


def test_rare_categories_do_not_outweigh_measurements():
    x, y = customers()
    right = {}
    for steps in ("auto", "idf+l2", "standardize"):
        labels = TVClustering(2, preset="quality", n_init=1, random_state=0, feature_norm=steps).fit(x).labels_
        right[steps] = max(np.mean(labels == y), np.mean(labels != y))
    assert right["auto"] > 0.8 > max(right["idf+l2"], right["standardize"])


def test_a_table_survives_a_save(tmp_path):
    x = customers()[0]
    model = TVClustering(2, preset="quality", n_init=1, random_state=0).fit(x)
    assert model.feature_norm_ == "standardize-numeric"
    model.save(tmp_path / "model")
    assert (TVClustering.load(tmp_path / "model").predict(x) == model.labels_).all()
