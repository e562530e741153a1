"""The runs of a sweep over the number of clusters, and the graph in memory that they share."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from tvgnn.estimators.inputs import GRAPH_MAKING
from tvgnn.estimators.presets import SETTINGS, check_options, positive_integer, resolve_parameters
from tvgnn.experiments.clustering import ClusteringJob
from tvgnn.graph.graph import Graph

__all__ = ["GivenGraph", "SweepJob", "checked_numbers", "sweep_jobs"]

PRESET = "quick"
_FREE = ("adjacency", "n_clusters", "random_state", "verbose")  # set by the sweep itself


@dataclass(frozen=True)
class GivenGraph:
    """A graph in memory as what `ClusteringEnvironment` loads graphs with; two of the same content are equal."""

    graph: Graph = field(compare=False)
    digest: str

    @classmethod
    def of(cls, graph: Graph) -> Self:
        """Take a graph without its labels, and the hash of its edges and features."""
        x = graph.x
        parts = [graph.indptr, graph.indices, graph.weights]
        parts += [x.indptr, x.indices, x.data] if sp.issparse(x) else [x]
        content = hashlib.sha256()
        for part in parts:
            content.update(f"{part.dtype} {part.shape};".encode())
            content.update(np.ascontiguousarray(part).data)
        return cls(graph.with_labels(None), content.hexdigest()[:12])

    def __call__(self, name: str, seed: int) -> Graph:
        """Return the graph, whatever it is called."""
        return self.graph


@dataclass(frozen=True)
class SweepJob(ClusteringJob):
    """One run of a sweep.

    Attributes
    ----------
    data : str
        Hash of the graph, a part of the fingerprint.

    """

    data: str = ""
    row_normalize: bool = False

    @property
    def settings(self) -> dict[str, Any]:
        """What all runs of a sweep share."""
        shared = {name: value for name, value in super().settings.items() if name != "row_normalize"}
        return {**shared, "data": self.data}

    @property
    def kept_arrays(self) -> tuple[str, ...]:
        """Of every run, to compare them and to average them."""
        return "labels", "assignments"

    def estimator(self, max_epochs: int | None = None) -> Any:
        """Return the unfitted method, for a graph that is made already."""
        return super().estimator(max_epochs).set_params(**GRAPH_MAKING)


def checked_numbers(n_clusters: Iterable[int]) -> list[int]:
    """Return the K to try, ascending and each once.

    Raises
    ------
    ValueError
        There are none, or one is no positive integer.
    """
    ks = sorted({positive_integer("n_clusters", k) for k in n_clusters})
    if not ks:
        raise ValueError("expected at least one number of clusters, got none")
    return ks


def sweep_jobs(
    name: str,
    given: GivenGraph,
    n_clusters: Iterable[int],
    n_seeds: int,
    random_state: int,
    parameters: Mapping[str, Any],
) -> list[SweepJob]:
    """Return the runs of a sweep: all K of the first seed, then those of the next.

    Raises
    ------
    ValueError
        See `sweep_n_clusters`.
    """
    ks = checked_numbers(n_clusters)
    nodes = given.graph.num_nodes
    if ks[-1] > nodes:
        raise ValueError(f"expected n_clusters <= n_samples, got n_clusters={ks[-1]} and n_samples={nodes}")
    if positive_integer("n_seeds", n_seeds) < 2:
        raise ValueError("expected n_seeds >= 2, got 1: how stable a clustering is shows in a second one")
    if isinstance(random_state, bool) or not isinstance(random_state, int | np.integer) or random_state < 0:
        raise ValueError(f"expected random_state to be an integer >= 0, got {random_state!r}")
    # None is the preset's value, but for feature_norm, where it means none
    options = {"preset": PRESET} | {
        name: value.item() if isinstance(value, np.generic) else value
        for name, value in parameters.items()
        if value is not None or name == "feature_norm"
    }
    max_epochs = _checked(options)
    return [
        SweepJob(
            dataset=name,
            method="tvgnn",
            n_clusters=k,
            seed=int(random_state) + number,
            max_epochs=max_epochs,
            options=tuple(sorted(options.items())),
            data=given.digest,
        )
        for number in range(n_seeds)
        for k in ks
    ]


def _checked(options: dict[str, Any]) -> int:
    """Check names and values before the first run; returns the largest number of epochs."""
    from tvgnn.estimators.clustering import TVClustering

    known = set(TVClustering().get_params()) - set(_FREE)
    for name in options:
        if name not in known:
            raise ValueError(f"expected parameters of TVClustering, got {name!r}; known are {', '.join(sorted(known))}")
    filling = options.pop("empty_clusters", "keep")  # the default has no part in the fingerprint
    if filling != "keep":
        raise ValueError(
            f"expected empty_clusters='keep' in a sweep, which goes by what stays empty, got {filling!r}; "
            "fit the recommended K with it"
        )
    check_options(
        options["preset"], memory=options.get("memory", "normal"), precision=options.get("precision", "float32")
    )
    resolved = resolve_parameters(options["preset"], {name: options.get(name) for name in SETTINGS})
    max_iter: int = resolved["max_iter"]
    options.pop("max_iter", None)  # a field of its own
    return max_iter
