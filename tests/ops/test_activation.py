"""The kernels' own activations, through the step on a graph without edges."""

import pytest
import torch

from tvgnn.graph.adjacency import Adjacency
from tvgnn.ops.gtv_step import gtv_step

FUNCTIONS = {"identity": lambda x: x, "relu": torch.relu, "elu": torch.nn.functional.elu}
SPECIAL = [0.0, -0.0, 1e-30, -1e-30, -1e-7, -1e-3, -0.3466, -0.6931, -17.0, -86.9, -87.5, -104.0, -1e30, 88.0, 1e30]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("act", FUNCTIONS)
def test_values_and_slopes_are_those_of_torch(act, dtype):
    x = torch.cat([torch.tensor(SPECIAL, dtype=dtype), torch.linspace(-90, 20, 20001, dtype=dtype)])[:, None]
    alone = Adjacency.from_edge_index(torch.empty(2, 0, dtype=torch.int64), None, len(x))
    results = []
    for function in (lambda x: gtv_step(x, alone, 1.0, act=act, backend="cpu"), FUNCTIONS[act]):
        leaf = x.clone().requires_grad_()
        out = function(leaf)
        out.sum().backward()
        results.append((out.detach(), leaf.grad))
    (out, slope), (expected, expected_slope) = results
    # Relative where the value is small too: expm1, not exp(x) - 1. Slopes near 0 are 1 - |out|, absolute.
    tolerance = 3e-7 if dtype == torch.float32 else 1e-14
    torch.testing.assert_close(out, expected, rtol=tolerance, atol=0)
    torch.testing.assert_close(slope, expected_slope, rtol=0, atol=tolerance)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("act", FUNCTIONS)
def test_non_finite(act, dtype):
    x = torch.tensor([[float("nan"), float("inf"), float("-inf")]], dtype=dtype)
    alone = Adjacency.from_edge_index(torch.empty(2, 0, dtype=torch.int64), None, 1)
    out = gtv_step(x, alone, 1.0, act=act, backend="cpu")
    torch.testing.assert_close(out, FUNCTIONS[act](x), rtol=0, atol=1e-6, equal_nan=True)
