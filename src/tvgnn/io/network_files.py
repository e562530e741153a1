"""GraphML and GEXF by networkx, with attributes fitted to what each can hold."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tvgnn.errors import DataError
from tvgnn.io._text import open_bytes, require_file, text_suffix

__all__ = ["NETWORK_SUFFIXES", "check_xml", "read_network", "write_network"]

NETWORK_SUFFIXES = (".graphml", ".gexf")

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
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

    if text_suffix(path) == ".gexf":
        if converted:
            _rename(graph, _GEXF_NODE, _GEXF_EDGE)
        nx.write_gexf(graph, path, version="1.2draft")
        return
    _flatten(graph)
    nx.write_graphml(graph, path)


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


def _rename(graph: Any, of_nodes: frozenset[str], of_edges: frozenset[str]) -> None:
    for reserved, all_data in ((of_nodes, graph.nodes(data=True)), (of_edges, graph.edges(data=True))):
        for *_, data in all_data:
            for name in reserved.intersection(data):
                if name != "viz":
                    data[f"{name}_"] = data.pop(name)
    _flatten(graph, keep_viz=True)


def _flatten(graph: Any, *, keep_viz: bool = False) -> None:
    """Turn values that are no numbers or text into text; what GEXF knows of looks becomes Gephi's attributes."""
    for *_, data in (*graph.nodes(data=True), *graph.edges(data=True)):
        for name, value in list(data.items()):
            if name == "viz":
                if not keep_viz:
                    _unfold(data, data.pop("viz"))
            elif value is None:
                del data[name]
            elif not isinstance(value, bool | int | float | str):
                data[name] = str(value)


def _unfold(data: dict[str, Any], viz: dict[str, Any]) -> None:
    """Write colour and position as the attributes that Gephi takes for them in GraphML, where they are free."""
    color, position = viz.get("color") or {}, viz.get("position") or {}
    found = {name: color.get(name) for name in "rgb"} | {name: position.get(name) for name in "xy"}
    for name, value in found.items():
        if value is not None:
            data.setdefault(name, value)
