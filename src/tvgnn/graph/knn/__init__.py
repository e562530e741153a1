"""k-nearest-neighbour graphs of feature rows.

``settings`` is what a caller chooses, ``space`` what "near" means, ``search`` finds neighbours, ``weights`` weighs
edges, ``connect`` joins components, ``build`` puts them together.
"""

from tvgnn.graph.knn.build import NeighborEdges, nearest_known_rows, neighbor_edges
from tvgnn.graph.knn.settings import NeighborSettings

__all__ = ["NeighborEdges", "NeighborSettings", "nearest_known_rows", "neighbor_edges"]
