"""The loss curve as the path of an inline SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tvgnn.report._arrays import evenly

__all__ = ["LossCurve", "loss_curve"]

_MOST_POINTS = 600


@dataclass(frozen=True)
class LossCurve:
    """A line in a box of ``width`` x ``height`` units, y downwards, and where its ticks and its lowest point are."""

    path: str
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    lowest: tuple[float, float, str]
    width: int = 620
    height: int = 230


def loss_curve(history: Sequence[float]) -> LossCurve | None:
    """Lay out the loss of each epoch; None where there are fewer than two."""
    loss = np.asarray(history, dtype=np.float64)
    if len(loss) < 2 or not np.isfinite(loss).all():
        return None
    width, height = LossCurve.width, LossCurve.height
    y_values = _ticks(float(loss.min()), float(loss.max()))
    low, high = min(y_values[0], loss.min()), max(y_values[-1], loss.max())

    def x(epoch: float) -> float:
        return round(float((epoch - 1) / (len(loss) - 1) * width), 2)

    def y(value: float) -> float:
        return round(float((high - value) / ((high - low) or 1.0) * height), 2)

    shown = evenly(len(loss), _MOST_POINTS)
    points = " ".join(f"{x(epoch + 1)},{y(loss[epoch])}" for epoch in shown)
    lowest = int(loss.argmin())
    epochs = [tick for tick in _ticks(1, len(loss)) if 1 < tick <= len(loss) and tick == int(tick)]
    return LossCurve(
        "M" + points.replace(" ", "L"),
        [(x(tick), f"{int(tick):,}") for tick in [1.0, *epochs]],
        [(y(tick), f"{tick:g}") for tick in y_values],
        (x(lowest + 1), y(loss[lowest]), f"lowest: {loss[lowest]:.4f} in epoch {lowest + 1:,}"),
    )


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers, about five of them, that span the range from just inside."""
    span = (high - low) or abs(high) or 1.0
    power = 10.0 ** np.floor(np.log10(span / 4))
    step = next(power * factor for factor in (1, 2, 5, 10) if span / (power * factor) <= 5.5)
    first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
    return [round(float(i * step), 12) for i in np.arange(first, last + 1)] or [low]
