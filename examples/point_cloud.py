"""Cut a cloud of points into its parts
====================================

Its parts are the links of a chain::

    python examples/point_cloud.py --out chain.png

The links pass through each other, so no plane separates them and k-means, which looks at positions only, slices them.
A graph of nearest neighbours follows the surface: few edges lead from one link to the next, and the total variation is
cut there. As features it gets the slow modes of the graph and no positions, which would speak for k-means' slices.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib import pyplot as plt
from sklearn.cluster import KMeans

from tvgnn import Graph, TVClustering
from tvgnn.metrics import adjusted_rand_index


def chain(n_links: int, per_link: int, noise: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return (n, 3) points on rings of radius 1 that hang in each other, and the ring of each point."""
    points = []
    for link in range(n_links):
        around, across = rng.uniform(0, 2 * np.pi, (2, per_link))
        reach = 1 + 0.15 * np.cos(across)
        ring = np.stack([reach * np.cos(around), reach * np.sin(around), 0.15 * np.sin(across)], axis=1)
        if link % 2:
            ring = ring[:, [0, 2, 1]]  # every other link stands upright
        ring[:, 0] += 1.35 * link
        points.append(ring)
    cloud = np.concatenate(points) + rng.normal(0, noise, (n_links * per_link, 3))
    return cloud, np.repeat(np.arange(n_links), per_link)


def picture(points: np.ndarray, partitions: dict[str, np.ndarray], path: Path) -> None:
    """Draw the cloud as seen from the front and above, far points first."""
    tilt = np.radians(35)
    up = points[:, 2] * np.cos(tilt) + points[:, 1] * np.sin(tilt)
    order = np.argsort(points[:, 2] * np.sin(tilt) - points[:, 1] * np.cos(tilt))
    figure, axes = plt.subplots(1, len(partitions), figsize=(5 * len(partitions), 2.2), layout="constrained")
    for axis, (title, labels) in zip(axes, partitions.items(), strict=True):
        axis.scatter(points[order, 0], up[order], c=labels[order], cmap="tab10", vmin=0, vmax=9, s=3, linewidths=0)
        axis.set_title(title)
        axis.set_aspect("equal")
        axis.set_axis_off()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main(arguments: list[str] | None = None) -> dict[str, float]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--links", type=int, default=5)
    parser.add_argument("--points", type=int, default=5000, help="of the whole cloud")
    parser.add_argument("--noise", type=float, default=0.05, help="standard deviation, the links being 0.3 thick")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="where to draw the parts: .png, .pdf or .svg")
    options = parser.parse_args(arguments)
    rng = np.random.default_rng(options.seed)
    points, link = chain(options.links, options.points // options.links, options.noise, rng)
    graph = Graph.from_features(points, n_neighbors=10).with_structural_features("spectral", dim=options.links)

    model = TVClustering(options.links, preset="quick", n_init=10, random_state=options.seed).fit(graph)
    k_means = KMeans(options.links, n_init=10, random_state=options.seed).fit_predict(points)
    agreement = {"tvgnn": adjusted_rand_index(link, model.labels_), "k-means": adjusted_rand_index(link, k_means)}
    print(f"{graph}; parts of {np.bincount(model.labels_).tolist()} points, loss {model.loss_:.4f}")
    print("ARI with the links: " + ", ".join(f"{name} {value:.3f}" for name, value in agreement.items()))
    if options.out:
        picture(points, {"tvgnn": model.labels_, "k-means on positions": k_means}, options.out)
        print(f"picture in {options.out}")
    return agreement


if __name__ == "__main__":
    main()
