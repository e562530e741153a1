"""Tensor-shape vocabulary shared by all signatures.

Axis names: ``nodes`` (N), ``edges`` (number of directed entries, twice the undirected edges), ``features`` (F),
``clusters`` (K), ``batch`` (B graphs).
"""

from jaxtyping import Bool, Float, Int
from torch import Tensor

__all__ = [
    "Assignments",
    "Batch",
    "Bool",
    "EdgeIndex",
    "EdgeWeight",
    "Float",
    "Int",
    "NodeFeatures",
    "Tensor",
]

NodeFeatures = Float[Tensor, "nodes features"]
Assignments = Float[Tensor, "nodes clusters"]
EdgeIndex = Int[Tensor, "2 edges"]
EdgeWeight = Float[Tensor, " edges"]
Batch = Int[Tensor, " nodes"]
