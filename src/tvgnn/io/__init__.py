"""Files to graphs, and runs to files. The functions that other code calls load on first use (PEP 562)."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tvgnn.io.coarsened_export import write_coarsened_graph
    from tvgnn.io.graph_export import write_clustered_graph
    from tvgnn.io.graph_files import read_graph, read_nodes
    from tvgnn.io.table_export import write_node_table

_EXPORTS = {
    "read_graph": "tvgnn.io.graph_files",
    "read_nodes": "tvgnn.io.graph_files",
    "write_clustered_graph": "tvgnn.io.graph_export",
    "write_coarsened_graph": "tvgnn.io.coarsened_export",
    "write_node_table": "tvgnn.io.table_export",
}

__all__ = ["read_graph", "read_nodes", "write_clustered_graph", "write_coarsened_graph", "write_node_table"]


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        return getattr(importlib.import_module(_EXPORTS[name]), name)
    raise AttributeError(f"module 'tvgnn.io' has no attribute {name!r}; public names: {', '.join(__all__)}")
