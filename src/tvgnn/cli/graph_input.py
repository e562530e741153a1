"""The graph that a command clusters: options to name it, and how it is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from tvgnn.cli import options
from tvgnn.cli.h5ad_input import H5adInput
from tvgnn.cli.neighbor_options import NeighborOptions
from tvgnn.cli.unused import Effect, refuse_unused

if TYPE_CHECKING:
    from tvgnn.graph.graph import Graph
    from tvgnn.io.run_context import RunContext

__all__ = [
    "GraphInput",
    "ReadGraph",
]


def _input(*names: str, help: str, panel: str = "Input", **settings: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=panel, **settings)


def _format(*names: str, help: str, **settings: Any) -> Any:
    return _input(*names, help=help, panel="Format of the edge list", **settings)


class ReadGraph(NamedTuple):
    """What was read: a short name of the data, the graph with features, and where it comes from.

    ``adata`` is the AnnData or None, ``feature_names`` those that files give or None.
    """

    name: str
    graph: Graph
    adata: Any = None
    feature_names: list[str] | None = None

    def check_n_clusters(self, most: int) -> None:
        """Refuse more clusters than there are nodes.

        Raises
        ------
        ValueError
            There are fewer nodes than ``most``.
        """
        nodes = self.graph.num_nodes
        if most > nodes:
            raise ValueError(f"expected at most one cluster a node, got -k {most} and {nodes} nodes; ask for fewer")


@dataclass(frozen=True)
class GraphInput:
    """What a user named as the graph: a dataset, or files; checked for contradictions before anything is read.

    Attributes are those of the options of the same names; ``h5ad`` holds those of an AnnData file.

    Raises
    ------
    ValueError
        No input, or more than one of the same kind.

    """

    dataset: Annotated[str | None, _input(help="A dataset by name; see: tvgnn datasets list.")] = None
    edges: Annotated[
        Path | None,
        _input(help="Edges: CSV or TSV (also .gz), .parquet, a square matrix (.npz, .mtx), .graphml or .gexf."),
    ] = None
    features: Annotated[
        Path | None,
        _input(
            help="Features: CSV, TSV or .parquet with the node id first; or .npy, .npz, .mtx in node order. Without "
            "edges each node is joined to its nearest neighbours."
        ),
    ] = None
    labels: Annotated[
        Path | None,
        _input(help="Known classes, for evaluation only: CSV, TSV or .parquet of node id and class, or .npy."),
    ] = None
    structural_features: Annotated[
        options.StructuralFeatures | None,
        _input("--structural-features", help="Features computed from the graph, for nodes without any."),
    ] = None
    structural_dim: Annotated[int | None, _input(min=1, help="Number of structural features.")] = None
    node_attributes: Annotated[
        str | None,
        _input(help="GraphML, GEXF: comma-separated names of the numeric attributes that form the features."),
    ] = None
    root: options.Root = None
    mirror: options.Mirror = None
    directed: Annotated[bool, _format("--directed", help="Each row is one directed edge.")] = False
    weight_column: Annotated[str, _format(help="Name, or position from 0, of the weights; auto or none.")] = "auto"
    delimiter: Annotated[str | None, _format(help="One character.", show_default="found")] = None
    header: Annotated[bool | None, _format(help="Whether the first row holds names.", show_default="found")] = None
    neighbors: NeighborOptions = field(default_factory=NeighborOptions)
    h5ad: H5adInput = field(default_factory=H5adInput)

    def __post_init__(self) -> None:
        files = ("edges", "features", "labels", "node_attributes")
        given = [f"--{name.replace('_', '-')}" for name in files if getattr(self, name) is not None]
        whole = [name for name, value in (("--dataset", self.dataset), ("--h5ad", self.h5ad.h5ad)) if value is not None]
        if not whole and self.edges is None and self.features is None:
            raise ValueError(
                "expected the input, --dataset NAME, --edges FILE, --features FILE or --h5ad FILE, got none of them"
            )
        if whole and len(whole) + len(given) > 1:
            named = ", ".join([*whole[1:], *given])
            raise ValueError(f"expected one input, got {whole[0]} and {named}; leave one of them out")
        features = {
            "--features": self.features,
            "--node-attributes": self.node_attributes,
            "--use-rep": self.h5ad.use_rep,
        }
        others = [name for name, value in features.items() if value is not None]
        if self.structural_features is not None and others:
            raise ValueError(f"expected one kind of features, got --structural-features and {others[0]}")
        if self.structural_dim is not None and self.structural_features is None:
            raise ValueError("--structural-dim needs --structural-features")
        if self.neighbors.given() and not self._joins_neighbors():
            source = [*whole, "--edges"][0]
            raise ValueError(f"expected one source of edges, got {source} and {', '.join(self.neighbors.given())}")
        self._refuse_unused()

    def _refuse_unused(self) -> None:
        """Refuse options that the input does not need, for it would look as if they had been heeded."""
        kind, instead = self._kind()
        edges = self.edges is not None
        table, text = edges and kind in ("text", "parquet"), kind == "text"
        splits = "reads columns of text"
        refuse_unused(
            (
                Effect("--root", self.root is not None, kind == "dataset", "is where datasets by name are kept"),
                Effect("--mirror", self.mirror is not None, kind == "dataset", "is where datasets by name come from"),
                Effect("--directed", self.directed, table, "reads edge tables"),
                Effect(
                    "--weight-column",
                    self.weight_column != "auto",
                    table or (edges and kind == "network"),
                    "reads edge tables, GraphML and GEXF",
                ),
                Effect("--delimiter", self.delimiter is not None, text, splits),
                Effect("--no-header" if self.header is False else "--header", self.header is not None, text, splits),
                Effect(
                    "--node-attributes",
                    self.node_attributes is not None,
                    edges and kind == "network",
                    "reads GraphML and GEXF",
                ),
            ),
            instead,
        )

    def _kind(self) -> tuple[str, str]:
        """Return which kind of input there is, and what an error says of it."""
        from tvgnn.io._text import text_suffix
        from tvgnn.io.network_files import NETWORK_SUFFIXES

        if self.dataset is not None:
            return "dataset", f"--dataset {self.dataset} is a whole graph"
        if self.h5ad.h5ad is not None:
            return "h5ad", f"{self.h5ad.h5ad.name} already holds its graph"
        path = Path(str(self.edges or self.features))
        kinds = {".npz": "matrix", ".mtx": "matrix", ".npy": "matrix", ".parquet": "parquet"}
        kind = "network" if (suffix := text_suffix(path)) in NETWORK_SUFFIXES else kinds.get(suffix, "text")
        if self.edges is None:
            return kind, f"{path.name} holds features, no edges" + ("" if kind == "text" else " and no text")
        says = {
            "matrix": "already holds weights and directions",
            "network": "already says what its edges are",
            "parquet": "already has named columns",
            "text": "is a table of edges",
        }
        return kind, f"{path.name} {says[kind]}"

    def _joins_neighbors(self) -> bool:
        return self.dataset is None and self.edges is None and self.h5ad.h5ad is None

    def files(self) -> dict[str, Path]:
        """Return the files that were named, by their options."""
        named = {"edges": self.edges, "features": self.features, "labels": self.labels, "h5ad": self.h5ad.h5ad}
        return {role: path for role, path in named.items() if path is not None}

    def read(self, preset: str = "paper", feature_norm: str | None = "auto") -> ReadGraph:
        """Read it.

        Where there are features only, nodes are joined to the nearest ones after the scaling that ``preset`` and
        ``feature_norm`` choose, as in `tvgnn.TVClustering.fit`.

        Raises
        ------
        TVGNNError, OSError
            The dataset or a file is missing or damaged.
        ValueError
            The nodes have no features, or a file does not hold what was named.
        """
        if self._joins_neighbors():
            return self._neighbors({"preset": preset, "feature_norm": feature_norm})
        read = self._read()
        graph = read.graph
        if self.structural_features is not None:
            graph = graph.with_structural_features(self.structural_features.value, self.structural_dim)
            read = read._replace(graph=graph, feature_names=None)
        if graph.x is None:
            raise ValueError(
                "expected node features, got a graph without; pass --features FILE, or choose some that are computed "
                "from the graph: --structural-features spectral, degree or ones"
            )
        return read

    def for_clusters(self, given: ReadGraph, n_clusters: int) -> ReadGraph:
        """Return what was read, with as many spectral features as so many clusters need unless a number was given."""
        kind, graph = self.structural_features, given.graph
        if kind is None or self.structural_dim is not None or graph.num_features >= n_clusters:
            return given
        return given._replace(graph=graph.with_structural_features(kind.value, n_clusters=n_clusters))

    def context(self, given: ReadGraph) -> RunContext:
        """Return what is known of the nodes besides the model."""
        from tvgnn.cli.run import run_context

        if given.adata is not None:
            return self.h5ad.context(given.adata, given.graph, named=self.structural_features is None)
        dataset = self.dataset if self.structural_features is None else None
        return run_context(given.graph, dataset, given.feature_names)

    def remember(self, folder: Path, given: ReadGraph, hashes: Sequence[Mapping[str, str]]) -> None:
        """Note in a run folder which GraphML, GEXF or AnnData file was read, so that results can be added to it.

        ``hashes`` are those of `tvgnn.io.run_input.input_hashes`.
        """
        from tvgnn.io._text import text_suffix
        from tvgnn.io.network_files import NETWORK_SUFFIXES
        from tvgnn.io.run_input import write_input

        sha256 = {one["role"]: one["sha256"] for one in hashes}
        if self.h5ad.h5ad is not None:
            write_input(folder, self.h5ad.h5ad, self.h5ad.settings(given.adata), sha256=sha256["h5ad"])
        elif self.edges is not None and text_suffix(self.edges) in NETWORK_SUFFIXES:
            write_input(folder, self.edges, sha256=sha256["edges"])

    def _attributes(self) -> list[str] | None:
        names = self.node_attributes
        return None if names is None else [part.strip() for part in names.split(",")]

    def _read(self) -> ReadGraph:
        if self.h5ad.h5ad is not None:
            adata, graph = self.h5ad.read()
            return ReadGraph(_stem(self.h5ad.h5ad), graph, adata)
        if self.edges is not None:
            return self._files(self.edges)
        from tvgnn.datasets import load_graph

        return ReadGraph(str(self.dataset).lower(), load_graph(str(self.dataset), self.root, self.mirror))

    def _neighbors(self, scaling: dict[str, Any]) -> ReadGraph:
        from tvgnn.estimators.inputs import joined
        from tvgnn.io.graph_files import read_named_nodes

        features = Path(str(self.features))
        nodes, names = read_named_nodes(features, self.labels, delimiter=self._delimiter(), header=self.header)
        graph = joined(nodes, scaling | self.neighbors.parameters())
        return ReadGraph(_stem(features), graph, feature_names=names)

    def _delimiter(self) -> str | None:
        return "\t" if self.delimiter == "\\t" else self.delimiter  # what a shell user can type

    def _files(self, edges: Path) -> ReadGraph:
        from tvgnn.io.graph_files import read_named_graph

        graph, names = read_named_graph(
            edges,
            self.features,
            self.labels,
            directed=self.directed,
            delimiter=self._delimiter(),
            header=self.header,
            weight_column=_column(self.weight_column),
            node_attributes=self._attributes(),
        )
        return ReadGraph(_stem(edges), graph, feature_names=names)


def _stem(path: Path) -> str:
    """File name without what says its format: ``edges`` for ``edges.csv.gz``."""
    name = path.name[: -len(".gz")] if path.name.endswith(".gz") else path.name
    return Path(name).stem


def _column(text: str) -> str | int | None:
    if text == "none":
        return None
    return int(text) if text.isdecimal() else text
