"""Figures, verdicts and tables as Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

__all__ = ["MISSING", "at_least", "at_most", "markdown", "number", "times", "verdict"]

MISSING = "-"


def number(value: float) -> str:
    """Three significant digits, without exponent."""
    if value == 0 or not math.isfinite(value):
        return str(value)
    digits = 2 - math.floor(math.log10(abs(value)))
    rounded = round(value, digits)
    digits = 2 - math.floor(math.log10(abs(rounded)))  # 9.996 is 10.0
    return f"{rounded:,.{max(digits, 0)}f}"


def times(ratio: float) -> str:
    """A ratio."""
    return f"{number(ratio)}x"


def verdict(met: bool) -> str:
    """Whether a target is met; a missed one catches the eye."""
    return "met" if met else "**missed**"


def at_most(ratio: float, target: float) -> str:
    """A ratio that should be small."""
    return f"{times(ratio)}, at most {target:g}x: {verdict(ratio <= target)}"


def at_least(ratio: float, target: float) -> str:
    """A ratio that should be large."""
    return f"{times(ratio)}, at least {target:g}x: {verdict(ratio >= target)}"


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column is text."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
