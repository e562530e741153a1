"""GAE: the graph autoencoder."""

from __future__ import annotations

from typing import Any

from tvgnn.baselines._autoencoder import AutoencoderClusterer, TwoLayers, autoencoders

__all__ = ["GAE"]


class GAE(AutoencoderClusterer):
    """Embed by a two-layer GCN that predicts the edges by inner products, then k-means.

    Kipf & Welling, NeurIPS workshop on Bayesian deep learning 2016, sec. 1 (non-probabilistic model). Parameters,
    attributes and errors: see `AutoencoderClusterer` and `GraphClusterer`.

    """

    def _model(self, in_channels: int) -> Any:
        return autoencoders().GAE(TwoLayers(in_channels, self.hidden_channels, self.dimensions, 1))
