"""A clustering in words: what it is, and what to be wary of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tvgnn.report.page.view import ClusteringView
from tvgnn.report.references import reference_sentence

__all__ = ["Finding", "counted", "findings", "sentences"]

_UNEVEN = 3  # times as large, or small, as the mean
_SHARP = 0.7
_UNDECIDED = 0.5
_MODULAR = 0.3
_ISOLATED = 0.05
_UNNEIGHBORLY = 0.2
_SMALL_STEP = 0.01
_MISSING = 0.01  # share of the nodes without features that is worth a word
_UNSHARED = 0.05  # signal-to-noise ratio of neighbours' features below which they hardly agree


@dataclass(frozen=True)
class Finding:
    """One warning: what was found, and what can be done."""

    title: str
    advice: str


def sentences(view: ClusteringView, edges: NDArray[np.float64]) -> list[str]:
    """Describe the result in a few sentences."""
    used = view.sizes[view.sizes > 0]
    n_edges = view.adjacency.nnz // 2
    text = [
        f"{counted(view.n_nodes, 'node')} and {counted(n_edges, 'edge')} fall into {counted(len(used), 'cluster')}"
        + (f" of {_span(int(used.min()), int(used.max()))}." if len(used) > 1 else ".")
    ]
    if edges.sum() > 0:
        inside = np.trace(edges) / (np.trace(edges) + np.triu(edges, 1).sum())
        text.append(f"{_percent(inside)} of the edges' weight stays inside a cluster.")
    text.append(f"On average a node's own cluster holds {_percent(float(view.confidence.mean()))} of its assignment.")
    known = {"NMI": view.metrics.get("nmi"), "accuracy": view.metrics.get("acc")}
    parts = [f"{name} {value:.3f}" for name, value in known.items() if value is not None]
    if parts:
        text.append(f"Agreement with the known classes: {', '.join(parts)}.")
    alone = reference_sentence(view.metrics.get("references"))
    return text if alone is None else [*text, alone]


def findings(view: ClusteringView, edges: NDArray[np.float64], agreement: NDArray[np.float64]) -> list[Finding]:
    """Return what a reader should be wary of, the gravest first; an empty list where nothing stands out.

    Parameters
    ----------
    view : ClusteringView
        The clustering; of its metrics ``converged``, ``epochs`` and ``modularity`` are read.
    edges : ndarray of float, shape (K, K)
        As :func:`cluster_edges` gives it.
    agreement : ndarray of float, shape (N,)
        As :func:`neighbor_agreement` gives it.
    """
    return [finding for finding in (
        _unshared(view),
        _without_features(view),
        _unused(view),
        _not_sharp(view),
        _not_converged(view),
        _uneven(view),
        _not_modular(view, edges),
        _apart_from_neighbors(view, agreement),
        _isolated(view),
    ) if finding is not None]  # fmt: skip


def _unshared(view: ClusteringView) -> Finding | None:
    choices = view.metrics.get("choices") or {}
    agreement = choices.get("neighbor_agreement")
    by_edges = "For clusters of the edges alone, leave the features out (--structural-features spectral)."
    if choices.get("features_made_of") == "degrees":
        return Finding("Features are the number of neighbours, so the clusters are of nodes of like degree", by_edges)
    if choices.get("features_made_of") is not None:
        return None
    if choices.get("over_edges") is False:
        return Finding(
            "Edges join nodes as good as at random, so the clusters are of the features alone",
            f"Look whether the edges belong to these nodes: a file in another order looks like this. {by_edges}",
        )
    if agreement is None or agreement >= _UNSHARED:
        return None
    return Finding("Neighbours hardly agree in their features", f"Clusters may be of neither. {by_edges}")


def _without_features(view: ClusteringView) -> Finding | None:
    choices = view.metrics.get("choices") or {}
    missing, unknown = choices.get("missing_features", 0), choices.get("nothing_known", 0)
    if missing < _MISSING * view.n_nodes:
        return None
    of_all = f"{missing} of {view.n_nodes} nodes have no features"
    if unknown:
        return Finding(of_all, f"Of {unknown} of them the edges say nothing either: their cluster means nothing.")
    return Finding(of_all, "They were placed by the features of their neighbours.")


def _unused(view: ClusteringView) -> Finding | None:
    used, asked = int((view.sizes > 0).sum()), view.n_clusters
    if used == asked:
        return None
    fewer = "ask for fewer clusters: tvgnn sweep compares numbers of them."
    other = "Try --preset quality, then more restarts (--n-init 10), or "
    by_quality = view.metrics.get("preset") == "quality"
    return Finding(
        f"Only {counted(used, 'cluster')} of {asked} {'is' if used == 1 else 'are'} in use",
        fewer.capitalize() if by_quality else other + fewer,
    )


def _uneven(view: ClusteringView) -> Finding | None:
    used = view.sizes[view.sizes > 0]
    mean = used.mean()
    if used.max() <= _UNEVEN * mean and used.min() * _UNEVEN >= mean:
        return None
    return Finding(
        f"The cluster sizes are uneven: from {used.min():,} to {used.max():,} nodes, {mean:,.0f} on average",
        "The balance loss aims at equal sizes, so look whether the large cluster mixes several groups and whether "
        "the small ones are outliers. If groups of different size are expected, this is fine.",
    )


def _not_converged(view: ClusteringView) -> Finding | None:
    if view.metrics.get("converged") is not False:
        return None
    epochs = view.metrics.get("epochs")
    limit = "at the limit of epochs" if epochs is None else f"after {counted(int(epochs), 'epoch')}"
    history = np.asarray(view.loss_history, dtype=np.float64)
    if len(history) >= 20:
        before, end = history[: -len(history) // 10].min(), history.min()
        fall = (before - end) / max(abs(before), 1e-12)
        if fall < _SMALL_STEP:
            return Finding(
                f"Training ended {limit} without the early stop",
                "The loss hardly fell in the last tenth of them, so more epochs will change little.",
            )
    return Finding(
        f"Training had not converged: it ended {limit} while the loss was still falling",
        "Give it more epochs (--max-epochs).",
    )


def _not_sharp(view: ClusteringView) -> Finding | None:
    sharpness, k = float(view.confidence.mean()), view.n_clusters
    undecided = float((view.confidence < _UNDECIDED).mean())
    if k == 1 or (sharpness >= _SHARP and undecided < 0.1):
        return None
    if sharpness < 1.2 / k:
        return Finding(
            "The assignments are nearly uniform: no cluster structure was found",
            "Train longer, scale the features (--feature-norm), or check that the graph joins similar nodes.",
        )
    return Finding(
        f"The assignments are not sharp: {_percent(sharpness)} on average, {_percent(undecided)} of the nodes below "
        f"{_percent(_UNDECIDED)}",
        "Colour the map by confidence to see where. More epochs or a larger totvar_coeff sharpen; soft borders can "
        "also be in the data.",
    )


def _not_modular(view: ClusteringView, edges: NDArray[np.float64]) -> Finding | None:
    modularity, used = view.metrics.get("modularity"), int((view.sizes > 0).sum())
    if modularity is None or used < 2 or not edges.sum():
        return None
    # The largest value that so many equal clusters can have is 1 - 1/K
    if modularity >= _MODULAR * (1 - 1 / used):
        return None
    return Finding(
        f"The clusters hold few more edges than chance would give them (modularity {modularity:.2f})",
        "They may follow the features rather than the graph; look at the edges between clusters below.",
    )


def _apart_from_neighbors(view: ClusteringView, agreement: NDArray[np.float64]) -> Finding | None:
    known = agreement[~np.isnan(agreement)]
    share = float((known < 0.5).mean()) if len(known) else 0.0
    if share < _UNNEIGHBORLY:
        return None
    return Finding(
        f"{_percent(share)} of the nodes have most of their edges' weight in other clusters",
        "Colour the map by edge weight in its cluster to see which.",
    )


def _isolated(view: ClusteringView) -> Finding | None:
    count = int((view.degrees == 0).sum())
    if count < _ISOLATED * view.n_nodes:
        return None
    return Finding(
        f"{counted(count, 'node has', 'nodes have')} no edges ({_percent(count / view.n_nodes)})",
        "Only their features place them. If edges are missing, a nearest-neighbour graph can add some.",
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if 0.01 <= share <= 0.99 or share in (0, 1) else f"{100 * share:.1f} %"


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun, singular or plural.

    Examples
    --------
    >>> counted(1, "cluster"), counted(1200, "cluster"), counted(2, "node has", "nodes have")
    ('1 cluster', '1,200 clusters', '2 nodes have')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _span(least: int, most: int) -> str:
    return f"{counted(most, 'node')} each" if least == most else f"{least:,} to {counted(most, 'node')}"
