"""What is known of the nodes of a dataset beyond its graph: names of features, positions, a picture."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

__all__ = ["Appearance", "appearance"]


class Appearance(NamedTuple):
    """Each part is None where it is not known.

    Attributes
    ----------
    feature_names : tuple of str
        One a column.
    position_columns : (int, int)
        The features that are x and y.
    picture : (str, int, int)
        ``("pixels", height, width)``: nodes are pixels. ``("tiles", height, width)``: features of each are an image.
    positions : callable
        Gives positions (N, 2) that are no features.
    """

    feature_names: tuple[str, ...] | None = None
    position_columns: tuple[int, int] | None = None
    picture: tuple[Literal["pixels", "tiles"], int, int] | None = None
    positions: Callable[[], Any] | None = None


def _tissue_positions() -> Any:
    from tvgnn.datasets.tissue import simulate_tissue

    return simulate_tissue().positions


_PIXEL = ("red", "green", "blue", "row", "column")
_APPEARANCES = {
    "digits": Appearance(tuple(f"row {i // 8} column {i % 8}" for i in range(64)), picture=("tiles", 8, 8)),
    "china": Appearance(_PIXEL, picture=("pixels", 427, 640)),
    "flower": Appearance(_PIXEL, picture=("pixels", 427, 640)),
    "ring": Appearance(("x", "y"), (0, 1)),
    "grid": Appearance(("row", "column"), (1, 0)),
    "tissue": Appearance(tuple(f"marker{i}" for i in range(50)), positions=_tissue_positions),
    "sbm-denoising": Appearance(("community 0", "community 1", "community 2")),
}


def appearance(name: str) -> Appearance:
    """Return what is known of the dataset of this name; of an unknown one nothing.

    Examples
    --------
    >>> appearance("digits").picture
    ('tiles', 8, 8)
    >>> appearance("cora").feature_names is None
    True
    """
    return _APPEARANCES.get(name.lower(), Appearance())
