"""Figures that the paper states, as data, and the order of its tables."""

from collections.abc import Iterable, Mapping

__all__ = [
    "ACCURACY",
    "CLUSTERING",
    "CLUSTERING_AVERAGES",
    "CLUSTERING_TITLES",
    "DATASET_TITLES",
    "GRAPH_SET_SIZES",
    "GRAPH_SIZES",
    "GRAPH_TITLES",
    "METHOD_TITLES",
    "MS_PER_EPOCH",
    "P_VALUES",
    "SECONDS_PER_EPOCH",
    "in_table_order",
]

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

GRAPH_TITLES = {"cora": "Cora", "citeseer": "Citeseer", "pubmed": "Pubmed", "dblp": "DBLP"}
"""Graphs of vertex clustering, in the order of the tables."""

CLUSTERING_TITLES = {
    "spectral": "SC",
    "deepwalk": "DeepWalk",
    "node2vec": "node2vec",
    "netmf": "NetMF",
    "tadw": "TADW",
    "bane": "BANE",
    "tene": "TENE",
    "gae": "GAE",
    "vgae": "VGAE",
    "diffpool": "DiffPool",
    "mincut": "MinCutPool",
    "dmon": "DMoN",
    "tvgnn": "TVGNN",
    "tvgnn-released": "TVGNN, released script",
    "abl1": "ABL1: GTVConv, MinCut loss",
    "abl2": "ABL2: GCN, TVGNN loss",
    "abl3": "ABL3: relaxed ratio",
}
"""Methods of vertex clustering, in the order of the tables; ABL3 is not in the paper."""

# Table 1 of the paper: mean and standard deviation of the NMI, then of the accuracy in percent, by graph.
_TABLE_1 = {
    "spectral": ((0.029, 0.017, 29.8, 0.7), (0.014, 0.003, 21.7, 0.3), (0.183, 0, 59.0, 0), (0.023, 0.005, 45.8, 0.2)),
    "deepwalk": ((0.064, 0.024, 23.0, 2.1), (0.005, 0.001, 19.4, 0.3), (0.001, 0, 36.1, 0.1), (0.001, 0, 26.7, 0.1)),
    "node2vec": ((0.060, 0.030, 23.0, 2.5), (0.004, 0.001, 19.5, 0.3), (0.001, 0, 36.2, 0.1), (0.001, 0, 27.3, 0.1)),
    "netmf": ((0.251, 0, 38.9, 0), (0.127, 0, 27.7, 0), (0.059, 0, 44.8, 0), (0.037, 0, 45.6, 0)),
    "tadw": ((0.012, 0, 19.3, 0), (0.002, 0, 18.8, 0), (0.031, 0, 42.8, 0), (0.012, 0, 29.8, 0)),
    "bane": ((0.291, 0, 49.5, 0), (0.260, 0, 49.4, 0), (0.121, 0, 50.9, 0), (0.177, 0, 50.6, 0)),
    "tene": ((0.115, 0, 25.5, 0), (0.005, 0, 20.8, 0), (0.002, 0, 39.9, 0), (0.003, 0, 40.2, 0)),
    "gae": ((0.328, 0.051, 46.5, 6.2), (0.163, 0.029, 38.1, 3.8), (0.235, 0.044, 58.9, 7.2), (0.111, 0.029, 41.6, 3.5)),
    "vgae": (
        (0.437, 0.029, 57.2, 5.4), (0.156, 0.034, 36.0, 3.9), (0.245, 0.043, 61.1, 6.1), (0.213, 0.021, 50.7, 4.7),
    ),
    "diffpool": (
        (0.307, 0.006, 47.3, 1.0), (0.180, 0.008, 33.6, 0.8), (0.084, 0.002, 41.8, 0.3), (0.045, 0.044, 37.1, 4.3),
    ),
    "mincut": (
        (0.406, 0.029, 53.4, 4.1), (0.295, 0.029, 49.8, 4.9), (0.209, 0.015, 57.3, 3.5), (0.297, 0.025, 53.8, 3.4),
    ),
    "dmon": (
        (0.357, 0.043, 48.8, 6.4), (0.196, 0.030, 36.4, 4.3), (0.193, 0.049, 55.9, 4.2), (0.335, 0.027, 59.0, 4.0),
    ),
    "tvgnn": (
        (0.488, 0.016, 63.2, 1.8), (0.361, 0.018, 58.6, 3.0), (0.216, 0.027, 60.0, 2.0), (0.342, 0.011, 60.8, 1.5),
    ),
    "abl1": (
        (0.376, 0.018, 48.0, 2.0), (0.210, 0.019, 41.1, 3.8), (0.222, 0.014, 57.7, 3.8), (0.260, 0.035, 52.2, 3.3),
    ),
    "abl2": (
        (0.388, 0.024, 50.7, 4.9), (0.285, 0.038, 49.3, 5.2), (0.191, 0.035, 58.5, 3.3), (0.262, 0.044, 50.4, 4.4),
    ),
}  # fmt: skip

CLUSTERING = {
    method: {
        graph: {"nmi": (nmi, nmi_spread), "acc": (acc, acc_spread)}
        for graph, (nmi, nmi_spread, acc, acc_spread) in zip(GRAPH_TITLES, row, strict=True)
    }
    for method, row in _TABLE_1.items()
}
CLUSTERING["tvgnn-released"] = CLUSTERING["tvgnn"]
"""NMI, and accuracy in percent, of vertex clustering by method and graph: mean and standard deviation."""

CLUSTERING_AVERAGES = {
    "spectral": {"nmi": 0.062, "acc": 39.1},
    "deepwalk": {"nmi": 0.018, "acc": 26.3},
    "node2vec": {"nmi": 0.017, "acc": 26.5},
    "netmf": {"nmi": 0.119, "acc": 39.3},
    "tadw": {"nmi": 0.014, "acc": 27.7},
    "bane": {"nmi": 0.212, "acc": 50.1},
    "tene": {"nmi": 0.125, "acc": 31.6},
    "gae": {"nmi": 0.209, "acc": 46.3},
    "vgae": {"nmi": 0.263, "acc": 51.3},
    "diffpool": {"nmi": 0.154, "acc": 40.0},
    "mincut": {"nmi": 0.302, "acc": 53.6},
    "dmon": {"nmi": 0.270, "acc": 50.0},
    "tvgnn": {"nmi": 0.352, "acc": 60.7},
    "abl1": {"nmi": 0.267, "acc": 49.8},
    "abl2": {"nmi": 0.282, "acc": 52.2},
}
CLUSTERING_AVERAGES["tvgnn-released"] = CLUSTERING_AVERAGES["tvgnn"]
"""Averages over the four graphs, as printed; TENE's NMI is not that of its row, whose mean is 0.031."""

_FOUR_MS = {
    "diffpool": (5.6, 7.7, 67.6, 62.2),
    "mincut": (8.9, 13.8, 272.5, 227.4),
    "dmon": (5.7, 7.8, 39.9, 39.7),
    "tvgnn": (8.3, 9.4, 56.4, 57.2),
}
MS_PER_EPOCH = {method: dict(zip(GRAPH_TITLES, row, strict=True)) for method, row in _FOUR_MS.items()}
"""Milliseconds an epoch of vertex clustering by method and graph (appendix, training times, on the authors' GPU)."""

_SIX_SECONDS = {
    "bench-easy": (0.39, 0.39, 0.39, 0.39, 0.41, 0.49),
    "bench-hard": (0.37, 0.37, 0.34, 0.38, 0.37, 0.41),
    "mutag": (0.14, 0.10, 0.09, 0.10, 0.09, 0.10),
    "mutagenicity": (0.72, 0.81, 0.71, 0.69, 0.74, 0.85),
    "nci1": (0.69, 0.70, 0.63, 0.70, 0.71, 0.76),
    "proteins": (0.28, 0.23, 0.21, 0.24, 0.24, 0.25),
    "dd": (0.32, 0.34, 0.61, 0.63, 0.45, 0.50),
    "collab": (1.03, 1.18, 0.99, 1.12, 1.11, 1.52),
    "reddit-binary": (0.51, 0.54, 1.83, 1.86, 1.10, 1.38),
}
SECONDS_PER_EPOCH = {dataset: dict(zip(_METHODS, row, strict=True)) for dataset, row in _SIX_SECONDS.items()}
"""Seconds an epoch of graph classification by dataset and method, the same appendix."""

GRAPH_SIZES = {
    "cora": (2708, 10556, 1433, 7),
    "citeseer": (3327, 9104, 3703, 6),
    "pubmed": (19717, 88648, 500, 3),
    "dblp": (17716, 105734, 1639, 4),
}
"""Vertices, edges (both directions), attributes and classes of the graphs (appendix, details of the datasets)."""

GRAPH_SET_SIZES = {
    "bench-easy": (1800, 3, 147.82, 922.67),
    "bench-hard": (1800, 3, 148.32, 572.32),
    "mutag": (188, 2, 17.93, 19.79),
    "mutagenicity": (4337, 2, 30.32, 61.54),
    "nci1": (4110, 2, 29.87, 64.60),
    "proteins": (1113, 2, 39.06, 72.82),
    "dd": (1178, 2, 284.32, 1431.32),
    "collab": (5000, 3, 74.49, 4914.43),
    "reddit-binary": (2000, 2, 429.63, 995.51),
}
"""Graphs, classes, mean vertices and mean edges of the sets (same place); MUTAG's and PROTEINS' edges count once."""


def in_table_order(names: Iterable[str], titles: Mapping[str, str]) -> list[str]:
    """Return names in the order of their titles; those without one follow by themselves.

    Examples
    --------
    >>> in_table_order(["mine", "dmon", "tvgnn"], METHOD_TITLES)
    ['tvgnn', 'dmon', 'mine']
    """
    order = {name: number for number, name in enumerate(titles)}
    return sorted(names, key=lambda name: (order.get(name, len(order)), name))
