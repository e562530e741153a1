"""Segment a photograph
====================

One of scikit-learn's, 427 x 640 = 273,280 pixels, into clusters of colour and position::

    python examples/segment_photograph.py china --out china.png

Widths of 32 and 16 are enough for five features per pixel and keep the memory of 273,280 nodes small. Edges weigh less
across a change of colour, so that the total variation is cut along contours, and position counts less than colour.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_sample_image

from tvgnn import TVClustering
from tvgnn.datasets import image_graph


def segmentation_picture(image: np.ndarray, labels: np.ndarray, path: Path) -> None:
    """Save the photograph beside its segments, each in its mean colour, and beside the segments in plain colours."""
    flat = image.reshape(-1, 3).astype(float)
    counts = np.bincount(labels)
    means = np.stack([np.bincount(labels, flat[:, c]) / np.maximum(counts, 1) for c in range(3)], axis=1)
    figure, axes = plt.subplots(1, 3, figsize=(15, 3.8), layout="constrained")
    axes[0].imshow(image)
    axes[1].imshow((means[labels] / 255).reshape(image.shape))
    axes[2].imshow(labels.reshape(image.shape[:2]), cmap="tab10", vmin=0, vmax=9, interpolation="nearest")
    titles = ("photograph", "segments in their mean colour", f"{np.count_nonzero(counts)} segments")
    for axis, title in zip(axes, titles, strict=True):
        axis.set_title(title)
        axis.set_axis_off()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main(arguments: list[str] | None = None) -> np.ndarray:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photograph", nargs="?", choices=("china", "flower"), default="china")
    parser.add_argument("-k", "--n-clusters", type=int, default=8)
    parser.add_argument("--max-iter", type=int, default=200)
    parser.add_argument("--position-weight", type=float, default=0.3)
    parser.add_argument("--every", type=int, default=1, help="take every n-th pixel of every n-th row")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("segments.png"))
    options = parser.parse_args(arguments)
    image = load_sample_image(f"{options.photograph}.jpg")[:: options.every, :: options.every]
    graph = image_graph(image, color_scale=0.1)
    features = (graph.x - graph.x.mean(axis=0)) / graph.x.std(axis=0)
    features[:, 3:] *= options.position_weight
    graph = graph.with_features(features)
    start = time.perf_counter()
    model = TVClustering(
        options.n_clusters,
        hidden_channels=32,
        mlp_channels=16,
        max_iter=options.max_iter,
        learning_rate=1e-2,
        feature_norm=None,
        random_state=options.seed,
        verbose=1,
    ).fit(graph)
    seconds = time.perf_counter() - start
    segmentation_picture(image, model.labels_, options.out)
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{graph.num_nodes} pixels, {model.n_clusters_found_} segments of {np.bincount(model.labels_).tolist()} pixels"
    )
    print(
        f"{model.n_iter_} epochs in {seconds:.0f} s, {model.ms_per_epoch_:.0f} ms each; peak memory {gigabytes:.2f} GB"
    )
    print(f"loss {model.loss_:.4f}; picture in {options.out}")
    return model.labels_.reshape(image.shape[:2])


if __name__ == "__main__":
    main()
