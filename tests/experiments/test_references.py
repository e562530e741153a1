"""What the features alone and the graph alone would give."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from tvgnn import Graph, TVClustering
from tvgnn.errors import TrainingError
from tvgnn.experiments import references as module
from tvgnn.experiments.references import are_quick, references

SMALL = {"preset": "quality", "n_init": 1, "random_state": 0}


def two_views(seed=0):
    """Groups of 40 that only the features show, and others that only the edges show."""
    random = np.random.default_rng(seed)
    by_features, by_edges = np.repeat([0, 1], 40), np.tile([0, 1], 40)
    x = 6.0 * by_features[:, None] + random.normal(size=(80, 3))
    edges = random.random((80, 80)) < np.where(by_edges[:, None] == by_edges, 0.3, 0.01)
    return Graph.from_scipy(sp.csr_array(np.triu(edges, 1).astype(float)), x=x, y=by_features), by_edges


def test_each_sees_its_own_part():
    graph, by_edges = two_views()
    model = TVClustering(2, **SMALL).fit(graph)
    found = references(model)
    assert list(found) == ["features", "graph"]
    assert found["features"]["nmi"] == 1
    assert found["graph"]["nmi"] < 0.1
    assert found["graph"]["modularity"] > found["features"]["modularity"]
    for labels, drives in ((graph.y, "features"), (by_edges, "graph")):
        model.labels_ = labels
        other = {"features": "graph", "graph": "features"}[drives]
        compared = references(model)
        assert compared[drives]["agreement"] == compared[drives]["agreement_ari"] == pytest.approx(1)
        assert compared[other]["agreement"] < 0.1
    assert are_quick(model)
    again = references(model)
    assert all(compared[name][key] == again[name][key] for name in again for key in again[name] if key != "seconds")


@pytest.mark.parametrize("wide", [False, True])
def test_sparse_and_wide_features_and_many_rows(monkeypatch, wide):
    monkeypatch.setattr(module, "_MANY_ROWS", 50)
    random = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    columns = np.arange(120 if wide else 40)
    x = random.random((80, len(columns))) < np.where(columns % 2 == y[:, None], 0.5, 0.1)
    graph = two_views()[0].with_features(sp.csr_array(x.astype(float)))
    assert references(TVClustering(2, **SMALL).fit(graph))["features"]["nmi"] > 0.9


def test_a_graph_of_nearest_neighbours_is_called_so():
    graph, _ = two_views()
    of_rows = TVClustering(2, **SMALL).fit(graph.x)
    assert references(of_rows)["graph"]["method"] == "spectral clustering of nearest neighbours"
    mixed = replace(of_rows.graph_.report, notes=(*of_rows.graph_.report.notes, "graphs mixed: a and b"))
    of_rows.graph_ = replace(of_rows.graph_, report=mixed)
    assert references(of_rows)["graph"]["method"] == "spectral clustering"
    assert references(TVClustering(2, **SMALL).fit(graph))["graph"]["method"] == "spectral clustering"


@pytest.mark.filterwarnings("ignore::tvgnn.errors.ClusteringWarning")
@pytest.mark.parametrize(
    ("x", "adjacency", "options", "names"),
    [
        (np.arange(12.0).reshape(6, 2), np.zeros((6, 6)), {}, ["features"]),
        (np.eye(6), np.ones((6, 6)), {}, ["graph"]),
        (np.ones((6, 2)), np.ones((6, 6)), {}, []),
        (None, np.eye(6, k=1), {"features": "degree"}, ["graph"]),
        (None, sp.block_diag([np.ones((2, 2))] * 9), {"features": "spectral"}, ["graph"]),
        (np.arange(12.0).reshape(6, 2), np.ones((6, 6)), {"n_clusters": 1}, []),
        (np.arange(12.0).reshape(6, 2), np.ones((6, 6)), {"n_clusters": 6}, ["features", "graph"]),
        (np.arange(12.0).reshape(6, 2), 1e-30 * np.ones((6, 6)), {}, ["features", "graph"]),
        (np.arange(12.0).reshape(6, 2), 1e30 * np.ones((6, 6)), {}, ["features", "graph"]),
    ],
    ids=["no edges", "identity", "constant", "degrees", "pairs", "K=1", "K=N", "tiny weights", "huge weights"],
)
def test_degenerate_input(x, adjacency, options, names):
    model = TVClustering(**{"n_clusters": 2, **SMALL, **options}).fit(x, adjacency=sp.csr_array(adjacency))
    found = references(model)
    assert list(found) == names
    assert all(0 <= one["agreement"] <= 1 for one in found.values())


def test_an_unfitted_estimator_is_refused():
    with pytest.raises(ValueError, match="not fitted"):
        references(TVClustering(2))


def test_a_method_that_fails_is_told_of(monkeypatch):
    model = TVClustering(2, **SMALL).fit(two_views()[0])

    def fail(*_):
        raise TrainingError("no eigenvectors")

    monkeypatch.setattr(module, "_of_graph", fail)
    found = references(model)
    assert found["graph"] == {"method": "spectral clustering", "error": "no eigenvectors"}
    monkeypatch.setattr(module, "_of_graph", lambda *_: np.empty(2**57))
    assert "allocate" in references(model)["graph"]["error"]
    assert found["features"]["nmi"] == 1
