"""What an AnnData says about its cells as a graph: which graphs, which features, which slides.

An AnnData is recognised by its parts: anndata is imported by :func:`require_anndata` alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tvgnn.errors import GraphError
from tvgnn.graph.mixing import edges_in_space, mix_adjacencies, shares_of
from tvgnn.wording import setting

if TYPE_CHECKING:
    from tvgnn.graph.graph import Graph

__all__ = [
    "AnnDataKeys",
    "check_anndata",
    "from_anndata",
    "representation_key",
    "require_anndata",
    "slides_of",
    "spatial_positions",
]

_SMALL_PANEL = 50  # as scanpy: up to so many variables X itself is used, above them its principal components
_POSITIONS = "spatial"


@dataclass(frozen=True)
class AnnDataKeys:
    """Where in an AnnData the parts of the graph lie.

    Attributes
    ----------
    use_rep : str, optional
        Features: a key of ``obsm``, or ``"X"``. Default: ``"X_pca"`` where that exists and there are more than 50
        variables, else ``"X"``.
    obsp : str or sequence of str, optional
        Keys of ``obsp``.
    neighbors_key : str, optional
        Key of ``uns`` under which ``sc.pp.neighbors`` left its parameters; default ``"neighbors"``, where no other
        graph is named.
    weights : sequence of float, optional
        One a graph: those of ``obsp`` (or the one of ``neighbors_key`` or ``adjacency``) in their order, then the
        neighbours in space. Default: equal.
    spatial_key : str, optional
        Key of ``obsm`` with coordinates: joins each cell to its nearest in space.
    library_key : str, optional
        Key of ``obs`` that says on which slide a cell is. Neighbours in space are on the same slide; ``spatial_key``
        is then ``"spatial"`` unless given.
    n_spatial_neighbors : int, default 15
        Neighbours in space of each cell.
    use_weights : bool, default True
        Whether edges of the given graphs count by their weights; else each counts once, where it is not 0.

    Raises
    ------
    ValueError
        Both ``obsp`` and ``neighbors_key``.
    """

    use_rep: str | None = None
    obsp: str | Sequence[str] | None = None
    neighbors_key: str | None = None
    weights: Sequence[float] | None = None
    spatial_key: str | None = None
    library_key: str | None = None
    n_spatial_neighbors: int = 15
    use_weights: bool = True

    def __post_init__(self) -> None:
        if self.obsp is not None and self.neighbors_key is not None:
            either = f"{setting('obsp')} or {setting('neighbors_key')}"
            raise ValueError(f"expected {either}, got both; name the graphs by one of them")
        if self.obsp is not None and not self.obsp_keys:
            raise ValueError("expected obsp as keys of adata.obsp, got an empty list; leave it out, or name one")

    @property
    def obsp_keys(self) -> list[str]:
        """The keys of ``obsp`` as a list."""
        if self.obsp is None:
            return []
        return [self.obsp] if isinstance(self.obsp, str) else list(self.obsp)

    @property
    def positions_key(self) -> str | None:
        """The key of the coordinates whose neighbours are joined, None where none are."""
        return _POSITIONS if self.spatial_key is None and self.library_key is not None else self.spatial_key

    def record(self, adata: Any, *, adjacency: bool = False) -> dict[str, Any]:
        """Return what was used as text, numbers and lists, without what was not.

        ``neighbors_key`` is then never open, and where a matrix was given, ``adjacency`` says so.
        """
        named = adjacency or self.obsp is not None or self.neighbors_key is not None or self.positions_key is not None
        used = {
            "use_rep": representation_key(adata, self.use_rep),
            "neighbors_key": self.neighbors_key if named else "neighbors",
            "adjacency": "given" if adjacency else None,
            "obsp": self.obsp_keys or None,
            "weights": None if self.weights is None else [float(weight) for weight in self.weights],
            "spatial_key": self.positions_key,
            "library_key": self.library_key,
            "n_spatial_neighbors": None if self.positions_key is None else int(self.n_spatial_neighbors),
            "use_weights": self.use_weights,
        }
        return {name: value for name, value in used.items() if value is not None}


def require_anndata() -> Any:
    """Return the module anndata.

    Raises
    ------
    ImportError
        It is not installed.
    """
    try:
        import anndata
    except ImportError as error:
        raise ImportError(
            "expected anndata, which reads and makes .h5ad files; install it with: pip install 'tvgnn[bio]'"
        ) from error
    return anndata


def check_anndata(adata: Any) -> None:
    """Refuse what is no AnnData in memory with distinct names of its cells.

    Raises
    ------
    TypeError
        Another type.
    ValueError
        It is backed by a file, or names are not distinct.
    """
    if not all(hasattr(adata, part) for part in ("obs", "obsm", "obsp", "uns", "X", "obs_names")):
        remedy = "; read the file first: anndata.read_h5ad(path)" if isinstance(adata, str) else ""
        raise TypeError(f"expected an AnnData, got {type(adata).__name__}{remedy}")
    if getattr(adata, "isbacked", False):
        raise ValueError("expected an AnnData in memory, got one backed by a file; adata = adata.to_memory()")
    if not adata.n_obs:
        raise ValueError("expected cells, got an AnnData without any")
    if not adata.obs_names.is_unique:
        twice = adata.obs_names[adata.obs_names.duplicated()][0]
        raise ValueError(
            f"expected distinct obs_names, got {twice!r} more than once; adata.obs_names_make_unique() makes them so"
        )


def from_anndata(
    cls: type[Graph],
    adata: Any,
    *,
    use_rep: str | None = None,
    obsp: str | Sequence[str] | None = None,
    neighbors_key: str | None = None,
    adjacency: Any = None,
    weights: Sequence[float] | None = None,
    spatial_key: str | None = None,
    library_key: str | None = None,
    n_spatial_neighbors: int = 15,
    use_weights: bool = True,
    y: Any = None,
    dtype: Any = "auto",
) -> Graph:
    """Build from an ``anndata.AnnData``, one node a cell; ids are its ``obs_names``.

    Parameters
    ----------
    adata
        In memory; a view will do.
    use_rep, obsp, neighbors_key, weights, spatial_key, library_key, n_spatial_neighbors, use_weights
        Features and graphs: see :class:`tvgnn.graph.anndata_graph.AnnDataKeys`; no features where there is neither
        ``use_rep`` nor X. Without any graph that is named the one that ``sc.pp.neighbors`` made. Several are mixed: see
        :func:`tvgnn.graph.mixing.mix_adjacencies`.
    adjacency
        (N, N) matrix, in place of ``obsp`` and ``neighbors_key``.
    y, dtype
        As in :meth:`tvgnn.Graph.from_edge_index`.

    Raises
    ------
    TypeError
        ``adata`` is no AnnData.
    ValueError
        A key is unknown, graphs are named twice, none is found, weights or coordinates are not valid, names of cells
        are not distinct, or ``adata`` is backed by a file.
    GraphError
        A graph or the features are not valid, see :class:`tvgnn.Graph`.
    """
    keys = AnnDataKeys(
        use_rep, obsp, neighbors_key, weights, spatial_key, library_key, n_spatial_neighbors, use_weights
    )
    check_anndata(adata)
    names = [str(name) for name in adata.obs_names]
    # each is validated and made symmetric by itself, so that a message can say which it is
    parts = [(what, _read(cls, what, matrix, names)) for what, matrix in _given_graphs(adata, keys, adjacency)]
    if not use_weights:
        parts = [(what, _unweighted(graph)) for what, graph in parts]
    if keys.positions_key is not None:
        parts.append((f'neighbours by obsm["{keys.positions_key}"]', _graph_in_space(cls, adata, keys, names)))
    graph = _mixed(cls, parts, [1.0] * len(parts) if weights is None else weights)
    graph = graph.with_features(_features(adata, use_rep), dtype=dtype)
    return graph if y is None else graph.with_labels(y)


def _read(cls: type[Graph], what: str, matrix: Any, names: list[str]) -> Graph:
    try:
        return cls.from_scipy(matrix, node_ids=names)
    except GraphError as error:
        raise GraphError(f"{what}: {error}") from None


def _unweighted(graph: Graph) -> Graph:
    weights = np.ones_like(graph.weights)
    weights.setflags(write=False)
    return replace(graph, weights=weights, is_weighted=False)


def _mixed(cls: type[Graph], parts: list[tuple[str, Graph]], weights: Sequence[float]) -> Graph:
    names, graphs = [name for name, _ in parts], [graph for _, graph in parts]
    if len(graphs) == 1:  # it may have no edges
        shares_of(weights, 1)
        return graphs[0]
    mixed = mix_adjacencies([graph.adjacency() for graph in graphs], weights, names)
    result = cls.from_scipy(mixed, node_ids=graphs[0].node_ids)
    shares = np.asarray(weights, dtype=float) / np.sum(weights)
    recipe = " + ".join(f"{share:.3g} {name}" for share, name in zip(shares, names, strict=True))
    reports = [graph.report for graph in graphs]
    report = replace(
        result.report,
        num_self_loops=sum(report.num_self_loops for report in reports),
        num_duplicates=sum(report.num_duplicates for report in reports),
        num_zero_weights=sum(report.num_zero_weights for report in reports),
        was_directed=any(report.was_directed for report in reports),
        notes=(*dict.fromkeys(note for report in reports for note in report.notes), f"graphs mixed: {recipe}"),
    )
    return replace(result, report=report)


def _given_graphs(adata: Any, keys: AnnDataKeys, adjacency: Any) -> list[tuple[str, Any]]:
    """Name and matrix of every graph but that of positions."""
    if adjacency is not None:
        if keys.obsp is not None or keys.neighbors_key is not None:
            other = "neighbors_key" if keys.obsp is None else "obsp"
            raise ValueError(f"expected one source of the graph, got adjacency and {other}; leave one of them out")
        if tuple(np.shape(adjacency)) != (adata.n_obs, adata.n_obs):
            raise ValueError(
                f"expected an adjacency of {adata.n_obs} x {adata.n_obs}, the cells, got shape {np.shape(adjacency)}"
            )
        return [("adjacency", adjacency)]
    if keys.obsp is not None:
        for key in keys.obsp_keys:
            if key == "distances" or key.endswith("_distances"):  # as scanpy names them
                raise ValueError(
                    f"expected similarities, got obsp[{key!r}], where near cells have small values; name "
                    f"{key.removesuffix('distances') + 'connectivities'!r}, which scanpy keeps beside it, or copy what "
                    "you mean under another key"
                )
        return [(f'obsp["{key}"]', _entry(adata.obsp, key, "obsp")) for key in keys.obsp_keys]
    if keys.neighbors_key is None and keys.positions_key is not None:
        return []
    key = "neighbors" if keys.neighbors_key is None else keys.neighbors_key
    if key not in adata.uns:
        if keys.neighbors_key is not None:
            name = setting("neighbors_key")
            raise ValueError(f"expected {name} to be a key of uns, got {key!r}; it holds {_listed(adata.uns)}")
        raise ValueError(
            "expected a graph of the cells, found none; sc.pp.neighbors(adata) makes one from the features, "
            f"{setting('spatial_key', 'spatial')} takes neighbours in space, and {setting('obsp')} names one of "
            f"adata.obsp, which holds {_listed(adata.obsp)}"
        )
    found = adata.uns[key]
    name = found.get("connectivities_key", "connectivities") if hasattr(found, "get") else "connectivities"
    return [(f'obsp["{name}"]', _entry(adata.obsp, str(name), "obsp"))]


def _graph_in_space(cls: type[Graph], adata: Any, keys: AnnDataKeys, names: list[str]) -> Graph:
    positions = spatial_positions(adata, str(keys.positions_key))
    source, target, notes = edges_in_space(positions, slides_of(adata, keys.library_key), keys.n_spatial_neighbors)
    graph = cls.from_edges(source, target, node_ids=range(len(names)))
    return replace(graph, node_ids=tuple(names), report=replace(graph.report, notes=notes))


def spatial_positions(adata: Any, key: str) -> npt.NDArray[np.float64]:
    """Return the coordinates (N, D) under a key of ``obsm``.

    Raises
    ------
    ValueError
        There is no such key, or a coordinate is not finite.
    """
    values = np.asarray(_entry(adata.obsm, key, "obsm"), dtype=np.float64)
    if values.ndim != 2 or not values.shape[1]:
        raise ValueError(f'expected coordinates in obsm["{key}"], got shape {values.shape}')
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values).all(axis=1)))
        got = f"{values[row].tolist()} for cell {adata.obs_names[row]!r}"
        raise ValueError(f'expected finite coordinates in obsm["{key}"], got {got}; drop such cells')
    return values


def slides_of(adata: Any, library_key: str | None) -> npt.NDArray[np.int64] | None:
    """Return the number of each cell's slide, in the order in which slides appear; None without a key.

    Raises
    ------
    ValueError
        There is no such key, or the slide of a cell is missing.
    """
    if library_key is None:
        return None
    column = _entry(adata.obs, library_key, "obs")
    missing = np.asarray(column.isna())
    if missing.any():
        cell = adata.obs_names[int(np.argmax(missing))]
        raise ValueError(f'expected a slide of every cell in obs["{library_key}"], got none for cell {cell!r}')
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in column.tolist()], dtype=np.int64)


def representation_key(adata: Any, use_rep: str | None) -> str:
    """Return the key of the features that ``use_rep`` stands for; ``"X"`` is the matrix itself."""
    if use_rep is not None:
        return use_rep
    return "X_pca" if "X_pca" in adata.obsm and adata.n_vars > _SMALL_PANEL else "X"


def _features(adata: Any, use_rep: str | None) -> Any:
    """Features (N, F); None where none are named and X has none, as those of the graph may be meant."""
    key = representation_key(adata, use_rep)
    values = adata.X if key == "X" else _entry(adata.obsm, key, "obsm", also=("X",))
    if values is not None and values.shape[1]:
        return values
    if use_rep is None:
        return None
    raise ValueError(f"expected features in {key}, got none; obsm holds {_listed(adata.obsm)}")


def _entry(mapping: Any, key: str, where: str, also: tuple[str, ...] = ()) -> Any:
    if key not in mapping:
        raise ValueError(f"expected a key of {where}, got {key!r}; it holds {_listed([*also, *mapping.keys()])}")
    return mapping[key]


def _listed(keys: Any) -> str:
    return ", ".join(repr(str(key)) for key in keys) or "nothing"
