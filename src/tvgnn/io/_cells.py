"""What a cell of a text table can be: a number, the name of a column, nothing; and what to do about a bad one."""

import re
from collections.abc import Sequence

__all__ = [
    "NUMBER_OF_TRUTH",
    "first_few",
    "is_missing_label",
    "is_missing_mark",
    "is_name",
    "is_number",
    "is_truth",
    "looks_numeric",
    "remedy",
    "shown",
]

_NUMBER = re.compile(
    r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|[+-]?(?:inf|infinity|nan)", re.IGNORECASE | re.ASCII
)
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+(?:e[+-]?[0-9]+)?", re.IGNORECASE | re.ASCII)
_GROUPED = re.compile(r"[+-]?[0-9]{1,3}(?:[.,'\u2019_\s][0-9]{3})+(?:[.,][0-9]+)?")
_DECORATED = re.compile(r"[^\w\s\"']{0,2}\s?[0-9][0-9.,]*\s?[^\w\s\"']{0,2}", re.ASCII)  # $3, 50%, a minus that is none
_STARTS_WITH_DIGIT = re.compile(r"[+-]?[.,]?[0-9]")
_MISSING = frozenset(("", "na", "n/a", "#n/a", "nan", "null", "none", "nil", "missing", "-", "--", "?", ".", "nd"))
NUMBER_OF_TRUTH = {"true": "1", "false": "0", "yes": "1", "no": "0"}
_NO_NUMBERS_BUT_LABELS = frozenset(("-", "--", ".", "nd"))  # classes + and -, states by two letters


def is_number(text: str) -> bool:
    """Say whether ``text`` is a number with a decimal point, blanks around it, NaN and infinities included."""
    return _NUMBER.fullmatch(text.strip()) is not None


def is_truth(text: str) -> bool:
    """Say whether ``text`` is true or false, as pandas and R write dummies, or the answer yes or no."""
    return text.strip().lower() in NUMBER_OF_TRUTH


def looks_numeric(text: str) -> bool:
    """Say whether ``text`` is a number, also with a decimal comma, separated thousands or a sign beside it."""
    stripped = text.strip()
    return is_number(stripped) or any(kind.fullmatch(stripped) for kind in (_DECIMAL_COMMA, _GROUPED, _DECORATED))


def is_missing_mark(text: str) -> bool:
    """Say whether ``text`` is what programs write for a missing value."""
    return text.strip().lower() in _MISSING


def is_missing_label(text: str) -> bool:
    """Say whether ``text`` is what programs write for a missing value, and hardly the name of a class.

    Examples
    --------
    >>> is_missing_label("NA"), is_missing_label("-")
    (True, False)
    """
    return is_missing_mark(text) and text.strip().lower() not in _NO_NUMBERS_BUT_LABELS


def is_name(text: str) -> bool:
    """Say whether ``text`` is rather the name of a column than a value: letters, and no digit at its start."""
    stripped = text.strip()
    return (
        any(letter.isalpha() for letter in stripped)
        and not is_missing_mark(stripped)
        and not is_number(stripped)
        and not is_truth(stripped)
        and _STARTS_WITH_DIGIT.match(stripped) is None
    )


def remedy(text: str) -> str:
    """Say what to do about a cell that should be a number.

    Examples
    --------
    >>> remedy("1,5")
    'decimal comma? save with points'
    """
    stripped = text.strip()
    if is_missing_mark(stripped):
        return "fill in missing values, or leave such rows out"
    if _GROUPED.fullmatch(stripped):
        return "decimal comma or separated thousands? save numbers like 1234.5, with points"
    if _DECIMAL_COMMA.fullmatch(stripped):
        return "decimal comma? save with points"
    if _DECORATED.fullmatch(stripped):
        return "save the number alone, like -1234.5"
    return "encode text as numbers, or leave the column out"


def shown(text: str, most: int = 60) -> str:
    """Quote a cell for a message, its beginning where it is long."""
    return repr(text if len(text) <= most else f"{text[:most]}...")


def first_few(values: Sequence[object], most: int = 5) -> str:
    """List the first values."""
    return ", ".join(map(repr, values[:most])) + (", ..." if len(values) > most else "")
