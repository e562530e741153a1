"""Short texts, whose clusters of single words say nothing of words held out."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import normalized_mutual_info_score

from tvgnn import Graph, TVClustering
from tvgnn.estimators.quality import edge_use, held_out, runs
from tvgnn.estimators.quality.held_out import HeldOutWords, are_short_texts
from tvgnn.estimators.quality.preparation import FeaturePreparation
from tvgnn.graph.adjacency import Adjacency
from tvgnn.models.smoothed_clustering import averaging_adjacency


def _short_texts(nodes, meant, topics=4, words=400, seed=0):
    """Texts of four words, of which two in five follow the topic, and a share of meant edges does; Zipf's law."""
    random = np.random.default_rng(seed)
    y = random.integers(0, topics, nodes)
    general = 1 / np.arange(2, words + 2) ** 0.9
    own = general * np.where(random.random((topics, words)) < 0.15, 12, 1)
    general, own = general / general.sum(), own / own.sum(1, keepdims=True)
    x = np.zeros((nodes, words))
    for row, topic in zip(x, y, strict=True):
        follow = random.random(1 + random.poisson(3)) < 0.4
        row[[random.choice(words, p=own[topic] if one else general) for one in follow]] = 1
    sources = random.integers(0, nodes, 2 * nodes)
    anywhere, of_topic = random.integers(0, nodes, 2 * nodes), np.argsort(y, kind="stable")
    first, sizes = np.searchsorted(y[of_topic], y[sources]), np.bincount(y)[y[sources]]
    alike = of_topic[first + (random.random(2 * nodes) * sizes).astype(int)]
    targets = np.where(random.random(2 * nodes) < meant, alike, anywhere)
    return Graph.from_edge_index(np.stack([sources, targets]), num_nodes=nodes, x=sp.csr_array(x), y=y)


@pytest.fixture(scope="module")
def texts():
    return _short_texts(1000, meant=0.7)


def _fitted(graph, **options):
    return TVClustering(4, preset="quality", random_state=0, **{"n_init": 1} | options).fit(graph)


def _words(graph, n_clusters=4):
    x = FeaturePreparation.fit(graph.x).transform(graph.x)
    averaging = averaging_adjacency(Adjacency.from_graph(graph), 1.0)
    return HeldOutWords(graph, x, n_clusters, averaging, width=64, loop_share=0.0, edge_share=1.0)


@pytest.mark.filterwarnings("ignore:edges join nodes")
def test_topics_of_short_texts_are_found(texts, monkeypatch):
    monkeypatch.setattr(edge_use, "explained_beyond_chance", lambda *_: False)  # so that words held out decide
    found = normalized_mutual_info_score(texts.y, _fitted(texts).labels_)
    monkeypatch.setattr(edge_use, "are_short_texts", lambda x: False)
    assert normalized_mutual_info_score(texts.y, _fitted(texts).labels_) < 0.1
    assert found > 0.5


@pytest.mark.parametrize(("meant", "favored"), [(0.7, True), (0.0, False)])
def test_edges_are_favored_where_words_held_out_follow_them(meant, favored):
    assert _words(_short_texts(1000, meant)).favor_edges() is favored


def test_clusters_of_single_words_are_contradicted_and_topics_not(texts):
    words = _words(texts)
    steps = words.best_steps(0)
    assert steps > 2
    assert words.contradict(0, words._averaging, 0)
    assert not words.contradict(0, words._averaging, steps)


def test_what_is_contradicted_is_not_taken(texts, monkeypatch):
    asked = []
    monkeypatch.setattr(HeldOutWords, "contradict", lambda words, place, *rest: asked.append(place) or place == 1)
    monkeypatch.setattr(HeldOutWords, "best_steps", lambda words, place: 7)
    model = _fitted(texts, n_init=2)
    steps = {view["rank"]: view["smoothing_steps"] for view in model.choices_["views"]}
    assert steps[128] == 7
    assert model.choices_["steps_by_held_out_words"] == [128]
    assert asked.count(1) == 1  # the second run keeps what the first chose
    assert {0, 1, 2} == set(asked)


def test_more_weight_is_not_taken_where_it_is_contradicted(texts, monkeypatch):
    weights = []

    def contradict(words, place, averaging, steps):
        weights.append(float(averaging.row_sums(averaging.values.dtype).mean()))
        return len(weights) > 1

    monkeypatch.setattr(runs, "_MORE", -1.0)  # so that more weight is asked for in any case
    monkeypatch.setattr(HeldOutWords, "contradict", contradict)
    monkeypatch.setattr(HeldOutWords, "best_steps", lambda words, place: 3)
    model = _fitted(texts)
    assert weights[1] < weights[0]  # neighbours weigh less where a node counts more
    assert [view["self_weight"] for view in model.choices_["views"]] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("per_row", [19, 20])
def test_texts_are_short_below_twenty_words(per_row):
    x = np.zeros((50, 100))
    x[:, :per_row] = 1
    assert are_short_texts(sp.csr_array(x)) is (per_row < 20)
    assert not are_short_texts(x)


@pytest.mark.filterwarnings("ignore:edges join nodes")
@pytest.mark.parametrize("options", [{"num_layers": 2}, {"n_clusters": 30}])
def test_nothing_is_held_out_where_steps_are_given_or_nodes_few(texts, options, monkeypatch):
    monkeypatch.setattr(held_out, "principal_components", None)  # which would fail
    model = TVClustering(preset="quality", n_init=1, random_state=0, **{"n_clusters": 4} | options).fit(texts)
    assert model.choices_["steps_by_held_out_words"] == []


@pytest.mark.filterwarnings("ignore:edges join nodes")
@pytest.mark.parametrize("columns", [4, 5])
def test_texts_without_words_and_few_words(columns):
    random = np.random.default_rng(0)
    x = sp.csr_array((random.random((300, columns)) < 0.2).astype(float))
    graph = Graph.from_edge_index(random.integers(0, 300, (2, 900)), num_nodes=300, x=x)
    assert len(np.unique(TVClustering(2, preset="quality", n_init=1, random_state=0).fit(graph).labels_)) == 2


def test_a_sample_of_texts_stands_for_all(texts, monkeypatch):
    words = _words(texts)
    whole = words._nats(0, words._averaging, (8,))
    monkeypatch.setattr(held_out, "SAMPLE", 800)
    sampled = _words(texts)._nats(0, words._averaging, (8,))
    assert not np.array_equal(sampled, whole)
    np.testing.assert_allclose(sampled, whole, rtol=0.25)


def test_words_that_hardly_any_text_has_are_no_part():
    x = np.zeros((300, 8))
    x[::3, 0] = 1
    graph = Graph.from_edge_index(np.random.default_rng(0).integers(0, 300, (2, 600)), num_nodes=300, x=sp.csr_array(x))
    words = _words(graph, 2)
    assert len(words._parts) == 1
    graph = Graph.from_scipy(graph.adjacency(), x=sp.csr_array((300, 8)))
    words = HeldOutWords(graph, graph.x, 2, words._averaging, width=4, loop_share=0.0, edge_share=1.0)
    assert not words.contradict(0, words._averaging, 1)
    assert not words.favor_edges()
