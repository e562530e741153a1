"""Linear GTVConv encoders with further GTV steps, and a linear head: the network of ``preset="quality"``."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.sparse_matrix import SparseMatrix
from tvgnn.layers.gtv_conv import GTVConv
from tvgnn.models.missing_features import propagate_features, rows_with_features
from tvgnn.ops.gtv_step import gtv_step
from tvgnn.ops.sparse_linear import sparse_linear
from tvgnn.pooling.asym_cheeger_cut import AsymCheegerCutPooling

__all__ = ["SmoothedClusteringConfig", "SmoothedClusteringModel", "SmoothedView", "averaging_adjacency"]


@dataclass(frozen=True)
class SmoothedView:
    """One encoder: its part of the embedding.

    Attributes:
        channels: number of columns.
        thresholds: of each GTV step, the distance from which a neighbour's pull stops growing; none where the features
            are seen alone.
        unit_rows: whether rows of this part have length 1.
        self_weight: how many times an edge's weight a node counts itself, > 0; the higher, the less a step smooths, and
            the less so the fewer neighbours a node has.

    Raises:
        ValueError: a value is out of range.

    """

    channels: int
    thresholds: tuple[float, ...]
    unit_rows: bool = True
    self_weight: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "thresholds", tuple(self.thresholds))
        if not all(value > 0 for value in self.thresholds):
            raise ValueError(f"expected GTV steps with thresholds > 0, got {self.thresholds}")
        if not 0 < self.self_weight < math.inf:
            raise ValueError(f"expected self_weight > 0, got {self.self_weight}")


@dataclass(frozen=True)
class SmoothedClusteringConfig:
    """Architecture and objective.

    Attributes:
        in_channels: width of the node features.
        n_clusters: K, an upper bound on the clusters in use.
        views: encoders whose embeddings stand side by side, as `SmoothedView` or as mappings of its attributes.
        loop_weight: weight of an edge, of which a view's `SmoothedView.self_weight` is a multiple.
        loop_share: how many times the weight of all its edges a node counts itself besides, >= 0.
        totvar_coeff: weight of the total variation loss.
        balance_coeff: weight of the balance loss.
        propagate_missing: rows of zeros are missing features, which neighbours lend (`propagate_features`).

    Raises:
        ValueError: a value is out of range.

    """

    in_channels: int
    n_clusters: int
    views: tuple[SmoothedView, ...]
    loop_weight: float = 1.0
    loop_share: float = 0.0
    totvar_coeff: float = 0.785
    balance_coeff: float = 0.514
    propagate_missing: bool = False  # as in models saved before there was a choice

    def __post_init__(self) -> None:
        views = tuple(view if isinstance(view, SmoothedView) else SmoothedView(**view) for view in self.views)
        object.__setattr__(self, "views", views)
        if not views:
            raise ValueError("expected at least one view, got none")
        if not self.loop_weight > 0:
            raise ValueError(f"expected loop_weight > 0, got {self.loop_weight}")
        for name in ("loop_share", "totvar_coeff", "balance_coeff"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"expected {name} to be a number >= 0, got {getattr(self, name)}")

    @property
    def hidden_channels(self) -> int:
        """Width of the embedding."""
        return sum(view.channels for view in self.views)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        views = [asdict(view) | {"thresholds": list(view.thresholds)} for view in self.views]
        return asdict(self) | {"views": views}


class SmoothedClusteringModel(nn.Module):
    """Soft assignments ``softmax(C y + b)``; each view's part of y is ``(z - mean) / scale``, z GTV steps on ``X W``.

    Every step is scale free: it is the GTV step on `averaging_adjacency`, about ``a_ij / (loop + sum_j a_ij)``, with
    ``delta = eps = threshold``, so neighbours nearer than the threshold are averaged and farther ones pull as if they
    stood at the threshold. It is a contraction whatever the degrees and the scale of z.

    Parameters:
        config: architecture.
        backend: see `select_backend`.

    Shapes:
        x (N, in_channels) dense or `SparseMatrix`; adjacency of N nodes; assignments (N, K); embedding
        (N, hidden_channels).

    Example:
        >>> views = SmoothedView(2, thresholds=(1.0,)), SmoothedView(1, thresholds=(0.5, 0.4))
        >>> model = SmoothedClusteringModel(SmoothedClusteringConfig(3, 2, views))
        >>> path = Adjacency.from_edge_index(torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), None, 3)
        >>> assignments, embedding = model.infer(torch.randn(3, 3), path)
        >>> assignments.shape, embedding.shape
        (torch.Size([3, 2]), torch.Size([3, 3]))

    """

    mean: Tensor
    scale: Tensor

    def __init__(self, config: SmoothedClusteringConfig, *, backend: str = "auto") -> None:
        super().__init__()
        self.config, self.backend = config, backend
        width = config.hidden_channels
        self.convs = nn.ModuleList(
            GTVConv(
                config.in_channels,
                view.channels,
                bias=False,
                delta_coeff=view.thresholds[0] if view.thresholds else 0.0,
                eps=view.thresholds[0] if view.thresholds else 1.0,
                act=None,
                backend=backend,
            )
            for view in config.views
        )
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("scale", torch.ones(width))
        self.pool = AsymCheegerCutPooling(
            config.n_clusters,
            [width],
            totvar_coeff=config.totvar_coeff,
            balance_coeff=config.balance_coeff,
            backend=backend,
        )

    @property
    def head(self) -> nn.Linear:
        """The linear layer that scores the clusters."""
        return cast(nn.Linear, self.pool.mlp[-1])

    @property
    def hops(self) -> int:
        """Edges that lie between a node and the farthest one its results depend on, where no features are missing."""
        return max(len(view.thresholds) for view in self.config.views)

    @property
    def floats_per_node(self) -> int:
        """Numbers that `infer` holds for each node, features left out."""
        return self.config.hidden_channels + 3 * max(view.channels for view in self.config.views)

    @torch.no_grad()
    def embed(self, x: Tensor | SparseMatrix, adjacency: Adjacency) -> Tensor:
        """Embedding (N, hidden_channels), the parts of the views side by side."""
        averaging = {
            weight: averaging_adjacency(adjacency, weight * self.config.loop_weight, self.config.loop_share)
            for weight in {view.self_weight for view in self.config.views}
        }
        known = rows_with_features(x) if self.config.propagate_missing else None
        if known is not None and known.all():
            known = None
        widths = [view.channels for view in self.config.views]
        embedding = self.mean.new_empty(adjacency.num_nodes, sum(widths))
        for view, conv, mean, scale, part in zip(
            self.config.views,
            self.convs,
            self.mean.split(widths),
            self.scale.split(widths),
            embedding.split(widths, dim=1),
            strict=True,
        ):
            reached, steps = known, view.thresholds
            if known is None:
                z, steps = conv(x, averaging[view.self_weight]), steps[1:]
            else:
                z = _projected(x, cast(GTVConv, conv))
                if steps:
                    z, reached = propagate_features(z, known, adjacency, backend=self.backend)
            for threshold in steps:
                z = gtv_step(z, averaging[view.self_weight], threshold, threshold, backend=self.backend)
            y = z.sub_(mean).div_(scale)
            if reached is not None:
                y[~reached] = 0  # the mean of all nodes
            part.copy_(normalize(y, dim=1) if view.unit_rows else y)
        return embedding

    def forward(self, x: Tensor | SparseMatrix, adjacency: Adjacency) -> tuple[Tensor, Tensor]:
        """Return (assignments, embedding); only the head carries gradients."""
        hidden = self.embed(x, adjacency)
        return self.pool.select(hidden), hidden

    @torch.no_grad()
    def infer(self, x: Tensor | SparseMatrix, adjacency: Adjacency) -> tuple[Tensor, Tensor]:
        """Return (assignments, embedding) without recording gradients."""
        return self(x, adjacency)

    @torch.no_grad()
    def assign(self, embedding: Tensor) -> Tensor:
        """Assignments (N, K) of an embedding (N, hidden_channels) that `infer` gave."""
        return self.pool.select(embedding)


def _projected(x: Tensor | SparseMatrix, conv: GTVConv) -> Tensor:
    return x @ conv.weight if isinstance(x, Tensor) else sparse_linear(x, conv.weight, backend=conv.backend)


def averaging_adjacency(adjacency: Adjacency, loop_weight: float, loop_share: float = 0.0) -> Adjacency:
    """``a_ij / (loop_weight + (1 + loop_share) sum_j a_ij)``: a step to the mean of node and neighbours; for inference.

    Parameters:
        adjacency: N nodes.
        loop_weight: weight of the node itself, > 0.
        loop_share: of the weight of all its edges, which the node itself has besides, >= 0.

    """
    sums = (1 + loop_share) * adjacency.degrees(torch.float32) + loop_weight
    values = adjacency.weights(torch.float32) / sums[adjacency.rows()]
    # Not symmetric any more, and without column lists, which only a backward pass would read
    return Adjacency(adjacency.indptr, adjacency.indices, values, adjacency.num_nodes)
