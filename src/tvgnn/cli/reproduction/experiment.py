"""What one experiment is, and which options it takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tvgnn.cli.options import chosen
from tvgnn.cli.reproduction.request import Request

__all__ = ["Experiment", "names_for"]


@dataclass(frozen=True)
class Experiment:
    """A table or figure, or several that belong together.

    Attributes
    ----------
    make : callable
        Makes it.
    datasets, methods : callable or None
        Returns the names among which a user may choose; None where there is no choice.
    seeds, max_epochs : bool
        Whether it takes the option.

    """

    make: Callable[[Request], None]
    datasets: Callable[[], Sequence[str]] | None = None
    methods: Callable[[], Sequence[str]] | None = None
    seeds: bool = False
    max_epochs: bool = False

    def takes(self, option: str) -> bool:
        """Whether an option, by the name of its attribute, decides something."""
        return bool(getattr(self, option))

    def knows(self, option: str, names: Sequence[str] | None) -> bool:
        """Whether it takes one of the names for ``"datasets"`` or ``"methods"``, or has no choice of them."""
        known = getattr(self, option)
        return names is None or known is None or not set(names).isdisjoint(known())


def names_for(option: str, text: str | None, experiments: Mapping[str, Experiment]) -> tuple[str, ...] | None:
    """Return the names that were given for ``"datasets"`` or ``"methods"``, which one of the experiments must know.

    Raises
    ------
    ValueError
        A name is unknown.
    """
    if text is None:
        return None
    lists = [known() for one in experiments.values() if (known := getattr(one, option)) is not None]
    return chosen(f"--{option}", text, tuple(dict.fromkeys(name for names in lists for name in names)))
