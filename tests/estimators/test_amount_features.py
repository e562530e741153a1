"""Amounts that are mostly zero count by the logarithm of what multiple they are of the usual one."""

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.quality.graphs import problem
from sklearn.feature_extraction.text import TfidfTransformer
from topic_graphs import fitted_and_nmi

from tvgnn import TVClustering
from tvgnn.estimators.amount_features import are_amounts, median_amounts
from tvgnn.estimators.quality.preparation import FeaturePreparation


def amounts(width=1.5, units=0.0, rows=400, columns=12, seed=0):
    draw = np.random.default_rng(seed)
    bought = draw.random((rows, columns)) < 0.2
    return bought * np.exp(width * draw.normal(size=bought.shape) + units * draw.normal(size=columns))


def words(rows=300, columns=80, seed=0):
    draw = np.random.default_rng(seed)
    return draw.poisson(draw.gamma(0.5, 0.2, columns), (rows, columns)).astype(float)


class TestWhatTheyAre:
    @pytest.mark.parametrize("as_given", [np.asarray, np.float32, sp.csr_array])
    def test_wide_columns_and_columns_of_different_units(self, as_given):
        assert are_amounts(as_given(amounts(width=1.5)))
        assert are_amounts(as_given(amounts(width=0.3, units=1.5)))
        assert not are_amounts(as_given(amounts(width=0.3)))

    def test_the_unit_of_all_does_not_matter(self):
        assert are_amounts(1e-9 * amounts())
        assert not are_amounts(1e9 * amounts(width=0.3) + (amounts(width=0.3) < 0))

    def test_words_are_none(self):
        counts = words()
        shares = counts / np.maximum(counts.sum(1, keepdims=True), 1)
        weighed = TfidfTransformer(norm=None).fit_transform(sp.csr_matrix(counts))
        for x in (counts, shares, weighed, counts > 0):
            assert not are_amounts(sp.csr_array(x, dtype=float))

    @pytest.mark.parametrize("shape", [(1, 1), (3, 4), (19, 2)])
    def test_few_rows_tell_nothing(self, shape):
        assert not are_amounts(np.exp(5 * np.random.default_rng(0).normal(size=shape)))

    def test_nothing_at_all(self):
        assert not are_amounts(sp.csr_array((5, 3)))


class TestWhatIsDone:
    def test_a_usual_amount_becomes_log_2_in_every_column(self):
        x = np.zeros((30, 3))
        x[:9, 0], x[:7, 1] = np.arange(1, 10), 1000 * np.arange(1, 8)
        x[0, 2] = 50  # seen once: the usual amount of all columns
        np.testing.assert_array_equal(median_amounts(x), [5, 4000, np.median(x[x > 0])])
        prepared = FeaturePreparation.fit(x, "log1p-median").transform(x)
        np.testing.assert_allclose(prepared[[4, 3], [0, 1]], np.log(2), rtol=1e-6)
        assert not prepared[x == 0].any()

    def test_dense_and_sparse_are_prepared_alike_and_units_of_columns_do_not_matter(self):
        x, units = amounts(), np.exp(3 * np.random.default_rng(1).normal(size=12))
        prepared = FeaturePreparation.fit(x)
        assert prepared.kind == "log1p-median+smooth-idf+l2"
        expected = prepared.transform(x)
        for other in (sp.csr_array(x), x * units, np.float32(x)):
            found = FeaturePreparation.fit(other).transform(other)
            np.testing.assert_allclose(found.toarray() if sp.issparse(found) else found, expected, rtol=2e-5)

    def test_new_rows_take_the_medians_of_those_fitted(self):
        x = amounts()
        fitted = FeaturePreparation.fit(x)
        np.testing.assert_allclose(fitted.transform(x[:5]), fitted.transform(x)[:5])

    def test_what_is_bought_by_nobody_stays_zero(self):
        x = amounts()
        x[:, 3] = 0
        assert np.isfinite(FeaturePreparation.fit(x).transform(x)).all()

    def test_negative_numbers_are_refused(self):
        fitted = FeaturePreparation.fit(amounts())
        with pytest.raises(ValueError, match="expected amounts >= 0 for the step log1p-median"):
            fitted.transform(-amounts())

    def test_clusters_are_found_that_the_largest_amounts_hide(self, tmp_path):
        graph, classes = problem("amounts-5", 0)
        model, found = fitted_and_nmi(graph, classes)
        assert found > fitted_and_nmi(graph, classes, feature_norm="idf+l2")[1] + 0.2
        model.save(tmp_path / "model")
        loaded = TVClustering.load(tmp_path / "model")
        assert loaded.feature_norm_ == "log1p-median+smooth-idf+l2"
        np.testing.assert_array_equal(loaded.feature_scaling_.medians, model.feature_scaling_.medians)
        np.testing.assert_array_equal(loaded.predict(graph), model.labels_)
