"""Scores on principal components keep their variances; measurements are standardised."""

import anndata
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA

from tvgnn import Graph, TVClustering, load_dataset
from tvgnn.estimators.component_scores import are_component_scores
from tvgnn.estimators.feature_scaling import FeatureScaling
from tvgnn.estimators.quality.preparation import FeaturePreparation
from tvgnn.external.anndata import tv_clustering

pytestmark = pytest.mark.filterwarnings("ignore::tvgnn.errors.ClusteringWarning")


def expression(cells=400, genes=120, types=6, seed=0):
    """Logarithms of counts of cells of several types, and the types."""
    draw = np.random.default_rng(seed)
    y = draw.integers(types, size=cells)
    rates = np.exp(draw.normal(0, 1, genes) + 0.6 * draw.normal(size=(types, genes)))[y]
    return np.log1p(draw.poisson(rates)), y


def scores(components=20, solver="full", **options):
    x = expression(**options)[0]
    return PCA(components, svd_solver=solver, random_state=0).fit_transform(x)


@pytest.mark.parametrize("solver", ["full", "arpack", "randomized"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("cells", [60, 400, 4000])
def test_scores_are_known(solver, dtype, cells):
    assert are_component_scores(scores(solver=solver, cells=cells).astype(dtype))


@pytest.mark.parametrize("seed", range(3))
def test_scores_of_most_rows_are_known(seed):
    x = scores(cells=2000)
    kept = np.random.default_rng(seed).random(len(x)) < 0.9
    assert are_component_scores(x[kept])


def others():
    x, _ = expression()
    draw = np.random.default_rng(0)
    yield "measurements", x
    yield "centred measurements", x - x.mean(0)
    yield "standardised measurements", (x - x.mean(0)) / x.std(0)
    yield "whitened scores", PCA(20, whiten=True).fit_transform(x)
    yield "scores in another order", scores()[:, ::-1]
    yield "scores and a measurement", np.column_stack([scores(), x[:, 0] - x[:, 0].mean()])
    yield "shifted scores", scores() + 1
    yield "equal noise", draw.normal(size=(500, 20))
    yield "a constant column", np.column_stack([scores(), np.zeros(400)])
    yield "few columns", scores(4)
    yield "blobs", make_blobs(300, 10, random_state=0)[0]
    yield "sparse", sp.csr_array(scores())


@pytest.mark.parametrize("x", [pytest.param(x, id=name) for name, x in others()])
def test_other_features_are_not(x):
    assert not are_component_scores(x)


@pytest.mark.parametrize("name", ["digits", "ring", "grid", "sbm-denoising", "tissue"])
def test_features_of_the_datasets_are_not(name):
    assert not are_component_scores(load_dataset(name).x)


@pytest.mark.parametrize("scaling", [FeatureScaling, FeaturePreparation])
def test_columns_share_one_scale(scaling):
    x = scores()
    fitted = scaling.fit(x, "auto")
    assert fitted.kind == "common-scale"
    found = fitted.transform(x)
    assert found.std() == pytest.approx(1, abs=1e-5)
    assert found == pytest.approx(x / x.std(), abs=1e-5)
    assert fitted.transform(x[:3] + 1) == pytest.approx((x[:3] + 1) / x.std(), abs=1e-5)
    wide = scaling.fit(x + 1e7, "common-scale").transform(x + 1e7)
    assert wide == pytest.approx(found, abs=1e-5)
    assert (scaling.fit(np.full((4, 2), 3.0), "common-scale").transform(np.full((4, 2), 3.0)) == 0).all()


def test_sparse_columns_share_one_scale_too():
    x = sp.csr_array(np.array([[1.0, 0, 0], [0, 3, 0], [0, 0, 0.5]]))
    scaled = FeatureScaling.fit(x, "common-scale").transform(x)
    assert scaled.nnz == 3
    assert scaled.data / scaled.data[0] == pytest.approx(x.data)


@pytest.mark.parametrize(
    "options",
    [{"max_iter": 5, "hidden_channels": 8, "mlp_channels": 8}, {"preset": "quality", "n_init": 1}],
    ids=["paper", "quality"],
)
def test_the_choice_is_recorded_and_saved(options, tmp_path):
    x = scores()
    model = TVClustering(6, random_state=0, **options).fit(x)
    assert model.feature_norm_ == "common-scale"
    assert np.array_equal(model.graph_.indices, Graph.from_features(x / x.std()).indices)
    model.save(tmp_path)
    loaded = TVClustering.load(tmp_path)
    assert loaded.feature_norm_ == "common-scale"
    assert np.array_equal(loaded.transform(x + 0.01), model.transform(x + 0.01))


def test_anndata_says_so():
    x, _ = expression()
    adata = anndata.AnnData(x.astype(np.float32), obsm={"X_pca": scores()})
    adata.obsp["connectivities"] = Graph.from_features(scores()).adjacency()
    tv_clustering(adata, 6, obsp="connectivities", n_init=1)
    assert adata.uns["tvgnn"]["feature_norm"] == "common-scale"
