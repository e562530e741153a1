"""A clustering of any graph as an AnnData of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tvgnn.graph.anndata_graph import require_anndata
from tvgnn.graph.graph import Graph

__all__ = ["to_anndata"]


def to_anndata(graph: Graph, *, feature_names: Sequence[str] | None = None, positions: Any = None) -> Any:
    """Make an AnnData of a graph: nodes as observations, features as variables, edges as neighbours.

    Needs ``pip install 'tvgnn[bio]'``.

    Parameters
    ----------
    graph : tvgnn.Graph
        Features are ``X``, ids ``obs_names``, classes ``obs["class"]``; the adjacency is ``obsp["connectivities"]``.
    feature_names : sequence of str, optional
        ``var_names``, made distinct.
    positions : array-like of float, shape (N, 2), optional
        Where nodes are, y upwards: ``obsm["spatial"]``, whose y goes downwards as scanpy draws it.

    Returns
    -------
    AnnData

    Examples
    --------
    >>> to_anndata(Graph.from_edges(["ann"], ["bob"], x=[[1], [2]], node_ids=["ann", "bob"])).obs_names.tolist()
    ['ann', 'bob']
    """
    anndata = require_anndata()
    import pandas as pd

    # objects, as anndata 0.12 does not write the text type of pandas 3 unless it is told to
    obs = pd.DataFrame(index=pd.Index([str(key) for key in graph.node_ids], dtype=object))
    if graph.y is not None:
        names = pd.Index([str(name) for name in graph.class_names], dtype=object)
        obs["class"] = pd.Categorical.from_codes(graph.y, categories=names)
    x = None if graph.x is None else graph.x.copy()
    names = feature_names if feature_names is not None else [f"feature {i}" for i in range(1, graph.num_features + 1)]
    var = pd.DataFrame(index=pd.Index([str(name) for name in names], dtype=object))
    adata = anndata.AnnData(X=x, obs=obs, var=var)
    adata.var_names_make_unique()
    adata.obsp["connectivities"] = graph.adjacency().copy()
    if positions is not None:
        adata.obsm["spatial"] = np.asarray(positions, dtype=np.float64) * [1, -1]
    return adata
