"""Scaling of principal component scores, on simulated counts: `python -m benchmarks.cell_scores --cells 3000`.

Cells of twelve types, counts of 1,500 genes, `log1p` of counts of equal depth, the 1,000 genes that vary most, 50
components: the usual way to `X_pca`. The types are looked at after everything, by `normalized_mutual_info` alone.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from tvgnn import Graph, TVClustering
from tvgnn.errors import ClusteringWarning
from tvgnn.metrics import normalized_mutual_info

__all__ = ["main", "simulated_scores"]

_TYPES, _GENES, _KEPT, _COMPONENTS = 12, 1500, 1000, 50
_NORMS = ("auto", "standardize")


def simulated_scores(n_cells: int, effect: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw counts of cells and return their scores (N, 50) float32 and types (N,).

    Types differ in 8 % of the genes, by logarithms of deviation ``3 * effect``; cells by their depth and, gene by gene,
    by gamma noise of shape 5.
    """
    draw = np.random.default_rng(seed)
    types = draw.choice(_TYPES, n_cells, p=draw.dirichlet(np.full(_TYPES, 3.0)))
    base = draw.normal(-1.5, 1.2, _GENES)
    folds = 3 * effect * draw.normal(size=(_TYPES, _GENES))
    folds[draw.random((_TYPES, _GENES)) >= 0.08] = 0
    rates = np.exp(base + folds[types])
    rates *= draw.lognormal(0, 0.4, (n_cells, 1)) * 1500 / rates.sum(1).mean()
    counts = draw.poisson(rates * draw.gamma(5, 1 / 5, rates.shape))
    depth = np.maximum(counts.sum(1, keepdims=True), 1)
    logarithms = np.log1p(counts / depth * np.median(depth))
    kept = np.argsort(-logarithms.var(0))[:_KEPT]
    return PCA(_COMPONENTS, random_state=0).fit_transform(logarithms[:, kept]).astype(np.float32), types


def main() -> None:
    """Print a line a seed: NMI with the types by scaling, on the graph of the scores as they are and on the own one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=3000)
    parser.add_argument("--effect", type=float, default=0.15)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--preset", default="quality")
    parser.add_argument("--max-iter", type=int)
    options = parser.parse_args()
    for seed in options.seeds:
        x, types = simulated_scores(options.cells, options.effect, seed)
        given = Graph.from_features(x).adjacency()
        row: dict[str, Any] = {"seed": seed}
        for norm in _NORMS:
            for name, adjacency in (("given graph", given), ("own graph", None)):
                model = TVClustering(
                    _TYPES, preset=options.preset, feature_norm=norm, max_iter=options.max_iter, random_state=0
                )
                start = time.perf_counter()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ClusteringWarning)
                    model.fit(x, adjacency=adjacency)
                row[f"{model.feature_norm_}, {name}"] = round(normalized_mutual_info(types, model.labels_), 3)
                row["seconds"] = round(row.get("seconds", 0) + time.perf_counter() - start)
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
