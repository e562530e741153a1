"""Options that several commands share, written once: fields of a dataclass become options of each command."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints

__all__ = ["expanded"]


def expanded(*, without: tuple[str, ...] = ()) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the fields of its dataclass parameters, and of theirs, as options.

    Typer reads options from a signature, so the command gets one with a parameter a field, of the field's annotation
    and default; when it is called, the dataclasses are built from them.

    Parameters
    ----------
    without
        Fields that this command does not have; they keep their defaults.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Size:
    ...     width: int = 1
    ...     height: int = 1
    >>> @expanded(without=("height",))
    ... def draw(size: "Size", color: str = "red") -> None:
    ...     print(size, color)
    >>> list(inspect.signature(draw).parameters)
    ['width', 'color']
    >>> draw(width=3)
    Size(width=3, height=1) red
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(command, include_extras=True)
        kinds = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
        parameters: list[inspect.Parameter] = []
        for parameter in inspect.signature(command).parameters.values():
            if parameter.name in kinds:
                parameters += _options(kinds[parameter.name], without)
            else:
                kept = parameter.replace(annotation=hints[parameter.name], kind=inspect.Parameter.KEYWORD_ONLY)
                parameters.append(kept)

        @wraps(command)
        def call(**given: Any) -> None:
            own = {name: value for name, value in given.items() if name in hints}
            command(**own, **{name: _built(kind, given) for name, kind in kinds.items()})

        del call.__wrapped__  # whose signature would be read instead
        # What inspect reads first; typeshed does not know it.
        call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return call

    return decorate


def _options(kind: Any, without: tuple[str, ...]) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        if is_dataclass(hints[field.name]):
            yield from _options(hints[field.name], without)
        elif field.name not in without:
            default = inspect.Parameter.empty if field.default is MISSING else field.default
            yield inspect.Parameter(
                field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hints[field.name]
            )


def _built(kind: Any, given: Mapping[str, Any]) -> Any:
    hints = get_type_hints(kind)
    values = {}
    for field in fields(kind):
        if is_dataclass(hints[field.name]):
            values[field.name] = _built(hints[field.name], given)
        elif field.name in given:
            values[field.name] = given[field.name]
    return kind(**values)
