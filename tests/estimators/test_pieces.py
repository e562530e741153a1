"""`predict` and `transform` on graphs that are larger than the memory there may be: piece by piece."""

import numpy as np
import pytest
import scipy.sparse as sp

from tvgnn import Graph, TVClustering
from tvgnn.errors import MemoryLimitError
from tvgnn.estimators import pieces

pytestmark = pytest.mark.filterwarnings("ignore::tvgnn.errors.ClusteringWarning")
FITS = {
    "paper": {"preset": "paper", "max_iter": 10, "hidden_channels": 16, "num_layers": 3},
    "released": {"preset": "released", "max_iter": 10, "hidden_channels": 16},
    "quality": {"preset": "quality", "n_init": 1},
}
INPUTS = {
    "dense": {},
    "weighted": {"weighted": True},
    "sparse": {"sparse": True},
    "missing": {"missing": 0.6, "sparse": True, "weighted": True},
}


def strip(nodes, seed, *, sparse=False, weighted=False, missing=0.0):
    """A long graph in five parts, its nodes in random order, the last three without edges."""
    random = np.random.default_rng(seed)
    first = np.repeat(np.arange(nodes - 3), 3)
    second = (first + random.integers(1, 5, first.size)).clip(0, nodes - 4)
    part = np.arange(nodes) * 5 // nodes
    x = random.random((5, 40))[part] + random.random((nodes, 40))
    x = x * (x > 1.2) if sparse else x
    x[random.random(nodes) < missing] = 0
    place = random.permutation(nodes)
    shuffled = np.empty_like(x)
    shuffled[place] = x
    ends = place[np.array([first, second])]
    weights = random.random(first.size) + 0.5 if weighted else None
    return Graph.from_edge_index(ends, edge_weight=weights, x=sp.csr_array(shuffled) if sparse else shuffled)


@pytest.fixture
def small_pieces(monkeypatch):
    """Estimates without what is too small to list, so that small graphs are cut."""
    monkeypatch.setattr(pieces, "_LEAST", 0)
    made = []
    kept = pieces._pieces

    def counted(*arguments):
        for piece in kept(*arguments):
            made.append(piece)
            yield piece

    monkeypatch.setattr(pieces, "_pieces", counted)
    return made


@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("fit", FITS)
def test_pieces_give_what_the_whole_gives(fit, kind, small_pieces):
    model = TVClustering(5, random_state=0, **FITS[fit]).fit(strip(400, 0, **INPUTS[kind]))
    graph = strip(1500, 1, **INPUTS[kind])
    labels, embedding = model.predict(graph), model.transform(graph)
    assert not small_pieces
    whole = pieces.inference_bytes(model, graph, graph.num_nodes, graph.indices.size)
    model.set_params(max_memory=whole // 2 + 24 * graph.num_nodes)
    np.testing.assert_array_equal(model.predict(graph), labels)
    assert len(small_pieces) > 1
    model.set_params(max_memory=whole // 2 + (24 + 4 * embedding.shape[1]) * graph.num_nodes)
    found = model.transform(graph)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, embedding, rtol=1e-4, atol=1e-5 * np.abs(embedding).max())


def test_nobody_is_known_in_a_piece(small_pieces):
    """A stretch of nodes without features gets what it would get beside the others, not another rule."""
    graph = strip(1500, 1, sparse=True)
    known = np.asarray(graph.x.sum(1)).ravel() > 0
    reached = np.zeros(graph.num_nodes, bool)
    reached[0] = True
    for _ in range(60):
        reached |= graph.adjacency() @ reached > 0
    x = sp.csr_array(sp.diags_array((known & ~reached).astype(np.float32)) @ graph.x)
    x.eliminate_zeros()
    emptied = Graph.from_scipy(graph.adjacency(), x=x)
    model = TVClustering(5, random_state=0, **FITS["quality"]).fit(strip(400, 0, sparse=True, missing=0.3))
    labels = model.predict(emptied)
    model.set_params(max_memory=pieces.inference_bytes(model, emptied, 1500, emptied.indices.size) // 3 * 2)
    np.testing.assert_array_equal(model.predict(emptied), labels)
    assert len(small_pieces) > 1


def test_a_hub_is_refused_with_what_to_do(small_pieces):
    model = TVClustering(3, random_state=0, **FITS["paper"]).fit(strip(300, 0))
    star = Graph.from_edges(np.zeros(2000, int), np.arange(1, 2001), x=np.random.default_rng(0).random((2001, 40)))
    model.set_params(max_memory="200kB")
    with pytest.raises(MemoryLimitError, match=r"max_memory, 200 kB, .* 2001 nodes .* 3 edges .*set_params"):
        model.predict(star)
    assert not small_pieces


def test_pieces_that_read_most_of_the_graph_are_refused(small_pieces, monkeypatch):
    model = TVClustering(3, random_state=0, **FITS["paper"]).fit(strip(300, 0))
    monkeypatch.setattr(pieces, "_MOST_READ", 1.01)
    graph = strip(1500, 1)
    model.set_params(max_memory=pieces.inference_bytes(model, graph, 150, 900) + 24 * 1500)
    with pytest.raises(MemoryLimitError):
        model.predict(graph)


def test_a_bad_row_is_named_by_its_number_in_the_graph(small_pieces):
    random = np.random.default_rng(0)
    amounts = random.poisson(0.5, (400, 40)) * random.lognormal(size=(400, 40))
    known = strip(400, 0)
    model = TVClustering(4, feature_norm="log1p", random_state=0, **FITS["quality"])
    model.fit(Graph.from_scipy(known.adjacency(), x=amounts))
    graph = strip(1500, 1)
    x = np.array(graph.x)
    x[1234, 3] = -1
    bad = Graph.from_scipy(graph.adjacency(), x=x)
    with pytest.raises(ValueError, match="1234") as whole:
        model.predict(bad)
    model.set_params(max_memory="600kB")
    with pytest.raises(ValueError, match="1234") as cut:
        model.predict(bad)
    assert str(cut.value) == str(whole.value)


@pytest.mark.parametrize("nodes", [1, 2])
def test_tiny_graphs_fit_into_any_limit_or_say_so(nodes):
    model = TVClustering(3, random_state=0, **FITS["paper"]).fit(strip(300, 0))
    graph = Graph.from_edge_index(np.empty((2, 0), int), x=np.ones((nodes, 40)))
    labels = model.predict(graph)
    np.testing.assert_array_equal(model.set_params(max_memory="100MB").predict(graph), labels)
    with pytest.raises(MemoryLimitError, match="raise it"):
        model.set_params(max_memory=10).predict(graph)
