"""Real data that scikit-learn installs: handwritten digits and two photographs. No download."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tvgnn.datasets.synthetic import grid_edges, grid_positions
from tvgnn.errors import DataError
from tvgnn.graph.graph import Graph

__all__ = ["digits", "image_graph", "photograph"]


def digits(n_neighbors: int = 15) -> Graph:
    """Return scikit-learn's 1,797 handwritten digits joined by a k-nearest-neighbour graph.

    Features are the 64 pixels divided by their maximum 16, ``y`` is the digit. The graph is unweighted, with an edge
    where either digit is among the k nearest of the other; among equally near ones the first by index is taken, so the
    graph is the same on every machine.

    Parameters
    ----------
    n_neighbors : int, default 15
        Neighbours of each digit by Euclidean distance, at least 1 and below the number of digits.

    Raises
    ------
    DataError
        If ``n_neighbors`` is out of range.

    Examples
    --------
    >>> digits()
    Graph(1797 nodes, 18312 edges, unweighted, 64 features, 10 classes)
    """
    from sklearn.datasets import load_digits

    data = load_digits()
    pixels, n = data.data, len(data.data)
    if not 1 <= n_neighbors < n:
        raise DataError(f"n_neighbors must lie in [1, {n}); got {n_neighbors}")
    # Not Graph.from_features: among the many ties scikit-learn's choice depends on the number of threads. Pixels are
    # integers, so these squared distances are exact in any order of summation, and a stable sort settles the ties.
    norms = np.square(pixels).sum(axis=1)
    distances = norms[:, None] + norms - 2 * (pixels @ pixels.T)
    np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :n_neighbors]
    return Graph.from_edges(np.repeat(np.arange(n), n_neighbors), nearest.ravel(), x=pixels / 16, y=data.target)


def photograph(name: Literal["china", "flower"], color_scale: float | None = None) -> Graph:
    """Return one of scikit-learn's two photographs, 427 x 640 pixels, as a graph; see :func:`image_graph`.

    Parameters
    ----------
    name : {"china", "flower"}
        The photograph.
    color_scale : float, optional
        As in :func:`image_graph`.

    Examples
    --------
    >>> photograph("china")
    Graph(273280 nodes, 545493 edges, unweighted, 5 features)
    """
    from sklearn.datasets import load_sample_image

    return image_graph(load_sample_image(f"{name}.jpg"), color_scale)


def image_graph(image: ArrayLike, color_scale: float | None = None) -> Graph:
    """Return the graph of the pixels of an image: a node a pixel, row by row, joined to its 4 neighbours.

    Features are red, green and blue divided by 255, then row and column scaled so that the longer side spans [0, 1].

    Parameters
    ----------
    image : array-like of uint8, shape (height, width, 3)
        RGB image.
    color_scale : float, optional
        Standard deviation s of Gaussian edge weights ``exp(-||rgb_i - rgb_j||^2 / (2 s^2))`` with colours in [0, 1];
        edges whose weight underflows to 0 are dropped. Default None: unweighted.

    Raises
    ------
    DataError
        If the image is no (height, width, 3) array of uint8 or ``color_scale`` is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> graph = image_graph(np.array([[[255, 0, 0], [0, 0, 255]]], dtype=np.uint8))
    >>> graph.x.tolist()
    [[1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0, 1.0]]
    """
    pixels = np.asarray(image)
    if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.size == 0 or pixels.dtype != np.uint8:
        raise DataError(
            f"image must be a (height, width, 3) array of uint8; got shape {pixels.shape} and dtype {pixels.dtype}"
        )
    height, width = pixels.shape[:2]
    colors = pixels.reshape(-1, 3) / np.float32(255)
    source, target = grid_edges(height, width)
    weight = None
    if color_scale is not None:
        if not color_scale > 0:
            raise DataError(f"color_scale must be positive; got {color_scale}")
        weight = np.exp(-np.square(colors[source] - colors[target]).sum(axis=1) / (2 * color_scale**2))
    return Graph.from_edges(source, target, weight, x=np.hstack([colors, grid_positions(height, width)]))
