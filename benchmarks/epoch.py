"""One training epoch of the vertex-clustering model at the paper's defaults, on the citation graphs."""

from __future__ import annotations

from benchmarks.records import Measurement
from benchmarks.roofline import copy_time, dense_products, epoch_bytes
from benchmarks.timing import clock, sample, summarise
from benchmarks.variants import OURS, VARIANTS, Problem, disagreement, names_that_fit
from tvgnn.graph.sparse_matrix import SparseMatrix

__all__ = ["epoch"]

_PRODUCTS, _COPY = "its dense products alone", "copy"


def epoch(problem: Problem, title: str, rounds: int) -> list[Measurement]:
    """Time our epoch, its reference backend, the released formulation, the peer and the floors.

    Raises:
        ArithmeticError: a variant's loss or gradients differ from ours; then nothing is recorded.

    """
    variants = {name: VARIANTS[name](problem) for name in names_that_fit(problem.graph.num_nodes)}
    firsts = {name: variant.first() for name, variant in variants.items()}
    for name, first in firsts.items():
        reason = disagreement(firsts[OURS], first)
        if reason is not None:
            raise ArithmeticError(f"{title}: {name!r} computes something else than tvgnn: {reason}")
    nodes, entries = problem.graph.num_nodes, problem.inputs.adjacency.num_entries
    x = problem.inputs.features
    nonzeros = x.num_entries if isinstance(x, SparseMatrix) else None
    samplers = {name: variant.epoch for name, variant in variants.items()}
    products = dense_products(problem.config, nodes, None if isinstance(x, SparseMatrix) else x)
    samplers[_PRODUCTS] = clock(products, warm_up=1)
    samplers[_COPY] = copy_time()
    figures = sample(samplers, rounds, seconds=240)
    copies = figures.pop(_COPY)
    for gathered, name in ((True, "roofline, rows gathered"), (False, "roofline, each array once")):
        gigabytes = epoch_bytes(problem.config, nodes, entries, nonzeros, gathered=gathered) / 1e9
        figures[name] = [products + gigabytes * copy for products, copy in zip(figures[_PRODUCTS], copies, strict=True)]
    return summarise(f"epoch, {title}", figures)
