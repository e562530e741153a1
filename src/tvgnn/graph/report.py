"""What is told of a graph: one line, and what validation found."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from tvgnn.graph.symmetrize import SymmetricCSR

__all__ = [
    "FEATURES_NOTE",
    "ONE_HOT_LABELS",
    "GraphReport",
    "one_line",
    "report_of",
    "structural_kind",
    "structural_note",
]

FEATURES_NOTE = "features: "
"""How a note on what the columns of ``x`` mean begins; it goes when the features go."""
ONE_HOT_LABELS = f"{FEATURES_NOTE}one-hot node labels"
"""How the one begins after which their values follow."""


@dataclass(frozen=True)
class GraphReport:
    """What validation found and changed: ``num_self_loops`` and so on count input entries that were dropped.

    ``was_directed`` is true where the two directions of some edge differed and were averaged or united.
    """

    num_self_loops: int
    num_duplicates: int
    num_zero_weights: int
    was_directed: bool
    num_isolated: int
    num_components: int
    notes: tuple[str, ...] = ()


def report_of(csr: SymmetricCSR, *, weighted: bool, zeros: int, notes: tuple[str, ...]) -> GraphReport:
    """Return what `symmetrize` found, with entries of weight 0 that were dropped before, and notes."""
    if csr.was_directed:
        rule = "mean of both directions" if weighted else "union of both directions"
        notes = (*notes, f"directed input symmetrised: {rule}")
    degrees = np.diff(csr.indptr)
    pattern = sp.csr_array((csr.weights, csr.indices, csr.indptr), shape=(len(degrees), len(degrees)))
    return GraphReport(
        num_self_loops=csr.num_self_loops,
        num_duplicates=csr.num_duplicates,
        num_zero_weights=zeros + csr.num_zero_weights,
        was_directed=csr.was_directed,
        num_isolated=int(np.count_nonzero(degrees == 0)),
        num_components=int(connected_components(pattern, directed=False, return_labels=False)),
        notes=notes,
    )


def structural_note(kind: str, dim: int) -> str:
    """Return the note on features that were computed from the edges."""
    return f"{FEATURES_NOTE}{kind}, dim={dim}"


def structural_kind(report: GraphReport) -> str | None:
    """Return the kind of the features where they were computed from the edges, such as ``"spectral"``, else None."""
    for note in report.notes:
        kind, _, dim = note.removeprefix(FEATURES_NOTE).partition(", dim=")
        if dim.isdecimal() and note == structural_note(kind, int(dim)):
            return kind
    return None


def one_line(graph: Any) -> str:
    """Return the sizes of a :class:`tvgnn.Graph` in words."""

    def count(number: int, noun: str, plural: str) -> str:
        return f"{number} {noun if number == 1 else plural}"

    parts = [count(graph.num_nodes, "node", "nodes"), count(graph.num_edges, "edge", "edges")]
    parts.append("weighted" if graph.is_weighted else "unweighted")
    if graph.x is not None:
        parts.append(count(graph.num_features, "feature", "features"))
    if graph.y is not None:
        parts.append(count(graph.num_classes, "class", "classes"))
    return f"Graph({', '.join(parts)})"
