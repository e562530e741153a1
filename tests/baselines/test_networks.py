"""Autoencoders and end-to-end networks: sampled pairs, the ablations' losses, exact small values."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from tvgnn import Graph
from tvgnn.baselines import GAE, VGAE, DMoN, GTVMinCut, MinCut, RelaxedRatio
from tvgnn.baselines._autoencoder import autoencoders, reconstruction_loss, sample_non_edges
from tvgnn.baselines.abl3 import relaxed_ratio_loss
from tvgnn.errors import TrainingError
from tvgnn.graph.adjacency import Adjacency
from tvgnn.models.pooled_clustering import GraphConvolution, PooledClusteringModel
from tvgnn.pooling import MinCutPooling

PATH = Graph.from_edge_index([[0, 1, 2], [1, 2, 3]], x=np.eye(4))


def entries(graph):
    adjacency = Adjacency.from_graph(graph)
    return torch.stack([adjacency.rows(), adjacency.indices.long()])


def test_non_edges_are_neither_edges_nor_loops():
    torch.manual_seed(0)
    edges = entries(PATH)
    drawn = {tuple(pair) for _ in range(200) for pair in sample_non_edges(edges, 4).T.tolist()}
    assert drawn == {(0, 2), (2, 0), (0, 3), (3, 0), (1, 3), (3, 1)}
    assert sample_non_edges(edges, 4).shape[1] <= 6


def test_complete_graph_has_no_non_edges():
    complete = Graph.from_scipy(np.ones((4, 4)))
    assert sample_non_edges(entries(complete), 4).shape == (2, 0)


def test_reconstruction_loss_is_pyg_s():
    torch.manual_seed(0)
    z, edges = torch.randn(4, 3), entries(PATH)
    others = torch.tensor([[0, 0, 1], [2, 3, 3]])
    model = autoencoders().GAE(torch.nn.Identity())
    assert reconstruction_loss(model, z, edges, others).item() == pytest.approx(
        model.recon_loss(z, edges, others).item(), rel=1e-4
    )


@pytest.mark.parametrize("method", [GAE, VGAE])
def test_autoencoders_learn(method):
    history = method(2, random_state=0).fit(PATH).loss_history_
    assert len(history) == 200
    assert np.mean(history[-20:]) < np.mean(history[:5])


@pytest.mark.parametrize("skip", [False, True])
def test_graph_convolution_equals_the_dense_formula(skip):
    torch.manual_seed(0)
    graph = Graph.from_scipy(np.array([[0, 2, 0, 0], [2, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]))
    conv, x = GraphConvolution(3, 2, "elu", skip=skip), torch.randn(4, 3)
    a = torch.tensor(graph.adjacency().toarray()) + (0 if skip else torch.eye(4))
    scale = a.sum(1).clamp(min=1e-30).rsqrt() * (a.sum(1) > 0)
    out = scale[:, None] * a * scale @ x @ conv.weight + conv.bias
    if skip:
        out = out + x @ conv.skip_weight
    assert torch.allclose(conv(x, Adjacency.from_graph(graph)), torch.nn.functional.elu(out), atol=1e-6)


def test_ratio_by_hand():
    s = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    # per cluster: the one cut edge counts in both directions, 2; quantile 0, norm (K - 1) * 2 = 2
    assert relaxed_ratio_loss(s, Adjacency.from_graph(PATH)).item() == pytest.approx(2.0)


@pytest.mark.parametrize("clusters", [2, 3, 5])
def test_ratio_equals_its_formula(clusters):
    random = np.random.default_rng(clusters)
    upper = np.triu(random.random((17, 17)) * (random.random((17, 17)) < 0.3), 1)
    graph = Graph.from_scipy(upper + upper.T)
    s = random.dirichlet(np.ones(clusters), 17)
    a, expected, rho = graph.adjacency().toarray(), 0.0, clusters - 1
    for column in s.T:
        variation = (a * np.abs(column[:, None] - column[None, :])).sum()
        shifted = column - np.sort(column)[::-1][17 // (rho + 1)]
        expected += variation / np.where(shifted >= 0, rho * shifted, -shifted).sum()
    tensor = torch.tensor(s, requires_grad=True)
    adjacency = Adjacency.from_graph(graph, torch.float64)
    assert relaxed_ratio_loss(tensor, adjacency).item() == pytest.approx(expected)
    assert torch.autograd.gradcheck(lambda logits: relaxed_ratio_loss(logits.softmax(1), adjacency), tensor)


def test_ratio_of_collapsed_assignments_is_finite():
    s = torch.full((4, 2), 0.5, requires_grad=True)
    loss = relaxed_ratio_loss(s, Adjacency.from_graph(PATH))
    loss.backward()
    assert loss.item() == 0
    assert torch.isfinite(s.grad).all()
    assert relaxed_ratio_loss(torch.ones(4, 1), Adjacency.from_graph(PATH)).item() == 0


@pytest.mark.parametrize("method", [GTVMinCut, RelaxedRatio])
def test_ablations_keep_the_papers_column(method):
    parameters = method().get_params()
    assert (parameters["hidden_channels"], parameters["num_layers"], parameters["mlp_channels"]) == (512, 2, 256)
    assert (parameters["delta_coeff"], parameters["learning_rate"]) == (0.311, 1e-3)


def test_training_lowers_the_loss_and_stops_early():
    fitted = MinCut(2, random_state=0, max_iter=2000, patience=20, learning_rate=0.05).fit(PATH)
    assert fitted.converged_
    assert fitted.n_iter_ < 2000
    assert fitted.loss_ == pytest.approx(min(fitted.loss_history_), abs=1e-4)
    assert fitted.loss_ < fitted.loss_history_[0]


def test_loss_that_is_not_finite_is_refused():
    huge = PATH.with_features(np.full((4, 2), 3e38))
    with pytest.raises(TrainingError):
        DMoN(2, random_state=0, max_iter=5).fit(huge)


@pytest.mark.parametrize("options", [{"conv": "other"}, {"num_layers": 0}])
def test_unknown_architecture(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        PooledClusteringModel(3, MinCutPooling(2, [16]), **options)


def test_sparse_and_dense_features_give_the_same_embedding():
    x = sp.random_array((30, 50), density=0.05, rng=np.random.default_rng(0), format="csr")
    ring = np.arange(30)
    graph = Graph.from_edge_index([ring, np.roll(ring, 1)], x=x)
    dense = graph.with_features(x.toarray())
    a, b = (GAE(3, random_state=0, max_iter=3).fit(g).embedding_ for g in (graph, dense))
    assert np.allclose(a, b, atol=1e-5)
