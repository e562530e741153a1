"""One training epoch of the vertex-clustering model at the paper's defaults, on the citation graphs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from benchmarks.baselines.released import ReleasedFormulation
from benchmarks.records import Measurement
from benchmarks.timing import interleaved
from tvgnn import load_dataset
from tvgnn.estimators.inputs import feature_tensor
from tvgnn.graph.adjacency import Adjacency
from tvgnn.models.node_clustering import NodeClusteringConfig, NodeClusteringModel
from tvgnn.training.loop import make_optimizer, training_step

__all__ = ["epoch"]

_LARGEST_PAIRWISE = 4000  # nodes; above, the N x N x K loss takes several gigabytes


def epoch(dataset: str, mirror: str | None, rounds: int) -> list[Measurement]:
    """Time our epoch, its reference backend, the released formulation and the dense products alone.

    Raises:
        ArithmeticError: a variant's loss differs from ours; then nothing is recorded.

    """
    graph = load_dataset(dataset, mirror=mirror).normalize_features("l1")
    adjacency, x = Adjacency.from_graph(graph), feature_tensor(graph.x)
    dense = torch.tensor(np.asarray(graph.x.todense()) if hasattr(graph.x, "todense") else graph.x)
    config = NodeClusteringConfig(graph.num_features, graph.num_classes)
    edge_index = torch.stack([adjacency.rows(), adjacency.indices.long()])

    def model(backend: str) -> NodeClusteringModel:
        torch.manual_seed(0)
        return NodeClusteringModel(config, backend=backend)

    def ours(backend: str) -> Callable[[], float]:
        network = model(backend)
        optimizer = make_optimizer(network, 1e-3)

        def step() -> float:
            loss = training_step(lambda: network.losses(x, adjacency), optimizer)[0].item()
            optimizer.step()
            return loss

        return step

    def released(pairwise: bool) -> Callable[[], float]:
        network = model("reference")
        formulation = ReleasedFormulation(network, edge_index, pairwise)
        optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)

        def step() -> float:
            optimizer.zero_grad()
            loss = formulation.loss(dense)
            loss.backward()
            optimizer.step()
            return loss.item()

        return step

    variants = {"tvgnn": ours("auto"), "reference backend": ours("reference"), "released, E x K loss": released(False)}
    if graph.num_nodes <= _LARGEST_PAIRWISE:
        variants["released, N x N x K loss"] = released(True)
    losses = {name: step() for name, step in variants.items()}
    for name, loss in losses.items():
        if not np.isclose(loss, losses["tvgnn"], rtol=1e-4):
            raise ArithmeticError(f"{dataset}: the loss of {name!r} is {loss}, ours is {losses['tvgnn']}")
    products = _dense_products(graph.num_nodes, config, x if isinstance(x, torch.Tensor) else None)
    return interleaved(f"epoch, {dataset}", {**variants, "its dense products alone": products}, rounds)


def _dense_products(nodes: int, config: NodeClusteringConfig, x: torch.Tensor | None) -> Callable[[], object]:
    """The products of an epoch: forward and both gradients of each linear map; the first one only where it is dense."""
    hidden, mlp = config.hidden_channels, config.mlp_channels
    pairs = [
        (torch.randn(nodes, a), torch.randn(a, b))
        for a, b in ((hidden, hidden), (hidden, mlp), (mlp, config.n_clusters))
    ]
    first = [] if x is None else [(x, torch.randn(x.shape[1], hidden))]

    def run() -> None:
        for left, right in first + pairs:
            out = left @ right
            left.T @ out
        for _, right in pairs:  # no gradient with respect to the features
            out = pairs[0][0].new_empty(nodes, right.shape[1])
            out @ right.T

    return run
