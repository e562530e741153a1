"""Datasets by name; importing this package does not import torch."""

from tvgnn.datasets.appearances import Appearance, appearance
from tvgnn.datasets.catalogue import DatasetInfo, list_datasets
from tvgnn.datasets.embedded import image_graph
from tvgnn.datasets.registry import dataset_split, fetch_dataset, load_dataset, load_graph, load_graphs
from tvgnn.datasets.tissue import Tissue, simulate_tissue
from tvgnn.datasets.tu_folder import read_tu_folder

__all__ = [
    "Appearance",
    "DatasetInfo",
    "Tissue",
    "appearance",
    "dataset_split",
    "fetch_dataset",
    "image_graph",
    "list_datasets",
    "load_dataset",
    "load_graph",
    "load_graphs",
    "read_tu_folder",
    "simulate_tissue",
]
