"""What the methods with a network share: tensors of a graph, seeded weights, full-batch training."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from tvgnn.baselines._base import GraphClusterer, at_least, numbered_by_size, seed_from
from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.feature_tensor import feature_tensor, require_features
from tvgnn.graph.graph import Graph
from tvgnn.models.pooled_clustering import PooledClusteringModel
from tvgnn.pooling.base import DensePooling
from tvgnn.training.loop import TrainingConfig, train
from tvgnn.training.seeding import torch_seeded

__all__ = ["GTVClusterer", "PooledClusterer"]


class PooledClusterer(GraphClusterer):
    """Base of the networks that give soft assignments, trained full batch on the losses of a pooling layer.

    The defaults are those of MinCutPool's experiment, which the paper uses for DiffPool and DMoN too: one
    layer of 16 channels with a skip connection and ELU, no hidden layer before the assignments, Adam at 5e-4, at most
    10,000 epochs. Stopping early is ours: the state of the lowest loss is kept.

    Parameters:
        n_clusters: K, an upper bound.
        random_state: seeds the initial weights.
        conv: ``"skip"``, ``"gcn"`` (see `GraphConvolution`) or ``"gtv"``.
        hidden_channels: width of the message-passing layers.
        num_layers: their number.
        mlp_channels: width of the hidden layer before the assignments, 0 for none.
        learning_rate: of Adam.
        max_iter: largest number of epochs.
        patience: epochs without an improvement of the loss by more than ``tol`` before training stops.
        tol: decrease of the loss that counts.

    Attributes:
        assignments_: (N, K) float32, rows sum to 1, columns in the order of ``labels_``.
        embedding_: (N, hidden_channels) float32, output of the last message-passing layer.
        loss_, loss_history_, n_iter_, converged_, ms_per_epoch_: as of `TVClustering`.

    """

    assignments_: npt.NDArray[np.float32]
    embedding_: npt.NDArray[np.float32]

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        random_state: Any = None,
        conv: str = "skip",
        hidden_channels: int = 16,
        num_layers: int = 1,
        mlp_channels: int = 0,
        learning_rate: float = 5e-4,
        max_iter: int = 10_000,
        patience: int = 100,
        tol: float = 1e-5,
    ) -> None:
        self.n_clusters = n_clusters
        self.random_state = random_state
        self.conv = conv
        self.hidden_channels = hidden_channels
        self.num_layers = num_layers
        self.mlp_channels = mlp_channels
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.patience = patience
        self.tol = tol

    def _check(self) -> None:
        for name in ("hidden_channels", "num_layers", "max_iter", "patience"):
            at_least(self, name, 1)
        at_least(self, "mlp_channels", 0)
        at_least(self, "tol", 0.0)

    @abstractmethod
    def _pool(self, widths: list[int], graph: Graph) -> DensePooling:
        """Pooling layer for a graph, whose MLP has these widths before K."""

    def _options(self) -> dict[str, Any]:
        """Further options of `PooledClusteringModel`."""
        return {"conv": self.conv}

    def _fit(self, graph: Graph, random: np.random.RandomState) -> None:
        inputs = feature_tensor(require_features(graph).x), Adjacency.from_graph(graph)
        config = TrainingConfig(self.max_iter, self.patience, self.tol, self.learning_rate)
        widths = [self.hidden_channels] + [self.mlp_channels] * (self.mlp_channels > 0)
        with torch_seeded(seed_from(random)):
            model = PooledClusteringModel(
                graph.num_features,
                self._pool(widths, graph),
                hidden_channels=self.hidden_channels,
                num_layers=self.num_layers,
                **self._options(),
            )
        result = train(model, partial(model.losses, *inputs), config)
        self.loss_, self.loss_history_ = result.loss, result.loss_history
        self.n_iter_, self.converged_ = result.n_iter, result.converged
        self.ms_per_epoch_ = 1000 * result.seconds / result.n_iter
        assignments, embedding = model.infer(*inputs)
        given = assignments.argmax(1).numpy()
        self.labels_ = numbered_by_size(given)
        self.assignments_, self.embedding_ = assignments.numpy()[:, self._order(given)], embedding.numpy()

    def _order(self, given: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Column of each of ``labels_``'s clusters, then the empty ones."""
        order = np.full(self.n_clusters, -1)
        order[self.labels_] = given
        order[order < 0] = np.setdiff1d(np.arange(self.n_clusters), given)
        return order


class GTVClusterer(PooledClusterer):
    """Base of the ablations that keep the paper's message passing: widths, step size and rate of TVGNN (table 5).

    Parameters:
        delta_coeff: step size of GTVConv, the paper's ``2 * delta``.
        others: as of `PooledClusterer`, without ``conv``.

    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        random_state: Any = None,
        hidden_channels: int = 512,
        num_layers: int = 2,
        mlp_channels: int = 256,
        delta_coeff: float = 0.311,
        learning_rate: float = 1e-3,
        max_iter: int = 10_000,
        patience: int = 100,
        tol: float = 1e-5,
    ) -> None:
        self.n_clusters = n_clusters
        self.random_state = random_state
        self.hidden_channels = hidden_channels
        self.num_layers = num_layers
        self.mlp_channels = mlp_channels
        self.delta_coeff = delta_coeff
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.patience = patience
        self.tol = tol

    def _check(self) -> None:
        super()._check()
        at_least(self, "delta_coeff", 0.0)

    def _options(self) -> dict[str, Any]:
        return {"conv": "gtv", "delta_coeff": self.delta_coeff}
