"""The head as soft k-means, then refined by the paper's loss for as long as the partition explains more."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn

from tvgnn.errors import TrainingError
from tvgnn.estimators.quality.batches import NodeBatches
from tvgnn.graph.adjacency import Adjacency
from tvgnn.losses import share_balance_loss, total_variation_loss

__all__ = ["refine", "soft_kmeans"]

_SHARPEST = 1e4
_JUDGED = 10  # steps on batches from one judgement of all nodes to the next
_ROWS = 65_536  # that are judged at a time


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
    batches: NodeBatches | None = None,
    backend: str = "auto",
) -> tuple[list[float], dict[int, float], int]:
    """Train the head on total variation and balance, and leave the state in which ``judge`` is highest.

    The balance follows the sizes that were found (`share_balance_loss`), so that unequal clusters stay so. With
    ``batches`` each step looks at a batch of the nodes and their neighbours, and every tenth state is judged.

    Parameters:
        head: in place.
        embedding: (N, q).
        adjacency: N nodes.
        judge: of labels (N,), the higher the better.
        totvar_coeff, balance_coeff: weights of the two losses.
        max_iter: largest number of steps.
        patience: steps without a better judgement before it stops; with batches at least the ten to the next one.
        tol: relative improvement of the judgement that counts.
        learning_rate: of Adam, relative to the root mean square of the head's weights.
        batches: of the nodes of ``adjacency``; None to look at all in each step.
        backend: see `select_backend`.

    Returns:
        Loss of every state, the first that of the head as given; judgements, by number of steps; and the number of
        steps to the kept state.

    Raises:
        TrainingError: the loss is not finite.

    """
    size = head.weight.square().mean().sqrt().item()
    optimizer = torch.optim.Adam(head.parameters(), lr=learning_rate * max(size, 1e-6))
    own = len(embedding) if batches is None else batches.size
    patience = patience if batches is None else max(patience, _JUDGED)
    sizes: Tensor | None = None
    losses: list[float] = []
    judged: dict[int, float] = {}
    kept, state = 0, (head.weight.detach().clone(), head.bias.detach().clone())
    for steps in itertools.count():
        optimizer.zero_grad(set_to_none=True)
        nodes, edges = (slice(None), adjacency) if batches is None else batches.draw()
        assignments = head(embedding[nodes]).softmax(1)
        labels: Tensor | None = None
        if batches is None:
            labels = assignments.argmax(1)
        elif steps % _JUDGED == 0 or steps == max_iter:
            labels = _labels(head, embedding)
        if sizes is None and labels is not None:
            sizes = torch.bincount(labels, minlength=head.out_features)
            if batches is not None:  # a cluster with any nodes asks for one of a batch at least
                sizes = (sizes * (own / len(labels))).clamp(min=1) * (sizes > 0)
        variation = total_variation_loss(assignments, edges, backend=backend)
        balance = share_balance_loss(assignments[:own], cast(Tensor, sizes), backend=backend)
        loss = totvar_coeff * variation + balance_coeff * balance
        losses.append(loss.item())
        if not np.isfinite(losses[-1]):
            raise TrainingError(
                f"expected a finite loss, got {losses[-1]} at step {len(losses)} of the refinement; the features or "
                "edge weights are probably too large for float32; normalise or rescale them"
            )
        if labels is not None:
            judged[steps] = judge(labels)
            if judged[steps] > judged[kept] + tol * abs(judged[kept]):
                kept, state = steps, (head.weight.detach().clone(), head.bias.detach().clone())
        if steps >= max_iter or steps - kept >= patience:
            break
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        head.weight.copy_(state[0])
        head.bias.copy_(state[1])
    return losses, judged, kept


@torch.no_grad()
def _labels(head: nn.Linear, embedding: Tensor) -> Tensor:
    """Cluster of each row, (N,), a block at a time."""
    return torch.cat([head(block).argmax(1) for block in embedding.split(_ROWS)])
