import pytest
import torch
from torch import nn

from tvgnn.training.early_stopping import BestState
from tvgnn.training.loop import TrainingConfig, train
from tvgnn.training.progress import TrainingProgress


class Bowl(nn.Module):
    """Loss (x - 3)^2 at x = 0, which Adam lowers step by step."""

    def __init__(self):
        super().__init__()
        self.x = nn.Parameter(torch.zeros(1))

    def losses(self):
        return {"bowl": ((self.x - 3) ** 2).sum()}, self.x[None]


def test_loss_falls_and_the_best_state_is_kept():
    bowl = Bowl()
    result = train(bowl, bowl.losses, TrainingConfig(max_iter=100, tol=0, learning_rate=0.5))
    assert result.loss == min(result.loss_history)
    assert bowl.losses()[0]["bowl"].item() == result.loss
    assert result.n_iter == len(result.loss_history) == 100
    assert not result.converged


def test_patience_counts_epochs_without_improvement():
    bowl = Bowl()
    result = train(bowl, bowl.losses, TrainingConfig(max_iter=100, patience=7, tol=1e9))
    assert result.converged
    assert result.n_iter == 8  # the first epoch improves on infinity, seven do not


def test_watcher_sees_every_epoch():
    bowl, seen = Bowl(), []
    train(bowl, bowl.losses, TrainingConfig(max_iter=3), lambda epoch, *_: seen.append(epoch))
    assert seen == [1, 2, 3]


def test_best_state_restores_in_place():
    bowl = Bowl()
    best = BestState(bowl)
    best.save()
    with torch.no_grad():
        bowl.x.fill_(9)
    best.restore()
    assert bowl.x.item() == 0


def test_progress_is_silent_without_a_terminal(capsys):
    with TrainingProgress(10, 2) as progress:
        progress.update(1, 0.5, {"bowl": torch.tensor(0.5)}, torch.eye(2))
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


@pytest.mark.parametrize("options", [{"max_iter": 0}, {"patience": 0}, {"tol": -1}, {"learning_rate": float("nan")}])
def test_config_is_checked(options):
    with pytest.raises(ValueError, match=f"{next(iter(options))}"):
        TrainingConfig(**options)
