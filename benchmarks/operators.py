"""Each operator forward and backward: tvgnn, its reference, torch's CSR product, and its bytes at copy bandwidth."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import torch
from torch import Tensor

from benchmarks.graphs import knn
from benchmarks.records import Measurement
from benchmarks.roofline import copy_time, gtv_step_bytes
from benchmarks.timing import clock, sample, summarise
from benchmarks.variants import Problem
from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.sparse_matrix import SparseMatrix
from tvgnn.ops.asymmetric_norm import asymmetric_norm
from tvgnn.ops.cheeger_cut import cheeger_cut
from tvgnn.ops.gtv_step import gtv_step
from tvgnn.ops.sparse_linear import sparse_linear
from tvgnn.ops.total_variation import total_variation
from tvgnn.training.memory import reused_buffers

__all__ = ["Operator", "measure", "on_dataset", "on_knn"]

_COPY, _FLOOR = "copy", "its rows at copy bandwidth"
_BACKENDS = {"tvgnn": "auto", "reference backend": "reference"}
_CLUSTERS, _HIDDEN, _DELTA = 8, 512, 0.311
_TOLERANCE = 1e-3


class Operator:
    """One operator on one input.

    Parameters:
        title: operator and input.
        variants: functions of the tensor that is differentiated, ours first.
        at: that tensor.
        moved: bytes that the forward pass moves, and the backward pass.

    """

    def __init__(
        self, title: str, variants: Mapping[str, Callable[[Tensor], Tensor]], at: Tensor, moved: tuple[int, int]
    ) -> None:
        self.title, self.variants, self.at, self.moved = title, variants, at.requires_grad_(), moved


def measure(operator: Operator, rounds: int) -> Iterator[list[Measurement]]:
    """Time the forward pass, then the backward pass.

    Raises:
        ArithmeticError: results or gradients of two variants differ; then nothing is recorded.

    """
    torch.manual_seed(1)
    outs = {name: call(operator.at) for name, call in operator.variants.items()}
    ours = outs["tvgnn"]
    grad = torch.randn_like(ours)
    backward = {
        name: partial(torch.autograd.grad, out, operator.at, grad, retain_graph=True) for name, out in outs.items()
    }
    _check(operator.title, outs)
    _check(f"gradient of {operator.title}", {name: call()[0] for name, call in backward.items()})
    forward = {name: partial(_without_graph, call, operator.at) for name, call in operator.variants.items()}
    for direction, calls, moved in zip(("forward", "backward"), (forward, backward), operator.moved, strict=True):
        samplers = {name: clock(call, warm_up=1) for name, call in calls.items()}
        with reused_buffers():  # as in training; for all variants
            figures = sample(samplers | {_COPY: copy_time()}, rounds, seconds=60)
        figures[_FLOOR] = [moved / 1e9 * copy for copy in figures.pop(_COPY)]
        yield summarise(f"{operator.title}, {direction}", figures)


def _without_graph(call: Callable[[Tensor], Tensor], at: Tensor) -> Tensor:
    with torch.no_grad():
        return call(at)


def _check(title: str, results: Mapping[str, Tensor]) -> None:
    ours = results["tvgnn"]
    for name, other in results.items():
        difference, size = (other - ours).norm().item(), ours.norm().item()
        if not difference <= _TOLERANCE * size:
            raise ArithmeticError(f"{title}: {name!r} differs from tvgnn by {difference:.3g} of {size:.3g}")


def _gtv_step(title: str, adjacency: Adjacency, width: int) -> Operator:
    torch.manual_seed(0)
    z = torch.randn(adjacency.num_nodes, width)
    bias = torch.randn(width)
    step = partial(gtv_step, delta=_DELTA, bias=bias, act="elu")
    ordered = adjacency.by_locality(width)
    variants: dict[str, Callable[[Tensor], Tensor]] = {"tvgnn": partial(step, adjacency=ordered)}
    if ordered.relabelled is not None:
        variants["tvgnn, order as given"] = partial(step, adjacency=adjacency)
    variants["reference backend"] = partial(step, adjacency=adjacency, backend="reference")
    moved = [gtv_step_bytes(adjacency.num_entries, width, backward=backward) for backward in (False, True)]
    return Operator(f"gtv_step x {width}, {title}", variants, z, (moved[0], moved[1]))


def _losses(title: str, adjacency: Adjacency) -> Iterator[Operator]:
    torch.manual_seed(0)
    s = torch.softmax(torch.randn(adjacency.num_nodes, _CLUSTERS), dim=1)
    variants = {name: partial(total_variation, adjacency=adjacency, backend=b) for name, b in _BACKENDS.items()}
    rows = 4 * adjacency.num_entries * _CLUSTERS
    yield Operator(f"total_variation x {_CLUSTERS}, {title}", variants, s.clone(), (rows, rows))
    pointers = torch.tensor([0, adjacency.num_nodes])
    norms = {
        name: partial(asymmetric_norm, graph_ptr=pointers, rho=_CLUSTERS - 1.0, backend=backend)
        for name, backend in _BACKENDS.items()
    }
    yield Operator(f"asymmetric_norm x {_CLUSTERS}, {title}", norms, s.clone(), (4 * s.numel(), 8 * s.numel()))
    cuts = {name: partial(_cheeger_cut, adjacency=adjacency, backend=backend) for name, backend in _BACKENDS.items()}
    own = 8 * s.numel()  # logits in and assignments out; assignments in and gradient out
    yield Operator(f"cheeger_cut x {_CLUSTERS}, {title}", cuts, s.log(), (rows + own, rows + own))


def _cheeger_cut(logits: Tensor, adjacency: Adjacency, backend: str) -> Tensor:
    """Both terms on the scale of the losses, so that neither drowns the other's gradient."""
    _, variation, norm = cheeger_cut(logits, adjacency, _CLUSTERS - 1.0, backend=backend)
    return torch.stack([variation / adjacency.num_entries, norm / adjacency.num_nodes])


def _sparse_linear(title: str, x: SparseMatrix, width: int) -> Operator:
    torch.manual_seed(0)
    weight = torch.randn(x.num_columns, width)
    values = torch.ones(x.num_entries) if x.values is None else x.values
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls its CSR support a beta
        csr = torch.sparse_csr_tensor(x.indptr, x.indices, values, x.shape)
    variants: dict[str, Callable[[Tensor], Tensor]] = {
        name: partial(_product, x, backend=backend) for name, backend in _BACKENDS.items()
    }
    variants["torch CSR product"] = partial(torch.sparse.mm, csr)
    moved = 4 * x.num_entries * (width + 2)
    out, parameter = 4 * x.num_rows * width, 4 * x.num_columns * width
    return Operator(f"sparse_linear x {width}, {title}", variants, weight, (moved + out, moved + parameter))


def _product(x: SparseMatrix, weight: Tensor, backend: str) -> Tensor:
    return sparse_linear(x, weight, backend=backend)


def on_dataset(name: str, mirror: str | None) -> Iterator[Operator]:
    """All operators at the widths of the paper; features as CSR whatever their density."""
    problem = Problem.from_dataset(name, mirror)
    yield _gtv_step(name, problem.adjacency, _HIDDEN)
    yield from _losses(name, problem.adjacency)
    x = problem.graph.x
    arrays = (torch.tensor(array) for array in (x.indptr, x.indices, x.data))
    yield _sparse_linear(f"features of {name}", SparseMatrix.from_csr(*arrays, x.shape[1]), _HIDDEN)


def on_knn(nodes: int, width: int) -> Iterator[Operator]:
    """All operators on a k-nearest-neighbour graph in random order; the sparse product is ``A S``."""
    adjacency = knn(nodes)
    title = f"kNN graph of {nodes} points"
    yield _gtv_step(title, adjacency, width)
    yield from _losses(title, adjacency)
    yield _sparse_linear(f"adjacency of {title}", adjacency, width)
