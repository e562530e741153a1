"""Pixels and other intensities on one bounded scale are known by their values, and keep one scale for all columns."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import normalized_mutual_info_score

from tvgnn import TVClustering, load_dataset
from tvgnn.estimators.intensity_features import are_intensities
from tvgnn.estimators.quality.preparation import FeaturePreparation, choose_steps


def dark_pictures(nodes=300, seed=0):
    """Mostly background, as drawings of 12 x 12 pixels: discs of radius 1 to 4 at random places, soft at the edge."""
    draw = np.random.default_rng(seed)
    row, column = np.mgrid[:12, :12].reshape(2, -1, 1)
    center, radius = draw.uniform(3, 9, (2, nodes)), draw.uniform(1, 4, nodes)
    distance = np.hypot(row - center[0], column - center[1])
    return np.round(255 * np.clip(radius + 0.5 - distance, 0, 1)).T


def pictures():
    digits = load_digits().data
    yield "digits", digits
    yield "few digits", digits[:40]
    yield "digits between -1 and 1", digits / 8 - 1
    yield "negatives", 16 - digits
    yield "mostly dark", dark_pictures()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("x", [pytest.param(x, id=name) for name, x in pictures()])
def test_pictures_are_known(x, dtype):
    assert choose_steps(x.astype(dtype)) == ("common-scale",)
    assert are_intensities(sp.csr_array(x.astype(dtype)))


def test_mostly_dark_pictures_would_pass_for_counts_of_words():
    x = dark_pictures()
    assert (x > 0).mean() < 0.25
    assert not are_intensities(np.random.default_rng(0).poisson(x / 255))


def others():
    draw = np.random.default_rng(0)
    rates = draw.gamma(0.3, size=(400, 60)) * draw.gamma(1, size=60)
    yield "counts", draw.poisson(rates)
    yield "counts of one high rate", draw.poisson(np.full((400, 60), 40))
    yield "tags", draw.random((400, 60)) < 0.1
    yield "single tags, rows of length 1", np.eye(60)[draw.integers(60, size=400)]
    yield "ratings", draw.integers(1, 6, (400, 60)) * (draw.random((400, 60)) < 0.2)
    yield "genotypes", draw.binomial(2, draw.uniform(0.1, 0.5, 60), (400, 60))
    yield "measurements", load_breast_cancer().data
    cancer = load_breast_cancer().data
    yield "each between 0 and 1", (cancer - cancer.min(0)) / np.ptp(cancer, axis=0)
    yield "uniform", draw.uniform(size=(400, 60))
    yield "few columns", load_digits().data[:, 18:30]
    yield "one picture", load_digits().data[:1]
    yield "no column", np.zeros((5, 0))
    yield "constant", np.full((9, 40), 3.0)
    yield "mostly dummies", np.hstack([load_digits().data[:, 10:30], draw.integers(0, 2, (1797, 60)) * 16])


@pytest.mark.parametrize("x", [pytest.param(x, id=name) for name, x in others()])
def test_other_features_are_not(x):
    assert not are_intensities(x)
    assert not are_intensities(sp.csr_array(x))


@pytest.mark.parametrize("name", ["tissue", "ring", "grid", "sbm-denoising"])
def test_features_of_other_datasets_are_not(name):
    assert not are_intensities(load_dataset(name).x)


def test_sparse_pictures_with_negative_numbers_count_their_zeros():
    x = load_digits().data - 8
    assert are_intensities(sp.csr_array(x))


def test_pixels_keep_their_deviations():
    x = load_digits().data
    fitted = FeaturePreparation.fit(x)
    rows = fitted.transform(x)
    np.testing.assert_allclose(rows.std(0) * fitted.scale, x.std(0), rtol=1e-4)
    assert len(set(fitted.scale)) == 1


def test_images_are_clustered_better_than_with_a_scale_of_each_pixel():
    x, y = load_digits(return_X_y=True)
    found = TVClustering(10, preset="quality", n_init=1, random_state=0).fit(x)
    assert found.feature_norm_ == "common-scale"
    scaled = TVClustering(10, preset="quality", n_init=1, random_state=0, feature_norm="standardize").fit(x)
    nmi = [normalized_mutual_info_score(y, one.labels_) for one in (found, scaled)]
    assert nmi[0] > nmi[1] + 0.01


def test_dark_pictures_survive_a_save(tmp_path):
    x = dark_pictures()
    model = TVClustering(4, preset="quality", n_init=1, random_state=0).fit(x)
    assert model.feature_norm_ == "common-scale"
    model.save(tmp_path / "model")
    assert (TVClustering.load(tmp_path / "model").predict(x) == model.labels_).all()
