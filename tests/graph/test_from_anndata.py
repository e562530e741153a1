"""An AnnData as a graph: which features, which graphs, how they are mixed, what is refused."""

import anndata
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from tvgnn import Graph
from tvgnn.errors import GraphError
from tvgnn.graph.mixing import edges_in_space, mix_adjacencies
from tvgnn.io.h5ad import write_h5ad

N = 12


@pytest.fixture
def cells():
    """Return twelve cells on a line, on two slides with the same coordinates, joined into a ring and into pairs."""
    ring = sp.csr_matrix((np.full(N, 5.0), (np.arange(N), (np.arange(N) + 1) % N)), shape=(N, N))
    pairs = sp.csr_matrix((np.ones(N), (np.arange(N), np.arange(N) ^ 1)), shape=(N, N))
    return anndata.AnnData(
        np.arange(3.0 * N).reshape(N, 3),
        obs=pd.DataFrame({"slide": ["b"] * 6 + ["a"] * 6}, index=[f"c{i}" for i in range(N)]),
        obsm={"X_pca": np.eye(N)[:, :2], "spatial": np.stack([np.tile(np.arange(6.0), 2), np.zeros(N)], axis=1)},
        obsp={"connectivities": ring + ring.T, "pairs": pairs},
        uns={"neighbors": {"connectivities_key": "connectivities"}, "second": {"connectivities_key": "pairs"}},
    )


def edges_of(graph):
    source, target = graph.adjacency().nonzero()
    return {(int(i), int(j)) for i, j in zip(source, target, strict=True) if i < j}


def test_default_is_what_scanpy_left(cells):
    graph = Graph.from_anndata(cells)
    assert graph.node_ids == tuple(cells.obs_names)
    assert (graph.adjacency() != cells.obsp["connectivities"]).nnz == 0
    assert np.array_equal(graph.x, cells.X)


def test_graphs_by_name(cells):
    pairs = {(i, i + 1) for i in range(0, N, 2)}
    assert edges_of(Graph.from_anndata(cells, obsp="pairs")) == pairs
    assert edges_of(Graph.from_anndata(cells, neighbors_key="second")) == pairs
    assert edges_of(Graph.from_anndata(cells, adjacency=cells.obsp["pairs"])) == pairs


def test_features_by_name(cells):
    assert np.array_equal(Graph.from_anndata(cells, use_rep="X_pca").x, cells.obsm["X_pca"])
    wide = anndata.AnnData(sp.csr_matrix(np.eye(N, 60)), obsp=dict(cells.obsp), uns=dict(cells.uns))
    assert sp.issparse(Graph.from_anndata(wide).x)
    wide.obsm["X_pca"] = np.ones((N, 2))
    assert Graph.from_anndata(wide).num_features == 2
    assert Graph.from_anndata(wide, use_rep="X").num_features == 60


def test_each_graph_holds_its_share_of_the_weight(cells):
    graph = Graph.from_anndata(cells, obsp=["connectivities", "pairs"], weights=[3, 1])
    ring, pairs = cells.obsp["connectivities"], cells.obsp["pairs"]
    total = 0.75 * ring.sum() + 0.25 * pairs.sum()
    expected = ring * (0.75 * total / ring.sum()) + pairs * (0.25 * total / pairs.sum())
    assert np.allclose(graph.adjacency().toarray(), expected.toarray(), rtol=1e-6)
    assert graph.report.notes[-1] == 'graphs mixed: 0.75 obsp["connectivities"] + 0.25 obsp["pairs"]'


def test_unit_of_a_graph_and_of_the_weights_do_not_matter(cells):
    mixed = Graph.from_anndata(cells, obsp=["connectivities", "pairs"], weights=[1, 1]).adjacency()
    cells.obsp["connectivities"] = cells.obsp["connectivities"] * 1000
    again = Graph.from_anndata(cells, obsp=["connectivities", "pairs"]).adjacency()
    assert np.allclose((again / again.sum()).toarray(), (mixed / mixed.sum()).toarray(), rtol=1e-5)


def test_a_graph_of_weight_zero_has_no_edges_in_the_mixture(cells):
    graph = Graph.from_anndata(cells, obsp=["connectivities", "pairs"], weights=[0, 2])
    assert edges_of(graph) == edges_of(Graph.from_anndata(cells, obsp="pairs"))


def test_neighbours_in_space_stay_on_their_slide(cells):
    joined = Graph.from_anndata(cells, spatial_key="spatial", n_spatial_neighbors=2)
    assert any(i < 6 <= j for i, j in edges_of(joined))
    apart = Graph.from_anndata(cells, library_key="slide", n_spatial_neighbors=2)
    assert {(i < 6, j < 6) for i, j in edges_of(apart)} == {(True, True), (False, False)}
    assert {(i + 6, j + 6) for i, j in edges_of(apart) if j < 6} == {(i, j) for i, j in edges_of(apart) if i >= 6}
    assert apart.node_ids == tuple(cells.obs_names)
    assert "neighbours in space within each of 2 slides" in apart.report.notes


def test_space_and_expression_together(cells):
    graph = Graph.from_anndata(cells, obsp="pairs", library_key="slide", n_spatial_neighbors=1, weights=[0.2, 0.8])
    pairs = {(i, i + 1) for i in range(0, N, 2)}
    assert edges_of(graph) >= pairs
    assert len(edges_of(graph)) > len(pairs)
    assert graph.report.notes[-1].startswith('graphs mixed: 0.2 obsp["pairs"] + 0.8 neighbours by obsm["spatial"]')


def test_a_slide_of_one_cell_has_no_edges():
    source, target, notes = edges_in_space(np.array([[0.0], [1.0], [0.5]]), np.array([1, 1, 0]), 3)
    assert sorted(zip(source.tolist(), target.tolist(), strict=True)) == [(0, 1), (1, 0)]
    assert any("reduced to 0" in note for note in notes)


def test_a_view_and_labels_will_do(cells):
    graph = Graph.from_anndata(cells[:6], y=cells.obs["slide"][:6].to_numpy())
    assert graph.num_nodes == 6
    assert graph.class_names == ("b",)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"obsp": "conectivities"}, "key of obsp, got 'conectivities'; it holds 'connectivities', 'pairs'"),
        ({"neighbors_key": "third"}, "key of uns, got 'third'; it holds 'neighbors', 'second'"),
        ({"use_rep": "X_umap"}, "key of obsm, got 'X_umap'; it holds 'X', 'X_pca', 'spatial'"),
        ({"spatial_key": "xy"}, "key of obsm, got 'xy'; it holds 'X_pca', 'spatial'"),
        ({"library_key": "sample"}, "key of obs, got 'sample'; it holds 'slide'"),
        ({"obsp": "pairs", "neighbors_key": "second"}, "obsp or neighbors_key, got both"),
        ({"obsp": "pairs", "adjacency": np.eye(N)}, "got adjacency and obsp"),
        ({"neighbors_key": "second", "adjacency": np.eye(N)}, "got adjacency and neighbors_key"),
        ({"adjacency": np.eye(3)}, "adjacency of 12 x 12, the cells"),
        ({"obsp": []}, "got an empty list"),
        ({"obsp": ["pairs", "connectivities"], "weights": [1]}, "2 in all, got 1"),
        ({"obsp": ["pairs", "connectivities"], "weights": [1, -1]}, "finite weights >= 0"),
        ({"obsp": ["pairs", "connectivities"], "weights": [1, np.nan]}, "finite weights >= 0"),
        ({"obsp": ["pairs", "connectivities"], "weights": [0, 0]}, "one of them above 0"),
        ({"obsp": ["pairs", "connectivities"], "weights": "ab"}, "list of numbers"),
        ({"weights": [1, 1]}, "1 in all, got 2"),
        ({"spatial_key": "spatial", "n_spatial_neighbors": 0}, "n_neighbors must be an integer of at least 1"),
    ],
    ids=str,
)
def test_mistakes_name_what_there_is(cells, options, says):
    with pytest.raises(ValueError, match=says.replace("(", r"\(")):
        Graph.from_anndata(cells, **options)


def test_without_a_graph_the_ways_to_one_are_named(cells):
    del cells.uns["neighbors"]
    with pytest.raises(ValueError, match=r"sc\.pp\.neighbors\(adata\).*spatial_key=\'spatial\'.*\'connectivities\'"):
        Graph.from_anndata(cells)


def test_bad_values_are_named_by_cell(cells):
    cells.obsp["pairs"] = cells.obsp["pairs"] * -1
    with pytest.raises(GraphError, match=r'obsp\["pairs"\].*c0'):
        Graph.from_anndata(cells, obsp="pairs")
    cells.obsm["X_pca"][3, 1] = np.nan
    with pytest.raises(GraphError, match=r"'c3'.*column 1"):
        Graph.from_anndata(cells, use_rep="X_pca")
    cells.obsm["spatial"][4, 0] = np.inf
    with pytest.raises(ValueError, match=r"coordinates.*'c4'"):
        Graph.from_anndata(cells, spatial_key="spatial")
    cells.obs["slide"] = pd.Series(["a"] * 5 + [None] + ["b"] * 6, index=cells.obs_names, dtype="category")
    cells.obsm["spatial"][4, 0] = 0
    with pytest.raises(ValueError, match=r"a slide of every cell.*'c5'"):
        Graph.from_anndata(cells, library_key="slide")


@pytest.mark.filterwarnings("ignore:Observation names are not unique:UserWarning")
def test_names_must_be_distinct(cells):
    cells.obs_names = ["twice"] * 2 + [f"c{i}" for i in range(N - 2)]
    with pytest.raises(ValueError, match=r"'twice' more than once; adata\.obs_names_make_unique"):
        Graph.from_anndata(cells)


def test_a_file_is_not_read_behind_the_back(cells, tmp_path):
    write_h5ad(tmp_path / "cells.h5ad", cells)
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    with pytest.raises(ValueError, match=r"backed by a file; adata = adata\.to_memory\(\)"):
        Graph.from_anndata(backed)
    backed.file.close()


@pytest.mark.parametrize(("value", "says"), [("cells.h5ad", r"got str; read the file first"), (3, "got int")])
def test_other_types_are_refused(value, says):
    with pytest.raises(TypeError, match=says):
        Graph.from_anndata(value)


def test_no_cells_and_no_features(cells):
    with pytest.raises(ValueError, match="without any"):
        Graph.from_anndata(cells[:0])
    bare = anndata.AnnData(obs=cells.obs, obsp=dict(cells.obsp), uns=dict(cells.uns))
    assert Graph.from_anndata(bare).x is None
    with pytest.raises(ValueError, match="features in X, got none"):
        Graph.from_anndata(bare, use_rep="X")


def test_a_graph_without_edges_cannot_be_weighed():
    some, none = sp.csr_array([[0, 1], [1, 0]]), sp.csr_array((2, 2))
    with pytest.raises(GraphError, match="empty has no edges"):
        mix_adjacencies([some, none], [1, 1], ["some", "empty"])
    assert mix_adjacencies([some, none], [1, 0], ["some", "empty"]).toarray().tolist() == [[0, 1], [1, 0]]
