"""The graph of an AnnData file that a command clusters: options to name its parts, and how it is read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tvgnn.cli.unused import Effect, refuse_unused

if TYPE_CHECKING:
    from tvgnn.estimators.clustering import TVClustering
    from tvgnn.graph.anndata_graph import AnnDataKeys
    from tvgnn.graph.graph import Graph
    from tvgnn.io.run_context import RunContext

__all__ = [
    "H5adInput",
]

_PANEL = "AnnData file"
_IN_SPACE = 15  # neighbours, unless another number is given
_GAP = 0.05  # between slides that are drawn side by side, of the width of the widest


def _h5ad(*names: str, help: str, **settings: Any) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=_PANEL, **settings)


@dataclass(frozen=True)
class H5adInput:
    """What a user named in an AnnData file; attributes are those of the options of the same names.

    Raises
    ------
    ValueError
        A part is named without a file, or weights are no numbers.
    """

    h5ad: Annotated[
        Path | None, _h5ad("--h5ad", help="An AnnData file (.h5ad) with features and a graph of its cells.")
    ] = None
    use_rep: Annotated[
        str | None,
        _h5ad(
            help="Features: a key of obsm, or X.", show_default="X_pca where it is and X has over 50 columns, else X"
        ),
    ] = None
    obsp: Annotated[
        str | None,
        _h5ad(help="Graphs: comma-separated keys of obsp.", show_default="what sc.pp.neighbors made"),
    ] = None
    obsp_weights: Annotated[
        str | None,
        _h5ad(help="Comma-separated weights, one a graph, neighbours in space last.", show_default="equal"),
    ] = None
    neighbors_key: Annotated[str | None, _h5ad(help="Key of uns where sc.pp.neighbors left its parameters.")] = None
    spatial_key: Annotated[
        str | None, _h5ad(help="Key of obsm with coordinates: joins each cell to its nearest in space.")
    ] = None
    library_key: Annotated[
        str | None,
        _h5ad(help="Key of obs with the slide of each cell: neighbours in space only on the same slide."),
    ] = None
    spatial_neighbors: Annotated[
        int | None, _h5ad(min=1, help="Neighbours in space of each cell.", show_default="15")
    ] = None
    no_weights: Annotated[
        bool, _h5ad("--no-weights", help="Edges of the given graphs count once, whatever their weights.")
    ] = False
    label_key: Annotated[str | None, _h5ad(help="Key of obs with known classes, for evaluation only.")] = None

    def __post_init__(self) -> None:
        parts = (
            "use_rep", "obsp", "obsp_weights", "neighbors_key", "spatial_key", "library_key", "spatial_neighbors",
            "label_key",
        )  # fmt: skip
        given = [f"--{name.replace('_', '-')}" for name in parts if getattr(self, name) is not None]
        given += ["--no-weights"] * self.no_weights
        if self.h5ad is None and given:
            raise ValueError(f"{given[0]} needs --h5ad FILE, whose parts it names")
        in_space = self.spatial_key is not None or self.library_key is not None
        counted = Effect("--spatial-neighbors", self.spatial_neighbors is not None, in_space, "counts those in space")
        refuse_unused([counted], "without --spatial-key or --library-key none are sought")
        weights = self.weights()
        weighed = Effect("--obsp-weights", weights is not None, len(weights or ()) > 1, "weighs graphs by each other")
        refuse_unused([weighed], f"got one weight, {self.obsp_weights}")

    def weights(self) -> list[float] | None:
        """Return the weights of the graphs as numbers."""
        if self.obsp_weights is None:
            return None
        try:
            return [float(part) for part in self.obsp_weights.split(",")]
        except ValueError:
            raise ValueError(f"expected --obsp-weights as numbers such as 0.7,0.3, got {self.obsp_weights!r}") from None

    def read(self) -> tuple[Any, Graph]:
        """Return the AnnData and the graph of its cells.

        Raises
        ------
        ValueError, ImportError
            See :func:`tvgnn.io.h5ad.read_h5ad` and :meth:`tvgnn.Graph.from_anndata`.
        """
        from tvgnn.graph.graph import Graph
        from tvgnn.io.h5ad import read_h5ad
        from tvgnn.io.label_values import known_labels, unlabelled_note

        adata = read_h5ad(str(self.h5ad))
        if self.label_key is not None and self.label_key not in adata.obs:
            known = list(adata.obs)
            raise ValueError(f"expected --label-key to be a key of obs, got {self.label_key!r}; it holds {known}")
        if self.label_key is None:
            return adata, Graph.from_anndata(adata, **vars(self._keys()))
        y, notes = known_labels(adata.obs[self.label_key].to_numpy(), f"obs[{self.label_key!r}]")
        graph = Graph.from_anndata(adata, y=y, **vars(self._keys()))
        notes = (*graph.report.notes, *notes, *unlabelled_note(graph))
        return adata, replace(graph, report=replace(graph.report, notes=notes))

    def write(
        self, path: Path, adata: Any, estimator: TVClustering, key_added: str, *, embedding: bool = False
    ) -> None:
        """Add the clustering to the AnnData and write it."""
        from tvgnn.external.anndata import store_clustering
        from tvgnn.io.h5ad import write_h5ad

        store_clustering(adata, estimator, key_added, settings=self.settings(adata), embedding=embedding)
        write_h5ad(path, adata)

    def settings(self, adata: Any) -> dict[str, Any]:
        """Return which parts of the AnnData were used, as text, numbers and lists."""
        return self._keys().record(adata)

    def context(self, adata: Any, graph: Graph, *, named: bool = True) -> RunContext:
        """Return what the page shows of the cells: names of features where ``named``, positions, known classes."""
        from tvgnn.graph.anndata_graph import representation_key
        from tvgnn.io.run_context import RunContext

        key = representation_key(adata, self.use_rep)
        names = adata.var_names if key == "X" else (f"{key} {number}" for number in range(1, graph.num_features + 1))
        return RunContext(
            y=graph.y,
            class_names=None if graph.y is None else [str(name) for name in graph.class_names],
            feature_names=[str(name) for name in names] if named else None,
            positions=self._positions(adata),
        )

    def _keys(self) -> AnnDataKeys:
        from tvgnn.graph.anndata_graph import AnnDataKeys

        return AnnDataKeys(
            use_rep=self.use_rep,
            obsp=None if self.obsp is None else [key.strip() for key in self.obsp.split(",") if key.strip()],
            neighbors_key=self.neighbors_key,
            weights=self.weights(),
            spatial_key=self.spatial_key,
            library_key=self.library_key,
            n_spatial_neighbors=_IN_SPACE if self.spatial_neighbors is None else self.spatial_neighbors,
            use_weights=not self.no_weights,
        )

    def _positions(self, adata: Any) -> Any:
        """Return positions in the plane as pictures show them, y downwards, slides side by side; None without any."""
        from tvgnn.graph.anndata_graph import slides_of, spatial_positions

        named = self._keys().positions_key
        if named is None and "spatial" not in adata.obsm:
            return None
        try:
            points = spatial_positions(adata, named or "spatial")
        except ValueError:
            if named is not None:
                raise
            return None  # nobody asked for them
        if points.shape[1] < 2:
            return None
        points = points[:, :2] * [1, -1]
        slides = slides_of(adata, self.library_key)
        return points if slides is None else _side_by_side(points, slides)


def _side_by_side(points: Any, slides: Any) -> Any:
    """Move slides, whose coordinates often overlap, into a row, their lower edges on one line."""
    import numpy as np

    lows, widths = [], []
    for slide in range(slides.max() + 1):
        part = points[slides == slide]
        lows.append(part.min(axis=0))
        widths.append(np.ptp(part[:, 0]))
    starts = np.concatenate([[0.0], np.cumsum(np.array(widths) + _GAP * max(widths))[:-1]])
    moved = points - np.array(lows)[slides]
    moved[:, 0] += starts[slides]
    return moved
