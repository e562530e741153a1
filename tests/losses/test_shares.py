import pytest
import torch

from tvgnn.errors import GraphError
from tvgnn.losses import asymmetric_norm_loss, share_balance_loss


def test_equal_sizes_give_the_papers_loss():
    s = torch.rand(12, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).softmax(1)
    sizes = torch.full((3,), 4)
    assert share_balance_loss(s, sizes).item() == pytest.approx(asymmetric_norm_loss(s).item(), abs=1e-12)


@pytest.mark.parametrize("backend", ["reference", "auto"])
def test_zero_for_sharp_clusters_of_the_sizes_and_positive_for_others(backend):
    s = torch.eye(3)[torch.tensor([0] * 7 + [1] * 2 + [2])]
    assert share_balance_loss(s, torch.tensor([7, 2, 1]), backend=backend).item() == pytest.approx(0, abs=1e-6)
    assert share_balance_loss(s, torch.tensor([4, 3, 3]), backend=backend).item() > 0.1


def test_gradient():
    s = torch.rand(9, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1), requires_grad=True)
    assert torch.autograd.gradcheck(lambda s: share_balance_loss(s.softmax(1), torch.tensor([5, 3, 1])), s)


def test_one_cluster_and_wrong_sizes():
    assert share_balance_loss(torch.ones(4, 1), torch.tensor([4])).item() == 0
    with pytest.raises(GraphError, match="sizes"):
        share_balance_loss(torch.ones(4, 1), torch.tensor([2, 2]))
