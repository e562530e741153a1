"""Embeddings are known by their columns: their directions from the mean count, not a scale of each column."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from tvgnn import Graph, TVClustering, load_dataset
from tvgnn.estimators.embedding_features import are_embeddings
from tvgnn.estimators.quality.preparation import FeaturePreparation, choose_steps


def embeddings(nodes=300, columns=48, classes=3, seed=0):
    """Means of classes in random directions, a common mean, and columns of unequal deviation; and the classes."""
    draw = np.random.default_rng(seed)
    y = draw.integers(classes, size=nodes)
    x = draw.normal(0, 0.8, (classes, columns))[y] + draw.normal(size=(nodes, columns))
    return 0.5 + x * draw.uniform(0.5, 1.5, columns), y


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("nodes", [40, 3000])
def test_embeddings_are_known(nodes, dtype):
    x = embeddings(nodes)[0].astype(dtype)
    assert are_embeddings(x)
    assert are_embeddings(x / np.linalg.norm(x, axis=1, keepdims=True))
    assert choose_steps(x) == ("common-scale", "l2")


def others():
    x = embeddings()[0]
    units = np.exp(np.random.default_rng(0).normal(0, 2, x.shape[1]))
    yield "few columns", x[:, :31]
    yield "one node", x[:1]
    yield "no sign", np.abs(x)
    yield "units", x * units
    yield "standardised by the user", StandardScaler().fit_transform(x)
    yield "a part of what the user standardised", StandardScaler().fit_transform(embeddings(2000)[0])[::3]
    yield "equal noise", np.random.default_rng(0).normal(size=(500, 64))
    yield "whitened", PCA(40, whiten=True).fit_transform(x)
    yield "constant", np.zeros((9, 40))
    yield "mostly constant", np.hstack([x[:, :4], np.zeros((300, 44))])
    yield "sparse", sp.csr_array(x)
    yield "measurements", load_breast_cancer().data
    yield "images", load_digits().data


@pytest.mark.parametrize("x", [pytest.param(x, id=name) for name, x in others()])
def test_other_features_are_not(x):
    assert not are_embeddings(x)


@pytest.mark.parametrize("name", ["digits", "ring", "grid", "sbm-denoising"])
def test_features_of_the_datasets_are_not(name):
    assert not are_embeddings(load_dataset(name).x)


def test_scores_on_principal_components_stay_scores():
    assert choose_steps(PCA(40).fit_transform(embeddings()[0])) == ("common-scale",)


def test_rows_are_directions_from_the_mean():
    x = embeddings()[0]
    fitted = FeaturePreparation.fit(x)
    assert fitted.kind == "common-scale+l2"
    rows = fitted.transform(x)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(rows, FeaturePreparation.fit(100 * x + 7).transform(100 * x + 7), atol=1e-4)


def test_clusters_of_embeddings_survive_a_save(tmp_path):
    x, y = embeddings()
    blocks = sp.csr_array(y[:, None] == y) * sp.random_array((300, 300), density=0.03, random_state=0)
    graph = Graph.from_scipy(sp.csr_array(blocks + blocks.T), x=x)
    model = TVClustering(3, preset="quality", n_init=1, random_state=0).fit(graph)
    assert model.feature_norm_ == "common-scale+l2"
    assert len(set(zip(model.labels_, y, strict=True))) == 3
    model.save(tmp_path / "model")
    assert (TVClustering.load(tmp_path / "model").predict(graph) == model.labels_).all()
