"""The graph that a command clusters: options to name it, and how it is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvgnn.cli.neighbor_options import NeighborOptions
from tvgnn.cli.options import StructuralFeatures

if TYPE_CHECKING:
    from tvgnn.graph.graph import Graph

__all__ = [
    "Dataset",
    "Delimiter",
    "Directed",
    "Edges",
    "Features",
    "GraphInput",
    "Header",
    "Labels",
    "NodeAttributes",
    "StructuralDim",
    "StructuralFeaturesOption",
    "WeightColumn",
]


def _input(*names: str, help: str, panel: str = "Input", **settings: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=panel, **settings)


def _format(*names: str, help: str, **settings: Any) -> Any:
    return _input(*names, help=help, panel="Format of the edge list", **settings)


Dataset = Annotated[str | None, _input(help="A dataset by name; see: tvgnn datasets list.")]
Edges = Annotated[Path | None, _input(help="Edges: CSV or TSV (also .gz), a square matrix (.npz, .mtx), or .graphml.")]
Features = Annotated[
    Path | None,
    _input(
        help="Features: CSV or TSV with the node id first; or .npy, .npz, .mtx in node order. Without edges each node "
        "is joined to its nearest neighbours."
    ),
]
Labels = Annotated[
    Path | None, _input(help="Known classes, for evaluation only: CSV or TSV of node id and class, or .npy.")
]
StructuralFeaturesOption = Annotated[
    StructuralFeatures | None,
    _input("--structural-features", help="Features computed from the graph, for nodes without any."),
]
StructuralDim = Annotated[int | None, _input(min=1, help="Number of structural features.")]
NodeAttributes = Annotated[
    str | None, _input(help="GraphML: comma-separated names of the numeric attributes that form the features.")
]
Directed = Annotated[bool, _format("--directed", help="Each row is one directed edge.")]
WeightColumn = Annotated[str, _format(help="Name, or position from 0, of the weights; auto or none.")]
Delimiter = Annotated[str | None, _format(help="One character.", show_default="found")]
Header = Annotated[bool | None, _format(help="Whether the first row holds names.", show_default="found")]


@dataclass(frozen=True)
class GraphInput:
    """What a user named as the graph: a dataset, or files; checked for contradictions before anything is read.

    Attributes are those of the options of the same names.

    Raises
    ------
    ValueError
        No input, or more than one of the same kind.

    """

    dataset: str | None = None
    edges: Path | None = None
    features: Path | None = None
    labels: Path | None = None
    structural_features: StructuralFeatures | None = None
    structural_dim: int | None = None
    node_attributes: str | None = None
    root: Path | None = None
    mirror: Path | None = None
    directed: bool = False
    weight_column: str = "auto"
    delimiter: str | None = None
    header: bool | None = None
    neighbors: NeighborOptions = field(default_factory=NeighborOptions)

    def __post_init__(self) -> None:
        files = ("edges", "features", "labels", "node_attributes")
        given = [f"--{name.replace('_', '-')}" for name in files if getattr(self, name) is not None]
        if self.dataset is None and self.edges is None and self.features is None:
            raise ValueError("expected the input, --dataset NAME, --edges FILE or --features FILE, got none of them")
        if self.dataset is not None and given:
            raise ValueError(f"expected one input, got --dataset and {', '.join(given)}; leave one of them out")
        if self.structural_features is not None and (self.features is not None or self.node_attributes is not None):
            other = "--features" if self.features is not None else "--node-attributes"
            raise ValueError(f"expected one kind of features, got --structural-features and {other}")
        if self.structural_dim is not None and self.structural_features is None:
            raise ValueError("--structural-dim needs --structural-features")
        if self.neighbors.given() and not self._joins_neighbors():
            source = "--dataset" if self.edges is None else "--edges"
            raise ValueError(f"expected one source of edges, got {source} and {', '.join(self.neighbors.given())}")
        if self._joins_neighbors() and (self.directed or self.weight_column != "auto"):
            raise ValueError("--directed and --weight-column are of an edge list: they need --edges")

    def _joins_neighbors(self) -> bool:
        return self.dataset is None and self.edges is None

    def read(self, preset: str = "paper", feature_norm: str | None = "auto") -> tuple[str, Graph]:
        """Return a short name of the data, and the graph with features.

        Where there are features only, nodes are joined to the nearest ones after the scaling that ``preset`` and
        ``feature_norm`` choose, as in `tvgnn.TVClustering.fit`.

        Raises
        ------
        TVGNNError, OSError
            The dataset or a file is missing or damaged.
        ValueError
            The nodes have no features.
        """
        if self._joins_neighbors():
            return self._neighbors({"preset": preset, "feature_norm": feature_norm})
        name, graph = self._dataset() if self.edges is None else self._files(self.edges)
        if self.structural_features is not None:
            graph = graph.with_structural_features(self.structural_features.value, self.structural_dim)
        if graph.x is None:
            raise ValueError(
                "expected node features, got a graph without; pass --features FILE, or choose some that are computed "
                "from the graph: --structural-features spectral, degree or ones"
            )
        return name, graph

    def feature_names(self) -> list[str] | None:
        """Return the names of the features that files give; None for datasets and structural features."""
        if self.structural_features is not None or self.dataset is not None:
            return None
        if self.features is None:
            return self._attributes()
        from tvgnn.io.node_tables import read_feature_names

        return read_feature_names(self.features)

    def _attributes(self) -> list[str] | None:
        names = self.node_attributes
        return None if names is None else [part.strip() for part in names.split(",")]

    def _dataset(self) -> tuple[str, Graph]:
        from tvgnn.datasets import load_graph

        return str(self.dataset).lower(), load_graph(str(self.dataset), self.root, self.mirror)

    def _neighbors(self, scaling: dict[str, Any]) -> tuple[str, Graph]:
        from tvgnn.estimators.inputs import joined
        from tvgnn.io.graph_files import read_nodes

        features = Path(str(self.features))
        nodes = read_nodes(features, self.labels, delimiter=self._delimiter(), header=self.header)
        return _stem(features), joined(nodes, scaling | self.neighbors.parameters())

    def _delimiter(self) -> str | None:
        return "\t" if self.delimiter == "\\t" else self.delimiter  # what a shell user can type

    def _files(self, edges: Path) -> tuple[str, Graph]:
        from tvgnn.io.graph_files import read_graph

        graph = read_graph(
            edges,
            self.features,
            self.labels,
            directed=self.directed,
            delimiter=self._delimiter(),
            header=self.header,
            weight_column=_column(self.weight_column),
            node_attributes=self._attributes(),
        )
        return _stem(edges), graph


def _stem(path: Path) -> str:
    """File name without what says its format: ``edges`` for ``edges.csv.gz``."""
    name = path.name[: -len(".gz")] if path.name.endswith(".gz") else path.name
    return Path(name).stem


def _column(text: str) -> str | int | None:
    if text == "none":
        return None
    return int(text) if text.isdecimal() else text
