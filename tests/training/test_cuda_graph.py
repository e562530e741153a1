"""What a recorded step does and when; the recording itself runs on a GPU only, elsewhere something like it does."""

import copy
from contextlib import nullcontext

import pytest
import torch
from torch import nn

from tvgnn.errors import TrainingError
from tvgnn.training import cuda_graph
from tvgnn.training.loop import TrainingConfig, train

on_a_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")


class Line(nn.Module):
    """Least squares: small, and its gradient depends on all parameters."""

    def __init__(self, device="cpu"):
        super().__init__()
        torch.manual_seed(0)
        self.layer = nn.Linear(3, 2, device=device)
        self.x, self.y = torch.randn(20, 3).to(device), torch.randn(20, 2).to(device)

    def losses(self):
        out = self.layer(self.x)
        return {"error": (out - self.y).square().mean(), "size": 0.1 * out.abs().mean()}, out.detach()


def tensors(result):
    loss, terms, assignments = result
    return loss, *terms.values(), assignments


class Recorder:
    """Stands in for CUDA graphs: recording leaves no trace, replaying writes into the memory that was recorded."""

    def __init__(self, monkeypatch):
        self.events: list[str] = []
        monkeypatch.setattr(cuda_graph, "_side_stream", lambda device: None)
        monkeypatch.setattr(cuda_graph, "_record", self.record)
        monkeypatch.setattr(cuda_graph.RecordedStep, "running", lambda step: nullcontext())
        # Asks for a GPU; fused Adam keeps its step count in a tensor in any case
        monkeypatch.setattr(
            "tvgnn.training.loop.make_optimizer", lambda module, rate, capturable: self.optimizer(module, rate)
        )

    def optimizer(self, module, rate):
        self.module, self.adam = module, torch.optim.Adam(module.parameters(), lr=rate, fused=True)
        return self.adam

    def record(self, function, stream):
        name = "update" if function == self.adam.step else "gradient"
        self.events.append(f"record {name}")
        parameters, state = copy.deepcopy(self.module.state_dict()), copy.deepcopy(self.adam.state_dict())
        result = function()
        if name == "update":
            self.module.load_state_dict(parameters)
            self.adam.load_state_dict(state)
        gradients = [parameter.grad for parameter in self.module.parameters()]

        def replay():
            self.events.append(f"replay {name}")
            again = function()
            if name == "update":
                return
            for parameter, gradient in zip(self.module.parameters(), gradients, strict=True):
                parameter.grad = gradient.copy_(parameter.grad)
            for old, new in zip(tensors(result), tensors(again), strict=True):
                old.data.copy_(new)

        return result, replay


def test_trains_as_without_recording(monkeypatch):
    config = TrainingConfig(max_iter=40, patience=5, tol=1e-3, learning_rate=0.3)
    plain = Line()
    expected = train(plain, plain.losses, config)
    recorder, line, seen = Recorder(monkeypatch), Line(), []
    result = train(line, line.losses, config, lambda epoch, loss, *_: seen.append((epoch, loss)), cuda_graph=True)
    assert result.loss_history == expected.loss_history
    assert result.n_iter < 40  # stopped early
    assert seen == list(enumerate(expected.loss_history, 1))
    assert all(torch.equal(a, b) for a, b in zip(line.parameters(), plain.parameters(), strict=True))
    replays = result.n_iter - cuda_graph.WARM_UP
    first = ["record gradient", "replay gradient", "record update", "replay update"]
    assert recorder.events == first + ["replay gradient", "replay update"] * (replays - 1)


def test_short_training_records_nothing(monkeypatch):
    recorder, line = Recorder(monkeypatch), Line()
    train(line, line.losses, TrainingConfig(max_iter=cuda_graph.WARM_UP), cuda_graph=True)
    assert recorder.events == []


def test_loss_that_is_not_finite_stops_before_the_update(monkeypatch):
    recorder, line = Recorder(monkeypatch), Line()

    def spoil(epoch, *_):
        if epoch == 5:
            line.x.fill_(float("nan"))

    with pytest.raises(TrainingError, match="epoch 6"):
        train(line, line.losses, TrainingConfig(max_iter=40), spoil, cuda_graph=True)
    assert recorder.events[-1] == "replay gradient"
    assert all(parameter.isfinite().all() for parameter in line.parameters())


def test_parameters_must_be_on_a_gpu():
    line = Line()
    with pytest.raises(ValueError, match="CUDA device for cuda_graph=True, got cpu; leave it False"):
        train(line, line.losses, TrainingConfig(), cuda_graph=True)


@on_a_gpu
def test_recorded_on_a_gpu():
    results = []
    for recorded in (False, True):
        line = Line("cuda")
        results.append(train(line, line.losses, TrainingConfig(max_iter=40, learning_rate=0.3), cuda_graph=recorded))
    torch.testing.assert_close(results[1].loss_history, results[0].loss_history)
