"""Every method on the smallest, emptiest and oddest inputs: labels, or an error that says what to do."""

import numpy as np
import pytest
import scipy.sparse as sp

from tvgnn import Graph
from tvgnn.experiments.methods import CLUSTERING_METHODS

pytestmark = pytest.mark.filterwarnings("ignore::tvgnn.errors.ClusteringWarning")

EPOCHS = {"max_iter": 3}
QUICK = (
    dict.fromkeys(("gae", "vgae", "diffpool", "mincut", "dmon"), EPOCHS)
    | dict.fromkeys(("abl1", "abl2", "abl3", "tvgnn", "tvgnn-released"), EPOCHS | {"hidden_channels": 8})
    | {"tene": {"iterations": 5}}
)
N = 12
RING = np.arange(N), (np.arange(N) + 1) % N
NO_EDGES = [], []


def graph(edges=RING, num_nodes=N, x=None) -> Graph:
    columns = np.random.default_rng(0).random((num_nodes, 3))
    return Graph.from_edge_index(edges, num_nodes=num_nodes, x=columns if x is None else x)


def random(*shape):
    return np.random.default_rng(1).random(shape)


CASES = {
    "one node": (1, lambda: graph(NO_EDGES, 1)),
    "two nodes apart, K = 1": (1, lambda: graph(NO_EDGES, 2)),
    "two nodes apart, K = 2": (2, lambda: graph(NO_EDGES, 2)),
    "two nodes joined, K = 1": (1, lambda: graph([[0], [1]], 2)),
    "two nodes joined, K = 2": (2, lambda: graph([[0], [1]], 2)),
    "no edges": (3, lambda: graph(NO_EDGES)),
    "no edges, K = N": (N, lambda: graph(NO_EDGES)),
    "self-loops only": (3, lambda: graph([[0, 1], [0, 1]])),
    "one edge, all others isolated": (3, lambda: graph([[10], [11]])),
    "K = 1": (1, graph),
    "K = N - 1": (N - 1, graph),
    "K = N": (N, graph),
    "complete graph": (3, lambda: Graph.from_scipy(np.ones((N, N)), x=random(N, 3))),
    "self-loops": (3, lambda: graph(np.hstack([RING, [[0, 1], [0, 1]]]))),
    "duplicate edges": (3, lambda: graph(np.hstack([RING, RING]))),
    "F > N": (3, lambda: graph(x=random(N, 40))),
    "F = 1": (3, lambda: graph(x=random(N, 1))),
    "integer features": (3, lambda: graph(x=(9 * random(N, 3)).astype(int))),
    "bool features": (3, lambda: graph(x=random(N, 3) < 0.5)),
    "sparse bool features": (3, lambda: graph(x=sp.csr_array(random(N, 3) < 0.5))),
    "zero features": (3, lambda: graph(x=np.zeros((N, 3)))),
    "sparse features without entries": (3, lambda: graph(x=sp.csr_array((N, 3)))),
    "equal features": (3, lambda: graph(x=np.ones((N, 3)))),
}

each_method = pytest.mark.parametrize("name", CLUSTERING_METHODS)


@each_method
@pytest.mark.parametrize("case", CASES)
def test_every_node_gets_a_label_and_a_finite_embedding(name, case):
    n_clusters, build = CASES[case]
    given = build()
    fitted = CLUSTERING_METHODS[name](n_clusters, random_state=0, **QUICK.get(name, {})).fit(given)
    assert fitted.labels_.shape == (given.num_nodes,)
    assert set(fitted.labels_.tolist()) == set(range(fitted.n_clusters_found_))
    assert fitted.n_clusters_found_ <= n_clusters
    results = [getattr(fitted, kind) for kind in ("embedding_", "assignments_") if hasattr(fitted, kind)]
    assert results
    assert all(len(result) == given.num_nodes and np.isfinite(result).all() for result in results)


@each_method
def test_more_clusters_than_nodes_are_refused(name):
    with pytest.raises(ValueError, match=r"got n_clusters=13 and .*12.*; ask for fewer clusters"):
        CLUSTERING_METHODS[name](N + 1, random_state=0, **QUICK.get(name, {})).fit(graph())
