"""tv_clustering on AnnData: what is written, that it survives a file, and real cells beside Leiden."""

import json
import warnings

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from tvgnn import Graph, TVClustering
from tvgnn.datasets import simulate_tissue
from tvgnn.errors import ClusteringWarning
from tvgnn.external.anndata import tv_clustering
from tvgnn.metrics import evaluate

SMALL = {"preset": "quality", "n_init": 1, "max_iter": 20}


@pytest.fixture
def tissue():
    return simulate_tissue(200, n_features=5, n_domains=3).to_anndata()


@pytest.fixture(scope="module")
def scanpy():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", (DeprecationWarning, FutureWarning))  # of its own imports
        import scanpy
    return scanpy


@pytest.fixture
def pbmc(scanpy):
    """Return the 700 blood cells that come with scanpy, with a graph made by this version of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", (FutureWarning, UserWarning))  # of an old file
        adata = scanpy.datasets.pbmc68k_reduced()
    scanpy.pp.neighbors(adata, n_neighbors=15)
    return adata


def test_results_are_those_of_the_estimator(tissue):
    assert tv_clustering(tissue, 3, spatial_key="spatial", random_state=4, **SMALL) is None
    graph = Graph.from_anndata(tissue, spatial_key="spatial")
    model = TVClustering(3, random_state=4, **SMALL).fit(graph)
    column = tissue.obs["tvgnn"]
    assert column.astype(int).tolist() == model.labels_.tolist()
    assert column.cat.categories.tolist() == [str(i) for i in range(model.n_clusters_found_)]
    assert np.array_equal(tissue.obsm["tvgnn"], model.assignments_)
    record = tissue.uns["tvgnn"]
    quality = evaluate(graph.adjacency(), model.labels_, model.assignments_)
    assert {name: record[name] for name in quality} == quality
    assert record["loss"] == model.loss_
    expected = {"n_clusters": 3, "random_state": 4, "spatial_key": "spatial", "use_rep": "X", "max_iter": 20}
    assert {name: record["params"][name] for name in expected} == expected


@pytest.mark.parametrize("part", [{}, {"restrict_to": ("half", ["0"])}])
def test_a_labelled_adjacency_may_have_the_cells_in_another_order(tissue, part):
    tissue.obs["half"] = pd.Categorical([str(number % 2) for number in range(tissue.n_obs)])
    weights = Graph.from_anndata(tissue, spatial_key="spatial").adjacency().toarray()
    frame = pd.DataFrame(weights, index=tissue.obs_names, columns=tissue.obs_names)
    order = np.random.RandomState(0).permutation(tissue.n_obs)
    found = [
        tv_clustering(tissue, 3, adjacency=given, key_added="t", copy=True, **part, **SMALL).obsm["t"]
        for given in (weights, frame.iloc[order, order])
    ]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("key", ["spatial", "slide", "neighbors", "a/b", ""])
def test_nothing_that_others_wrote_is_overwritten(tissue, key):
    tissue.obs["slide"], tissue.uns["neighbors"] = "one", {"method": "umap"}
    before = tissue.copy()
    with pytest.raises(ValueError, match=r"expected key_added to be (a new key|a name without)"):
        tv_clustering(tissue, 3, spatial_key="spatial", key_added=key, **SMALL)
    assert np.array_equal(tissue.obsm["spatial"], before.obsm["spatial"])
    assert set(tissue.obs) == set(before.obs)
    assert set(tissue.uns) == set(before.uns)


def test_results_of_an_earlier_run_are_overwritten(tissue, tmp_path):
    for number in (3, 2):
        tv_clustering(tissue, number, spatial_key="spatial", key_added="domains", **SMALL)
    assert tissue.obsm["domains"].shape[1] == 2
    tissue.write_h5ad(tmp_path / "out.h5ad")
    read = anndata.read_h5ad(tmp_path / "out.h5ad")
    tv_clustering(read, 3, spatial_key="spatial", key_added="domains", **SMALL)
    assert read.obsm["domains"].shape[1] == 3
    restricted = {"spatial_key": "spatial", "restrict_to": ("domains", ["0"])}
    for _ in range(2):
        tv_clustering(read, 2, **restricted, **SMALL)
    assert read.obsm["tvgnn_R"].shape[1] == 2


def test_the_embedding_is_kept_where_it_is_asked_for(tissue):
    tv_clustering(tissue, 3, spatial_key="spatial", embedding=True, **SMALL)
    model = TVClustering(3, random_state=0, **SMALL).fit(Graph.from_anndata(tissue, spatial_key="spatial"))
    assert np.array_equal(tissue.obsm["X_tvgnn"], model.embedding_)
    restricted = {"spatial_key": "spatial", "restrict_to": ("tvgnn", ["0"]), "embedding": True}
    tv_clustering(tissue, 2, **restricted, **SMALL)
    inside = (tissue.obs["tvgnn"] == "0").to_numpy()
    assert np.isfinite(tissue.obsm["X_tvgnn_R"][inside]).all()
    assert np.isnan(tissue.obsm["X_tvgnn_R"][~inside]).all()
    tv_clustering(tissue, 2, spatial_key="spatial", **SMALL)
    assert "X_tvgnn" not in tissue.obsm  # it was that of other clusters


def test_an_embedding_that_others_wrote_stays(tissue):
    tissue.obsm["X_tvgnn"] = np.ones((tissue.n_obs, 2))
    with pytest.raises(ValueError, match=r"but obsm\['X_tvgnn'\] is something else"):
        tv_clustering(tissue, 3, spatial_key="spatial", embedding=True, **SMALL)
    for _ in range(2):
        tv_clustering(tissue, 3, spatial_key="spatial", **SMALL)
    assert tissue.obsm["X_tvgnn"].tolist() == [[1, 1]] * tissue.n_obs


def test_weights_may_be_left_out(tissue):
    random = np.random.default_rng(0)
    weights = Graph.from_anndata(tissue, spatial_key="spatial").adjacency()
    tissue.obsp["weighed"] = weights.multiply(random.uniform(0.1, 5, weights.shape)).tocsr()
    tissue.obsp["once"] = weights
    found = {}
    for key, use_weights in (("weighed", True), ("weighed", False), ("once", True)):
        options = {"obsp": key, "use_weights": use_weights, "key_added": "t", "copy": True}
        found[key, use_weights] = tv_clustering(tissue, 3, **options, **SMALL)
    soft = {name: adata.obsm["t"] for name, adata in found.items()}
    np.testing.assert_array_equal(soft["weighed", False], soft["once", True])
    assert not np.array_equal(soft["weighed", True], soft["once", True])
    assert found["weighed", False].uns["t"]["params"]["use_weights"] is False
    mixed = {"obsp": ["weighed", "once"], "use_weights": False, "key_added": "t", "copy": True}
    np.testing.assert_allclose(tv_clustering(tissue, 3, **mixed, **SMALL).obsm["t"], soft["once", True], atol=1e-5)


def test_more_than_ten_clusters_stay_in_order(tissue):
    tv_clustering(tissue, 12, spatial_key="spatial", **SMALL)
    found = tissue.uns["tvgnn"]["n_clusters_found"]
    assert found > 10
    assert tissue.obs["tvgnn"].cat.categories.tolist() == [str(i) for i in range(found)]


def test_round_trip_through_a_file(tissue, tmp_path):
    tissue.obs["slide"] = (tissue.obsm["spatial"][:, 0] > 70).astype(int)
    tv_clustering(tissue, 3, key_added="domains", library_key="slide", weights=[1], **SMALL)
    json.dumps(tissue.uns["domains"], allow_nan=False)
    tissue.write_h5ad(tmp_path / "out.h5ad")
    read = anndata.read_h5ad(tmp_path / "out.h5ad")
    assert read.obs["domains"].tolist() == tissue.obs["domains"].tolist()
    assert read.obs["domains"].cat.categories.tolist() == tissue.obs["domains"].cat.categories.tolist()
    assert np.array_equal(read.obsm["domains"], tissue.obsm["domains"])
    written, back = tissue.uns["domains"], read.uns["domains"]
    assert back.keys() == written.keys()
    assert back["params"].keys() == written["params"].keys()
    for name in ("loss", "modularity", "converged", "n_iter", "version"):
        assert back[name] == written[name]
    assert back["cluster_sizes"].tolist() == written["cluster_sizes"]
    assert back["choices"]["views"]["0"]["rank"] == written["choices"]["views"]["0"]["rank"]
    assert list(back["notes"]) == written["notes"]


def test_copy_leaves_the_original(tissue):
    result = tv_clustering(tissue, 3, spatial_key="spatial", copy=True, **SMALL)
    assert "tvgnn" in result.obs
    assert "tvgnn" not in tissue.obs
    assert "tvgnn" not in tissue.uns
    assert "tvgnn" not in tissue.obsm


def test_a_view_is_refused_unless_copied(tissue):
    with pytest.raises(ValueError, match=r"got a view.*copy=True"):
        tv_clustering(tissue[:100], 3, spatial_key="spatial", **SMALL)
    assert tv_clustering(tissue[:100], 3, spatial_key="spatial", copy=True, **SMALL).n_obs == 100


def test_nothing_is_written_after_an_error(tissue):
    with pytest.raises(ValueError, match="n_clusters"):
        tv_clustering(tissue, 1000, spatial_key="spatial")
    with pytest.raises(TypeError, match="max_epochs"):
        tv_clustering(tissue, 3, spatial_key="spatial", max_epochs=3)
    assert list(tissue.obs) == ["domain", "cell_type"]
    assert not tissue.uns


def test_sparse_counts(tissue):
    counts = np.random.default_rng(0).poisson(0.05, size=(200, 30))
    cells = anndata.AnnData(sp.csr_matrix(counts.astype(np.float32)), obsm=dict(tissue.obsm))
    tv_clustering(cells, 3, spatial_key="spatial", **SMALL)
    assert cells.uns["tvgnn"]["feature_norm"] == "log1p+smooth-idf+l2"
    assert cells.obs["tvgnn"].notna().all()


def test_restricted_to_some_categories_as_scanpy_does(tissue):
    tissue.obs["first"] = pd.Categorical(["a"] * 60 + ["b"] * 60 + ["c"] * 80)
    adjacency = Graph.from_anndata(tissue, spatial_key="spatial").adjacency()
    tv_clustering(tissue, 2, adjacency=adjacency, restrict_to=("first", ["a", "c"]), **SMALL)
    column, chosen = tissue.obs["tvgnn_R"], (tissue.obs["first"] != "b").to_numpy()
    assert set(column[~chosen]) == {"b"}
    assert set(column[chosen]) <= {"a-c,0", "a-c,1"}
    assert column.cat.categories[0] == "b"
    assert np.isnan(tissue.obsm["tvgnn_R"][~chosen]).all()
    part = Graph.from_scipy(adjacency[chosen][:, chosen], x=tissue.X[chosen])
    labels = TVClustering(2, random_state=0, **SMALL).fit_predict(part)
    assert column[chosen].tolist() == [f"a-c,{label}" for label in labels]
    assert tissue.uns["tvgnn_R"]["params"]["restrict_to"] == ["first", "a", "c"]


@pytest.mark.parametrize(
    ("restrict_to", "says"),
    [
        (("frist", ["a"]), "column of obs, got 'frist'"),
        (("domain", "domain 0"), "a list of strings, got 'domain 0'"),
        (("domain", ["domain 9"]), "it has .*'domain 0', 'domain 1', 'domain 2'"),
        (("domain", []), "it has"),
        ("domain", "key of obs, categories"),
    ],
)
def test_restrictions_that_cannot_be(tissue, restrict_to, says):
    with pytest.raises(ValueError, match=says):
        tv_clustering(tissue, 2, spatial_key="spatial", restrict_to=restrict_to)


def test_a_restricted_adjacency_of_another_size(tissue):
    with pytest.raises(ValueError, match="adjacency of 200 x 200, the cells"):
        tv_clustering(tissue, 2, adjacency=np.eye(3), restrict_to=("domain", ["domain 0"]))


def test_blood_cells_beside_leiden(pbmc, scanpy):
    """Same graph of scanpy's, same number of clusters; what bulk labels say is not looked at."""
    scanpy.tl.leiden(pbmc, flavor="igraph", n_iterations=2, directed=False, random_state=0)
    k = pbmc.obs["leiden"].nunique()
    tv_clustering(pbmc, k, preset="quality", random_state=0)
    assert pbmc.uns["tvgnn"]["params"]["use_rep"] == "X_pca"
    adjacency = Graph.from_anndata(pbmc).adjacency()
    ours, leiden = (evaluate(adjacency, pbmc.obs[key].astype(int)) for key in ("tvgnn", "leiden"))
    assert ours["n_clusters_found"] == k
    # Leiden maximises the modularity of this very graph: near it is as good as it gets
    assert ours["modularity"] > 0.8 * leiden["modularity"]
    assert ours["cut_fraction"] < 1.5 * leiden["cut_fraction"]


def test_expression_and_space_on_real_keys(pbmc, scanpy):
    pbmc.obsm["spatial"] = np.asarray(pbmc.obsm["X_umap"])
    pbmc.obsp["spatial_connectivities"] = Graph.from_anndata(pbmc, spatial_key="spatial").adjacency()
    tv_clustering(pbmc, 5, obsp=["connectivities", "spatial_connectivities"], weights=[0.5, 0.5], **SMALL)
    assert pbmc.uns["tvgnn"]["params"]["weights"] == [0.5, 0.5]
    assert "graphs mixed" in pbmc.uns["tvgnn"]["notes"][-1]


def test_cells_without_a_category_keep_none(tissue):
    column = np.array(["a", "b"] * 100, dtype=object)
    column[10:20] = None
    for values in (column, pd.Categorical(column)):
        tissue.obs["first"] = values
        tv_clustering(tissue, 2, spatial_key="spatial", restrict_to=("first", pd.Index(["a"])), **SMALL)
        result = tissue.obs["tvgnn_R"]
        assert result[10:20].isna().all()
        others = np.setdiff1d(np.flatnonzero(column == "b"), np.arange(10, 20))
        assert (result.iloc[others] == "b").all()
        assert set(result.iloc[np.flatnonzero(column == "a")]) <= {"a,0", "a,1"}


def test_names_that_clusters_would_share_with_a_category_are_refused_before_training(tissue):
    tissue.obs["first"] = ["a", "a,0"] * 100
    with pytest.raises(ValueError, match=r"names of clusters .* does not have yet, got 'a,0'"):
        tv_clustering(tissue, 2, spatial_key="spatial", restrict_to=("first", ["a"]), **SMALL)


def test_restrictions_have_an_order(tissue):
    with pytest.raises(ValueError, match="as a list of strings"):
        tv_clustering(tissue, 2, spatial_key="spatial", restrict_to=("domain", {"domain 0", "domain 1"}), **SMALL)


def test_a_single_graph_may_have_no_edges(tissue):
    tissue.obsp["empty"] = sp.csr_array((200, 200))
    with pytest.warns(ClusteringWarning, match="the graph has no edges"):
        tv_clustering(tissue, 2, obsp="empty", **SMALL)
    assert tissue.uns["tvgnn"]["n_edges"] == 0
    with pytest.raises(ValueError, match="one weight a graph"):
        tv_clustering(tissue, 2, obsp="empty", weights=[1, 1], **SMALL)


def test_distances_are_no_weights(pbmc):
    with pytest.raises(ValueError, match="small values; name 'connectivities'"):
        tv_clustering(pbmc, 5, obsp="distances")


@pytest.mark.filterwarnings("ignore::tvgnn.errors.ClusteringWarning")
def test_the_preset_is_quality_unless_something_else_is_asked_for(tissue):
    for given, preset in (({}, "quality"), ({"delta_coeff": 5.0}, "paper"), ({"preset": "quick"}, "quick")):
        tv_clustering(tissue, 2, spatial_key="spatial", n_init=1, max_iter=2, hidden_channels=8, **given)
        assert tissue.uns["tvgnn"]["params"]["preset"] == preset


@pytest.mark.parametrize("with_x", [True, False])
def test_features_of_the_graph_take_the_place_of_those_of_cells(tissue, with_x):
    spatial = Graph.from_anndata(tissue, spatial_key="spatial").adjacency()
    x = tissue.X if with_x else None
    cells = anndata.AnnData(x, obs=tissue.obs, obsp={"near": spatial})
    tv_clustering(cells, 3, obsp="near", features="spectral", **SMALL)
    assert cells.uns["tvgnn"]["params"]["features"] == "spectral"
    expected = TVClustering(3, features="spectral", random_state=0, **SMALL).fit(Graph.from_scipy(spatial))
    assert np.array_equal(cells.obs["tvgnn"].astype(int), expected.labels_)
    with pytest.raises(ValueError, match="one kind of features"):
        tv_clustering(cells, 3, obsp="near", features="spectral", use_rep="X")


@pytest.mark.filterwarnings("ignore::tvgnn.errors.ClusteringWarning")
def test_the_record_says_which_graph_it_was(pbmc):
    for given, name, value in (
        ({}, "neighbors_key", "neighbors"),
        ({"obsp": "connectivities"}, "obsp", ["connectivities"]),
        ({"adjacency": pbmc.obsp["connectivities"]}, "adjacency", "given"),
    ):
        tv_clustering(pbmc, 3, preset="quick", n_init=1, max_iter=2, **given)
        params = pbmc.uns["tvgnn"]["params"]
        assert {key for key in ("neighbors_key", "obsp", "adjacency") if key in params} == {name}
        assert params[name] == value
