"""Checks of numbers that several parts take."""

from __future__ import annotations

import math
import operator
from typing import Any

__all__ = ["check_rho", "is_integer"]


def is_integer(value: Any, least: int) -> bool:
    """Whether this is one integer >= ``least``, NumPy's included; neither a bool nor an array with an axis."""
    if isinstance(value, bool) or getattr(value, "shape", ()) != ():
        return False
    try:
        return operator.index(value) >= least
    except TypeError:
        return False


def check_rho(rho: float) -> None:
    """Raise a ValueError unless the asymmetry of the balance is a positive, finite number."""
    if not 0 < rho < math.inf:
        raise ValueError(
            f"expected rho to be a positive number (rho > 0), got {rho}; K - 1, the default of losses and layers, "
            "asks for clusters of equal size"
        )
