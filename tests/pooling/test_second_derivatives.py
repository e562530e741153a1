"""Gradient penalties and Hessian products through whole layers, with every backend that runs here."""

import pytest
import torch

from tvgnn import DenseGTVConv, GTVConv
from tvgnn.pooling import AsymCheegerCutPooling, DiffPooling, DMoNPooling, MinCutPooling, base

POOLING = {
    "tvgnn": lambda **options: AsymCheegerCutPooling(3, [4, 5], "elu", **options),
    "mincut": lambda **options: MinCutPooling(3, [4, 5], "elu", **options),
    "dmon": lambda **options: DMoNPooling(3, [4, 5], "elu", **options),
    "diffpool": lambda **options: DiffPooling(3, [4, 5], "elu", **options),
    "diffpool-gnn": lambda **options: DiffPooling(3, [4, 5], "elu", assignment="gnn", **options),
}
VARIANTS = ("shared", "per_feature", "degree_weighted")
PAIRS = torch.tensor([[0, 1, 2, 3, 0, 2, 5], [1, 2, 3, 4, 4, 5, 6]])
EDGES = torch.cat([PAIRS, PAIRS.flip(0)], dim=1)
backends = pytest.mark.parametrize("backend", ["reference", "auto"])


@pytest.fixture
def x():
    torch.manual_seed(3)
    return torch.randn(7, 4, dtype=torch.float64, requires_grad=True)


def weights():
    return torch.rand(PAIRS.shape[1], dtype=torch.float64).repeat(2).add(0.5)


def made(make, **options):
    torch.manual_seed(0)
    return make(**options).double()


def check(function, *leaves):
    assert torch.autograd.gradgradcheck(function, leaves, atol=1e-6)


def terms(out):
    return out.x, out.adj, *out.losses.values()


@backends
@pytest.mark.parametrize("name", POOLING)
def test_pooling(name, backend, x):
    pool, weight = made(POOLING[name], backend=backend), weights()
    first = pool.mlp[0].weight  # shared by all terms
    check(lambda x, _: terms(pool(x, EDGES, weight)), x, first)


@backends
@pytest.mark.parametrize("name", POOLING)
def test_pooling_of_dense_batches(name, backend, x):
    pool = made(POOLING[name], backend=backend)
    upper = torch.rand(2, 3, 3, dtype=torch.float64).add(0.5).requires_grad_()
    check(lambda x, a: terms(pool(x[:6].view(2, 3, 4), adj=a + a.transpose(1, 2))), x, upper)


def test_pooling_in_low_memory(x, monkeypatch):
    monkeypatch.setattr(base, "ROWS_AT_ONCE", 3)
    pool = made(POOLING["tvgnn"], low_memory=True)
    check(lambda x, *_: terms(pool(x, EDGES)), x, *pool.mlp.parameters())


@backends
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("act", ["elu", "tanh"])
def test_convolution(variant, act, backend, x):
    conv = made(lambda **options: GTVConv(4, 3, act=act, variant=variant, **options), backend=backend)
    check(lambda x, weight, *_: conv(x, EDGES, weight), x, weights().requires_grad_(), *conv.parameters())


@backends
def test_dense_convolution(backend, x):
    conv = made(lambda **options: DenseGTVConv(4, 3, act="elu", **options), backend=backend)
    adj = torch.rand(1, 7, 7, dtype=torch.float64).add(0.1).requires_grad_()
    check(lambda x, adj, *_: conv(x[None], adj), x, adj, *conv.parameters())


@pytest.mark.parametrize("name", POOLING)
def test_a_gradient_penalty_is_the_same_with_every_backend(name, x):
    penalties = []
    for backend in ("reference", "auto"):
        pool = made(POOLING[name], backend=backend)
        loss = sum(pool(x, EDGES).losses.values())
        slopes = torch.autograd.grad(loss, [x, *pool.parameters()], create_graph=True)
        sum(slope.square().sum() for slope in slopes).backward()
        penalties.append([parameter.grad for parameter in pool.parameters()])
    assert penalties[0][0].abs().sum() > 0
    torch.testing.assert_close(*penalties)
