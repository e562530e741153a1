"""The record of one curve of the total variation by number of GTV steps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["CurveRecord"]


@dataclass(frozen=True)
class CurveRecord:
    """Total variation of random projections of the features of a graph after steps of one size.

    Attributes
    ----------
    dataset, variant : str
        Graph, and the kind of Gamma: ``"per_feature"`` or ``"shared"``.
    step_size : float
        The paper's ``2 delta``.
    count, seed : int
        Number of steps, seed of the projection.
    eps : float
        Smallest distance that divides.
    steps : list of int
        Numbers of steps at which the curve is known.
    total_variation : list of float
        Its value there.
    versions, commit, date
        With what and when.

    """

    dataset: str
    variant: str
    step_size: float
    count: int
    seed: int
    eps: float
    steps: list[int]
    total_variation: list[float]
    versions: dict[str, str] = field(default_factory=dict)
    commit: str | None = None
    date: str = ""

    @property
    def settings(self) -> dict[str, Any]:
        """What the curves of a figure share."""
        return {"seed": self.seed, "eps": self.eps}

    @property
    def key(self) -> tuple[str, str, float, int, int, float]:
        """What a second record of the same curve shares with the first."""
        return self.dataset, self.variant, self.step_size, self.count, self.seed, self.eps

    @property
    def finished(self) -> bool:
        """Whether it has a result; one that fails is not kept."""
        return True
