"""The head as soft k-means, then refined by the paper's loss for as long as the partition explains more."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from tvgnn.errors import TrainingError
from tvgnn.graph.adjacency import Adjacency
from tvgnn.losses import share_balance_loss, total_variation_loss

__all__ = ["refine", "soft_kmeans"]

_SHARPEST = 1e4


@torch.no_grad()
def soft_kmeans(head: nn.Linear, embedding: np.ndarray, centers: np.ndarray, labels: np.ndarray) -> None:
    """Set a linear head so that its softmax is that of ``-t ||y - c_k||^2``, whose argmax is k-means.

    ``t = 1 / (2 s^2)``, with ``s^2`` the residuals' variance in each of the dimensions in which they vary (their
    participation ratio): the posterior of a mixture of spheres of that variance. Without residuals t is as large as is
    let, `_SHARPEST`.
    """
    residuals = embedding - centers[labels]
    variances = np.square(residuals, dtype=np.float64).mean(0)
    total = float(variances.sum())
    dimensions = total**2 / max(float(np.square(variances).sum()), 1e-300)
    sharpness = min(dimensions / (2 * total), _SHARPEST) if total > 1e-12 else _SHARPEST
    head.weight.copy_(torch.tensor(2 * sharpness * centers))
    head.bias.copy_(torch.tensor(-sharpness * np.square(centers).sum(1)))


def refine(
    head: nn.Linear,
    embedding: Tensor,
    adjacency: Adjacency,
    judge: Callable[[Tensor], float],
    *,
    totvar_coeff: float,
    balance_coeff: float,
    max_iter: int,
    patience: int,
    tol: float,
    learning_rate: float,
    backend: str = "auto",
) -> tuple[list[float], list[float], int]:
    """Train the head on total variation and balance, and leave the state in which ``judge`` is highest.

    The balance follows the sizes that were found (`share_balance_loss`), so that unequal clusters stay so.

    Parameters:
        head: in place.
        embedding: (N, q).
        adjacency: N nodes.
        judge: of labels (N,), the higher the better.
        totvar_coeff, balance_coeff: weights of the two losses.
        max_iter: largest number of steps.
        patience: steps without a better judgement before it stops.
        tol: relative improvement of the judgement that counts.
        learning_rate: of Adam, relative to the root mean square of the head's weights.
        backend: see `select_backend`.

    Returns:
        Loss and judgement of every state, the first that of the head as given, and the number of the kept one.

    Raises:
        TrainingError: the loss is not finite.

    """
    size = head.weight.square().mean().sqrt().item()
    optimizer = torch.optim.Adam(head.parameters(), lr=learning_rate * max(size, 1e-6))
    sizes: Tensor | None = None
    losses: list[float] = []
    judged: list[float] = []
    kept, state = 0, (head.weight.detach().clone(), head.bias.detach().clone())
    while True:
        optimizer.zero_grad(set_to_none=True)
        assignments = head(embedding).softmax(1)
        labels = assignments.argmax(1)
        if sizes is None:
            sizes = torch.bincount(labels, minlength=head.out_features)
        variation = total_variation_loss(assignments, adjacency, backend=backend)
        balance = share_balance_loss(assignments, sizes, backend=backend)
        loss = totvar_coeff * variation + balance_coeff * balance
        losses.append(loss.item())
        if not np.isfinite(losses[-1]):
            raise TrainingError(
                f"expected a finite loss, got {losses[-1]} at step {len(losses)} of the refinement; the features or "
                "edge weights are probably too large for float32; normalise or rescale them"
            )
        judged.append(judge(labels))
        if judged[-1] > judged[kept] + tol * abs(judged[kept]):
            kept, state = len(judged) - 1, (head.weight.detach().clone(), head.bias.detach().clone())
        if len(judged) > max_iter or len(judged) - 1 - kept >= patience:
            break
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        head.weight.copy_(state[0])
        head.bias.copy_(state[1])
    return losses, judged, kept
