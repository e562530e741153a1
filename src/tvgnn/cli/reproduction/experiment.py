"""What one experiment is, and which options it takes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from tvgnn.cli.options import chosen
from tvgnn.cli.reproduction.request import Request

__all__ = ["Experiment", "Package", "names_for"]


@dataclass(frozen=True)
class Package:
    """An optional package: name of its module, of its distribution and of the extra that brings it."""

    module: str
    title: str
    extra: str

    @property
    def installed(self) -> bool:
        """Whether it can be found; it is not imported, which may take seconds."""
        return (
            sys.modules[self.module] is not None if self.module in sys.modules else find_spec(self.module) is not None
        )


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
    needs : tuple of Package
        Optional packages without which it cannot be made.

    """

    make: Callable[[Request], None]
    datasets: Callable[[], Sequence[str]] | None = None
    methods: Callable[[], Sequence[str]] | None = None
    seeds: bool = False
    max_epochs: bool = False
    needs: tuple[Package, ...] = ()

    def missing(self) -> str | None:
        """Say what is to be installed first, None where all is there."""
        lacking = [one for one in self.needs if not one.installed]
        return (
            f"expected {lacking[0].title}; install it with: pip install 'tvgnn[{lacking[0].extra}]'"
            if lacking
            else None
        )

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
