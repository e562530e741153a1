"""Features that lie far from 0: what differs between rows survives until it is standardised."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

from tvgnn import Graph, TVClustering, TVGraphClassifier
from tvgnn.estimators.feature_scaling import FeatureScaling
from tvgnn.estimators.graph_inputs import ColumnScaling
from tvgnn.estimators.quality.preparation import FeaturePreparation
from tvgnn.io import read_graph

pytestmark = pytest.mark.filterwarnings("ignore::tvgnn.errors.ClusteringWarning")
TRUTH = np.repeat([0, 1], 20)
NEAR = 4.0 * TRUTH[:, None] + np.random.default_rng(0).normal(size=(40, 3))
OFFSET = np.array([1e7, 1e9, -3e8])  # metres of a grid, seconds since 1970
FAR = NEAR + OFFSET
COUNTS = np.round(1000 * NEAR).astype(np.int64) + 10**10
SETTINGS = {
    "paper": {"max_iter": 60, "hidden_channels": 16, "mlp_channels": 8},
    "quality": {"preset": "quality", "n_init": 1},
}


def expected(x):
    return StandardScaler().fit_transform(np.asarray(x, dtype=np.float64))


@pytest.mark.parametrize("scaling", [FeatureScaling, FeaturePreparation])
@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("x", [FAR, COUNTS], ids=["far", "counts"])
def test_columns_are_standardised_before_they_are_cut(scaling, wrap, x):
    rows = Graph.from_edge_index([[], []], x=wrap(x)).x
    fitted = scaling.fit(rows, "standardize")
    found = fitted.transform(rows)
    assert found.dtype == np.float32
    dense = found.toarray() if sp.issparse(found) else found
    assert dense == pytest.approx(expected(x), abs=1e-6)
    # a zero in such a column is as far away as in dense rows; other columns stay as they are
    new = np.vstack([x[:2], np.zeros((1, 3))])
    scaled = fitted.transform(wrap(new.astype(np.float64)))
    reference = StandardScaler().fit(x.astype(np.float64)).transform(new)
    assert (scaled.toarray() if sp.issparse(scaled) else scaled) == pytest.approx(reference, rel=1e-6, abs=1e-6)


def test_sparse_columns_with_zeros_are_never_shifted():
    x = sp.csr_array(np.column_stack([FAR[:, 0], np.where(TRUTH, NEAR[:, 0], 0)]))
    scaled = FeatureScaling.fit(x, "standardize").transform(x)
    assert scaled.nnz == x.nnz
    assert (scaled[:20, [1]].toarray() == 0).all()
    assert scaled[:, [0]].toarray() == pytest.approx(expected(FAR[:, :1]), abs=1e-6)


@pytest.mark.parametrize("preset", SETTINGS)
@pytest.mark.parametrize("wrap", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_an_offset_changes_nothing(preset, wrap, tmp_path):
    options = SETTINGS[preset] | {"random_state": 0, "n_neighbors": 5, "feature_norm": "standardize"}
    near = TVClustering(2, **options).fit(NEAR)
    far = TVClustering(2, **options).fit(wrap(FAR))
    assert far.graph_.x.dtype == np.float64
    assert np.array_equal(far.graph_.indices, near.graph_.indices)
    assert np.array_equal(far.labels_, near.labels_)
    assert far.embedding_ == pytest.approx(near.embedding_, abs=1e-2)
    new = np.random.default_rng(1).normal(size=(6, 3))
    shifted = wrap(new + OFFSET)
    assert far.transform(shifted) == pytest.approx(near.transform(new), abs=1e-2)
    assert np.array_equal(far.transform(wrap(FAR)), far.embedding_)  # stored rows are found again
    far.save(tmp_path)
    loaded = TVClustering.load(tmp_path)
    assert np.array_equal(loaded.transform(shifted), far.transform(shifted))


def test_sparse_rows_are_shifted_by_a_model_of_dense_ones():
    model = TVClustering(2, random_state=0, **SETTINGS["paper"]).fit(NEAR + 3)
    graph = model.graph_
    sparse = Graph.from_scipy(graph.adjacency(), x=sp.csr_array(graph.x))
    assert model.transform(sparse) == pytest.approx(model.embedding_, abs=1e-4)


@pytest.mark.parametrize("convert", [lambda x: x, sp.csr_array, lambda x: x.tolist()], ids=["dense", "sparse", "list"])
def test_graphs_keep_what_float32_would_blur_and_nothing_else(convert):
    def kind(x):
        return Graph.from_edge_index([[], []], x=convert(x)).x.dtype

    assert kind(FAR) == kind(COUNTS) == np.float64
    assert kind(NEAR) == np.float32
    assert kind(np.array([[2**24, 5], [3, 4]])) == np.float32  # float32 holds these integers
    assert kind(np.full((4, 1), 0.1)) == np.float32  # a constant says nothing
    assert Graph.from_edge_index([[], []], x=convert(FAR), dtype="float32").x.dtype == np.float32
    replaced = Graph.from_edge_index([[], []], x=convert(NEAR)).with_features(convert(FAR))
    assert replaced.x.dtype == np.float64


def lists(shift):
    random = np.random.default_rng(0)
    graphs = []
    for number in range(12):
        x = random.normal(size=(5, 2)) + shift + np.array([0, number % 2])
        graphs.append(Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], x=x).with_label(number % 2))
    return graphs


@pytest.mark.parametrize("wrap", [lambda x: x, sp.csr_array], ids=["dense", "sparse"])
def test_classifiers_scale_in_float64_too(wrap, tmp_path):
    near, far = (
        [graph.with_features(wrap(graph.x)) for graph in lists(shift)] for shift in (np.zeros(2), np.array([1e7, 1e9]))
    )
    options = {"max_epochs": 3, "hidden_channels": 8, "mlp_channels": 8, "random_state": 0}
    models = [TVGraphClassifier(**options).fit(graphs) for graphs in (near, far)]
    assert models[1].transform(far) == pytest.approx(models[0].transform(near), abs=1e-3)
    models[1].save(tmp_path)
    assert np.array_equal(TVGraphClassifier.load(tmp_path).transform(far), models[1].transform(far))


def test_a_constant_that_only_some_graphs_round_stays_constant():
    rounded = Graph.from_edges([0], [1], x=[[0.1, 1.5], [0.1, 2.5]])
    exact = Graph.from_edges([0], [1], x=[[0.1, 1e7 + 0.3], [0.1, 1e7 + 0.6]])
    assert {rounded.x.dtype, exact.x.dtype} == {np.dtype(np.float32), np.dtype(np.float64)}
    assert ColumnScaling.fit([rounded, exact], "auto").scale[0] == 1


def test_text_keeps_its_digits(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\n0,1\n1,2\n")
    (tmp_path / "x.csv").write_text("id,time\n0,1700000000.25\n1,1700000000.5\n2,1700000001\n")
    graph = read_graph(tmp_path / "edges.csv", tmp_path / "x.csv")
    assert graph.x[:, 0].tolist() == [1700000000.25, 1700000000.5, 1700000001.0]
