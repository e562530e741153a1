"""The three terms with no N x K array but the assignments and one gradient."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from tvgnn.graph.sparse_matrix import Lists
from tvgnn.ops._buffers import empty_like
from tvgnn.ops._numba import as_array, entry_values, use_threads
from tvgnn.ops.asymmetric_norm.cpu import add_gradient as add_norm_gradient
from tvgnn.ops.asymmetric_norm.cpu import select_and_measure
from tvgnn.ops.total_variation.cpu import add_gradient as add_variation_gradient
from tvgnn.ops.total_variation.cpu import node_variation

__all__ = ["backward", "forward"]


def forward(logits: Tensor, lists: Lists, rho: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """See `tvgnn.ops.cheeger_cut.op`."""
    indptr, indices, weights, *_ = lists
    nodes, clusters = logits.shape
    s = torch.softmax(logits, 1, out=empty_like(logits))
    use_threads((nodes + indices.shape[0]) * clusters)
    variation = s.new_empty(nodes)
    entries = (as_array(indptr), as_array(indices), entry_values(weights, s))
    node_variation(as_array(s), *entries, as_array(variation[:, None]))
    norms, holders = s.new_empty(1, clusters), torch.empty(1, clusters, dtype=torch.int64)
    use_threads(nodes * clusters)
    select_and_measure(as_array(s), np.array([0, nodes]), float(rho), as_array(norms), as_array(holders))
    return s, variation.sum(), norms.sum(), holders


def backward(
    ds: Tensor | None, dvariation: Tensor, dnorm: Tensor, s: Tensor, holders: Tensor, lists: Lists, rho: float
) -> Tensor:
    """See `tvgnn.ops.cheeger_cut.op`."""
    indptr, indices, weights, t_indptr, t_indices, t_perm = lists
    nodes, clusters = s.shape
    grad = empty_like(s).zero_() if ds is None else empty_like(s).copy_(ds)
    values, out, weight_values = as_array(s), as_array(grad), entry_values(weights, s)
    one, zero = values.dtype.type(1), values.dtype.type(0)
    use_threads((nodes + indices.shape[0]) * clusters)
    g = as_array(dvariation.to(s.dtype).expand(nodes))
    rows, in_order = (as_array(indptr), as_array(indices)), as_array(indices[:0])
    if t_indptr is None or t_indices is None or t_perm is None:
        add_variation_gradient(values, g, *rows, weight_values, in_order, one, one, out)
    else:
        columns = (as_array(t_indptr), as_array(t_indices))
        add_variation_gradient(values, g, *rows, weight_values, in_order, one, zero, out)
        add_variation_gradient(values, g, *columns, weight_values, as_array(t_perm), zero, one, out)
    use_threads(nodes * clusters)
    pointers, norm_gradient = np.array([0, nodes]), as_array(dnorm.to(s.dtype).reshape(1))
    add_norm_gradient(values, pointers, as_array(holders), float(rho), norm_gradient, out)
    mean = torch.einsum("nk,nk->n", grad, s)
    return grad.sub_(mean[:, None]).mul_(s)
