"""Options that make a graph of a features file: each node is joined to its nearest neighbours."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer

__all__ = ["KnnWeights", "NeighborOptions"]


class KnnWeights(StrEnum):
    """Weights of the edges."""

    connectivity = "connectivity"
    heat_kernel = "heat_kernel"


def _neighbors(*names: str, help: str, **settings: Any) -> Any:
    panel = "Neighbour graph (--features without --edges)"
    return typer.Option(*names, help=help, rich_help_panel=panel, **settings)


@dataclass(frozen=True)
class NeighborOptions:
    """What was given of these options; None and False are their defaults."""

    n_neighbors: Annotated[
        int | None, _neighbors(min=1, help="Nearest neighbours of each node.", show_default="15")
    ] = None
    metric: Annotated[
        str | None, _neighbors(help="euclidean, cosine, or another one of scikit-learn.", show_default="euclidean")
    ] = None
    mutual: Annotated[bool, _neighbors("--mutual", help="Keep edges only where both nodes choose each other.")] = False
    knn_weights: Annotated[
        KnnWeights | None,
        _neighbors("--knn-weights", help="heat_kernel: near neighbours weigh more.", show_default="connectivity"),
    ] = None
    connect: Annotated[bool, _neighbors("--connect", help="Join components by a minimum spanning tree.")] = False

    def given(self) -> list[str]:
        """Names of the options that were given."""
        return [f"--{name.replace('_', '-')}" for name, value in asdict(self).items() if value]

    def of_new_rows(self) -> dict[str, Any]:
        """Return those that also find the neighbours of new rows."""
        return {name: value for name, value in self.parameters().items() if name in ("n_neighbors", "metric")}

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of `tvgnn.TVClustering` that were given."""
        return {
            name: value.value if isinstance(value, StrEnum) else value for name, value in asdict(self).items() if value
        }
