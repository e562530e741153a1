"""Find the domains of a tissue
============================

They come from the expression and the positions of its cells::

    python examples/spatial_omics.py --page tissue.html

The tissue is simulated: domains are bands, each with its own mixture of cell types, and every cell has counts of genes
that depend on its type. Expression alone tells types, which occur in several domains; a domain shows only in the
company that a cell keeps. So the graph joins neighbours in space, and the features are expression.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans

from tvgnn import Graph, TVClustering
from tvgnn.metrics import adjusted_rand_index
from tvgnn.report.page import ClusteringView, write_page


@dataclass
class Tissue:
    """Cells of a simulated slide: positions (n, 2), counts (n, genes), cell type and domain (n,)."""

    positions: np.ndarray
    counts: np.ndarray
    cell_type: np.ndarray
    domain: np.ndarray


def simulate(cells: int, domains: int, genes: int, rng: np.random.Generator, types: int = 8) -> Tissue:
    """Draw a tissue whose domains are wavy bands of equal area."""
    positions = rng.random((cells, 2))
    height = positions[:, 1] + 0.06 * np.sin(2 * np.pi * positions[:, 0])
    domain = np.argsort(np.argsort(height)) * domains // cells
    mixtures = rng.dirichlet(np.full(types, 0.7), size=domains)
    cell_type = np.array([rng.choice(types, p=mixtures[band]) for band in domain])
    profiles = rng.lognormal(0.0, 1.0, (types, genes))
    depth = rng.lognormal(0.0, 0.3, (cells, 1))  # how much of each cell was captured
    counts = rng.poisson(depth * rng.gamma(2.0, profiles[cell_type] / 2.0))
    return Tissue(positions, counts, cell_type, domain)


def expression(counts: np.ndarray) -> np.ndarray:
    """Return the logarithm of the counts, every cell scaled to the same total."""
    total = np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return np.log1p(counts * (np.median(total) / total))


def main(arguments: list[str] | None = None) -> dict[str, float]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", type=int, default=4000)
    parser.add_argument("--domains", type=int, default=6)
    parser.add_argument("--genes", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--page", type=Path, help="where to write a page for the browser")
    options = parser.parse_args(arguments)
    tissue = simulate(options.cells, options.domains, options.genes, np.random.default_rng(options.seed))
    x = expression(tissue.counts)
    cells = [f"cell {i}" for i in range(options.cells)]
    graph = Graph.from_features(tissue.positions, n_neighbors=12, y=tissue.domain, node_ids=cells).with_features(x)

    model = TVClustering(options.domains, preset="quality", random_state=options.seed).fit(graph)
    k_means = KMeans(options.domains, n_init=10, random_state=options.seed).fit_predict(x)
    agreement = {
        "tvgnn": adjusted_rand_index(tissue.domain, model.labels_),
        "k-means": adjusted_rand_index(tissue.domain, k_means),
    }
    print(f"{graph}; domains of {np.bincount(model.labels_).tolist()} cells in {model.fit_seconds_:.1f} s")
    print("ARI with the domains: " + ", ".join(f"{name} {value:.3f}" for name, value in agreement.items()))
    if options.page:
        view = ClusteringView(
            model.assignments_,
            graph.adjacency(),
            "simulated tissue",
            embedding=model.embedding_,
            x=x,
            feature_names=[f"gene {i}" for i in range(options.genes)],
            node_ids=cells,
            y=tissue.domain,
            class_names=[f"band {i}" for i in range(options.domains)],
            positions=tissue.positions,
            loss_history=model.loss_history_,
        )
        write_page(options.page, view, projection="pca")
        print(f"page in {options.page}")
    return agreement


if __name__ == "__main__":
    main()
