"""Total variation graph neural networks: sharp, balanced clustering of attributed graphs.

Public names load on first use (PEP 562), so ``import tvgnn`` and the command line's ``--help`` do not import torch.
"""

import importlib
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tvgnn.graph.graph import Graph

_EXPORTS = {
    "Graph": "tvgnn.graph.graph",
}

__all__ = ["Graph"]
__version__ = version("tvgnn")


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        return getattr(importlib.import_module(_EXPORTS[name]), name)
    raise AttributeError(f"module 'tvgnn' has no attribute {name!r}; public names: {', '.join(__all__)}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
