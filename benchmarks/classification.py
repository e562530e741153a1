"""Training of the hierarchical classifier, with the paper's layers, on sets of graphs: time and peak memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchmarks.graph_variants import (
    GraphProblem,
    GraphVariant,
    disagreement,
    graph_variant,
    names_of_variants,
    peer_names,
)
from benchmarks.probes import probe
from benchmarks.records import Measurement
from benchmarks.timing import interleaved, sample, summarise
from benchmarks.variants import OURS

__all__ = ["classification", "classification_memory"]


def classification(problem: GraphProblem, title: str, rounds: int) -> list[Measurement]:
    """Time a batch for our network, the peer's ways to write it, and our other poolings.

    Only the first batches of a shuffled epoch are timed, the same for all; the name of the records says how many.

    Raises:
        ArithmeticError: a loss of the peer's first batch differs from ours; then nothing is recorded.

    """
    variants = {name: graph_variant(name, problem) for name in names_of_variants(problem)}
    _require_agreement(variants, title)
    figures = sample({name: variant.turn for name, variant in variants.items()}, rounds, seconds=240)
    part = f"{problem.timed_batches} of {problem.batches_of_an_epoch} batches"
    return summarise(f"classification, {part}, {title}", figures)


def classification_memory(dataset: str, mirror: str | None, rounds: int) -> Iterator[list[Measurement]]:
    """Megabytes of the graphs and of training on the timed batches, for us and the peer.

    Above what the imports take, and, in a second table, above what is left after training on small graphs.

    Raises:
        ArithmeticError: a loss of the peer's first batch differs from ours.
        DataError: the dataset is not at hand.

    """
    names = [OURS, *peer_names()]
    problem = GraphProblem.from_dataset(dataset, mirror)
    _require_agreement({name: graph_variant(name, problem) for name in names}, dataset)
    for code_loaded, suffix in ((False, ""), (True, " with all code loaded")):
        samplers = {
            name: (
                lambda name=name, loaded=code_loaded: (
                    probe("classification_memory", dataset, name, mirror, loaded) / 1e6
                )
            )
            for name in names
        }
        title = f"peak memory of classification{suffix}, {dataset}"
        yield interleaved(title, samplers, rounds, unit="MB", warm_up=0)


def _require_agreement(variants: Mapping[str, GraphVariant], title: str) -> None:
    """Compare the first losses of our network with the paper's pooling, and of the peer's."""
    ours = variants[OURS].first()
    for name in variants:
        reason = disagreement(ours, variants[name].first()) if name in peer_names() else None
        if reason is not None:
            raise ArithmeticError(f"classification, {title}: {name!r} computes something else than tvgnn: {reason}")
