"""Check that what a file gives as the fields of a record has their types, before somebody computes with it."""

from __future__ import annotations

import types
from typing import Any, get_args, get_origin, get_type_hints

__all__ = ["check_fields", "not_a_number"]


def check_fields(fields: dict[str, Any], kind: type) -> None:
    """Compare values that come from JSON with the annotations of a dataclass.

    Raises
    ------
    ValueError
        A field is unknown or has another type.

    Examples
    --------
    >>> from tvgnn.records import RunRecord
    >>> check_fields({"dataset": "mutag", "test_accuracy": 1, "k": [9, "4"]}, RunRecord)
    Traceback (most recent call last):
    ...
    ValueError: field 'k' is [9, '4'], not list[int]
    """
    hints = get_type_hints(kind)
    for name, value in fields.items():
        if name not in hints:
            raise ValueError(f"unknown field {name!r}")
        if not _fits(value, hints[name]):
            wanted = hints[name].__name__ if isinstance(hints[name], type) else hints[name]
            raise ValueError(f"field {name!r} is {str(value)[:50]}, not {wanted}")


def not_a_number(text: str) -> Any:
    """Refuse NaN and infinities, which Python's JSON reader would accept."""
    raise ValueError(f"{text} is not a number")


def _fits(value: Any, hint: Any) -> bool:
    if hint is Any:
        return True
    if isinstance(hint, types.UnionType):
        return any(_fits(value, one) for one in get_args(hint))
    if get_origin(hint) is dict:
        return isinstance(value, dict) and all(_fits(one, get_args(hint)[1]) for one in value.values())
    if get_origin(hint) is list:
        return isinstance(value, list) and all(_fits(one, get_args(hint)[0]) for one in value)
    if hint in (int, float):
        return isinstance(value, (int, float) if hint is float else int) and not isinstance(value, bool)
    return isinstance(value, hint)
