"""Every benchmark by name, and what the two suites run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from benchmarks.classification import classification, classification_memory
from benchmarks.compiled import compiled_epoch, require_compiler
from benchmarks.epoch import epoch
from benchmarks.gpu import gpu_epoch, require_gpu
from benchmarks.graph_variants import GraphProblem
from benchmarks.memory import prediction_memory, training_memory
from benchmarks.operators import Operator, measure, on_dataset, on_knn
from benchmarks.records import Measurement
from benchmarks.scaling import hub, million_nodes, per_edge, quality_preset
from benchmarks.startup import first_call, imports
from benchmarks.variants import Problem

__all__ = ["BENCHMARKS", "DATASETS", "GRAPH_SETS", "SUITES", "Case", "Settings"]


@dataclass(frozen=True)
class Settings:
    """What a run asks for.

    Attributes:
        short: sizes of the short suite.
        rounds: repetitions of each figure.
        mirror: local folder of datasets, or None.
        datasets: citation networks to run on.
        graph_sets: sets of graphs to run on.

    """

    short: bool
    rounds: int
    mirror: str | None
    datasets: tuple[str, ...]
    graph_sets: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """A part of a benchmark that runs, or is skipped, on its own; gives one table after the other."""

    title: str
    run: Callable[[], Iterable[list[Measurement]]]


def _epoch(settings: Settings) -> Iterator[Case]:
    for name in settings.datasets:
        yield Case(
            f"epoch, {name}",
            lambda name=name: [epoch(Problem.from_dataset(name, settings.mirror), name, settings.rounds)],
        )


def _compile(settings: Settings) -> Iterator[Case]:
    return _where(require_compiler, compiled_epoch, "compiled epoch", settings)


def _operators(settings: Settings) -> Iterator[Case]:
    def every(make: Callable[[], Iterator[Operator]]) -> Iterator[list[Measurement]]:
        for operator in make():
            yield from measure(operator, settings.rounds)

    nodes = 5_000 if settings.short else 66_667  # the latter has 10^6 directed edges and some
    yield Case(f"operators, {nodes} points", lambda: every(lambda: on_knn(nodes, 128)))
    for name in () if settings.short else settings.datasets:
        yield Case(f"operators, {name}", lambda name=name: every(lambda: on_dataset(name, settings.mirror)))


def _scaling(settings: Settings) -> Iterator[Case]:
    sizes = (1_000, 10_000) if settings.short else (10_000, 100_000, 1_000_000)
    yield Case("scaling, 2-D points", lambda: per_edge(sizes, 2, settings.rounds))
    # Finding 16-D neighbours exactly takes 14 s at 10^5 points and seven times as long for every fourfold size
    yield Case("scaling, 16-D points", lambda: per_edge(sizes[:2], 16, settings.rounds))
    leaves = 10_000 if settings.short else 1_000_000
    yield Case("scaling, hub", lambda: [hub(leaves, settings.rounds)])


def _million(settings: Settings) -> Iterator[Case]:
    nodes, epochs = (10_000, 5) if settings.short else (1_000_000, 100)
    yield Case(f"clustering of {nodes} nodes", lambda: million_nodes(nodes, epochs))


def _quality(settings: Settings) -> Iterator[Case]:
    sizes = (1_000, 10_000) if settings.short else (10_000, 100_000, 1_000_000)
    yield Case("preset=quality", lambda: quality_preset(sizes, 1))
    batch_size = 500 if settings.short else 50_000
    yield Case(f"preset=quality, batches of {batch_size}", lambda: quality_preset(sizes[1:], 1, batch_size))


def _memory(settings: Settings) -> Iterator[Case]:
    for name in settings.datasets:
        yield Case(f"memory, {name}", lambda name=name: [training_memory(name, settings.mirror, rounds=3)])


def _predict(settings: Settings) -> Iterator[Case]:
    nodes = 10_000 if settings.short else 300_000
    yield Case(f"predict on {nodes} nodes", lambda: prediction_memory(nodes))


def _startup(settings: Settings) -> Iterator[Case]:
    yield Case("imports", lambda: [imports(settings.rounds)])
    yield Case("first call", lambda: first_call(rounds=1 if settings.short else 3))


def _gpu(settings: Settings) -> Iterator[Case]:
    return _where(require_gpu, gpu_epoch, "gpu epoch", settings)


def _where(
    require: Callable[[], None],
    measure: Callable[[Problem, str, int], list[Measurement]],
    title: str,
    settings: Settings,
) -> Iterator[Case]:
    """Measure on the citation networks; skipped where ``require`` raises a `DataError`."""

    def run(name: str) -> list[list[Measurement]]:
        require()
        return [measure(Problem.from_dataset(name, settings.mirror), name, settings.rounds)]

    for name in settings.datasets:
        yield Case(f"{title}, {name}", lambda name=name: run(name))


def _classification(settings: Settings) -> Iterator[Case]:
    for name in settings.graph_sets:
        yield Case(
            f"classification, {name}",
            lambda name=name: [classification(GraphProblem.from_dataset(name, settings.mirror), name, settings.rounds)],
        )
        yield Case(
            f"memory of classification, {name}",
            lambda name=name: classification_memory(name, settings.mirror, rounds=min(3, settings.rounds)),
        )


BENCHMARKS: dict[str, Callable[[Settings], Iterator[Case]]] = {
    "epoch": _epoch,
    "compile": _compile,
    "operators": _operators,
    "memory": _memory,
    "predict": _predict,
    "classification": _classification,
    "startup": _startup,
    "scaling": _scaling,
    "million": _million,
    "quality": _quality,
    "gpu": _gpu,
}

SUITES: dict[str, tuple[str, ...]] = {"short": ("epoch", "operators"), "full": tuple(BENCHMARKS)}
DATASETS: dict[str, tuple[str, ...]] = {"short": ("cora",), "full": ("cora", "citeseer", "pubmed", "dblp")}
GRAPH_SETS: dict[str, tuple[str, ...]] = {"short": ("mutag",), "full": ("mutag", "proteins", "nci1", "dd")}
