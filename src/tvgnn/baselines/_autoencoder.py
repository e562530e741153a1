"""Training of the graph autoencoders on the edges and as many sampled non-edges."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from tvgnn.baselines._base import EmbeddingClusterer, at_least, seed_from
from tvgnn.graph.adjacency import Adjacency
from tvgnn.graph.feature_tensor import feature_tensor, require_features
from tvgnn.graph.graph import Graph
from tvgnn.graph.sparse_matrix import SparseMatrix
from tvgnn.models.pooled_clustering import GraphConvolution
from tvgnn.training.seeding import torch_seeded
from tvgnn.training.step import make_optimizer

__all__ = ["AutoencoderClusterer", "TwoLayers", "autoencoders", "reconstruction_loss", "sample_non_edges"]

_TRIES = 8  # draws of pairs before fewer non-edges are taken


class AutoencoderClusterer(EmbeddingClusterer):
    """Base of GAE and VGAE (Kipf & Welling, NeurIPS workshop 2016), with the settings of their paper as defaults.

    The objective is the mean over edges and over as many non-edges, drawn anew every epoch, where the paper sums over
    all N^2 pairs with weights; no decoder is dense.

    Parameters:
        n_clusters: K.
        random_state: seeds weights, non-edges, noise and k-means.
        hidden_channels: width of the first GCN layer, with ReLU.
        dimensions: width of the second, the embedding.
        learning_rate: of Adam.
        max_iter: epochs.

    Attributes:
        embedding_: (N, dimensions) float32.
        loss_history_: loss of every epoch.

    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        random_state: Any = None,
        hidden_channels: int = 32,
        dimensions: int = 16,
        learning_rate: float = 0.01,
        max_iter: int = 200,
    ) -> None:
        self.n_clusters = n_clusters
        self.random_state = random_state
        self.hidden_channels = hidden_channels
        self.dimensions = dimensions
        self.learning_rate = learning_rate
        self.max_iter = max_iter

    def _check(self) -> None:
        for name in ("hidden_channels", "dimensions", "max_iter"):
            at_least(self, name, 1)
        if not at_least(self, "learning_rate", 0.0) > 0:
            raise ValueError(f"expected learning_rate > 0, got {self.learning_rate}")

    @abstractmethod
    def _model(self, in_channels: int) -> Any:
        """One of PyTorch Geometric's autoencoders."""

    def _regularization(self, model: Any, num_nodes: int) -> Tensor | float:
        """What is added to the reconstruction loss."""
        return 0.0

    def _embed(self, graph: Graph, random: np.random.RandomState) -> npt.NDArray[np.float32]:
        x, adjacency = feature_tensor(require_features(graph).x), Adjacency.from_graph(graph)
        edges = torch.stack([adjacency.rows(), adjacency.indices.long()])
        with torch_seeded(seed_from(random)):
            model = self._model(graph.num_features)
            optimizer = make_optimizer(model, self.learning_rate)
            self.loss_history_: list[float] = []
            for _ in range(self.max_iter):
                optimizer.zero_grad()
                z = model.encode(x, adjacency)
                loss = reconstruction_loss(model, z, edges, sample_non_edges(edges, graph.num_nodes))
                loss = loss + self._regularization(model, graph.num_nodes)
                loss.backward()
                optimizer.step()
                self.loss_history_.append(loss.item())
            model.eval()  # VGAE gives its means
            with torch.no_grad():
                embedding: Tensor = model.encode(x, adjacency)
        return embedding.numpy()


class TwoLayers(nn.Module):
    """GCN with ReLU, then one GCN without for each output (Kipf & Welling 2016, sec. 1)."""

    def __init__(self, in_channels: int, hidden_channels: int, out_channels: int, outputs: int) -> None:
        super().__init__()
        self.first = GraphConvolution(in_channels, hidden_channels, "relu")
        self.last = nn.ModuleList(GraphConvolution(hidden_channels, out_channels, None) for _ in range(outputs))

    def forward(self, x: Tensor | SparseMatrix, adjacency: Adjacency) -> Any:
        """One output (N, out_channels), or a tuple of several."""
        hidden = self.first(x, adjacency)
        outputs = tuple(layer(hidden, adjacency) for layer in self.last)
        return outputs if len(outputs) > 1 else outputs[0]


def reconstruction_loss(model: Any, z: Tensor, edges: Tensor, non_edges: Tensor) -> Tensor:
    """Mean of ``-log sigma(z_i^T z_j)`` over edges and of ``-log(1 - sigma(z_i^T z_j))`` over non-edges, both (2, M).

    PyTorch Geometric's loss, but computed from the logits, and without a term whose mean has no pairs.
    """
    loss = z.sum() * 0
    for pairs, sign in ((edges, 1.0), (non_edges, -1.0)):
        if pairs.shape[1]:
            loss = loss - nn.functional.logsigmoid(sign * model.decode(z, pairs, sigmoid=False)).mean()
    return loss


def sample_non_edges(edges: Tensor, num_nodes: int) -> Tensor:
    """Draw as many ordered pairs of distinct nodes without an edge as there are edges (2, M), from torch's generator.

    Fewer where the graph is nearly complete, none where it is; one per node where there are no edges.
    """
    wanted = edges.shape[1] or num_nodes
    known = edges[0] * num_nodes + edges[1]  # ascending, since the rows of an adjacency are
    found: list[Tensor] = []
    for _ in range(_TRIES):
        pairs = torch.randint(num_nodes, (2, wanted))
        keys = pairs[0] * num_nodes + pairs[1]
        place = torch.searchsorted(known, keys).clamp(max=max(known.shape[0] - 1, 0))
        taken = known[place] == keys if known.shape[0] else torch.zeros_like(keys, dtype=torch.bool)
        found.append(pairs[:, ~taken & (pairs[0] != pairs[1])])
        if sum(part.shape[1] for part in found) >= wanted:
            break
    return torch.cat(found, 1)[:, :wanted]


def autoencoders() -> Any:
    """``torch_geometric.nn``, whose own imports raise deprecation warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import torch_geometric.nn
    return torch_geometric.nn
