"""Options that would have no effect on what was given: one refusal, the same for every command."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["Effect", "refuse_unused"]


class Effect(NamedTuple):
    """Whether an option does anything.

    Attributes
    ----------
    option : str
        As it is typed.
    given : bool
        Whether it was.
    works : bool
        Whether there is something that it works on.
    what : str
        What it does.
    """

    option: str
    given: bool
    works: bool
    what: str


def refuse_unused(effects: Iterable[Effect], instead: str) -> None:
    """Refuse the first option that was given and does nothing.

    Parameters
    ----------
    effects
        Of the options.
    instead
        What there is in place of what they work on.

    Raises
    ------
    ValueError
        Names the option, what it is for, and what was given.

    Examples
    --------
    >>> refuse_unused([Effect("--header", True, False, "reads text")], "x.npy is an array")
    Traceback (most recent call last):
    ValueError: --header reads text; x.npy is an array; leave it out
    """
    for effect in effects:
        if effect.given and not effect.works:
            raise ValueError(f"{effect.option} {effect.what}; {instead}; leave it out")
