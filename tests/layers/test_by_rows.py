import pytest
import torch

from tvgnn.layers import assignment_mlp, by_rows


def gradients(out, inputs):
    torch.manual_seed(1)
    return torch.autograd.grad(out, inputs, torch.randn_like(out))


@pytest.mark.parametrize("nodes", [0, 1, 7, 8, 9, 64, 65])
@pytest.mark.parametrize("frozen", ["nothing", "x", "first layer"])
def test_equals_the_module(nodes, frozen):
    torch.manual_seed(0)
    mlp = assignment_mlp([5, 6], 3).double()
    x = torch.randn(nodes, 5, dtype=torch.float64, requires_grad=frozen != "x")
    if frozen == "first layer":
        mlp[0].requires_grad_(False)
    inputs = [p for p in (x, *mlp.parameters()) if p.requires_grad]
    whole, pieces = mlp(x), by_rows(mlp, x, 8)
    torch.testing.assert_close(pieces, whole)
    for given, expected in zip(gradients(pieces, inputs), gradients(whole, inputs), strict=True):
        torch.testing.assert_close(given, expected)


def test_gradcheck():
    mlp = assignment_mlp([3, 4], 2, act="elu").double()
    x = torch.randn(7, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: by_rows(mlp, x, 2), x)


def test_autocast_of_the_forward_pass_is_kept_in_the_backward_pass():
    mlp, x = assignment_mlp([16, 16], 4), torch.randn(40, 16, requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16):
        whole, pieces = mlp(x), by_rows(mlp, x, 16)
    assert pieces.dtype == torch.bfloat16
    torch.testing.assert_close(gradients(pieces, [x])[0], gradients(whole, [x])[0])
