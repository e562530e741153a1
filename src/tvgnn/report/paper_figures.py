"""Figures that the paper states, as data."""

__all__ = ["ACCURACY", "DATASET_TITLES", "METHOD_TITLES", "P_VALUES"]

METHOD_TITLES = {
    "tvgnn": "TVGNN",
    "mincut": "MinCutPool",
    "dmon": "DMoN",
    "diffpool": "DiffPool",
    "topk": "Top-K",
    "sag": "SAGPool",
}
"""Methods, in the order of the tables."""

DATASET_TITLES = {
    "bench-easy": "Bench-easy",
    "bench-hard": "Bench-hard",
    "bench-easy-small": "Bench-easy, small",
    "bench-hard-small": "Bench-hard, small",
    "mutag": "MUTAG",
    "mutagenicity": "Mutagenicity",
    "nci1": "NCI1",
    "proteins": "PROTEINS",
    "dd": "D&D",
    "collab": "COLLAB",
    "reddit-binary": "REDDIT-BINARY",
}
"""Datasets of graphs, in the order of the tables."""

_METHODS = ("topk", "sag", "diffpool", "mincut", "dmon", "tvgnn")

# Hansen & Bianchi, Total Variation Graph Neural Networks, ICML 2023 (arXiv:2211.06218), table 2: mean and standard
# deviation of the accuracy in percent, methods in the order of _METHODS.
_TABLE_2 = {
    "bench-easy": ((53.8, 31.8), (53.8, 31.8), (99.0, 0.3), (99.0, 0.3), (98.8, 0.5), (99.6, 0.6)),
    "bench-hard": ((30.5, 0.7), (29.5, 0.0), (72.8, 0.2), (70.9, 1.7), (71.8, 1.9), (75.3, 0.8)),
    "mutag": ((77.5, 8.4), (76.8, 9.7), (86.4, 7.6), (85.2, 7.2), (86.7, 7.0), (88.4, 7.5)),
    "mutagenicity": ((68.4, 8.4), (68.2, 7.8), (78.5, 1.5), (78.4, 1.4), (77.1, 1.3), (80.0, 1.3)),
    "nci1": ((54.0, 4.1), (59.2, 7.7), (74.1, 1.8), (75.2, 1.8), (74.3, 1.3), (77.3, 1.8)),
    "proteins": ((69.6, 2.7), (70.4, 2.5), (74.6, 4.2), (75.7, 3.0), (75.2, 3.3), (77.1, 2.9)),
    "dd": ((62.0, 5.6), (64.2, 7.0), (77.7, 3.0), (78.2, 3.4), (78.0, 3.3), (79.5, 2.2)),
    "collab": ((73.4, 6.9), (75.6, 2.5), (78.4, 1.6), (79.3, 1.1), (79.5, 0.7), (79.8, 1.1)),
    "reddit-binary": ((54.0, 10.0), (50.0, 0.1), (80.9, 2.7), (82.3, 3.2), (82.6, 2.9), (86.5, 2.8)),
}

ACCURACY = {dataset: dict(zip(_METHODS, row, strict=True)) for dataset, row in _TABLE_2.items()}
"""Accuracy of graph classification by dataset and method: mean and standard deviation in percent."""

P_VALUES = {
    "bench-easy": "0.011",
    "bench-hard": "<0.001",
    "mutag": "0.606",
    "mutagenicity": "0.028",
    "nci1": "0.018",
    "proteins": "0.302",
    "dd": "0.323",
    "collab": "0.476",
    "reddit-binary": "0.007",
}
"""Of the difference between the two best methods, the same table."""
