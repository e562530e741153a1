"""Tensor-shape vocabulary of the signatures.

Axis names: ``nodes`` (N), ``edges`` (directed entries, twice the undirected edges), ``features`` (F), ``clusters`` (K).
"""

from jaxtyping import Float, Int
from torch import Tensor

__all__ = ["Assignments", "Batch", "EdgeWeight", "NodeFeatures", "NodeValues", "Scalar"]

NodeFeatures = Float[Tensor, "nodes features"]
NodeValues = Float[Tensor, " nodes"]
Assignments = Float[Tensor, "nodes clusters"]
EdgeWeight = Float[Tensor, " edges"]
Batch = Int[Tensor, " nodes"]
Scalar = Float[Tensor, ""]
