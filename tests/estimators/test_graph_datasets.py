"""Datasets of PyTorch and PyTorch Geometric in the graph estimators, and what their Data may carry."""

import importlib
import warnings

import networkx as nx
import numpy as np
import pytest
import torch
from torch.utils.data import ConcatDataset, DataLoader, Dataset, Subset

from tvgnn import Graph, TVGraphClassifier, TVGraphRegressor
from tvgnn.errors import GraphError

QUICK = {"hidden_channels": 4, "num_layers": 1, "mlp_channels": 4, "max_epochs": 1, "random_state": 0}
ESTIMATORS = [TVGraphClassifier, TVGraphRegressor]


def data(pyg, number, **attributes):
    nodes = 3 + number % 4
    start = torch.arange(nodes)
    edges = torch.stack([start, (start + 1) % nodes])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        x = torch.randn(nodes, 2, generator=torch.Generator().manual_seed(number))
        return pyg.data.Data(**{"x": x, "edge_index": torch.cat([edges, edges.flip(0)], 1), **attributes})


class Plain(Dataset):
    def __init__(self, items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, number):
        return self.items[number % len(self.items)]  # raises no IndexError, so only the length can end it


class Untyped:
    def __init__(self, items):
        self.items = items

    __len__, __getitem__ = Plain.__len__, Plain.__getitem__


@pytest.fixture
def stored(pyg, tmp_path):
    """A small dataset of PyTorch Geometric that was processed in a folder."""
    items = [data(pyg, number, y=torch.tensor([number % 2])) for number in range(12)]

    class Small(pyg.data.InMemoryDataset):
        processed_file_names = ("data.pt",)

        def __init__(self):
            super().__init__(str(tmp_path))
            self.load(self.processed_paths[0])

        def process(self):
            self.save(items, self.processed_paths[0])

    return Small()


DATASETS = {
    "in memory": lambda stored: stored,
    "slice": lambda stored: stored[:8],
    "chosen": lambda stored: stored[torch.arange(8)],
    "shuffled": lambda stored: stored.shuffle(),
    "subset": lambda stored: Subset(stored, range(8)),
    "two": lambda stored: ConcatDataset([stored[:4], Subset(stored, range(4, 8))]),
    "plain": lambda stored: Plain(list(stored)),
    "without a base class": lambda stored: Untyped(list(stored)),
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("kind", DATASETS)
def test_datasets_are_lists_of_graphs(stored, estimator, kind):
    graphs = DATASETS[kind](stored)
    items = [graphs[number] for number in range(len(graphs))]
    y = [item.y.item() for item in items]
    model = estimator(**QUICK).fit(graphs)
    expected = estimator(**QUICK).fit(items)
    for fitted in (model, estimator(**QUICK).fit(graphs, y), estimator(**QUICK).fit(graphs, validation=(graphs, None))):
        assert fitted.predict(graphs).shape == (len(items),)
    assert (model.predict(graphs) == expected.predict(items)).all()
    assert (model.transform(graphs) == expected.transform(items)).all()
    assert model.score(graphs) == model.score(items, y) == expected.score(items)
    if estimator is TVGraphClassifier:
        assert (model.predict_proba(graphs) == expected.predict_proba(items)).all()


def test_a_loader_is_told_from_its_dataset(stored):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        loader = importlib.import_module("torch_geometric.loader").DataLoader
        loaders = [loader(stored, batch_size=4), DataLoader(stored, batch_size=4, collate_fn=list)]
    model = TVGraphClassifier(**QUICK).fit(stored)
    for loader in loaders:
        for method in (
            TVGraphClassifier(**QUICK).fit,
            model.predict,
            model.predict_proba,
            model.transform,
            model.score,
        ):
            with pytest.raises(GraphError, match=r"got .*DataLoader; pass loader\.dataset"):
                method(loader)


def test_a_batch_is_taken_apart_and_never_one_graph_of_several(pyg, stored):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        batch = pyg.data.Batch.from_data_list(list(stored))
        single = pyg.data.Batch.from_data_list([stored[0]])
        joined = data(pyg, 0, batch=torch.tensor([0, 0, 1]), y=torch.tensor([1]))
    model = TVGraphClassifier(**QUICK).fit(batch)
    assert (model.predict_proba(batch) == model.predict_proba(stored)).all()
    assert model.score(batch) == model.score(stored)
    assert (model.predict_proba([single]) == model.predict_proba([stored[0]])).all()
    with pytest.raises(GraphError, match=r"one graph in every item, got DataBatch of 12 graphs at 0; .*to_data_list"):
        model.predict([batch])
    with pytest.raises(GraphError, match="got DataBatch of 12 graphs at 0"):
        TVGraphClassifier(**QUICK).fit([batch] * 4, [0, 1, 0, 1])
    with pytest.raises(GraphError, match=r"got .*Data of 2 graphs at 1"):
        model.predict([stored[0], joined])


@pytest.mark.parametrize(
    ("graphs", "message"),
    [
        ([nx.path_graph(3)], r"got networkx\.Graph at 0; build it with Graph\.from_networkx"),
        (nx.path_graph(3), r"got networkx\.Graph; put a single graph into a list"),
        (3, "got int"),
        ([Plain([])], "got .*Plain at 0"),
        (Plain([]), "at least one graph, got none"),
        (Plain([(1, 2)]), "got tuple at 0"),
    ],
)
def test_what_is_no_graph_is_named_with_its_package(graphs, message):
    with pytest.raises(GraphError, match=message):
        TVGraphClassifier(**QUICK).fit(graphs, [0])


@pytest.mark.parametrize(("shape", "targets"), [((), 1), ((1,), 1), ((1, 1), 1), ((1, 3), 3)])
def test_targets_in_the_shapes_of_torch_geometric(pyg, shape, targets):
    graphs = [data(pyg, number, y=torch.full(shape, float(number))) for number in range(12)]
    model = TVGraphRegressor(**QUICK).fit(graphs)
    assert model.predict(graphs).shape == ((12,) if targets == 1 else (12, targets))
    y = np.repeat(np.arange(12.0)[:, None], targets, 1)
    assert (
        model.predict(graphs) == TVGraphRegressor(**QUICK).fit(graphs, y if targets > 1 else y[:, 0]).predict(graphs)
    ).all()
    assert np.isfinite(model.score(graphs))
    assert np.ravel(Graph.from_pyg(graphs[2]).label).tolist() == [2.0] * targets


@pytest.mark.parametrize(
    ("estimator", "y", "message"),
    [
        (TVGraphClassifier, lambda n: torch.eye(2)[[n % 2]], r"one class a graph, .*, as of Data.y of shape \(1, 2\)"),
        (TVGraphClassifier, lambda n: torch.zeros(3 + n % 4), "got one for each of the 3 nodes for graph 0"),
        (TVGraphRegressor, lambda n: torch.zeros(3 + n % 4), "got one for each of the 3 nodes for graph 0"),
        (TVGraphRegressor, lambda n: torch.zeros(2), r"for graph 0 \(y is not used: its shape \(2,\) is neither"),
        (TVGraphClassifier, lambda n: torch.zeros(3 + n % 4, 2), r"its shape \(3, 2\) is neither"),
        (TVGraphRegressor, lambda n: torch.zeros(1, 2 + n % 2), "y"),
    ],
)  # fmt: skip
def test_labels_of_other_shapes_are_named(pyg, estimator, y, message):
    with pytest.raises(ValueError, match=message):
        estimator(**QUICK).fit([data(pyg, number, y=y(number)) for number in range(12)])


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("shape", [(6,), (6, 1), (6, 4), (5, 2)])
def test_edge_attributes_that_are_dropped_are_told_once(pyg, estimator, shape):
    graphs = [data(pyg, number, y=torch.tensor([number % 2])) for number in range(8)]
    attributed = [*graphs[:2], *(data(pyg, 0, y=torch.tensor([n % 2]), edge_attr=torch.rand(shape)) for n in range(6))]
    with pytest.warns(UserWarning, match=r"edge_attr is not used: .* edge_weight \(first in graph 2\)") as told:
        model = estimator(**QUICK).fit(attributed, validation=(attributed, None))
    assert len(told) == 1
    assert told[0].filename == __file__
    model.predict(attributed)  # told when it was fitted
    estimator(**QUICK).fit(graphs)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_graph_without_nodes_ends_no_prediction(pyg, estimator):
    graphs = [data(pyg, number, y=torch.tensor([number % 2])) for number in range(8)]
    empty = data(pyg, 0, x=torch.zeros(0, 2), edge_index=torch.zeros(2, 0, dtype=torch.long), y=torch.tensor([1]))
    model = estimator(**QUICK).fit([*graphs, empty])
    together = model.predict([graphs[0], empty, graphs[1]])
    assert together.shape == (3,)
    assert np.isfinite(model.predict([empty])).all()
    assert together[[0, 2]] == pytest.approx(model.predict(graphs[:2]), abs=1e-6)
    wide = data(pyg, 0, x=torch.zeros(0, 3), edge_index=torch.zeros(2, 0, dtype=torch.long))
    with pytest.raises(GraphError, match="expected 2 features as in graph 0, got 3 in graph 1"):
        model.predict([graphs[0], wide])
    astray = data(pyg, 0, x=torch.zeros(0, 2), edge_index=torch.zeros(2, 1, dtype=torch.long))
    with pytest.raises(GraphError, match="graph 0: "):
        model.predict([astray])
