"""Datasets by name; importing this package does not import torch."""

from tvgnn.datasets.embedded import image_graph
from tvgnn.datasets.registry import DatasetInfo, fetch_dataset, list_datasets, load_dataset
from tvgnn.datasets.tu_folder import read_tu_folder

__all__ = ["DatasetInfo", "fetch_dataset", "image_graph", "list_datasets", "load_dataset", "read_tu_folder"]
