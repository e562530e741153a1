"""Features computed from the graph alone, for graphs whose nodes have none."""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence

from tvgnn.checks import is_integer
from tvgnn.errors import GraphError
from tvgnn.graph.components import component_vectors, default_width
from tvgnn.graph.leading_eigenvectors import leading_eigenvectors
from tvgnn.wording import setting

__all__ = ["StructuralKind", "structural_features"]

StructuralKind = Literal["degree", "spectral", "ones"]

_DEFAULT_ONE_HOT = 64
_DEFAULT_SPECTRAL = (16, 64)  # more than 16 for components only


def structural_features(adjacency: Any, kind: StructuralKind, dim: int | None = None, *, n_clusters: int = 1) -> Any:
    """Compute node features from a symmetric adjacency.

    Parameters
    ----------
    adjacency
        (N, N) symmetric CSR array without self-loops.
    kind
        ``"degree"``: one-hot of the number of neighbours, as the paper does for graphs without attributes; degrees of
        ``dim - 1`` and more share the last column. A CSR array. ``"spectral"``: the ``dim`` leading eigenvectors of
        ``D^-1/2 A D^-1/2`` orthogonal to the trivial ``sqrt(d)``, each with unit mean square and its largest entry
        positive; isolated nodes are zero rows. Of several components, those of a fair size have a column each and
        dust has none (see `component_vectors`), so that columns are left for what is within the large ones.
        ``"ones"``: constant columns.
    dim
        Number of columns. Default: degree ``max degree + 1`` but at most 64; spectral 16, or as many as there are
        components of N / 256 nodes and more, but at most 64, or as many as ``n_clusters``, but below N; ones 1.
    n_clusters
        How many clusters the features shall tell apart.

    Returns
    -------
    array
        (N, dim), float64; CSR for ``"degree"``.

    Raises
    ------
    GraphError
        If ``kind`` is unknown, ``dim`` does not fit the graph, or the eigensolver does not converge.
    """
    if dim is not None and not is_integer(dim, 1):
        raise GraphError(f"dim must be an integer of at least 1, got {dim!r}")
    num_nodes = adjacency.shape[0]
    if kind == "ones":
        return np.ones((num_nodes, dim or 1))
    if kind == "degree":
        return _one_hot_degree(np.diff(adjacency.indptr), dim)
    if kind == "spectral":
        return _spectral(adjacency, dim, n_clusters)
    raise GraphError(f"structural features must be 'degree', 'spectral' or 'ones', got {kind!r}")


def _one_hot_degree(degree: npt.NDArray[Any], dim: int | None) -> Any:
    width = dim or min(int(degree.max()) + 1, _DEFAULT_ONE_HOT)
    columns = np.minimum(degree, width - 1)
    num_nodes = len(degree)
    return sp.csr_array((np.ones(num_nodes), columns, np.arange(num_nodes + 1)), shape=(num_nodes, width))


def _spectral(adjacency: Any, dim: int | None, n_clusters: int) -> npt.NDArray[np.float64]:
    num_nodes = adjacency.shape[0]
    width = dim
    if width is None:
        width = min(max(default_width(adjacency, *_DEFAULT_SPECTRAL), n_clusters), num_nodes - 1)
    if not 1 <= width < num_nodes:
        raise GraphError(
            f"spectral features need 1 <= dim < number of nodes, got {setting('dim', width)} for {num_nodes} nodes"
        )
    degree = np.asarray(adjacency.sum(axis=1, dtype=np.float64)).ravel()
    root = np.sqrt(degree)
    inverse_root = np.divide(1.0, root, out=np.zeros(num_nodes), where=root > 0)
    scaling = sp.dia_array((inverse_root[None, :], [0]), shape=adjacency.shape)
    normalized = (scaling @ adjacency.astype(np.float64) @ scaling).tocsr()
    between, known = component_vectors(normalized, root, width)
    vectors = between
    if between.shape[1] < width:
        try:
            within = leading_eigenvectors(normalized, width - between.shape[1], np.random.default_rng(0), skipped=known)
        except ArpackNoConvergence as error:
            raise GraphError(
                f"the eigensolver for spectral features did not converge ({error}): use a smaller dim, or 'degree'"
            ) from None
        vectors = np.hstack([between, within[:, ::-1]])  # eigenvalues come in ascending order
    peaks = vectors[np.abs(vectors).argmax(axis=0), np.arange(width)]
    features = vectors * (np.sign(peaks) * np.sqrt(num_nodes))
    features[degree == 0] = 0.0
    return np.asarray(features)
