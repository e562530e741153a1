"""Bench-easy and Bench-hard: graphs whose class is the arrangement of three point clouds, drawn by their recipe."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tvgnn.datasets.bench_file import read_bench
from tvgnn.datasets.block_graphs import BlockGraphs
from tvgnn.graph.graph import Graph

__all__ = ["BENCH_SETS", "BenchRecipe", "bench_split", "generate_bench", "load_bench"]

_MOONS_NOISE = 0.1
_CORNERS = np.array([[0.0, 0.0], [2.0, -2.0], [4.0, 0.0]])
# For each class the corners at which the moons, the quantiles and the blob lie.
_ARRANGEMENTS = ((2, 0, 1), (1, 2, 0), (0, 1, 2))
_SUB_CLUSTERS = 5  # two moons, two quantiles, the blob


@dataclass(frozen=True)
class BenchRecipe:
    """Parameters of one set.

    Attributes
    ----------
    file : str
        Path of the published file below a data folder.
    spread : float
        Covariance of the Gaussian quantiles; the blob's standard deviation is twice that.
    n_neighbors : int
        Neighbours that each node names; edges unite both directions.
    fewest, most : int
        The number of points is drawn from ``fewest <= n < most``, and each cloud has a third of them, rounded down.
    graphs_per_class : int
        Graphs of each of the 3 classes.
    """

    file: str
    spread: float
    n_neighbors: int
    fewest: int
    most: int
    graphs_per_class: int


BENCH_SETS: dict[str, BenchRecipe] = {
    "bench-easy": BenchRecipe("bench/easy.npz", 0.4, 5, 100, 200, 600),
    "bench-hard": BenchRecipe("bench/hard.npz", 0.2, 3, 100, 200, 600),
    "bench-easy-small": BenchRecipe("bench/easy_small.npz", 0.4, 5, 40, 80, 100),
    "bench-hard-small": BenchRecipe("bench/hard_small.npz", 0.2, 3, 40, 80, 100),
}


def load_bench(name: str, folders: list[Path], seed: int = 0) -> list[Graph]:
    """Read the published file from the first of ``folders`` that has it, else draw the set.

    Each graph carries one-hot features of its 5 sub-clusters, its class as ``label``, and a note in its report:
    ``"published file"`` or ``"generated, seed S"``.

    Raises
    ------
    DataError
        If a published file is there and is damaged or something else.
    """
    path = _published(name, folders)
    return generate_bench(name, seed) if path is None else read_bench(path)[0]


def bench_split(name: str, folders: list[Path]) -> dict[str, range] | None:
    """Return the positions of the published ``train``, ``val`` and ``test`` graphs, None where the set is drawn."""
    path = _published(name, folders)
    return None if path is None else read_bench(path)[1]


def generate_bench(name: str, seed: int = 0) -> list[Graph]:
    """Draw one of :data:`BENCH_SETS`; classes take turns, so that any first graphs are balanced too.

    Coordinates are divided by their largest value along each axis before neighbours are sought, as in the recipe.

    Parameters
    ----------
    name : str
        The set.
    seed : int, default 0
        Seed of :func:`numpy.random.default_rng`.

    Examples
    --------
    >>> graphs = generate_bench("bench-hard-small", seed=1)
    >>> len(graphs), graphs[0].num_features, [graph.label for graph in graphs[:4]]
    (300, 5, [0, 1, 2, 0])
    """
    recipe = BENCH_SETS[name]
    rng = np.random.default_rng(seed)
    classes = np.arange(3 * recipe.graphs_per_class) % 3
    sources, targets, sub_clusters, sizes = [], [], [], []
    first = 0
    for label in classes.tolist():
        points, parts = _draw_points(recipe, label, rng)
        sources.append(np.repeat(np.arange(first, first + len(points)), recipe.n_neighbors))
        targets.append(_neighbors(points, recipe.n_neighbors).ravel() + first)
        sub_clusters.append(parts)
        sizes.append(len(points))
        first += len(points)
    source, target = np.concatenate(sources), np.concatenate(targets)
    # both directions are listed, so that the union is part of the recipe and no report calls the graph directed
    both = np.sort(np.concatenate([source * first + target, target * first + source]))
    both = both[np.diff(both, prepend=-1) > 0]
    blocks = BlockGraphs.from_edges(both // first, both % first, np.array(sizes))
    x = np.eye(_SUB_CLUSTERS, dtype=np.float32)[np.concatenate(sub_clusters)]
    return blocks.cut(x, classes.tolist(), (f"generated, seed {seed}",))


def _draw_points(
    recipe: BenchRecipe, label: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.float64], npt.NDArray[Any]]:
    """Return the (n, 2) points of one graph and the sub-cluster of each."""
    from sklearn.datasets import make_blobs, make_gaussian_quantiles, make_moons

    size = int(rng.integers(recipe.fewest, recipe.most)) // 3
    seeds = rng.integers(2**32, size=3).tolist()
    moons = make_moons(size, noise=_MOONS_NOISE, random_state=seeds[0])
    quantiles = make_gaussian_quantiles(
        n_samples=size, n_features=2, n_classes=2, cov=recipe.spread, random_state=seeds[1]
    )
    blob = make_blobs(size, centers=[[0.0, 0.0]], cluster_std=2 * recipe.spread, random_state=seeds[2])
    clouds, parts = zip(moons, quantiles, blob, strict=True)
    corners = _CORNERS[list(_ARRANGEMENTS[label])]
    points = np.concatenate([cloud + corner for cloud, corner in zip(clouds, corners, strict=True)])
    return points / points.max(axis=0), np.concatenate([parts[0], parts[1] + 2, parts[2] + 4])


def _neighbors(points: npt.NDArray[np.float64], n_neighbors: int) -> npt.NDArray[np.int64]:
    """Return the (n, k) nearest other points of each; ``kneighbors_graph`` finds the same in ten times the time."""
    from sklearn.neighbors import KDTree

    # the nearest point is the point itself, as no two coincide
    nearest: npt.NDArray[np.int64] = KDTree(points).query(points, n_neighbors + 1, return_distance=False)
    return nearest[:, 1:]


def _published(name: str, folders: list[Path]) -> Path | None:
    return next((path for folder in folders if (path := folder / BENCH_SETS[name].file).is_file()), None)
