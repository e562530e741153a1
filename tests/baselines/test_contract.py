"""One contract for every method of the registry, on small graphs."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from tvgnn import Graph
from tvgnn.baselines import BASELINES
from tvgnn.errors import ClusteringWarning, GraphError

pytestmark = pytest.mark.filterwarnings("ignore::tvgnn.errors.ClusteringWarning")

NEEDS_NO_FEATURES = {"spectral", "deepwalk", "node2vec", "netmf"}
ASSIGNING = {"diffpool", "mincut", "dmon", "abl1", "abl2", "abl3"}
# Small and quick; what is not named here is the default.
NETWORK = {"max_iter": 100, "learning_rate": 3e-2}
WIDE = NETWORK | {"hidden_channels": 16, "mlp_channels": 8}
SMALL = {
    "deepwalk": {"dimensions": 16, "walk_length": 20, "epochs": 5},
    "node2vec": {"dimensions": 16, "walk_length": 20, "epochs": 5},
    "tene": {"iterations": 50},
    "gae": {"max_iter": 60},
    "vgae": {"max_iter": 60},
    "diffpool": NETWORK,
    "mincut": NETWORK,
    "dmon": NETWORK,
    "abl1": WIDE,
    "abl2": WIDE,
    "abl3": WIDE,
}

each_method = pytest.mark.parametrize("name", BASELINES)


def method(name, n_clusters=2, **options):
    return BASELINES[name](n_clusters, **SMALL.get(name, {}), **{"random_state": 0, **options})


def cliques(*sizes, joined=True, features=True):
    """Cliques of these sizes, each joined to the next by one edge, with noisy features that tell them apart."""
    adjacency = sp.block_diag([np.ones((size, size)) for size in sizes]).tolil()
    starts = np.cumsum([0, *sizes])
    for start in starts[1:-1] if joined else ():
        adjacency[start - 1, start] = adjacency[start, start - 1] = 1
    x = np.repeat(np.eye(len(sizes)), sizes, axis=0) + 0.1 * np.random.default_rng(0).random((starts[-1], len(sizes)))
    return Graph.from_scipy(adjacency, x=x if features else None)


@each_method
def test_two_cliques_are_found_and_numbered_by_size(name):
    fitted = method(name).fit(cliques(8, 12))
    assert fitted.labels_.tolist() == [1] * 8 + [0] * 12
    assert fitted.labels_.dtype == np.int64
    assert fitted.n_clusters_found_ == 2


@each_method
def test_two_components_are_found(name):
    assert method(name).fit(cliques(10, 12, joined=False)).labels_.tolist() == [1] * 10 + [0] * 12


@each_method
def test_isolated_nodes_get_labels(name):
    graph = cliques(6, 8, 1, 1, joined=False)
    fitted = method(name).fit(graph)
    assert fitted.labels_.shape == (16,)
    assert set(fitted.labels_.tolist()) <= {0, 1}
    assert np.isfinite(result_of(name, fitted)).all()


@each_method
@pytest.mark.parametrize("n_clusters", [1, 3])
def test_graph_without_edges(name, n_clusters):
    graph = Graph.from_edge_index([[], []], x=np.eye(5, 2) + 1)
    fitted = method(name, n_clusters).fit(graph)
    assert fitted.labels_.shape == (5,)
    assert fitted.labels_.max() < n_clusters


@each_method
def test_as_many_clusters_as_nodes(name):
    fitted = method(name, 6).fit(cliques(3, 3))
    assert fitted.labels_.shape == (6,)


@each_method
def test_one_seed_decides_everything(name):
    graph = cliques(7, 9, 8)
    np.random.seed(1)  # noqa: NPY002 -- the global state must not matter
    first = method(name, 3, random_state=5).fit(graph)
    np.random.seed(2)  # noqa: NPY002
    again = method(name, 3, random_state=5).fit(graph)
    assert (first.labels_ == again.labels_).all()
    assert (result_of(name, first) == result_of(name, again)).all()


@each_method
def test_assignments_agree_with_labels(name):
    fitted = method(name, 4).fit(cliques(7, 9))
    if name in ASSIGNING:
        assert fitted.assignments_.shape == (16, 4)
        assert np.allclose(fitted.assignments_.sum(1), 1, atol=1e-5)
        assert (fitted.assignments_.argmax(1) == fitted.labels_).all()
    else:
        assert fitted.embedding_.shape[0] == 16


@each_method
def test_parameters_are_only_stored(name):
    estimator = method(name, 3)
    copy = clone(estimator)
    assert copy.get_params() == estimator.get_params()
    assert set(copy.get_params()) >= {"n_clusters", "random_state"}
    assert not [attribute for attribute in vars(estimator) if attribute.endswith("_")]
    assert copy.set_params(n_clusters=-1).n_clusters == -1  # nothing is checked before fit


@each_method
@pytest.mark.parametrize(
    ("n_clusters", "message"), [(17, "ask for fewer clusters"), (0, "n_clusters"), (2.5, "integer")]
)
def test_impossible_number_of_clusters(name, n_clusters, message):
    with pytest.raises(ValueError, match=message):
        method(name, n_clusters).fit(cliques(8, 8))


@each_method
def test_features_are_asked_for_where_they_are_read(name):
    graph = cliques(8, 12, features=False)
    if name in NEEDS_NO_FEATURES:
        assert method(name).fit(graph).labels_.tolist() == [1] * 8 + [0] * 12
    else:
        with pytest.raises(GraphError, match="expected node features"):
            method(name).fit(graph)


@each_method
def test_sparse_features_give_the_same_clusters(name):
    graph = cliques(8, 12)
    sparse = graph.with_features(sp.csr_array(graph.x))
    assert (method(name).fit(sparse).labels_ == method(name).fit(graph).labels_).all()


@each_method
def test_something_else_than_a_graph(name):
    with pytest.raises(GraphError, match=r"expected a tvgnn\.Graph"):
        method(name).fit(np.eye(3))


def test_fewer_clusters_than_asked_for_are_announced():
    graph = Graph.from_edge_index([[], []], num_nodes=4)
    with pytest.warns(ClusteringWarning, match="asked for 3 clusters, 1 are in use"):
        method("netmf", 3).fit(graph)


def result_of(name, fitted):
    return fitted.assignments_ if name in ASSIGNING else fitted.embedding_


@each_method
@pytest.mark.parametrize("unit", [1e-30, 1e-3, 1e3, 1e30])
def test_the_unit_of_the_weights_does_not_matter(name, unit):
    random = np.random.default_rng(0)
    graph = cliques(8, 12)
    adjacency = sp.triu(graph.adjacency(), k=1).tocsr()
    adjacency.data = random.uniform(0.5, 1.5, adjacency.nnz)
    made = [Graph.from_scipy(scale * (adjacency + adjacency.T), x=graph.x) for scale in (1, unit)]
    first, second = (method(name).fit(one) for one in made)
    assert first.labels_.tolist() == second.labels_.tolist()
