"""The objective of every method.

In a batch every graph is normalised by its own size and the loss is the mean over the graphs, so neither padding nor
the company of other graphs changes it.
"""

from tvgnn.losses.cheeger import asymmetric_norm_loss, cheeger_cut_losses, total_variation_loss
from tvgnn.losses.diffpool import entropy_loss, link_loss
from tvgnn.losses.shares import share_balance_loss
from tvgnn.losses.spectral import (
    collapse_loss,
    mincut_loss,
    modularity_loss,
    normalized_adjacency,
    orthogonality_loss,
)

__all__ = [
    "asymmetric_norm_loss",
    "cheeger_cut_losses",
    "collapse_loss",
    "entropy_loss",
    "link_loss",
    "mincut_loss",
    "modularity_loss",
    "normalized_adjacency",
    "orthogonality_loss",
    "share_balance_loss",
    "total_variation_loss",
]
