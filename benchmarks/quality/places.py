"""Graphs of places: nodes joined to what is near, whose table has measurements and the coordinates."""

from __future__ import annotations

import numpy as np
from scipy.spatial import Delaunay, cKDTree

from tvgnn import Graph

__all__ = ["simulate_places"]

_NEAR = 8  # neighbours within the radius, on average


def simulate_places(number: int) -> Graph:
    """Draw 500 to 2,500 nodes, ``x`` (N, F) float32 with the two coordinates last, and ``y`` (N,).

    Parameters:
        number: seeds the draw and names its settings: all of measurements, counts, and measurements beside answers,
            with edges to nearest neighbours, of a Delaunay triangulation, and within a radius. Each class fills one to
            four regions, with some strays; coordinates have a unit of 0.01 to 10,000.

    """
    random = np.random.default_rng([number, 37])
    nodes, classes = int(random.integers(500, 2500)), int(random.integers(3, 8))
    place = random.random((nodes, 2)) * [1, random.uniform(0.3, 1)]
    centres = place[random.choice(nodes, classes * int(random.integers(1, 5)), replace=False)]
    y = cKDTree(centres).query(place)[1] % classes
    y = np.where(random.random(nodes) < random.uniform(0, 0.2), random.integers(0, classes, nodes), y)
    columns, contrast = int(random.integers(3, 15)), random.uniform(0.3, 0.9)
    measured = contrast * random.normal(size=(classes, columns))[y] + random.normal(size=(nodes, columns))
    if number % 3 == 1:
        wide = 4 * columns
        level = 0.8 * random.normal(size=wide) + 0.6 * contrast * random.normal(size=(classes, wide))[y]
        measured = random.poisson(np.exp(level)).astype(float)
    elif number % 3 == 2:
        odds = 2 * contrast * random.normal(size=(classes, 6))[y]
        measured = np.hstack([measured, random.random((nodes, 6)) < 1 / (1 + np.exp(-odds))])
    unit = 10.0 ** random.integers(-2, 5)
    x = np.hstack([measured, unit * (place - random.random())]).astype(np.float32)
    return Graph.from_edge_index(_joined(place, number // 3 % 3, random), num_nodes=nodes, x=x, y=y)


def _joined(place: np.ndarray, how: int, random: np.random.Generator) -> np.ndarray:
    if how == 0:
        neighbors = int(random.integers(4, 12))
        nearest = cKDTree(place).query(place, k=neighbors + 1)[1][:, 1:]
        return np.stack([np.repeat(np.arange(len(place)), neighbors), nearest.ravel()])
    if how == 1:
        corners = Delaunay(place).simplices
        return np.hstack([corners[:, [0, 1]].T, corners[:, [1, 2]].T, corners[:, [0, 2]].T])
    radius = np.sqrt(_NEAR * np.prod(np.ptp(place, axis=0)) / (np.pi * len(place)))
    return cKDTree(place).query_pairs(radius, output_type="ndarray").T
