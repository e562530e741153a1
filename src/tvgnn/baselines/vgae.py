"""VGAE: the variational graph autoencoder."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from tvgnn.baselines._autoencoder import AutoencoderClusterer, TwoLayers, autoencoders

__all__ = ["VGAE"]


class VGAE(AutoencoderClusterer):
    """Embed by the means of a variational graph autoencoder, then k-means.

    Kipf & Welling, NeurIPS workshop on Bayesian deep learning 2016, sec. 1, eq. 1 to 3: the reconstruction loss plus
    the Kullback-Leibler divergence from a standard normal, divided by N as in PyTorch Geometric. Parameters, attributes
    and errors: see `AutoencoderClusterer` and `GraphClusterer`.

    """

    def _model(self, in_channels: int) -> Any:
        return autoencoders().VGAE(TwoLayers(in_channels, self.hidden_channels, self.dimensions, 2))

    def _regularization(self, model: Any, num_nodes: int) -> Tensor | float:
        divergence: Tensor = model.kl_loss() / num_nodes
        return divergence
