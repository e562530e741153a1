"""Molecules counted in cells are no words: genes found in all cells say most, and all have one unit."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import normalized_mutual_info_score

from tvgnn import TVClustering
from tvgnn.estimators.count_features import are_counts, are_log_counts
from tvgnn.estimators.quality.preparation import FeaturePreparation, choose_steps


def cells(nodes=600, genes=400, molecules=1200, types=5, seed=0):
    """Counts of genes whose levels are unequal, a tenth of which differ by type, in cells of unequal depth; types."""
    draw = np.random.default_rng(seed)
    y = draw.integers(types, size=nodes)
    rate = draw.gamma(0.4, 1, genes) * np.exp(draw.normal(0, 1.2, (types, genes)) * (draw.random((types, genes)) < 0.1))
    rate /= rate.sum(1, keepdims=True)
    return draw.poisson(rate[y] * molecules * np.exp(draw.normal(0, 0.4, (nodes, 1)))).astype(float), y


def logarithms(x, size=1e4):
    return np.log1p(size * x / x.sum(1, keepdims=True))


@pytest.mark.parametrize("as_given", [np.float32, np.float64, sp.csr_array])
def test_dense_counts_are_known(as_given):
    x = cells()[0]
    assert (x > 0).mean() > 0.25
    assert are_counts(as_given(x))
    assert choose_steps(as_given(x)) == ("log1p", "l2")


@pytest.mark.parametrize("as_given", [np.float32, np.float64, sp.csr_array])
@pytest.mark.parametrize("molecules", [120, 1200, 5000])
@pytest.mark.parametrize("size", [1e3, 1e4, 1e6])
def test_logarithms_of_counts_are_known(as_given, molecules, size):
    x = as_given(logarithms(cells(molecules=molecules)[0], size))
    assert are_log_counts(x)
    assert choose_steps(x) == ("l2",)


@pytest.mark.parametrize("base", [2, 10])
def test_logarithms_of_other_bases_are_known(base):
    assert are_log_counts(logarithms(cells()[0]) / np.log(base))


@pytest.mark.parametrize(("molecules", "steps"), [(120, ("smooth-idf", "l2")), (1200, ("l2",))])
def test_sparse_logarithms_without_a_size_may_be_of_words(molecules, steps):
    x = np.log1p(cells(molecules=molecules)[0])
    for given in (x, sp.csr_array(x), np.vstack([np.zeros_like(x[:2]), x])):
        assert choose_steps(given) == steps


def test_rounded_logarithms_are_known():
    assert are_log_counts(np.round(logarithms(cells()[0]), 3))


def others():
    draw = np.random.default_rng(0)
    counts = cells()[0]
    yield "few genes", counts[:, :31]
    yield "negatives", counts - 1
    yield "no cell", counts[:0]
    yield "zeros", np.zeros((10, 50))
    yield "genotypes", draw.binomial(2, 0.4, (400, 60)).astype(float)
    yield "pixels", load_digits().data
    yield "measurements", np.tile(load_breast_cancer().data, 2)
    yield "shares", counts / counts.sum(1, keepdims=True)
    yield "shares of long documents", cells(molecules=50_000)[0] / 50_000
    yield "TF-IDF", counts * draw.uniform(1, 6, counts.shape[1])
    yield "rows of length 1", counts / np.linalg.norm(counts, axis=1, keepdims=True)
    yield "exponential", draw.exponential(size=(200, 60)) * (draw.random((200, 60)) < 0.3)


@pytest.mark.parametrize("x", [pytest.param(x, id=name) for name, x in others()])
def test_other_features_are_not(x):
    for given in (x, sp.csr_array(x)):
        assert not are_counts(given)
        assert not are_log_counts(given)


def test_counts_of_words_keep_an_idf_that_is_never_zero():
    x = cells(molecules=120)[0]
    assert (x > 0).mean() < 0.25
    x[:, 0] = 1 + x[:, 0]  # in all rows
    fitted = FeaturePreparation.fit(x)
    assert fitted.kind == "log1p+smooth-idf+l2"
    rows = np.count_nonzero(x, axis=0)
    np.testing.assert_allclose(1 / fitted.scale, 1 + np.log(601 / (1 + rows)))
    assert (fitted.transform(x)[:, 0] > 0).all()
    assert (FeaturePreparation.fit(x, "log1p+idf+l2").transform(x)[:, 0] == 0).all()


@pytest.mark.parametrize(
    ("molecules", "given", "before"),
    [
        (150, np.asarray, "log1p+idf+l2"),
        (400, np.asarray, "standardize"),
        (150, logarithms, "idf+l2"),
        (250, logarithms, "standardize"),
    ],
)
def test_types_of_cells_are_found(molecules, given, before):
    counts, y = cells(molecules=molecules)
    nmi = {}
    for steps in ("auto", before):
        found = TVClustering(5, preset="quality", n_init=1, random_state=0, feature_norm=steps).fit(given(counts))
        nmi[steps] = normalized_mutual_info_score(y, found.labels_)
    assert nmi["auto"] > nmi[before] + 0.2
