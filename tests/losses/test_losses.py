import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tvgnn import asymmetric_norm_loss, total_variation_loss
from tvgnn.errors import GraphError
from tvgnn.losses import link_loss

P4 = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
HALVES = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
NO_EDGES = torch.zeros(2, 0, dtype=torch.int64)


def random_graph(seed, max_nodes=12, clusters=3):
    generator = torch.Generator().manual_seed(seed)
    nodes = int(torch.randint(1, max_nodes + 1, (), generator=generator))
    upper = torch.triu(torch.rand(nodes, nodes, generator=generator) < 0.4, 1)
    edges = (upper | upper.T).nonzero().T
    s = torch.softmax(3 * torch.randn(nodes, clusters, generator=generator, dtype=torch.float64), dim=1)
    return s, edges


class TestSmallInputs:
    """The inputs of USER_NEEDS, section 2, by their number there."""

    def test_p4(self):
        assert total_variation_loss(HALVES, P4).item() == pytest.approx(1 / 3)
        assert asymmetric_norm_loss(HALVES).item() == 0

    def test_5_no_edges(self):
        s = HALVES.clone().requires_grad_()
        loss = total_variation_loss(s, NO_EDGES)
        loss.backward()
        assert loss.item() == 0
        assert (s.grad == 0).all()

    @pytest.mark.parametrize("normalization", ["weight", "count"])
    def test_7_weights_times_ten(self, normalization):
        loss = total_variation_loss(HALVES, P4, torch.full((6,), 10.0), normalization=normalization)
        assert loss.item() == pytest.approx(1 / 3 if normalization == "weight" else 10 / 3)

    @pytest.mark.parametrize("normalization", ["weight", "count"])
    def test_8_self_loops(self, normalization):
        loops = torch.cat([P4, torch.arange(4).expand(2, 4)], dim=1)
        assert total_variation_loss(HALVES, loops, normalization=normalization).item() == pytest.approx(1 / 3)

    def test_11_one_cluster(self):
        s = torch.ones(4, 1, requires_grad=True)
        loss = asymmetric_norm_loss(s)
        loss.backward()
        assert loss.item() == 0
        assert asymmetric_norm_loss(s, rho=2.0).item() == 0
        assert total_variation_loss(s, P4).item() == 0

    def test_12_fewer_nodes_than_clusters(self):
        s = torch.eye(4)[:2]
        # Two of four columns are empty: each filled one gives rho * 0 + 1 * 1, so L_AN = (6 - 2) / 6.
        assert asymmetric_norm_loss(s).item() == pytest.approx(2 / 3)
        assert total_variation_loss(s, torch.tensor([[0, 1], [1, 0]])).item() == 1


def test_degenerate_assignments_give_one():
    assert asymmetric_norm_loss(torch.full((12, 3), 1 / 3)).item() == pytest.approx(1)
    assert asymmetric_norm_loss(torch.eye(3)[torch.zeros(12, dtype=torch.int64)]).item() == pytest.approx(1)


def test_indivisible_sizes_stay_above_zero():
    assert asymmetric_norm_loss(torch.eye(2)[torch.tensor([0, 0, 0, 1, 1])]).item() > 0


def test_rho_asks_for_uneven_clusters():
    # beta = N rho min(1, K / (rho + 1)) = 4 * 3 * 0.5; the column of one node gives 3, that of three nodes 1.
    uneven = torch.eye(2)[torch.tensor([0, 1, 1, 1])]
    assert asymmetric_norm_loss(uneven, rho=3.0).item() == pytest.approx((6 - 3 - 1) / 6)


@pytest.mark.parametrize("rho", [0, -1.0, float("nan"), float("inf")])
def test_rho_must_be_positive(rho):
    with pytest.raises(ValueError, match="rho > 0"):
        asymmetric_norm_loss(HALVES, rho=rho)


def test_unknown_normalization():
    with pytest.raises(ValueError, match="'weight' or 'count'"):
        total_variation_loss(HALVES, P4, normalization="edges")


def test_batch_of_another_length():
    with pytest.raises(GraphError, match=r"batch of shape \(4,\)"):
        total_variation_loss(HALVES, P4, batch=torch.zeros(3, dtype=torch.int64))
    with pytest.raises(GraphError, match=r"batch of shape \(4,\)"):
        asymmetric_norm_loss(HALVES, torch.zeros(3, dtype=torch.int64))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=4), st.integers(0, 2), st.randoms())
def test_batch_is_the_mean_of_its_graphs_in_any_node_order(seeds, empty_at_the_end, random):
    graphs = [random_graph(seed) for seed in seeds]
    size = len(graphs) + empty_at_the_end
    tv = sum(total_variation_loss(s, edges).item() for s, edges in graphs) / size
    an = sum(asymmetric_norm_loss(s).item() for s, _ in graphs) / size
    offsets = torch.tensor([0] + [s.shape[0] for s, _ in graphs]).cumsum(0)
    s = torch.cat([s for s, _ in graphs])
    edges = torch.cat([edges + offset for (_, edges), offset in zip(graphs, offsets[:-1], strict=True)], dim=1)
    batch = torch.repeat_interleave(torch.arange(len(graphs)), offsets.diff())
    order = list(range(s.shape[0]))
    random.shuffle(order)
    order = torch.tensor(order)
    place = torch.argsort(order)
    losses = (
        total_variation_loss(s[order], place[edges], batch=batch[order], batch_size=size),
        asymmetric_norm_loss(s[order], batch[order], batch_size=size),
    )
    assert losses[0].item() == pytest.approx(tv, abs=1e-12)
    assert losses[1].item() == pytest.approx(an, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.1, 100))
def test_losses_lie_in_the_unit_interval_and_ignore_the_scale_of_the_weights(seed, scale):
    s, edges = random_graph(seed)
    weights = torch.rand(edges.shape[1], dtype=torch.float64) + 0.1
    loss = total_variation_loss(s, edges, weights).item()
    assert -1e-12 <= loss <= 1 + 1e-12
    assert total_variation_loss(s, edges, weights * scale).item() == pytest.approx(loss)
    assert -1e-12 <= asymmetric_norm_loss(s).item() <= 1 + 1e-12


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_constant_assignments_have_no_variation(seed):
    s, edges = random_graph(seed)
    assert total_variation_loss(s[:1].expand_as(s), edges).item() == 0


@pytest.mark.parametrize(
    ("batch", "size", "message"),
    [
        (torch.zeros(4), None, "integers"),
        (torch.zeros(4, dtype=torch.bool), None, "integers"),
        (torch.tensor([-1, 0, 0, 0]), None, r"\[0, 1\), got -1"),
        (torch.tensor([0, 1, 2, 0]), 2, r"\[0, 2\), got 2"),
    ],
)
def test_batch_numbers_are_checked(batch, size, message):
    with pytest.raises(GraphError, match=message):
        total_variation_loss(HALVES, P4, batch=batch, batch_size=size)
    with pytest.raises(GraphError, match=message):
        asymmetric_norm_loss(HALVES, batch, batch_size=size)


@pytest.mark.parametrize("kind", [torch.uint8, torch.int16, torch.int32])
def test_batch_may_hold_any_integers(kind):
    batch = torch.tensor([0, 0, 1, 1])
    assert total_variation_loss(HALVES, P4, batch=batch.to(kind)) == total_variation_loss(HALVES, P4, batch=batch)
    assert asymmetric_norm_loss(HALVES, batch.to(kind)) == asymmetric_norm_loss(HALVES, batch)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_half_precision_neither_saturates_nor_overflows(kind):
    nodes = torch.arange(40_000)
    ring = torch.cat([torch.stack([nodes, nodes.roll(1)]), torch.stack([nodes.roll(1), nodes])], dim=1)
    s = torch.nn.functional.one_hot(nodes % 4 // 2, 2).to(kind).requires_grad_()
    batch = torch.zeros_like(nodes)
    for loss in (total_variation_loss(s, ring), total_variation_loss(s, ring, batch=batch)):
        assert loss.item() == pytest.approx(0.5, rel=1e-4)
    for loss in (asymmetric_norm_loss(s), asymmetric_norm_loss(s, batch)):
        assert loss.item() == pytest.approx(0, abs=1e-4)
    total_variation_loss(s, ring).backward()
    assert s.grad.dtype == kind


def test_labels_are_no_assignments():
    for wrong in (HALVES.long(), HALVES > 0, HALVES.numpy()):
        with pytest.raises(GraphError, match="floating-point tensor"):
            total_variation_loss(wrong, P4, torch.full((6,), 0.5))
        with pytest.raises(GraphError, match="floating-point tensor"):
            asymmetric_norm_loss(wrong)


def test_assignments_have_two_axes():
    with pytest.raises(GraphError, match="assignments of shape"):
        total_variation_loss(HALVES[None], P4)
    with pytest.raises(GraphError, match=r"\(N, K\)"):
        asymmetric_norm_loss(torch.ones(3))


def test_gradients_with_the_normaliser():
    torch.manual_seed(0)
    logits = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    weights = torch.rand(6, dtype=torch.float64, requires_grad=True)
    batch = torch.tensor([0, 0, 1, 1])
    for normalization in ("weight", "count"):
        assert torch.autograd.gradcheck(
            lambda x, w, n=normalization: total_variation_loss(torch.softmax(x, 1), P4, w, batch, n), (logits, weights)
        )
    assert torch.autograd.gradcheck(lambda x: asymmetric_norm_loss(torch.softmax(x, 1), batch, 1.5), (logits,))


def test_weights_that_are_no_numbers_are_not_a_perfect_prediction():
    edges = torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]])
    s = torch.eye(4, requires_grad=True)
    weight = torch.tensor([float("nan"), 1.0, 1.0, 1.0])
    assert link_loss(s, edges, weight).isnan()
    assert link_loss(s, edges, weight, torch.tensor([0, 0, 1, 1])).isnan()


@pytest.mark.parametrize("error", [1e-1, 1e-2, 1e-3, 1e-4])
def test_the_link_loss_of_a_nearly_perfect_prediction(error):
    """Two cliques with loops: the float32 sums of ones cancel, of which nothing was left at 1e-4."""
    member = torch.eye(2).repeat_interleave(10, 0)
    edges = (member @ member.T).nonzero().T
    s = (member * (1 - 2 * error) + error).requires_grad_()
    exact = s.detach().double().requires_grad_()
    expected = torch.linalg.norm((member @ member.T).double() - exact @ exact.T) / 400
    expected.backward()
    loss = link_loss(s, edges)
    loss.backward()
    assert loss.dtype == torch.float32
    assert loss.item() == pytest.approx(expected.item(), rel=1e-6)
    assert torch.allclose(s.grad.double(), exact.grad, rtol=1e-5, atol=0)
