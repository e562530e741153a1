"""How ``preset="quality"`` uses the edges: whether it averages over them, and how much a node counts beside them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tvgnn.estimators.quality.candidates import QUICK, Smoothing, clustered
from tvgnn.estimators.quality.edges import neighbor_agreement, own_share, rewired
from tvgnn.estimators.quality.held_out import HeldOutWords, are_short_texts
from tvgnn.estimators.quality.information import edge_information
from tvgnn.estimators.quality.inputs import Components, FitInputs
from tvgnn.estimators.quality.origin import Origin

__all__ = ["EdgeUse", "edge_use", "explained_beyond_chance"]

_SHARED = 1.0  # signal-to-noise ratio of neighbours below which a node may count more than each of them, or alone
_SELF_WEIGHTS = (1.0, 4.0, 16.0)  # then tried, in turn
# More than of random edges, as a share and in standard deviations; edges that follow neither features nor communities
# have less. The former counts in large graphs, the latter in small ones.
_BEYOND, _DEVIATIONS = 0.1, 2.5
_STEPS = 2, 4, 8  # GTV steps; few for edges that follow the features, more for such as make communities
_FEW, _REWIRINGS, _MANY_NODES = 3, 6, 10_000  # graphs joined at random; in so many nodes chance hardly differs
_CLEAR = 0.02, 0.3  # as `_BEYOND`; outside of these few such graphs suffice
_FEWEST = 50  # nodes, with fewer of which edges joined at random explain as much
_ENOUGH = 50  # nodes for each cluster; with fewer, chance decides what is compared


@dataclass(frozen=True, eq=False)
class EdgeUse:
    """What the runs make of the edges.

    Attributes:
        averaged: whether means over neighbours are taken, in encoders and GTV steps.
        loop_share: see `own_share`.
        self_weights: how much a node may count beside an edge, tried in turn.
        held_out: what may overrule the number of GTV steps and the self weight; None where nothing does.
        neighbor_agreement: signal-to-noise ratio of what neighbours have in common; None without edges.

    """

    averaged: bool
    loop_share: float
    self_weights: tuple[float, ...]
    held_out: HeldOutWords | None
    neighbor_agreement: float | None


def edge_use(
    inputs: FitInputs, components: Components, origin: Origin | None, random: np.random.RandomState
) -> EdgeUse:
    """Decide how edges are used, by what neighbours have in common and by what partitions over edges explain.

    - Where neighbours have less in common than they differ in, and partitions over edges explain hardly more of these
      than of edges joined at random, means over neighbours only blur the features: edges are left aside. Not if the
      number of GTV steps is given, nor where features were made of the edges.
    - In short texts, edges over which held-out words are explained better are kept all the same.
    - One-hot degrees are one number, of which neighbours say nothing new: no means over these.
    - The more often neighbours differ, the more a node has to rely on itself: the mean of a node and d neighbours,
      which share its class with probability c, is least noisy with a self weight of ``(1 + (1 - c^2) r) / c``, r the
      signal-to-noise ratio of the features, whatever d is. Neither is known, so a few self weights are tried.
    - Where edges close many triangles, a node counts itself besides: members of a clique, which all have the same mean,
      would be the same after one step.
    """
    agreement = None
    if inputs.graph.num_edges:
        agreement = neighbor_agreement(inputs.graph, inputs.x, components.basis, random, inputs.known)
    differ = agreement is not None and agreement < _SHARED
    if inputs.parameters["num_layers"] is not None or not inputs.own_features:
        linked = True
    else:
        linked = origin != "degrees" and (not differ or explained_beyond_chance(inputs, components))
    loop_share = own_share(inputs.edge_share, agreement)
    held_out = _words_held_out(inputs, loop_share)
    averaged = linked or (held_out is not None and held_out.favor_edges())
    return EdgeUse(
        averaged=averaged,
        loop_share=loop_share,
        self_weights=_SELF_WEIGHTS if differ and averaged else (1.0,),
        held_out=held_out if averaged else None,
        neighbor_agreement=agreement,
    )


def explained_beyond_chance(inputs: FitInputs, components: Components) -> bool:
    """Whether partitions over edges explain clearly more of these than of as many that join nodes at random.

    Partitions of noise explain something too, and what smoothing makes alike explains the more of the edges that it
    went along. So chance is what the same gives on edges whose ends are joined at random. These close hardly any
    triangles, so a node counts once in all of this, whatever its share is in the runs.
    """
    if inputs.graph.num_nodes < _FEWEST:
        return True
    random = np.random.RandomState(0)  # of its own, as this is no part of the runs
    found = _explained_edges(inputs, components)
    chance: list[float] = []
    for _ in range(_REWIRINGS if inputs.graph.num_nodes < _MANY_NODES else 1):
        chance.append(_explained_edges(inputs.over(rewired(inputs.graph, random)), components))
        mean = float(np.mean(chance))
        if len(chance) >= _FEW and not _CLEAR[0] * mean <= found - mean <= _CLEAR[1] * mean:
            break
    deviation = float(np.std(chance, ddof=len(chance) > 1))
    return found >= mean + max(_BEYOND * mean, _DEVIATIONS * deviation)  # all are 0 in constant features


def _explained_edges(inputs: FitInputs, components: Components) -> float:
    """Nats of edges that quickly found partitions explain, of the best rank after each number of steps."""
    nats = np.zeros(len(_STEPS))
    averaging, adjacency = inputs.averaging(1.0, loop_share=0.0), inputs.graph.adjacency()
    for encoder in inputs.encoders(components, inputs.graph, loop_share=0.0):
        path = Smoothing(inputs.projected(encoder), encoder.ratios, averaging, inputs.backend)
        for place, steps in enumerate(_STEPS):
            path.go_on(steps)
            random = np.random.RandomState(0)  # the same starts, so that differences have less noise
            labels = clustered(path.embedding(unit_rows=True)[2], inputs.n_clusters, random, **QUICK)[1]
            nats[place] = max(nats[place], edge_information(adjacency, labels, inputs.n_clusters))
    return float(nats.sum())


def _words_held_out(inputs: FitInputs, loop_share: float) -> HeldOutWords | None:
    """None unless texts are short, or without edges, with few nodes or where the number of GTV steps is given."""
    graph = inputs.graph
    if inputs.parameters["num_layers"] is not None or not graph.num_edges:
        return None
    if graph.num_nodes < _ENOUGH * inputs.n_clusters or not are_short_texts(inputs.x):
        return None
    return HeldOutWords(
        graph,
        inputs.x,
        inputs.n_clusters,
        inputs.averaging(1.0, loop_share),
        width=inputs.width,
        loop_share=loop_share,
        edge_share=inputs.edge_share,
        backend=inputs.backend,
    )
