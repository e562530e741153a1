"""What a page shows, checked once."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from tvgnn.errors import GraphError
from tvgnn.report._arrays import as_rows, as_vector
from tvgnn.report.page.inputs import as_adjacency, as_finite
from tvgnn.report.page.run_metrics import checked_metrics

__all__ = ["ClusteringView", "Picture"]


@dataclass(frozen=True)
class Picture:
    """How the nodes make a picture.

    Attributes
    ----------
    kind : {"pixels", "tiles"}
        ``"pixels"``: every node is a pixel of one image, row by row; where there are at least three features the first
        three are red, green and blue in [0, 1]. ``"tiles"``: the features of every node are an image of its own.
    height, width : int
        Of the image, or of each node's.
    """

    kind: Literal["pixels", "tiles"]
    height: int
    width: int


@dataclass(frozen=True, eq=False)
class ClusteringView:
    """A clustering as plain arrays.

    Attributes
    ----------
    assignments : ndarray of float, shape (N, K)
        Soft assignments; a node's cluster is the largest, its confidence that value.
    adjacency : scipy sparse or array-like, shape (N, N)
        Symmetric adjacency, ``Graph.adjacency()``; self-loops and stored zeros are left out.
    title : str
        Name of the data.
    embedding : ndarray of float, shape (N, H), optional
        What the map of the nodes is made of. Default: the assignments.
    x : array-like or scipy sparse, shape (N, F), optional
        Features, finite numbers.
    node_ids : sequence, optional
        Default: 0 to N-1.
    y : ndarray of int, shape (N,), optional
        Class codes, -1 = unknown; ``class_names[code]`` is what is shown, by default the code.
    feature_names : sequence of str, optional
        Default: their numbers.
    positions : ndarray of float, shape (N, 2), optional
        Where the nodes are in space, y upwards.
    picture : Picture, optional
        Where the nodes make a picture.
    loss_history : sequence of float
        Loss of each epoch.
    metrics : mapping
        As in ``metrics.json``.

    Raises
    ------
    GraphError
        An array has another shape than the others ask for, or holds what is no finite number; row and column are named.
    DataError
        An entry of the metrics is not what a run writes.
    """

    assignments: Any
    adjacency: Any
    title: str = "clustering"
    embedding: Any = None
    x: Any = None
    node_ids: Sequence[Hashable] | None = None
    y: Any = None
    class_names: Sequence[Hashable] = ()
    feature_names: Sequence[str] | None = None
    positions: Any = None
    picture: Picture | None = None
    loss_history: Sequence[float] = ()
    metrics: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        def put(name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

        put("assignments", as_rows(self.assignments, "the assignments", shares=True).astype(np.float32))
        n = len(self.assignments)
        put("adjacency", as_adjacency(self.adjacency, n))
        put("metrics", checked_metrics(self.metrics))
        if self.x is not None:
            put("x", as_finite(self.x, "features", (n, "F")))
        given = self.assignments if self.embedding is None else self.embedding
        put("embedding", as_finite(given, "an embedding", (n, "H")))
        if self.positions is not None:
            put("positions", as_rows(self.positions, "the positions", rows=n, columns=2))
        if self.y is not None:
            put("y", as_vector(self.y, "y", n))
            codes = int(self.y.max(initial=-1)) + 1
            put("class_names", [*map(str, self.class_names), *map(str, range(len(self.class_names), codes))])
            if not codes:
                put("y", None)
        put("loss_history", _losses(self.loss_history))
        names = [str(i) for i in range(self.n_features)] if self.feature_names is None else self.feature_names
        put("feature_names", [str(name) for name in names])
        for what, got, wanted in (
            ("node_ids", n if self.node_ids is None else len(self.node_ids), n),
            ("feature_names", len(names), self.n_features),
        ):
            if got != wanted:
                raise GraphError(f"expected {wanted} {what}, got {got}")
        self._check_picture(n)

    def _check_picture(self, n: int) -> None:
        if self.picture is None:
            return
        area = self.picture.height * self.picture.width
        name, wanted = ("nodes", n) if self.picture.kind == "pixels" else ("features", self.n_features)
        if area != wanted or self.picture.kind not in ("pixels", "tiles"):
            raise GraphError(f"expected a picture of {wanted} {self.picture.kind}, the {name}, got {self.picture}")

    @property
    def n_nodes(self) -> int:
        """Number of nodes N."""
        return int(self.assignments.shape[0])

    @property
    def n_clusters(self) -> int:
        """Number of clusters asked for."""
        return int(self.assignments.shape[1])

    @property
    def n_features(self) -> int:
        """Number of features F, 0 without any."""
        return 0 if self.x is None else int(self.x.shape[1])

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """Cluster of each node."""
        return np.asarray(self.assignments.argmax(axis=1), dtype=np.int64)

    @cached_property
    def confidence(self) -> NDArray[np.float32]:
        """Largest share of each node."""
        return np.asarray(self.assignments.max(axis=1))

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Number of nodes of each cluster."""
        return np.bincount(self.labels, minlength=self.n_clusters)

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """Number of neighbours of each node."""
        return np.diff(self.adjacency.indptr).astype(np.int64)

    def name_of(self, node: int) -> str:
        """Return the id of a node as text."""
        return str(node if self.node_ids is None else self.node_ids[node])

    def class_of(self, node: int) -> str | None:
        """Return the name of a node's class, None where it is unknown."""
        return None if self.y is None or self.y[node] < 0 else str(self.class_names[self.y[node]])

    def features_of(self, nodes: Any) -> NDArray[np.float64]:
        """Return the features of some nodes as a dense array."""
        rows = self.x[nodes]
        return np.asarray(rows.toarray() if sp.issparse(rows) else rows, dtype=np.float64)


def _losses(history: Any) -> list[float]:
    try:
        losses = np.asarray(history, dtype=np.float64)
    except (TypeError, ValueError):
        losses = np.empty((0, 0))
    if losses.ndim != 1:
        raise GraphError(f"expected loss_history as numbers, one an epoch, got {type(history).__name__} of others")
    return losses.tolist()
