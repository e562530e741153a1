"""Measurements with heavy tails say more by their ranks, and those that mark a small cluster do not."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import norm, rankdata
from sklearn.metrics import normalized_mutual_info_score

from tvgnn import Graph, TVClustering
from tvgnn.estimators.heavy_tails import heavy_tailed, normal_scores, quantiles_of
from tvgnn.estimators.quality.preparation import FeaturePreparation


def measurements(rows=600, columns=6, classes=4, seed=0):
    """Gaussian classes."""
    draw = np.random.default_rng(seed)
    y = draw.integers(classes, size=rows)
    return draw.normal(0, 1.2, (classes, columns))[y] + draw.normal(size=(rows, columns)), y


def markers(rows=900, classes=12, seed=0):
    """A column a class, far up in its members only."""
    draw = np.random.default_rng(seed)
    y = draw.integers(classes, size=rows)
    return draw.normal(size=(rows, 2 * classes)) + 8 * np.repeat(np.eye(classes), 2, axis=1)[y], y


def slips(z):
    """Each column is a hundred times too large in some rows."""
    x, draw = z.copy(), np.random.default_rng(1)
    for column in range(x.shape[1]):
        x[draw.integers(0, len(x), 3), column] *= 100
    return x


TAILS = {"exponentials": np.exp, "fifth powers": lambda z: z**5, "slips": slips, "steep": lambda z: np.exp(3 * z)}


class TestWhichColumns:
    @pytest.mark.parametrize("as_given", [np.asarray, np.float32, sp.csr_array])
    @pytest.mark.parametrize("tail", TAILS)
    def test_heavy_tails_are_known(self, tail, as_given):
        z, _ = measurements()
        x = np.column_stack([TAILS[tail](z[:, :3]), z[:, 3:]])
        assert heavy_tailed(as_given(x)).tolist() == [True] * 3 + [False] * 3

    def test_markers_of_small_clusters_are_no_heavy_tails(self):
        x, _ = markers()
        kurtosis = (((x - x.mean(0)) / x.std(0)) ** 4).mean(0) - 3
        assert (kurtosis > 3).all()
        assert not heavy_tailed(x).any()

    def test_dummies_and_constants_are_none(self):
        z, y = measurements()
        x = np.column_stack([np.exp(2 * z), np.arange(600) < 6, np.full(600, 1e9), y == 0])
        assert heavy_tailed(x).tolist() == [True] * 6 + [False] * 3

    def test_units_do_not_matter(self):
        x = TAILS["exponentials"](measurements()[0])
        assert np.array_equal(heavy_tailed(x), heavy_tailed(1e9 + 1e-3 * x))

    def test_what_is_far_out_need_not_be_among_the_rows_compared(self):
        """One row in 20,000 takes all of the variance."""
        x, _ = measurements(20_000)
        x[7, 0] = 1e6
        assert heavy_tailed(x).tolist() == [True] + [False] * 5

    @pytest.mark.parametrize("shape", [(1, 3), (15, 3), (40, 1)])
    def test_few_rows_or_columns_stay(self, shape):
        x = np.exp(5 * np.random.default_rng(0).normal(size=shape))
        assert heavy_tailed(x).tolist() == [False] * shape[1]

    def test_few_rows_suffice(self):
        z, _ = measurements(16, 3)
        assert heavy_tailed(np.exp(3 * z)).shape == (3,)
        assert np.isfinite(FeaturePreparation.fit(np.exp(3 * z)).transform(np.exp(3 * z))).all()

    def test_without_rows_or_with_one_column_there_is_nothing_to_compare(self):
        assert not heavy_tailed(np.exp(3 * measurements(600, 1)[0])).any()


class TestNormalScores:
    def test_are_the_normal_quantiles_of_ranks(self):
        x = np.exp(2 * measurements(5000)[0])
        found = normal_scores(x, quantiles_of(x, np.arange(6) < 4))
        expected = norm.ppf((rankdata(x, axis=0) - 0.5) / len(x))
        inner = np.abs(expected) < 2  # between the last quantiles and the extremes ranks are interpolated
        assert np.abs(found - expected)[:, :4][inner[:, :4]].max() < 0.05
        assert np.array_equal(found[:, 4:], x[:, 4:])

    def test_equal_values_share_a_score(self):
        x = np.repeat([0.0, 1.0, 5.0], [600, 300, 100])[:, None]
        found = normal_scores(x, quantiles_of(x, np.array([True])))
        assert np.unique(found).size == 3
        assert np.diff(np.unique(found)).min() > 0.5
        assert np.array_equal(np.argsort(np.unique(found)), np.argsort(np.unique(x)))

    def test_new_rows_have_scores_that_do_not_grow(self):
        x = np.exp(measurements()[0])
        given = quantiles_of(x, np.ones(6, bool))
        low, high = (normal_scores(np.full((1, 6), value), given) for value in (-1e9, 1e9))
        assert (low == normal_scores(x, given).min(0)).all()
        assert (high == normal_scores(x, given).max(0)).all()
        assert 2.5 < high.max() < 3.5

    def test_sparse_rows_have_the_same(self):
        x = np.where(np.random.default_rng(0).random((300, 4)) < 0.3, 0, np.exp(measurements(300, 4)[0]))
        columns = np.array([True, False, True, False])
        given = quantiles_of(x, columns)
        assert np.array_equal(given, quantiles_of(sp.csr_array(x), columns), equal_nan=True)
        assert np.allclose(normal_scores(sp.csr_array(x), given).toarray(), normal_scores(x, given))


def graph_of(x, y, within=0.6, seed=2):
    draw = np.random.default_rng(seed)
    source, order = draw.integers(0, len(y), 3 * len(y)), np.argsort(y, kind="stable")
    begin, end = (np.searchsorted(y[order], y[source], side) for side in ("left", "right"))
    near = draw.random(len(source)) < within
    target = np.where(near, order[draw.integers(begin, end)], draw.integers(0, len(y), len(source)))
    return Graph.from_edge_index(np.stack([source, target]), num_nodes=len(y), x=x, y=y)


def fitted(graph, classes=4, **options):
    return TVClustering(classes, preset="quality", n_init=1, random_state=0, **options).fit(graph)


class TestClustering:
    @pytest.mark.parametrize("tail", ["exponentials", "slips"])
    def test_finds_what_it_finds_without_the_tails(self, tail):
        z, y = measurements()
        graph = graph_of(TAILS[tail](z), y)
        found, before, plain = (
            normalized_mutual_info_score(y, model.labels_)
            for model in (fitted(graph), fitted(graph, feature_norm="standardize"), fitted(graph_of(z, y)))
        )
        assert found > before + 0.02
        assert found > plain - 0.06

    def test_markers_are_standardised_as_before(self):
        x, y = markers()
        model = fitted(graph_of(x, y), classes=12)
        assert model.feature_norm_ == "standardize"
        assert normalized_mutual_info_score(y, model.labels_) > 0.9

    def test_a_table_with_categories_has_ranks_and_dummies(self):
        z, y = measurements()
        colors = np.eye(12)[(y + 4 * np.random.default_rng(3).integers(3, size=len(y))) % 12]
        x = np.column_stack([colors, np.exp(2 * z)])
        dense, sparse = FeaturePreparation.fit(x), FeaturePreparation.fit(sp.csr_array(x))
        assert dense.kind == sparse.kind == "normal-scores+standardize-numeric"
        assert np.array_equal(~np.isnan(dense.quantiles[0]), np.arange(18) >= 12)
        both = dense.transform(x), sparse.transform(sp.csr_array(x)).toarray()
        assert np.allclose(both[0][:, 12:], both[1][:, 12:], atol=1e-5)
        assert np.allclose(both[0].std(0)[12:], 1, atol=1e-5)

    def test_comes_back_from_a_file_and_takes_new_rows(self, tmp_path):
        z, y = measurements()
        graph = graph_of(np.exp(z), y)
        model = fitted(graph)
        assert model.feature_norm_ == "normal-scores+standardize"
        model.save(tmp_path / "model")
        loaded = TVClustering.load(tmp_path / "model")
        assert np.array_equal(loaded.predict(graph), model.labels_)
        others, y_others = measurements(300, seed=0)
        assert np.array_equal(
            loaded.predict(graph_of(np.exp(others), y_others)), model.predict(graph_of(np.exp(others), y_others))
        )

    def test_steps_by_name_are_for_all_columns_but_dummies(self):
        z, y = measurements()
        x = np.column_stack([z, y == 0])
        prepared = FeaturePreparation.fit(x, "normal-scores+common-scale")
        assert prepared.ranked == [0, 1, 2, 3, 4, 5]
        assert FeaturePreparation.fit(x).ranked == []

    def test_rows_that_are_missing_stay_so(self):
        z, _ = measurements(600, 40)
        x = np.exp(z)
        x[:50] = 0
        prepared = FeaturePreparation.fit(x)
        assert prepared.kind == "normal-scores+standardize"
        assert not prepared.transform(x)[:50].any()
        assert prepared.transform(x)[50:].any(1).all()

    @pytest.mark.parametrize("steps", ["normal-scores+log1p", "idf+normal-scores", "normal-scores+normal-scores"])
    def test_refuses_steps_that_exclude_each_other(self, steps):
        with pytest.raises(ValueError, match="normal-scores without idf, log1p, log1p-median, smooth-idf, sqrt"):
            fitted(measurements()[0], feature_norm=steps)

    def test_refuses_a_sparse_bag(self):
        bag = sp.random_array((200, 100), density=0.05, rng=np.random.default_rng(0), format="csr")
        with pytest.raises(ValueError, match="expected measurements for the step normal-scores"):
            FeaturePreparation.fit(bag, "normal-scores")
