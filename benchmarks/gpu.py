"""One training epoch of the vertex-clustering model on a GPU, at the paper's defaults, on the citation graphs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor, nn

from benchmarks.baselines import torch_geometric_pool as peer
from benchmarks.baselines.released import ReleasedFormulation
from benchmarks.records import Measurement
from benchmarks.timing import Sampler, sample, summarise
from benchmarks.variants import OURS, Problem, Variant, disagreement
from tvgnn.errors import DataError
from tvgnn.training.cuda_graph import WARM_UP
from tvgnn.training.loop import TrainingConfig, train

__all__ = ["NO_GPU", "gpu_epoch", "require_gpu"]

NO_GPU = "no GPU here"
_EPOCHS = 20  # timed together


def require_gpu() -> None:
    """Raise a `DataError`, which skips a benchmark, where torch finds no GPU."""
    if not torch.cuda.is_available():
        raise DataError(f"{NO_GPU}: torch {torch.__version__} finds none; repeat this command on a machine with one")


def gpu_epoch(problem: Problem, title: str, rounds: int, device: torch.device | str = "cuda") -> list[Measurement]:
    """Time our epoch with and without CUDA graphs, our reference, the edge-wise formulation and the peer.

    All train in float32 on the same device, from the second epoch on (ours with graphs from the first replay on).

    Raises:
        ArithmeticError: a variant's loss or gradients differ from ours; then nothing is recorded.

    """
    device = torch.device(device)
    variants = {name: make(problem, device) for name, make in _variants(device).items()}
    firsts = {name: variant.first() for name, variant in variants.items()}
    for name, first in firsts.items():
        reason = disagreement(firsts[OURS], first)
        if reason is not None:
            raise ArithmeticError(f"{title}: {name!r} computes something else than tvgnn: {reason}")
    samplers: dict[str, Sampler] = {name: variant.epoch for name, variant in variants.items()}
    measured = summarise(f"gpu epoch, {title}", sample(samplers, rounds, seconds=120))
    card = torch.cuda.get_device_name(device) if device.type == "cuda" else str(device)
    return [replace(one, device=card) for one in measured]


def _variants(device: torch.device) -> dict[str, Callable[[Problem, torch.device], Variant]]:
    found: dict[str, Callable[[Problem, torch.device], Variant]] = {
        OURS: partial(_ours, backend="auto", cuda_graph=device.type == "cuda"),
        "tvgnn, without CUDA graphs": partial(_ours, backend="auto", cuda_graph=False),
        "reference backend": partial(_ours, backend="reference", cuda_graph=False),
        "released, E x K loss": _released,
    }
    if peer.AVAILABLE:
        found[peer.NAME] = partial(_peer, losses_only=False)
        found[f"{peer.NAME}, losses only"] = partial(_peer, losses_only=True)
    return found


def _wait(device: torch.device) -> float:
    """Seconds on the clock once the device has nothing left to do."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()


def _ours(problem: Problem, device: torch.device, backend: str, cuda_graph: bool) -> Variant:
    network = problem.model(backend).to(device)
    losses = partial(network.losses, problem.inputs.features.to(device), problem.inputs.adjacency.to(device))
    first_timed = WARM_UP + 1 if cuda_graph else 1  # the epoch after the warm-up records
    config = TrainingConfig(max_iter=first_timed + _EPOCHS, patience=first_timed + _EPOCHS)

    def epoch() -> float:
        ends: list[float] = []

        def watch(number: int, *_: object) -> None:
            if number in (first_timed, config.max_iter):
                ends.append(_wait(device))

        train(network, losses, config, watch, cuda_graph=cuda_graph)
        return 1000 * (ends[-1] - ends[0]) / _EPOCHS

    def first() -> tuple[float, list[Tensor]]:
        # Four epochs with the smallest learning rate: the last is replayed, from almost the same parameters
        epochs = WARM_UP + 1 if cuda_graph else 1
        short = TrainingConfig(max_iter=epochs, learning_rate=1e-30)
        result = train(network, losses, short, cuda_graph=cuda_graph)
        return result.loss_history[-1], _gradients(list(network.parameters()))

    return Variant(epoch, first)


def _steps(loss: Callable[[], Tensor], parameters: list[Tensor], device: torch.device) -> Variant:
    """Train with plain Adam as the others' examples do."""
    optimizer = torch.optim.Adam(parameters, lr=1e-3)

    def step() -> float:
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
        return value.item()

    def epoch() -> float:
        step()
        start = _wait(device)
        for _ in range(_EPOCHS):
            step()
        return 1000 * (_wait(device) - start) / _EPOCHS

    return Variant(epoch, lambda: (step(), _gradients(parameters)))


def _released(problem: Problem, device: torch.device) -> Variant:
    network, x = problem.model("reference").to(device), problem.dense_features.to(device)
    formulation = ReleasedFormulation(network, problem.edge_index.to(device), pairwise=False)
    return _steps(lambda: formulation.loss(x), list(network.parameters()), device)


def _peer(problem: Problem, device: torch.device, losses_only: bool) -> Variant:
    network = peer.PeerModel(problem.model("reference"), losses_only)
    nn.ModuleList([*network.convs, network.pool]).to(device)
    x, edges = problem.dense_features.to(device), problem.edge_index.to(device)
    return _steps(lambda: network.loss(x, edges), network.ordered_parameters(), device)


def _gradients(parameters: list[Tensor]) -> list[Tensor]:
    return [parameter.grad.cpu().clone() for parameter in parameters if parameter.grad is not None]
