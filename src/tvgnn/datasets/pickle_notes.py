"""What a pickle asks for, without doing it.

A pickle is a program that may call anything it names. Here its instructions are read as data: a stack is kept as the
pickle machine would keep it, but where that machine would look up a name, one of five known names is noted down and any
other refused, and where it would call one, the call is noted down with its arguments. So nothing in a file can run,
whatever it holds.
"""

import pickletools
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from tvgnn.errors import DataError

__all__ = ["Call", "Name", "expect", "read_notes"]


class Name(Enum):
    """What a file may name; the modules are those of old and new versions."""

    RECONSTRUCT = auto()
    NDARRAY = auto()
    DTYPE = auto()
    ENCODE = auto()
    CSR = auto()


_NAMES = {
    "numpy.core.multiarray _reconstruct": Name.RECONSTRUCT,
    "numpy._core.multiarray _reconstruct": Name.RECONSTRUCT,
    "numpy ndarray": Name.NDARRAY,
    "numpy dtype": Name.DTYPE,
    "_codecs encode": Name.ENCODE,
    "scipy.sparse.csr csr_matrix": Name.CSR,
    "scipy.sparse._csr csr_matrix": Name.CSR,
    "scipy.sparse._csr csr_array": Name.CSR,
}
_SHOWN = 100  # characters of an unknown name in its message


@dataclass(eq=False)
class Call:
    """A call that the file asks for and its state afterwards; it is never made."""

    maker: Name
    arguments: tuple[Any, ...]
    state: Any = None


def read_notes(content: bytes) -> Any:
    """Follow the instructions of a pickle without executing any; return what would be on its stack in the end."""
    stack: list[Any] = []
    marks: list[int] = []
    memo: dict[int, Any] = {}

    def since_mark() -> list[Any]:
        start = marks.pop()
        items = stack[start:]
        del stack[start:]
        return items

    for opcode, argument, _ in pickletools.genops(content):
        match opcode.name:
            case "PROTO" | "FRAME":
                pass
            case "STOP":
                return stack.pop()
            case "MARK":
                marks.append(len(stack))
            case "BININT" | "BININT1" | "BININT2" | "LONG1" | "BINUNICODE" | "SHORT_BINUNICODE":
                stack.append(argument)
            case "BINBYTES" | "SHORT_BINBYTES":
                stack.append(argument)
            case "NONE":
                stack.append(None)
            case "NEWTRUE" | "NEWFALSE":
                stack.append(opcode.name == "NEWTRUE")
            case "EMPTY_LIST":
                stack.append([])
            case "EMPTY_DICT":
                stack.append({})
            case "EMPTY_TUPLE":
                stack.append(())
            case "TUPLE1" | "TUPLE2" | "TUPLE3":
                size = int(opcode.name[-1])
                stack[-size:] = [tuple(stack[-size:])]
            case "TUPLE":
                stack.append(tuple(since_mark()))
            case "APPEND":
                item = stack.pop()
                stack[-1].append(item)
            case "APPENDS":
                items = since_mark()
                stack[-1].extend(items)
            case "SETITEM":
                value, key = stack.pop(), stack.pop()
                stack[-1][expect(key, str)] = value  # hashing a tuple of tuples of tuples could end the process
            case "SETITEMS":
                items = since_mark()
                keys = [expect(key, str) for key in items[::2]]
                stack[-1].update(zip(keys, items[1::2], strict=True))
            case "BINPUT" | "LONG_BINPUT":
                memo[expect(argument, int)] = stack[-1]
            case "MEMOIZE":
                memo[len(memo)] = stack[-1]
            case "BINGET" | "LONG_BINGET":
                stack.append(memo[expect(argument, int)])
            case "GLOBAL":
                stack.append(_known_name(argument))
            case "STACK_GLOBAL":
                name, module = stack.pop(), stack.pop()
                stack.append(_known_name(f"{expect(module, str)} {expect(name, str)}"))
            case "REDUCE" | "NEWOBJ":
                arguments, maker = stack.pop(), stack.pop()
                stack.append(Call(expect(maker, Name), expect(arguments, tuple)))
            case "BUILD":
                state = stack.pop()
                expect(stack[-1], Call).state = state
            case other:
                raise DataError(f"expected a pickle of plain arrays, it has the instruction {other}")
    raise DataError("expected a pickle of plain arrays, it does not end")


def _known_name(name: Any) -> Name:
    if name not in _NAMES:
        shown = str(name)[:_SHOWN].replace(" ", ".")
        raise DataError(f"expected a pickle of plain arrays, it names {shown!r}; nothing was run")
    return _NAMES[name]


def expect(value: Any, kind: Any) -> Any:
    """Return ``value`` where its type is exactly ``kind``: True is no integer here, and a list no tuple."""
    if type(value) is not kind:
        raise DataError(f"expected a pickle of plain arrays, it has {type(value).__name__} for {kind.__name__}")
    return value
