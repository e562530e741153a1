"""How messages name a parameter: ``weight_column=None`` to a caller in Python, as an option to one in a shell."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, TypeAlias

__all__ = ["UNSET", "Wording", "python_words", "setting", "worded_by"]

UNSET: Final = object()
"""In place of a value where a message names the parameter alone."""

Wording: TypeAlias = Callable[[str, Any], str]
"""From the name of a parameter and a value to what its user types."""


def python_words(name: str, value: Any) -> str:
    """Return a keyword argument, or its name."""
    return name if value is UNSET else f"{name}={value!r}"


_wording: ContextVar[Wording] = ContextVar("wording", default=python_words)


def setting(name: str, value: Any = UNSET) -> str:
    """Name a parameter, or its value too, in a message, in the words of whoever reads it.

    Parameters
    ----------
    name, value
        As a caller in Python passes them.

    Examples
    --------
    >>> f"pass {setting('weight_column', None)}"
    'pass weight_column=None'
    >>> with worded_by(lambda name, value: f"--{name.replace('_', '-')} {value}"):
    ...     setting("weight_column", 2)
    '--weight-column 2'
    """
    return _wording.get()(name, value)


@contextmanager
def worded_by(wording: Wording) -> Iterator[None]:
    """Word the messages of this thread made in the block by ``wording``."""
    token = _wording.set(wording)
    try:
        yield
    finally:
        _wording.reset(token)
