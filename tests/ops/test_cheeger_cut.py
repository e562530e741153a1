import pytest
import torch
from op_cases import general, randn, symmetric

from tvgnn.errors import GraphError
from tvgnn.graph.adjacency import Adjacency
from tvgnn.ops.cheeger_cut import cheeger_cut, cheeger_cut_unfused

ADJACENCIES = {
    "symmetric": lambda n, dtype: symmetric(n, True, dtype),
    "unweighted": lambda n, dtype: symmetric(n, False, dtype),
    "general": lambda n, dtype: general(n, True, dtype),
    "no edges": lambda n, dtype: Adjacency.from_edge_index(torch.empty(2, 0, dtype=torch.int64), None, n),
}


@pytest.fixture(params=ADJACENCIES)
def make(request):
    return ADJACENCIES[request.param]


@pytest.mark.parametrize("nodes", [1, 2, 33, 5000])
@pytest.mark.parametrize("clusters", [1, 2, 7, 20])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_equals_the_three_operators(make, nodes, clusters, dtype):
    adjacency, rho = make(nodes, dtype), max(clusters - 1.0, 0.5)
    logits = (3 * randn(nodes, clusters).to(dtype)).requires_grad_()
    weights = randn(nodes, clusters).to(dtype)

    def run(terms):
        s, variation, norm = terms
        loss = (s * weights).sum() + 0.7 * variation - 0.3 * norm
        return s.detach(), variation.detach(), norm.detach(), *torch.autograd.grad(loss, logits)

    ours = run(cheeger_cut(logits, adjacency, rho, backend="cpu"))
    for given, expected in zip(ours, run(cheeger_cut_unfused(logits, adjacency, rho, "reference")), strict=True):
        # Gradients are differences of numbers of size rho, hence the absolute part.
        rtol, atol = (2e-5, 5e-6 * clusters) if dtype == torch.float32 else (1e-10, 1e-13)
        torch.testing.assert_close(given, expected, rtol=rtol, atol=atol)


def test_gradcheck(make):
    adjacency = make(6, torch.float64)
    logits = randn(6, 3).double().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: cheeger_cut(x, adjacency, 2.0, backend="cpu"), logits)


@pytest.mark.parametrize("used", ["s", "variation", "norm"])
def test_one_output_alone(make, used):
    adjacency = make(30, torch.float64)
    logits = randn(30, 4).double().requires_grad_()
    number = ("s", "variation", "norm").index(used)
    grads = [
        torch.autograd.grad(terms[number].square().sum(), logits)[0]
        for terms in (
            cheeger_cut(logits, adjacency, 3.0, backend="cpu"),
            cheeger_cut_unfused(logits, adjacency, 3.0, "reference"),
        )
    ]
    torch.testing.assert_close(*grads)


def test_bitwise_repeatable_for_any_number_of_threads():
    adjacency = symmetric(20_000, False, torch.float32)
    logits = randn(20_000, 8).float().requires_grad_()

    def run(threads):
        torch.set_num_threads(threads)
        s, variation, norm = cheeger_cut(logits, adjacency, 7.0)
        return s, torch.autograd.grad(variation - norm, logits)[0]

    before = torch.get_num_threads()
    try:
        for one, two in zip(run(1), run(2), strict=True):
            assert torch.equal(one, two)
    finally:
        torch.set_num_threads(before)


def test_large_scores_and_ties():
    adjacency = symmetric(4, False, torch.float32)
    logits = torch.tensor([[1e30, 0.0], [1e4, 1e4], [-1e30, 0.0], [88.0, -88.0]])
    s, variation, norm = cheeger_cut(logits, adjacency, 1.0)
    torch.testing.assert_close(s, torch.softmax(logits, 1))
    assert variation.isfinite()
    assert norm.isfinite()


def test_small_probabilities_keep_their_relative_accuracy():
    logits = torch.stack([torch.zeros(80), -torch.arange(80.0)], dim=1)
    s, _, _ = cheeger_cut(logits, symmetric(80, False, torch.float32), 1.0, backend="cpu")
    torch.testing.assert_close(s, torch.softmax(logits.double(), 1).float(), rtol=1e-6, atol=0)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_is_not_a_number_reaches_the_losses(bad):
    logits = torch.zeros(4, 3)
    logits[2, 1] = bad
    s, variation, norm = cheeger_cut(logits, symmetric(4, False, torch.float32), 2.0, backend="cpu")
    assert s[2].isnan().all()
    assert variation.isnan()
    assert norm.isnan()


def test_weights_that_need_a_gradient():
    adjacency = symmetric(6, True, torch.float64)

    def run(logits, half):
        both = (half + half.T)[adjacency.rows(), adjacency.indices]  # kernels rely on weights alike in both directions
        return cheeger_cut(logits, adjacency.with_values(both), 2.0)

    half = torch.rand(6, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()
    logits = randn(6, 3).double().requires_grad_()
    assert torch.autograd.gradcheck(run, (logits, half))
    assert torch.autograd.grad(run(logits, half)[1], half)[0].abs().sum() > 0


@pytest.mark.parametrize("rho", [0.0, -1.0, float("nan"), float("inf")])
def test_rho_must_be_positive(rho):
    with pytest.raises(ValueError, match="expected rho to be a positive number"):
        cheeger_cut(torch.zeros(3, 2), symmetric(3, False, torch.float32), rho)


@pytest.mark.parametrize("shape", [(3,), (4, 2), (3, 0), (3, 2, 1)])
def test_shape_of_the_scores(shape):
    with pytest.raises(GraphError, match="expected logits"):
        cheeger_cut(torch.zeros(shape), symmetric(3, False, torch.float32), 1.0)


@pytest.mark.parametrize("kind", ["symmetric", "general"])
def test_opcheck(kind):
    adjacency = (symmetric if kind == "symmetric" else general)(5, True, torch.float64)
    logits = randn(5, 3).double().requires_grad_()
    torch.library.opcheck(torch.ops.tvgnn.cheeger_cut.default, (logits, *adjacency.lists(), 2.0))


def test_compiles_without_graph_break():
    adjacency = symmetric(6, True, torch.float32)

    def losses(logits):
        _, variation, norm = cheeger_cut(logits, adjacency, 2.0)
        return variation - norm

    logits = randn(6, 3).float().requires_grad_()
    compiled = torch.compile(losses, fullgraph=True, backend="aot_eager")(logits)
    torch.testing.assert_close(compiled, losses(logits))
