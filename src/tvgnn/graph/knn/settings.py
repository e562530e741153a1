"""What a caller chooses of a nearest-neighbour graph, checked before anything is computed."""

from dataclasses import dataclass
from numbers import Real

import numpy as np

from tvgnn.checks import is_integer
from tvgnn.errors import GraphError
from tvgnn.wording import setting

__all__ = ["METHODS", "WEIGHTS", "NeighborSettings"]

WEIGHTS = ("connectivity", "heat_kernel")
METHODS = ("auto", "exact", "approximate")
_OTHER_NAMES = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan"}


@dataclass(frozen=True)
class NeighborSettings:
    """Choices of a nearest-neighbour graph; see :meth:`tvgnn.Graph.from_features` for their meaning.

    Raises
    ------
    GraphError
        A value is out of range or of another type.

    Examples
    --------
    >>> NeighborSettings(metric="l2").metric
    'euclidean'
    """

    n_neighbors: int = 15
    metric: str = "euclidean"
    mutual: bool = False
    weights: str = "connectivity"
    bandwidth: float | None = None
    connect: bool = False
    method: str = "auto"
    random_state: int = 0

    def __post_init__(self) -> None:
        if not is_integer(self.n_neighbors, 1):
            raise GraphError(f"n_neighbors must be an integer of at least 1, got {self.n_neighbors!r}")
        if not isinstance(self.metric, str):
            raise GraphError(f"metric must be a name such as 'euclidean' or 'cosine', got {self.metric!r}")
        if self.metric == "precomputed":
            raise GraphError(
                f"{setting('metric', 'precomputed')} has no features to read; build a matrix and use Graph.from_scipy"
            )
        for name in ("mutual", "connect"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise GraphError(f"{name} must be True or False, got {getattr(self, name)!r}")
        for name, known in (("weights", WEIGHTS), ("method", METHODS)):
            if getattr(self, name) not in known:
                raise GraphError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        self._check_bandwidth()
        seed = self.random_state
        if isinstance(seed, bool) or not hasattr(seed, "__index__") or not 0 <= seed < 2**32:
            raise GraphError(f"random_state of a neighbour graph must be an integer from 0 to 2**32 - 1, got {seed!r}")
        object.__setattr__(self, "metric", _OTHER_NAMES.get(self.metric, self.metric))

    def _check_bandwidth(self) -> None:
        if self.bandwidth is None:
            return
        if self.weights != "heat_kernel":
            raise GraphError(f"bandwidth={self.bandwidth!r} needs weights='heat_kernel', got {self.weights!r}")
        number = isinstance(self.bandwidth, Real) and not isinstance(self.bandwidth, bool)
        if not number or not 0 < self.bandwidth < np.inf:
            raise GraphError(f"bandwidth must be a positive distance, or None for self-tuning, got {self.bandwidth!r}")
