"""Clustering of an AnnData, in the manner of ``scanpy.tl.leiden``."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from tvgnn.graph.anndata_graph import AnnDataKeys, check_anndata
from tvgnn.graph.graph import Graph
from tvgnn.graph.row_labels import matrix_in_order
from tvgnn.metrics import evaluate

if TYPE_CHECKING:
    from tvgnn.estimators.clustering import TVClustering

__all__ = ["check_key", "store_clustering", "tv_clustering"]

_KEY = "tvgnn"


def tv_clustering(
    adata: Any,
    n_clusters: int,
    *,
    key_added: str = _KEY,
    use_rep: str | None = None,
    neighbors_key: str | None = None,
    obsp: str | Sequence[str] | None = None,
    adjacency: Any = None,
    weights: Sequence[float] | None = None,
    spatial_key: str | None = None,
    library_key: str | None = None,
    n_spatial_neighbors: int = 15,
    use_weights: bool = True,
    restrict_to: tuple[str, Sequence[str]] | None = None,
    random_state: int = 0,
    embedding: bool = False,
    copy: bool = False,
    **parameters: Any,
) -> Any:
    """Cluster the cells of an AnnData by their features and one or several graphs.

    Needs ``pip install 'tvgnn[bio]'``.

    Parameters
    ----------
    adata : AnnData
        Cells with features, in memory.
    n_clusters : int
        K, an upper bound.
    key_added : str, default "tvgnn"
        Where the results go; results of an earlier run under it are overwritten, anything else there is refused.
    use_rep : str, optional
        Features: a key of ``obsm``, or ``"X"``, dense or sparse. Default: ``"X_pca"`` where that exists and there are
        more than 50 variables, else ``"X"``.
    neighbors_key : str, optional
        Key of ``uns`` where ``sc.pp.neighbors`` left its parameters. Default ``"neighbors"``, where no other graph is
        named.
    obsp : str or sequence of str, optional
        Graphs by their keys in ``obsp``; not together with ``neighbors_key`` or ``adjacency``.
    adjacency : sparse matrix of shape (N, N), optional
        A graph that is not in ``adata``; a data frame labelled by ``obs_names`` may have them in another order.
    weights : sequence of float, optional
        One a graph, the neighbours in space last; default: equal. Each graph is first scaled to the same total weight,
        so that 0.7 and 0.3 give them 70 % and 30 % of all edge weight: :func:`tvgnn.graph.mixing.mix_adjacencies`.
    spatial_key : str, optional
        Key of ``obsm`` with coordinates: joins every cell to its nearest in space.
    library_key : str, optional
        Key of ``obs`` with the slide of each cell: neighbours in space are sought on the same slide only.
        ``spatial_key`` is then ``"spatial"`` unless given.
    n_spatial_neighbors : int, default 15
        Neighbours in space of each cell.
    use_weights : bool, default True
        Whether edges of the given graphs count by their weights, or each once.
    restrict_to : (str, sequence of str), optional
        Cluster the cells of these categories of a column of ``obs`` only, such as ``("leiden", ["0", "3"])``. As in
        scanpy the others keep their category, the clusters are called ``"0-3,0"``, ``"0-3,1"``, ..., and the result is
        under ``"tvgnn_R"`` where ``key_added`` is not given.
    random_state : int, default 0
        Seed.
    embedding : bool, default False
        Keep the embedding of the cells as well, for neighbours or a UMAP of it.
    copy : bool, default False
        Return a copy with the results and leave ``adata`` as it is.
    **parameters
        Of :class:`tvgnn.TVClustering`, such as ``n_init=3``. Without ``preset`` it is
        ``"quality"``, or ``"paper"`` where a parameter is given that only it has, such as ``delta_coeff``.

    Returns
    -------
    AnnData or None
        The copy, where it is asked for. The results are

        - ``obs[key_added]``: clusters as a categorical of strings, ``"0"`` the largest;
        - ``obsm[key_added]``: soft assignments (N, K) float32, NaN for cells that ``restrict_to`` leaves out;
        - ``obsm["X_" + key_added]``: where ``embedding``, the embedding (N, d) float32, NaN for cells left out;
        - ``uns[key_added]``: ``params`` and what came out: numbers, text and lists, which h5ad and JSON can hold.

    Raises
    ------
    ValueError
        ``key_added`` has a slash or is taken, ``adata`` is a view (unless ``copy``) or backed by a file, a key or
        category is unknown, graphs are named twice or none is found, or values are not valid; the message lists what
        there is. Also as
        :meth:`tvgnn.TVClustering.fit`.

    Examples
    --------
    >>> import anndata
    >>> import numpy as np
    >>> x = np.random.default_rng(0).normal(size=(60, 3)) + np.repeat([[0], [9]], 30, axis=0)
    >>> adata = anndata.AnnData(x, obsm={"spatial": x[:, :2]})
    >>> tv_clustering(adata, 2, spatial_key="spatial")
    >>> adata.obs["tvgnn"].value_counts().to_dict()
    {'0': 30, '1': 30}
    """
    from tvgnn.estimators.clustering import TVClustering
    from tvgnn.estimators.presets import preset_without_name

    check_anndata(adata)
    if adata.is_view and not copy:
        raise ValueError(
            "expected an AnnData of its own, got a view of another one, which results cannot be written into; "
            "adata = adata.copy() first, or copy=True"
        )
    keys = AnnDataKeys(
        use_rep, obsp, neighbors_key, weights, spatial_key, library_key, n_spatial_neighbors, use_weights
    )
    if use_rep is not None and parameters.get("features") is not None:
        raise ValueError(f"expected one kind of features, got use_rep={use_rep!r} and features")
    check_key(adata, _key_of(key_added, restricted=restrict_to is not None), embedding=embedding)
    adjacency = matrix_in_order(adjacency, adata.obs_names.tolist())
    rows, part = None, adata
    if restrict_to is not None:
        restrict_to, rows = _restricted(adata, restrict_to, n_clusters)
        part = adata[rows]
        adjacency = None if adjacency is None else _part_of(adjacency, rows, adata.n_obs)
    graph = Graph.from_anndata(part, adjacency=adjacency, **vars(keys))
    if parameters.get("features") is not None:
        graph = graph.with_features(None)
    parameters.setdefault("preset", preset_without_name(parameters))
    estimator = TVClustering(n_clusters, random_state=random_state, **parameters).fit(graph)
    target = adata.copy() if copy else adata
    settings = keys.record(adata, adjacency=adjacency is not None)
    if parameters.get("features") is not None:
        del settings["use_rep"]
    store_clustering(
        target, estimator, key_added, settings=settings, restrict_to=restrict_to, rows=rows, embedding=embedding
    )
    return target if copy else None


def store_clustering(
    adata: Any,
    estimator: TVClustering,
    key_added: str = _KEY,
    *,
    settings: dict[str, Any] | None = None,
    restrict_to: tuple[str, Sequence[str]] | None = None,
    rows: npt.NDArray[np.int64] | None = None,
    embedding: bool = False,
) -> None:
    """Write a fitted clustering of the cells into ``obs``, ``obsm`` and ``uns``, as :func:`tv_clustering` does.

    Parameters
    ----------
    adata : AnnData
        Written to.
    estimator : TVClustering
        Fitted on the cells of ``adata``, in their order, or on ``rows`` of them.
    key_added : str, default "tvgnn"
        Where the results go.
    settings : dict, optional
        How the graph was made, kept with the parameters.
    restrict_to, rows : optional
        The categories that the cells were restricted to, and their indices.
    embedding : bool, default False
        Whether the embedding is kept.
    """
    import pandas as pd

    names = [str(cluster) for cluster in range(estimator.n_clusters_found_)]
    codes, assignments = estimator.labels_, estimator.assignments_
    if restrict_to is not None and rows is not None:
        column, categories = restrict_to
        key_added = _key_of(key_added, restricted=True)
        others = np.setdiff1d(np.arange(adata.n_obs), rows)
        codes_of_others, kept = _categories(adata, column, others)
        names = [*kept, *(f"{_joined(categories)},{name}" for name in names)]
        codes = np.empty(adata.n_obs, dtype=np.int64)
        codes[others], codes[rows] = codes_of_others, len(kept) + estimator.labels_
        assignments = _of_all(assignments, rows, adata.n_obs)
    # objects, as anndata 0.12 does not write the text type of pandas 3 unless it is told to
    clusters = pd.Categorical.from_codes(codes, categories=pd.Index(names, dtype=object))
    adata.obs[key_added] = pd.Series(clusters, index=adata.obs_names)
    adata.obsm[key_added] = assignments
    if embedding:
        found = estimator.embedding_
        adata.obsm[_embedding_key(key_added)] = found if rows is None else _of_all(found, rows, adata.n_obs)
    elif _keeps_embedding(adata, key_added):  # of an earlier run, which does not belong to these clusters
        adata.obsm.pop(_embedding_key(key_added), None)
    adata.uns[key_added] = _record(estimator, settings or {}, restrict_to, embedding)


def _key_of(key_added: str, *, restricted: bool) -> str:
    return f"{_KEY}_R" if restricted and key_added == _KEY else key_added


def _embedding_key(key: str) -> str:
    return f"X_{key}"


def _of_all(values: npt.NDArray[Any], rows: npt.NDArray[np.int64], number: int) -> npt.NDArray[np.float32]:
    """Values of some rows in a matrix of all, NaN in the others."""
    found = np.full((number, values.shape[1]), np.nan, dtype=np.float32)
    found[rows] = values
    return found


def check_key(adata: Any, key: str = _KEY, *, embedding: bool = False) -> None:
    """Refuse to overwrite what no run has written: a run leaves its record in ``uns`` beside the results.

    Raises
    ------
    ValueError
        The key is no name that h5ad can hold, or is taken.
    """
    if not isinstance(key, str) or not key or "/" in key:
        raise ValueError(f"expected key_added to be a name without slashes, which h5ad takes for folders, got {key!r}")
    ours = _earlier_record(adata, key) is not None
    taken = [] if ours else [f"{name}[{key!r}]" for name in ("obs", "obsm", "uns") if key in getattr(adata, name)]
    if embedding and _embedding_key(key) in adata.obsm and not _keeps_embedding(adata, key):
        taken.append(f"obsm[{_embedding_key(key)!r}]")
    if taken:
        raise ValueError(
            f"expected key_added to be a new key, or that of an earlier run, got {key!r}, but {taken[0]} is something "
            f"else; take another name, such as {_KEY + '_2'!r}"
        )


def _earlier_record(adata: Any, key: str) -> Any:
    record = adata.uns.get(key)
    known = hasattr(record, "keys") and {"params", "n_clusters_found", "version"} <= set(record.keys())
    return record if known else None


def _keeps_embedding(adata: Any, key: str) -> bool:
    record = _earlier_record(adata, key)
    return record is not None and bool(record.get("embedding", False))


def _record(
    estimator: TVClustering,
    settings: dict[str, Any],
    restrict_to: tuple[str, Sequence[str]] | None,
    embedding: bool,
) -> dict[str, Any]:
    """Parameters and outcome as numbers, strings and lists: None and NaN have no place in every h5ad."""
    graph = estimator.graph_
    restricted = None if restrict_to is None else [restrict_to[0], *restrict_to[1]]
    given = {**estimator.get_params(), **settings, "restrict_to": restricted}
    params = {name: value.item() if isinstance(value, np.generic) else value for name, value in given.items()}
    quality = evaluate(graph.adjacency(), estimator.labels_, estimator.assignments_)
    return {
        "params": {name: value for name, value in params.items() if isinstance(value, str | int | float | list)},
        **({"choices": _storable(estimator.choices_)} if estimator.choices_ else {}),
        "notes": list(graph.report.notes),
        "n_edges": graph.num_edges,
        "feature_norm": str(estimator.feature_norm_),
        **quality,
        "loss": float(estimator.loss_),
        **{name: float(value) for name, value in estimator.loss_terms_.items()},
        "n_iter": int(estimator.n_iter_),
        "converged": bool(estimator.converged_),
        "fit_seconds": float(estimator.fit_seconds_),
        "embedding": embedding,
        "version": version("tvgnn"),
    }


def _storable(choices: dict[str, Any]) -> dict[str, Any]:
    """Choices with tables in place of lists of tables, which h5ad does not know: by their number, as text."""
    return {
        name: {str(number): one for number, one in enumerate(value)}
        if isinstance(value, list) and any(isinstance(one, dict) for one in value)
        else value
        for name, value in choices.items()
    }


def _part_of(adjacency: Any, rows: npt.NDArray[np.int64], n_obs: int) -> Any:
    """Return the rows and columns of some cells."""
    if np.shape(adjacency) != (n_obs, n_obs):
        raise ValueError(f"expected an adjacency of {n_obs} x {n_obs}, the cells, got shape {np.shape(adjacency)}")
    return sp.csr_array(adjacency)[rows][:, rows]


def _categories(
    adata: Any, column: str, rows: npt.NDArray[np.int64] | None = None
) -> tuple[npt.NDArray[np.int64], list[str]]:
    """Codes of cells in a column of obs, -1 where a cell has no category, and the names, sorted as text."""
    import pandas as pd

    values = adata.obs[column].astype(object)
    values = values.where(values.notna())
    names = [None if pd.isna(value) else str(value) for value in (values if rows is None else values.iloc[rows])]
    known = sorted({name for name in names if name is not None})
    code = {name: number for number, name in enumerate(known)} | {None: -1}
    return np.array([code[name] for name in names], dtype=np.int64), known


def _joined(categories: Sequence[str]) -> str:
    return "-".join(categories)


def _restricted(adata: Any, restrict_to: Any, n_clusters: int) -> tuple[tuple[str, list[str]], npt.NDArray[np.int64]]:
    """Return what was asked for as (column, categories), each once, and the indices of their cells."""
    try:
        column, categories = restrict_to
    except (TypeError, ValueError):
        raise ValueError(f"expected restrict_to as (key of obs, categories), got {restrict_to!r}") from None
    if column not in adata.obs:
        raise ValueError(f"expected restrict_to to name a column of obs, got {column!r}; it holds {list(adata.obs)}")
    if isinstance(categories, str | set | frozenset) or not np.iterable(categories):
        raise ValueError(f"expected the categories of restrict_to as a list of strings, got {categories!r}")
    chosen = list(dict.fromkeys(categories))
    if not all(isinstance(category, str) for category in chosen):
        raise ValueError(f"expected the categories of restrict_to as a list of strings, got {categories!r}")
    codes, known = _categories(adata, column)
    if not chosen or not set(chosen) <= set(known):
        raise ValueError(f"expected categories of obs[{column!r}] in restrict_to, got {chosen}; it has {known}")
    count = n_clusters if isinstance(n_clusters, int) else 0  # fit refuses other values
    new = {f"{_joined(chosen)},{number}" for number in range(count)}
    taken = sorted(new & (set(known) - set(chosen)))
    if taken:
        raise ValueError(
            f"expected names of clusters that obs[{column!r}] does not have yet, got {taken[0]!r}; rename its category"
        )
    return (column, chosen), np.flatnonzero(np.isin(codes, [known.index(category) for category in chosen]))
