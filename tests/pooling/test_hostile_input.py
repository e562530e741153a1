"""Input that users get wrong and graphs at the edge of what numbers can hold, for all pooling layers."""

import warnings

import numpy as np
import pytest
import torch

from tvgnn.errors import GraphError
from tvgnn.pooling import (
    AsymCheegerCutPooling,
    DiffPooling,
    DMoNPooling,
    MinCutPooling,
    SAGPooling,
    TopKPooling,
)

MLP_LAYERS = (AsymCheegerCutPooling, MinCutPooling, DMoNPooling, DiffPooling)
WITH_ASSIGNMENTS = {
    **{layer.__name__: lambda layer=layer: layer(3, [4, 8]) for layer in MLP_LAYERS},
    "DiffPooling-gnn": lambda: DiffPooling(3, [4, 8], assignment="gnn"),
}
LAYERS = {**WITH_ASSIGNMENTS, "TopKPooling": lambda: TopKPooling(4), "SAGPooling": lambda: SAGPooling(4)}
PATH = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
X = torch.randn(4, 4, generator=torch.Generator().manual_seed(0))
ONES = torch.ones(6)
ONE_GRAPH = torch.zeros(4, dtype=torch.int64)


@pytest.fixture(params=LAYERS)
def pool(request):
    torch.manual_seed(0)
    return LAYERS[request.param]()


@pytest.fixture(params=WITH_ASSIGNMENTS)
def clustering_pool(request):
    torch.manual_seed(0)
    return WITH_ASSIGNMENTS[request.param]()


def everything_is_finite(pool, out):
    results = [part for part in (out.x, out.adj, out.assignments, *out.losses.values()) if part is not None]
    assert all(torch.isfinite(part).all() for part in results)
    total = sum(part.float().sum() for part in results)
    if total.requires_grad:
        total.backward()
    assert all(p.grad is None or torch.isfinite(p.grad).all() for p in pool.parameters())


@pytest.mark.parametrize("weight", [0.0, -1.0, -3.0, 1e-40, 1e-30, 1e15])
def test_weights_of_any_size_and_sign_leave_gradients_finite(pool, weight):
    everything_is_finite(pool, pool(X, PATH, torch.full((6,), weight)))


def test_weights_that_cancel(pool):
    everything_is_finite(pool, pool(X, PATH, torch.tensor([1.0, 1, -5, -5, 1, 1])))


@pytest.mark.parametrize("scale", [0.0, 1e4, 1e20])
def test_hard_and_equal_assignments(pool, scale):
    everything_is_finite(pool, pool(scale * X, PATH))


@pytest.mark.parametrize("weak", [[0], [0, 1]], ids=["one", "two"])
@pytest.mark.parametrize("score", [-20, -40, -60, -70, -80, -90, -100, -110])
def test_clusters_that_hardly_a_node_wants(clustering_pool, score, weak):
    scores = [parameter for parameter in clustering_pool.parameters() if parameter.shape == (3,)]
    with torch.no_grad():
        scores[-1][weak] = score
    everything_is_finite(clustering_pool, clustering_pool(X, PATH))


@pytest.mark.parametrize("score", [-20, -40, -60])
@pytest.mark.parametrize("layer", [MinCutPooling, DMoNPooling])
def test_gradients_through_a_cluster_that_hardly_a_node_wants(layer, score):
    torch.manual_seed(0)
    pool = layer(4, [4])
    with torch.no_grad():
        pool.mlp[0].bias[0] = score
    gradients = []
    for dtype in (torch.float32, torch.float64):
        pool = pool.to(dtype)
        pool.zero_grad()
        (pool(X.to(dtype), PATH).adj * torch.arange(16, dtype=dtype).view(4, 4)).sum().backward()
        gradients.append(pool.mlp[0].weight.grad.double())
    assert gradients[1].abs().max() > 1e-3
    assert torch.allclose(gradients[0], gradients[1], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_layers_in_half_precision(pool, dtype):
    out = pool.to(dtype)(X.to(dtype), PATH, ONES.to(dtype), ONE_GRAPH)
    assert out.x.dtype == dtype
    everything_is_finite(pool, out)


@pytest.mark.parametrize("dtype", [torch.float64, torch.int64, torch.bfloat16, torch.float16])
def test_features_are_cast_to_the_layers_type(pool, dtype):
    assert pool(X.to(dtype), PATH).x.dtype == torch.float32


def test_narrow_indices(pool):
    assert torch.equal(pool(X, PATH.int(), batch=ONE_GRAPH.int()).x, pool(X, PATH, batch=ONE_GRAPH).x)


@pytest.mark.parametrize("order", ["row", "col"])
def test_edge_index_of_torch_geometric(pool, pyg, order):
    by_order = PATH[:, PATH[0 if order == "row" else 1].argsort(stable=True)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        edges = pyg.EdgeIndex(by_order, sparse_size=(4, 4), sort_order=order)
    assert torch.allclose(pool(X, edges).x, pool(X, PATH).x)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"x": X.tolist()}, "x"),
        ({"x": None}, "x"),
        ({"x": X.to(torch.complex64)}, "x"),
        ({"x": X[0]}, "x"),
        ({"edge_index": PATH.tolist()}, "edge_index"),
        ({"edge_index": PATH.numpy()}, "edge_index"),
        ({"edge_index": None}, "edge_index"),
        ({"edge_index": PATH.T}, "edge_index"),
        ({"edge_index": PATH.float()}, "edge_index"),
        ({"edge_index": PATH + 1}, "node indices"),
        ({"edge_index": PATH - 1}, "node indices"),
        ({"edge_index": torch.eye(4)}, "edge_index"),
        ({"edge_weight": [1.0] * 6}, "edge_weight"),
        ({"edge_weight": 1.0}, "edge_weight"),
        ({"edge_weight": ONES[:5]}, "edge_weight"),
        ({"edge_weight": ONES[:, None]}, "edge_weight"),
        ({"edge_weight": ONES.to(torch.complex64)}, "edge_weight"),
        ({"batch": [0] * 4}, "batch"),
        ({"batch": ONE_GRAPH - 1}, "batch"),
        ({"batch": ONE_GRAPH + 5, "batch_size": 2}, "batch"),
        ({"batch": ONE_GRAPH, "batch_size": -1}, "batch_size"),
        ({"batch": ONE_GRAPH, "batch_size": 1.0}, "batch_size"),
        ({"batch": ONE_GRAPH, "batch_size": "1"}, "batch_size"),
        ({"batch": ONE_GRAPH, "batch_size": True}, "batch_size"),
        ({"batch_size": 3}, "batch_size"),
    ],
)
def test_mistakes_are_named(pool, arguments, named):
    with pytest.raises(GraphError, match=f"expected .*{named}"):
        pool(**{"x": X, "edge_index": PATH, **arguments})


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"adj": torch.ones(2, 4, 4).tolist()}, "adj"),
        ({"adj": np.ones((2, 4, 4))}, "adj"),
        ({"adj": torch.ones(2, 4, 4).to(torch.complex64)}, "adj"),
        ({"mask": [[True] * 4] * 2}, "mask"),
        ({"batch_size": 2}, "batch_size"),
    ],
)
def test_mistakes_in_dense_input_are_named(clustering_pool, arguments, named):
    with pytest.raises(GraphError, match=f"expected .*{named}"):
        clustering_pool(torch.ones(2, 4, 4), **{"adj": torch.ones(2, 4, 4), **arguments})


@pytest.mark.parametrize("shape", [(0, 4), (2, 0), (2, 1)])
def test_dense_batches_without_graphs_or_nodes(clustering_pool, shape):
    out = clustering_pool(torch.ones(*shape, 4), adj=torch.ones(*shape, shape[1]))
    assert out.x.shape == (shape[0], 3, 4)
    everything_is_finite(clustering_pool, out)


@pytest.mark.parametrize("layer", MLP_LAYERS)
@pytest.mark.parametrize(
    ("k", "channels", "named"),
    [
        *[(k, [4], "k") for k in (0, 2.0, "2", None, True)],
        *[(2, channels, "mlp_channels") for channels in (4, [], [4, 0], [4, 2.5], "48", None, [True])],
        *[(2, [4, 8], "act") for _ in range(1)],
    ],
)
def test_sizes_of_clustering_layers(layer, k, channels, named):
    act = "cross_entropy" if named == "act" else "relu"
    with pytest.raises(ValueError, match=f"expected {named}"):
        layer(k, channels, act)
    assert layer(np.int64(2), np.array([4, 8])).k == 2


@pytest.mark.parametrize("layer", [TopKPooling, SAGPooling])
def test_sizes_of_layers_that_keep_nodes(layer):
    for width in (0, 4.0, "4", True):
        with pytest.raises(ValueError, match="in_channels"):
            layer(width)
    for ratio in (None, "half", True, float("nan"), float("inf"), 1.5, -1):
        with pytest.raises(ValueError, match="ratio"):
            layer(4, ratio)
    assert layer(4, np.int64(2))(X, PATH).x.shape == (2, 4)
    assert layer(4, np.float32(0.5))(X, PATH).x.shape == (2, 4)


@pytest.mark.parametrize("name", ["softmax", "cross_entropy", "linear", "warnings", "__doc__"])
def test_functions_that_are_no_activations_are_refused(name):
    with pytest.raises(ValueError, match="expected act"):
        MinCutPooling(2, [4, 8], name)


def test_whole_layer_in_one_compiled_graph(clustering_pool):
    torch._dynamo.reset()
    compiled = torch.compile(clustering_pool, backend="aot_eager", fullgraph=True)
    out, expected = compiled(X, PATH), clustering_pool(X, PATH)
    assert torch.allclose(out.x, expected.x)
    assert torch.allclose(out.adj, expected.adj)
