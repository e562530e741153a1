"""Pictures inside the page, as data URIs."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tvgnn.report.page.view import ClusteringView
from tvgnn.report.palette import color_of

__all__ = ["data_uri", "original", "segmentation", "tile_uris"]


def data_uri(pixels: NDArray[np.uint8]) -> str:
    """Return a (height, width) or (height, width, 3) array of bytes as a PNG in a data URI."""
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(pixels).save(file, format="PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode("ascii")


def original(view: ClusteringView) -> str | None:
    """Return the picture whose pixels are the nodes, None where the run has none or no colours."""
    if view.picture is None or view.picture.kind != "pixels" or view.n_features < 3:
        return None
    colors = view.x[:, :3]
    colors = np.asarray(colors.toarray() if hasattr(colors, "toarray") else colors)
    pixels = (np.clip(colors, 0, 1) * 255).round().astype(np.uint8)
    return data_uri(pixels.reshape(view.picture.height, view.picture.width, 3))


def segmentation(view: ClusteringView) -> str | None:
    """Return the picture with each pixel in the colour of its cluster, None where nodes are no pixels."""
    from matplotlib.colors import to_rgb

    if view.picture is None or view.picture.kind != "pixels":
        return None
    palette = np.array([to_rgb(color_of(cluster)) for cluster in range(view.n_clusters)])
    pixels = (palette * 255).round().astype(np.uint8)[view.labels]
    return data_uri(pixels.reshape(view.picture.height, view.picture.width, 3))


def tile_uris(view: ClusteringView, rows: Any) -> list[str]:
    """Return feature rows (M, F) as pictures, black at the least value of all and white at the largest."""
    low, high = float(view.x.min()), float(view.x.max())
    height, width = (view.picture.height, view.picture.width) if view.picture else (1, view.n_features)
    grey = (np.clip((np.asarray(rows) - low) / ((high - low) or 1.0), 0, 1) * 255).round().astype(np.uint8)
    return [data_uri(tile) for tile in grey.reshape(-1, height, width)]
