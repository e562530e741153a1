"""Classify graphs by a network of your own
========================================

tvgnn's layers in a plain training loop of PyTorch Geometric::

    python examples/pooling_in_pyg.py                      # the paper's pooling
    python examples/pooling_in_pyg.py --pooling mincut     # another one, same lines

A graph is convolved, pooled to a few clusters, convolved again, and read out. The only thing to remember is that a
pooling layer returns losses of its own: add them to yours. For the ready-made network see tvgnn.TVGraphClassifier.
"""

from __future__ import annotations

import argparse

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader

from tvgnn import (
    AsymCheegerCutPooling,
    DenseGTVConv,
    DiffPooling,
    DMoNPooling,
    Graph,
    GTVConv,
    MinCutPooling,
    load_dataset,
)

POOLINGS = {"tvgnn": AsymCheegerCutPooling, "mincut": MinCutPooling, "dmon": DMoNPooling, "diffpool": DiffPooling}


class Network(nn.Module):
    """Convolution, pooling to k clusters, convolution of the clusters, mean, linear map."""

    def __init__(self, in_channels: int, classes: int, pooling: str, hidden: int = 32, k: int = 8) -> None:
        super().__init__()
        self.first = GTVConv(in_channels, hidden, delta_coeff=2.0, act="elu")
        self.second = GTVConv(hidden, hidden, delta_coeff=2.0, act="elu")
        self.pool = POOLINGS[pooling](k, mlp_channels=[hidden, 16])
        self.third = DenseGTVConv(hidden, hidden, delta_coeff=2.0, act="elu")
        self.readout = nn.Linear(hidden, classes)

    def forward(self, data: Data) -> tuple[Tensor, Tensor]:
        x = self.second(self.first(data.x, data.edge_index), data.edge_index)
        pooled = self.pool(x, data.edge_index, batch=data.batch, batch_size=data.num_graphs)
        x = self.third(pooled.x, pooled.adj)  # (graphs, k, hidden)
        return self.readout(x.mean(dim=1)), torch.stack([*pooled.losses.values()]).sum()


def as_data(graph: Graph) -> Data:
    """Turn a tvgnn.Graph into PyTorch Geometric's Data."""
    edge_index = torch.tensor(np.stack(graph.adjacency().nonzero()), dtype=torch.long)
    return Data(x=torch.tensor(graph.x), edge_index=edge_index, y=torch.tensor([graph.label]))


def accuracy(model: Network, loader: DataLoader) -> float:
    model.eval()
    with torch.no_grad():
        right = [int((model(data)[0].argmax(dim=1) == data.y).sum()) for data in loader]
    return sum(right) / len(loader.dataset)


def main(arguments: list[str] | None = None) -> dict[str, float]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pooling", choices=sorted(POOLINGS), default="tvgnn")
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--graphs", type=int, default=300, help="the first of them; a sixth validates, a sixth tests")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    torch.manual_seed(options.seed)
    graphs = [as_data(graph) for graph in load_dataset("bench-easy-small", seed=options.seed)[: options.graphs]]
    part = len(graphs) // 6
    train = DataLoader(graphs[: -2 * part], batch_size=16, shuffle=True)
    validation, test = DataLoader(graphs[-2 * part : -part], 64), DataLoader(graphs[-part:], 64)

    model = Network(graphs[0].num_features, classes=3, pooling=options.pooling)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    best, state = -1.0, model.state_dict()
    for epoch in range(1, options.epochs + 1):
        model.train()
        total = 0.0
        for data in train:
            optimizer.zero_grad()
            out, pooling_losses = model(data)
            loss = functional.cross_entropy(out, data.y) + pooling_losses
            loss.backward()
            optimizer.step()
            total += float(loss.detach()) * data.num_graphs
        found = accuracy(model, validation)
        if found > best:
            best, state = found, {name: value.clone() for name, value in model.state_dict().items()}
        if epoch % 10 == 0:
            print(f"epoch {epoch}: loss {total / len(train.dataset):.3f}, validation accuracy {found:.3f}")
    model.load_state_dict(state)
    result = {"train": accuracy(model, train), "validation": best, "test": accuracy(model, test)}
    print(f"{options.pooling}: " + ", ".join(f"{name} accuracy {value:.3f}" for name, value in result.items()))
    return result


if __name__ == "__main__":
    main()
