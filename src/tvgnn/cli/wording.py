"""Messages of the library in the words of a shell."""

import shlex
from typing import Any

from tvgnn.wording import UNSET

__all__ = ["as_option"]

_OTHER_NAMES = {
    "dim": "structural-dim",
    "features": "structural-features",
    "weight": "weight-column",
}
"""Options whose name is not that of the parameter."""


def as_option(name: str, value: Any) -> str:
    """Return what a user types for the parameter ``name`` with ``value``, or for its name alone.

    Examples
    --------
    >>> as_option("weight_column", None), as_option("weight_column", "my costs")
    ('--weight-column none', "--weight-column 'my costs'")
    >>> as_option("header", True), as_option("header", False)
    ('--header', '--no-header')
    """
    option = "--" + _OTHER_NAMES.get(name, name.replace("_", "-"))
    if value is UNSET or value is True:
        return option
    if value is False:
        return f"--no-{option[2:]}"
    return f"{option} {'none' if value is None else shlex.quote(str(value))}"
