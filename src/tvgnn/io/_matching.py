"""Where the ids of an edge list and those of a features file differ, in words."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from tvgnn.errors import DataError
from tvgnn.io._cells import first_few
from tvgnn.io._node_table import NodeTable, no_match
from tvgnn.io.edges import EdgeTable
from tvgnn.wording import setting

__all__ = ["not_in_edges", "unknown_node"]


def unknown_node(edges: EdgeTable, nodes: NodeTable, ids: Sequence[Hashable], row: int, node_id: Any) -> DataError:
    """Say which node has no features, and how many others have none either."""
    if nodes.node_ids is None:
        hint = "; where line 1 holds names, pass " + setting("header", True) if edges.doubt and row == 0 else ""
        return DataError(
            f"{edges.where(row)}: expected nodes 0..{len(ids) - 1}, the rows of {nodes.path}, got "
            f"{_plain(node_id)!r}; for other ids give the features as text with the node id in the first column{hint}"
        )
    named = list(
        dict.fromkeys(part for ends in zip(edges.source, edges.target, strict=True) for part in map(_plain, ends))
    )
    hint = "".join(f"; {note}" for note in nodes.notes)
    known = set(ids)
    without = [one for one in named if one not in known]
    if len(without) == len(named):
        return no_match(edges.table.path, named, nodes.path.name, ids)
    names = edges.doubt and row == 0
    lead = f"where line 1 holds names pass {setting('header', True)}; else " if names else ""
    return DataError(
        f"{edges.where(row)}: node {_plain(node_id)!r} has no row in {nodes.path}; {len(named) - len(without)} of "
        f"{len(named)} ids match, without a row: {first_few(without)}; {lead}add rows for them (where nothing is "
        f"known: of zeros in 32 columns or more, else of the columns' means) or drop their edges{hint}"
    )


def not_in_edges(edges: EdgeTable, nodes: NodeTable) -> tuple[str, ...]:
    """Tell of nodes that have features only."""
    if nodes.node_ids is None:
        return ()
    joined = {_plain(one) for column in (edges.source, edges.target) for one in _distinct(column)}
    alone = [one for one in nodes.node_ids if one not in joined]
    if not alone:
        return ()
    share = f"{len(alone)} of the {len(nodes.node_ids)} ids in {nodes.path.name}"
    return (f"{share} not found in {edges.table.path.name}, kept as nodes without edges: {first_few(alone)}",)


def _distinct(column: Iterable[Any]) -> Iterable[Any]:
    return np.unique(column) if isinstance(column, np.ndarray) else column


def _plain(node_id: Any) -> Any:
    return node_id.item() if isinstance(node_id, np.generic) else node_id
