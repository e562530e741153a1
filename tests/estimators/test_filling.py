"""Exactly K clusters: empty ones are filled by splitting others."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from torch import nn

from tvgnn import Graph, TVClustering
from tvgnn.errors import ClusteringWarning
from tvgnn.estimators.filling import fill_empty_clusters

PAPER = {"preset": "paper", "max_iter": 30, "hidden_channels": 16, "mlp_channels": 8, "random_state": 0}


def layer_and_rows(seed=0, empty=(1, 3)):
    """Five clusters about as many centres, of which the layer does not know two."""
    random = np.random.default_rng(seed)
    centers = random.normal(0, 4, (5, 6))
    rows = (centers[random.integers(0, 5, 200)] + random.normal(size=(200, 6))).astype(np.float32)
    last = nn.Linear(6, 5)
    with torch.no_grad():
        last.weight.copy_(torch.tensor(2 * centers))
        last.bias.copy_(torch.tensor(-np.square(centers).sum(1)))
        last.bias[list(empty)] = -1e4
    return last, torch.tensor(rows)


def fill(last, rows):
    """Fill the empty clusters of a network whose embedding the layer reads."""
    scoring = SimpleNamespace(mlp=nn.Sequential(last))
    config = SimpleNamespace(n_clusters=last.out_features)
    network = SimpleNamespace(pool=scoring, config=config, assign=lambda rows: torch.softmax(last(rows), 1))
    return fill_empty_clusters(network, rows)


def labels_of(last, rows):
    return last(rows).detach().numpy().argmax(1)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("empty", [(1,), (1, 3), (0, 1, 2, 4)])
def test_other_clusters_keep_their_nodes(seed, empty):
    last, rows = layer_and_rows(seed, empty)
    before = labels_of(last, rows)
    unused = 5 - np.unique(before).size
    assert fill(last, rows) == (unused, 0)
    assert unused >= len(empty)
    after = labels_of(last, rows)
    assert np.unique(after).size == 5
    assert len({*zip(before, after, strict=True)}) == 5  # each new cluster lies inside an old one


def test_the_cluster_of_the_largest_spread_is_split():
    last, rows = layer_and_rows(empty=(1,))
    before = labels_of(last, rows)
    values = rows.numpy()
    spread = [
        np.square(values[before == c] - values[before == c].mean(0)).sum() if (before == c).any() else 0
        for c in range(5)
    ]
    fill(last, rows)
    assert before[labels_of(last, rows) == 1][0] == int(np.argmax(spread))


def test_equal_nodes_are_not_split():
    last, rows = layer_and_rows(empty=(0, 1, 2, 4))
    weight = last.weight.clone()
    assert fill(last, rows[:1].repeat(20, 1)) == (0, 0)
    assert torch.equal(last.weight, weight)


def two_groups(nodes=60, seed=0):
    random = np.random.default_rng(seed)
    x = np.repeat([[0.0], [4.0]], nodes // 2, axis=0) + random.normal(size=(nodes, 3))
    return Graph.from_features(x, n_neighbors=5)


@pytest.mark.parametrize("options", [PAPER, {**PAPER, "preset": "released", "mlp_channels": 0}])
def test_all_clusters_are_in_use(options, tmp_path):
    graph = two_groups()
    with pytest.warns(ClusteringWarning, match="clusters asked for are in use.*empty_clusters='split', which splits"):
        kept = TVClustering(12, **options).fit(graph)
    with pytest.warns(ClusteringWarning, match="were empty and were made by splitting others, as empty_clusters='spl"):
        model = TVClustering(12, empty_clusters="split", **options).fit(graph)
    assert model.n_clusters_found_ == 12
    assert model.choices_["filled_clusters"] == 12 - kept.n_clusters_found_
    assert np.diff(np.bincount(model.labels_)).max() <= 0
    assert model.predict(graph).tolist() == model.labels_.tolist()
    model.save(tmp_path)
    loaded = TVClustering.load(tmp_path)
    assert loaded.get_params()["empty_clusters"] == "split"
    assert loaded.predict(graph).tolist() == model.labels_.tolist()


def test_shares_are_as_sharp_as_before_and_no_other_score_changes():
    last, rows = layer_and_rows()
    with torch.no_grad():
        before, weight = torch.softmax(last(rows), 1).amax(1).mean().item(), last.weight.clone()
    fill(last, rows)
    assert torch.softmax(last(rows), 1).amax(1).mean().item() >= 0.99 * before
    kept = last.weight[[0, 2, 4]] / weight[[0, 2, 4]]
    assert torch.equal(kept, kept[0, 0].expand_as(kept))


def test_where_numbers_are_coarse_all_are_in_use_and_what_moved_is_said():
    with pytest.warns(ClusteringWarning, match="borders of other clusters changed theirs, [0-9]+ times in all"):
        model = TVClustering(20, precision="bfloat16", empty_clusters="split", **PAPER).fit(two_groups(300))
    assert model.n_clusters_found_ == 20
    assert model.predict(model.graph_).tolist() == model.labels_.tolist()


@pytest.mark.filterwarnings("ignore::tvgnn.errors.ClusteringWarning")
def test_what_silent_hidden_units_hide_is_split():
    graph = two_groups()
    model = TVClustering(2, **PAPER).fit(graph)
    network, mlp = model.model_, model.model_.pool.mlp
    embedding = torch.tensor(model.embedding_)
    with torch.no_grad():
        mlp[0].bias.fill_(-1e3)  # all units are 0, so that the last layer reads the same of all nodes
        mlp[-1].bias.copy_(torch.tensor([1.0, 0.0]))
    before = network.assign(embedding)
    assert before.argmax(1).unique().numel() == 1
    assert fill_empty_clusters(network, embedding) == (1, 0)
    assert network.assign(embedding).argmax(1).unique().numel() == 2


@pytest.mark.parametrize("preset", ["quality", "paper"])
def test_nothing_changes_where_all_are_in_use(preset):
    options = {"preset": "quality", "n_init": 1, "random_state": 0} if preset == "quality" else PAPER
    graph = two_groups()
    found = []
    for empty_clusters in ("keep", "split"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found.append(TVClustering(2, empty_clusters=empty_clusters, **options).fit(graph))
    np.testing.assert_array_equal(found[0].assignments_, found[1].assignments_)
    assert "filled_clusters" not in found[1].choices_


def test_fewer_different_nodes_than_clusters():
    x = np.repeat(np.random.default_rng(0).normal(size=(3, 2)), 10, axis=0)
    model = TVClustering(5, preset="quality", n_init=1, random_state=0, empty_clusters="split")
    with pytest.warns(ClusteringWarning) as warned:
        model.fit(x, adjacency=sp.csr_array((30, 30)))
    assert "nodes that look the same to the network cannot be split" in str(warned[-1].message)
    assert model.n_clusters_found_ == 3


def test_an_unknown_word_is_refused():
    with pytest.raises(ValueError, match="empty_clusters to be one of keep, split, got 'fill'"):
        TVClustering(2, empty_clusters="fill").fit(np.eye(4))


@pytest.mark.filterwarnings("ignore::tvgnn.errors.ClusteringWarning")
@pytest.mark.parametrize("preset", ["paper", "quick"])
def test_nodes_that_all_look_the_same_stay_together(preset):
    model = TVClustering(2, preset=preset, max_iter=5, empty_clusters="split", random_state=0)
    assert set(model.fit(np.ones((20, 3)), adjacency=np.ones((20, 20))).labels_) == {0}
