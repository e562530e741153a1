"""Shares of a whole are compared by Hellinger's distance."""

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.quality.graphs import problem
from topic_graphs import fitted_and_nmi

from tvgnn import TVClustering
from tvgnn.estimators.quality.preparation import FeaturePreparation, choose_steps
from tvgnn.estimators.share_features import are_shares


def shares(rows=200, parts=6, seed=0):
    return np.random.default_rng(seed).dirichlet(np.full(parts, 0.7), rows)


class TestWhatTheyAre:
    @pytest.mark.parametrize("as_given", [np.asarray, np.float32, sp.csr_array])
    @pytest.mark.parametrize("whole", [1, 100, 1e6, 1e-9])
    def test_rows_of_one_sum(self, whole, as_given):
        assert are_shares(as_given(whole * shares()))

    def test_percentages_without_decimals(self):
        assert are_shares(np.round(100 * shares()))

    def test_a_row_that_says_nothing_is_left_out(self):
        x = shares(parts=40)
        x[7] = 0
        assert FeaturePreparation.fit(x).kind == "sqrt+l2"
        assert not FeaturePreparation.fit(x).transform(x)[7].any()

    @pytest.mark.parametrize("parts", [2, 3])
    def test_two_parts_are_one_number(self, parts):
        assert are_shares(shares(parts=parts)) == (parts == 3)

    def test_measurements_are_none(self):
        draw = np.random.default_rng(0)
        for x in (draw.gamma(2, size=(200, 6)), draw.normal(size=(200, 6)), np.ones((200, 6)), np.zeros((200, 6))):
            assert not are_shares(x)

    def test_sums_of_many_columns_vary_little_and_they_are_none_for_all_that(self):
        x = np.random.default_rng(0).random((50, 20_000))
        assert x.sum(1).std() < 0.01 * x.sum(1).mean()
        assert not are_shares(x)

    def test_a_part_with_a_negative_number_is_none(self):
        x = shares()
        x[3, :2] += -1, 1
        assert not are_shares(x)

    def test_one_category_a_row_is_none(self):
        names = np.eye(5)[np.random.default_rng(0).integers(5, size=100)]
        assert not are_shares(names)
        assert "sqrt" not in {*choose_steps(100 * names), *choose_steps(1.5 * names)}

    @pytest.mark.parametrize("shape", [(1, 5), (2, 3)])
    def test_few_rows(self, shape):
        assert are_shares(shares(*shape)) == (shape[0] > 1)


class TestWhatIsDone:
    def test_rows_are_as_far_apart_as_hellinger_says(self):
        x = shares(5)
        prepared = FeaturePreparation.fit(x)
        assert prepared.kind == "sqrt+l2"
        distance = np.linalg.norm(np.diff(prepared.transform(100 * x)[:2], axis=0))
        expected = np.sqrt(2 - 2 * np.sqrt(x[0] * x[1]).sum())  # root 2 times the distance, as it is mostly written
        np.testing.assert_allclose(distance, expected, rtol=1e-5)

    def test_bags_keep_their_idf(self):
        x = np.where(np.random.default_rng(0).random((100, 60)) < 0.1, 1.0, 0) + np.eye(100, 60)
        x[60:, 0] += 1
        shares_of_words = x / x.sum(1, keepdims=True)
        assert are_shares(shares_of_words)
        assert FeaturePreparation.fit(shares_of_words).kind == "idf+l2"

    def test_dense_and_sparse_are_prepared_alike(self):
        x = shares()
        dense, sparse = (FeaturePreparation.fit(one).transform(one) for one in (x, sp.csr_array(x)))
        np.testing.assert_allclose(sparse.toarray(), dense, rtol=1e-6)

    def test_the_step_by_name(self):
        with pytest.raises(ValueError, match=r"expected shares >= 0 for the step sqrt .* got -1 in row 3, column 1"):
            FeaturePreparation.fit(shares(), "sqrt").transform(np.array([[0.5, 1], [0, 1], [0, 1], [0, -1]]))
        with pytest.raises(ValueError, match="of sqrt, log1p, log1p-median only one"):
            FeaturePreparation.fit(shares(), "sqrt+log1p")

    def test_clusters_are_found_that_columns_of_one_deviation_hide(self, tmp_path):
        graph, classes = problem("shares-6", 0)
        model, found = fitted_and_nmi(graph, classes)
        assert model.feature_norm_ == "sqrt+l2"
        assert found > fitted_and_nmi(graph, classes, feature_norm="standardize")[1] + 0.2
        model.save(tmp_path / "model")
        loaded = TVClustering.load(tmp_path / "model")
        np.testing.assert_array_equal(loaded.predict(graph), model.labels_)
