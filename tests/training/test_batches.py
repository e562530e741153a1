from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from tvgnn.errors import TrainingError
from tvgnn.training.batches import BatchTraining, batches_of_similar_size, train_on_batches
from tvgnn.training.threads import threads_worth_waking


def line(config, validation=None, numbers=20):
    """Fit y = 2 x by one weight from batches of points."""
    torch.manual_seed(0)
    module = nn.Linear(1, 1)
    x = torch.linspace(-1, 1, numbers)[:, None]

    def loss(batch):
        return (module(x[torch.from_numpy(batch)]) - 2 * x[torch.from_numpy(batch)]).square().mean()

    @torch.no_grad()
    def held_out():
        return loss(np.arange(numbers)).item()

    random = np.random.default_rng(0)
    return module, train_on_batches(module, loss, validation or held_out, np.arange(numbers), config, random)


def test_learns_and_reports():
    module, result = line(BatchTraining(max_epochs=60, batch_size=4, learning_rate=0.05))
    assert module.weight.item() == pytest.approx(2, abs=0.01)
    assert len(result.loss_history) == len(result.validation_loss_history) == 60 >= result.best_epoch
    assert not result.stopped_early


def test_a_first_epoch_that_compiles_does_not_count_as_the_time_of_one(monkeypatch):
    times = iter([0, 50, 50, 52, 52, 55])  # begin and end of three epochs
    monkeypatch.setattr("tvgnn.training.batches.time", SimpleNamespace(perf_counter=lambda: next(times)))
    assert line(BatchTraining(max_epochs=3))[1].seconds_per_epoch == 3


def test_keeps_the_state_of_the_lowest_validation_loss():
    losses = iter([3.0, 1.0, 2.0, 2.0, 2.0, 9.0])

    def validation():
        return next(losses)

    config = BatchTraining(max_epochs=9, patience=3, batch_size=4, learning_rate=0.05)
    module, result = line(config, validation)
    assert (result.best_epoch, result.stopped_early, len(result.loss_history)) == (2, True, 5)
    again, _ = line(BatchTraining(max_epochs=2, patience=3, batch_size=4, learning_rate=0.05))
    assert torch.equal(module.weight, again.weight)


def test_the_seed_decides_everything():
    config = BatchTraining(max_epochs=5, batch_size=3)
    assert line(config)[1].loss_history == line(config)[1].loss_history


def test_weight_decay_leaves_biases_alone():
    config = BatchTraining(max_epochs=300, patience=300, batch_size=20, learning_rate=0.05, weight_decay=1.0)
    module, _ = line(config, lambda: 0.0)
    assert abs(line(config, iter(range(300, 0, -1)).__next__)[0].weight.item()) < 1
    assert abs(module.bias.item()) < 1.1


def test_weight_decay_moves_weight_matrices_only_and_of_these_not_the_undecayed():
    module = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    before = [parameter.detach().clone() for parameter in module.parameters()]

    def nothing(batch):
        return sum((0 * parameter).sum() for parameter in module.parameters())

    config = BatchTraining(max_epochs=1, weight_decay=1.0)
    random = np.random.default_rng(0)
    train_on_batches(module, nothing, lambda: 0.0, np.arange(4), config, random, undecayed=[module[1].weight])
    moved = [not torch.equal(old, new) for old, new in zip(before, module.parameters(), strict=True)]
    assert moved == [True, False, False, False]


def test_the_loss_of_an_epoch_is_the_mean_over_examples_not_over_batches():
    module = nn.Linear(1, 1)

    def own_number(batch):
        return 0 * module.weight.sum() + float(batch.mean())

    config, random = BatchTraining(max_epochs=3, batch_size=4), np.random.default_rng(0)
    result = train_on_batches(module, own_number, lambda: 0.0, np.arange(5), config, random)
    assert result.loss_history == pytest.approx([2.0] * 3)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_loss_that_is_not_finite_names_the_epoch(value):
    losses = iter([1.0, value])
    with pytest.raises(TrainingError, match=r"finite validation loss.*epoch 2"):
        line(BatchTraining(max_epochs=9), lambda: next(losses))


@pytest.mark.parametrize(
    "wrong", [{"max_epochs": 0}, {"patience": 0}, {"batch_size": 0}, {"learning_rate": 0.0}, {"weight_decay": -1.0}]
)
def test_values_out_of_range(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        BatchTraining(**wrong)


@given(sizes=st.lists(st.integers(0, 50), max_size=40), largest=st.integers(1, 200))
def test_batches_for_inference(sizes, largest):
    batches = batches_of_similar_size(sizes, largest)
    members = np.concatenate(batches) if batches else np.empty(0, int)
    assert sorted(members.tolist()) == list(range(len(sizes)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(1, max(sizes[i] for i in batch)) <= largest


def test_threads_are_put_back():
    before = torch.get_num_threads()
    with threads_worth_waking(100):
        assert torch.get_num_threads() == 1
    with threads_worth_waking(1e9):
        assert torch.get_num_threads() == before
    assert torch.get_num_threads() == before
