"""GraphML and GEXF by networkx, with attributes fitted to what each can hold."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tvgnn.errors import DataError
from tvgnn.io._text import open_bytes, require_file, text_suffix

__all__ = ["NETWORK_SUFFIXES", "check_xml", "fill_weights", "known_suffix", "read_network", "write_network"]

NETWORK_SUFFIXES = (".graphml", ".gexf")

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_INDENTED = 100_000
# What networkx writes as parts of GEXF's own, and not as attributes
_GEXF_NODE = frozenset(("id", "pid", "start", "end", "parents", "slices", "spells", "viz"))
_GEXF_EDGE = frozenset(("type", "start", "end", "slices", "spells", "viz"))


def read_network(path: str | Path) -> Any:
    """Read a GraphML or GEXF file as a networkx graph, ids as text.

    Raises
    ------
    DataError
        The file is missing or damaged.
    """
    import networkx as nx

    file = require_file(path)
    name, read = ("GEXF", nx.read_gexf) if text_suffix(file) == ".gexf" else ("GraphML", nx.read_graphml)
    with open_bytes(file) as stream:
        try:
            return read(stream)
        # ElementTree's ParseError is a SyntaxError, an unknown encoding a LookupError
        except (ValueError, LookupError, SyntaxError, TypeError, AttributeError, nx.NetworkXError) as error:
            raise DataError(f"{file}: not readable as {name}: {error}") from None


def known_suffix(path: str | Path, known: Sequence[str]) -> str:
    """Return the ending of a file to write, in lower case; raise unless it is among ``known``."""
    suffix = Path(path).suffix.lower()
    if suffix not in known:
        raise DataError(f"{path}: expected one of the endings {', '.join(known)}, got {suffix or 'none'}")
    return suffix


def fill_weights(graph: Any) -> None:
    """Give the edges of a GEXF graph that has weights the one that its format means where there is none: 1."""
    edges = [data for *_, data in graph.edges(data=True)]
    if any("weight" in data for data in edges):
        for data in edges:
            data.setdefault("weight", 1.0)


def write_network(path: Path, graph: Any, *, converted: bool = False) -> None:
    """Write a networkx graph in the format that the ending of ``path`` names.

    Parameters
    ----------
    path
        ``.graphml`` or ``.gexf``.
    graph
        Its attributes are changed where the format demands it.
    converted
        Whether it was read from the other format: then names that mean something else here get ``_`` at their end.
    """
    import networkx as nx

    gexf = text_suffix(path) == ".gexf"
    for parts, reserved in ((graph.nodes(data=True), _GEXF_NODE), (graph.edges(data=True), _GEXF_EDGE)):
        attributes = [data for *_, data in parts]
        if gexf and converted:
            _rename(attributes, reserved)
        if not gexf:
            _unfold(attributes)
        if converted:
            _as_text(attributes)
        _unify(attributes)
    indented = graph.number_of_edges() <= _INDENTED  # a tenth of the time and memory
    if gexf:
        nx.write_gexf(graph, path, version="1.2draft", prettyprint=indented)
    else:
        nx.write_graphml(graph, path, prettyprint=indented)


def check_xml(values: Iterable[Any], what: str) -> None:
    """Raise where text has a character that XML cannot hold.

    Raises
    ------
    DataError
        Names the first such value.

    Examples
    --------
    >>> check_xml(["<&>", "Zoë"], "node id")
    >>> check_xml(["a\\x01"], "node id")
    Traceback (most recent call last):
    ...
    tvgnn.errors.DataError: the node id 'a\\x01' has the character '\\x01', which XML cannot hold; write .csv
    """
    for value in values:
        found = _NOT_XML.search(value) if isinstance(value, str) else None
        if found:
            raise DataError(
                f"the {what} {value!r} has the character {found.group()!r}, which XML cannot hold; write .csv"
            )


def _rename(attributes: list[dict[str, Any]], reserved: frozenset[str]) -> None:
    for data in attributes:
        for name in reserved.intersection(data) - {"viz"}:
            data[f"{name}_"] = data.pop(name)


def _unfold(attributes: list[dict[str, Any]]) -> None:
    """Write GEXF's colour and position as the attributes that Gephi takes for them in GraphML, where they are free."""
    for data in attributes:
        viz = data.pop("viz", None) or {}
        color, position = viz.get("color") or {}, viz.get("position") or {}
        found = {name: color.get(name) for name in "rgb"} | {name: position.get(name) for name in "xy"}
        for name, value in found.items():
            if value is not None:
                data.setdefault(name, value)


def _as_text(attributes: list[dict[str, Any]]) -> None:
    """Turn what only the other format holds, such as lists of times, into text."""
    for data in attributes:
        for name, value in list(data.items()):
            if value is None:
                del data[name]
            elif name != "viz" and not isinstance(value, bool | int | float | str):
                data[name] = str(value)


def _unify(attributes: list[dict[str, Any]]) -> None:
    """Give each attribute one type: networkx writes that of the first value, which the others may not have."""
    kinds: dict[str, set[type]] = {}
    for data in attributes:
        for name, value in data.items():
            kinds.setdefault(name, set()).add(type(value))
    plain = {bool, int, float, str}
    several = {name: found for name, found in kinds.items() if len(found) > 1 and found <= plain}
    mixed = {name: float if found == {int, float} else str for name, found in several.items()}
    for data in attributes if mixed else ():
        for name in mixed.keys() & data.keys():
            data[name] = mixed[name](data[name])
