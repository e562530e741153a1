"""Which scaling features need, read off the features themselves and applied to every later input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from tvgnn.estimators.amount_features import are_amounts, median_amounts
from tvgnn.estimators.binary_features import are_binary, steps_of_binary
from tvgnn.estimators.component_scores import are_component_scores
from tvgnn.estimators.count_features import are_counts, are_log_counts, have_one_size
from tvgnn.estimators.degree_features import log_positions
from tvgnn.estimators.embedding_features import are_embeddings
from tvgnn.estimators.feature_scaling import FeatureScaling, is_bag_of_words
from tvgnn.estimators.heavy_tails import heavy_tailed, normal_scores, quantiles_of
from tvgnn.estimators.intensity_features import are_intensities
from tvgnn.estimators.mixed_features import are_mixed, dummy_columns
from tvgnn.estimators.share_features import are_shares
from tvgnn.graph._normalize import normalize_rows

__all__ = [
    "MANY_COLUMNS",
    "STEPS",
    "FeaturePreparation",
    "arrays_of_steps",
    "choose_steps",
    "have_lengths",
    "known_rows",
    "prepared_columns",
    "rows_with",
]

STEPS = (
    "log-degree",
    "sqrt",
    "log1p",
    "log1p-median",
    "normal-scores",
    "idf",
    "smooth-idf",
    "standardize",
    "standardize-numeric",
    "common-scale",
    "l1",
    "l2",
)
_CENTRING = {"standardize", "standardize-numeric", "common-scale"}
_OF_MEASUREMENTS = {"standardize", "standardize-numeric"}
_ONE_OF = {"idf", "smooth-idf", *_CENTRING}  # each has a scale for every column
_DEGREE = ("log-degree",)
_COMPRESSING = {"sqrt": np.sqrt, "log1p": np.log1p, "log1p-median": np.log1p}  # of these only one, too
_NOT_OF_RANKS = {*_COMPRESSING, "idf", "smooth-idf"}  # which want counts, amounts or shares
_FAIR = 0.5  # deviation of a dummy that is 1 in half of the rows
_WEIGHTED_SLOPE = 0.5  # half way between raw counts (0) and values that carry the IDF already (1)
MANY_COLUMNS = 32  # in which a row of zeros is no measurement, but one that is missing
_EQUAL_LENGTHS = 1e-3  # of the largest; float32 leaves less
_FEWEST_ROWS = 5  # a column seen in fewer rows says little about the mean of its values


@dataclass(frozen=True, eq=False)
class FeaturePreparation:
    """Fitted steps; behaves like `FeatureScaling`.

    Attributes:
        kind: names of the steps joined by ``+``, such as ``"log1p+idf+l2"``, or None for no step.
        mean: (F,) subtracted from every row, or None; as in `FeatureScaling`.
        scale: (F,) that every row is divided by, or None.
        quantiles: (257, F) of the columns that are taken by their ranks, nan for the others; or None.
        medians: (F,) that amounts are divided by before ``log1p-median``, or None.
        kept: (all columns of the features,) bool, which are used: F of them. None for all.

    Example:
        >>> x = np.array([[1.0, 1, 0, 0, 0, 0], [1.0, 0, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0]])
        >>> prepared = FeaturePreparation.fit(x, "idf")
        >>> (prepared.transform(x)[0] > 0).tolist()  # the first word, which every row has, says nothing
        [False, True, False, False, False, False]

    """

    kind: str | None
    mean: np.ndarray | None = None
    scale: np.ndarray | None = None
    quantiles: np.ndarray | None = None
    medians: np.ndarray | None = None
    kept: np.ndarray | None = None

    @property
    def left_out(self) -> list[int]:
        """Columns of the features that are not used."""
        return [] if self.kept is None else np.flatnonzero(~self.kept).tolist()

    @property
    def steps(self) -> tuple[str, ...]:
        """Names of the steps, in their order."""
        return () if self.kind is None else tuple(self.kind.split("+"))

    @property
    def ranked(self) -> list[int]:
        """Columns that are taken by their ranks."""
        if self.quantiles is None:
            return []
        ranked = np.flatnonzero(~np.isnan(self.quantiles[0]))
        return (ranked if self.kept is None else np.flatnonzero(self.kept)[ranked]).tolist()

    @classmethod
    def fit(cls, x: Any, kind: str | None = "auto", left_out: Sequence[int] = ()) -> FeaturePreparation:
        """Fit steps to features x (N, F), dense or CSR.

        Rows of zeros in at least 32 columns are missing and have no part in this.

        Parameters:
            x: features.
            kind: ``"auto"`` for `choose_steps`, and where these standardise measurements ``normal-scores`` before it
                for those with heavy tails (`heavy_tailed`); ``"log-degree"`` alone, which makes one number of one-hot
                degrees; else names of `STEPS` joined by ``+``, or None. ``normal-scores`` by name are for all
                columns but dummies.
            left_out: columns that are not to be used, as `coordinate_columns`.

        Raises:
            ValueError: an unknown step, or two that exclude each other; ``log1p``, ``log1p-median`` or ``sqrt`` and
                negative numbers; ``idf`` where no column has a zero, so that it would leave nothing; ``normal-scores``
                and a sparse bag of words.

        """
        kept = ~np.isin(np.arange(x.shape[1]), left_out) if len(left_out) else None
        x = _columns(x, kept)
        known = known_rows(x)
        if known.any() and not known.all():
            x = x[np.flatnonzero(known)]
        steps = choose_steps(x) if kind == "auto" else _checked(kind)
        if steps == _DEGREE:
            log_positions(x)
        mean = scale = quantiles = None
        medians = median_amounts(x) if "log1p-median" in steps else None
        centring = next((step for step in steps if step in _CENTRING), None)
        if kind == "auto" and centring in _OF_MEASUREMENTS and (ranked := heavy_tailed(x)).any():
            steps = ("normal-scores", *steps)
            quantiles = quantiles_of(x, ranked)
        elif "normal-scores" in steps:
            quantiles = quantiles_of(_measurements(x, kind), ~dummy_columns(x))
        if centring is not None:
            given = _compressed(x, steps, medians)
            given = given if quantiles is None else normal_scores(given, quantiles)
            scaling = FeatureScaling.fit(given, "common-scale" if centring == "common-scale" else "standardize")
            mean, scale = scaling.mean, scaling.scale
            if centring == "standardize-numeric":
                scale = np.where(dummy_columns(x), _FAIR, np.asarray(scale))
        elif "idf" in steps:
            idf = np.log(x.shape[0] / np.maximum(rows_with(x), 1))
            if kind != "auto" and x.shape[0] > 1 and not idf.any():
                raise ValueError(
                    f"expected columns with zeros for the step idf of feature_norm={kind!r}, got other numbers in all "
                    "rows and columns, which idf weighs by 0; take feature_norm='standardize' or 'l2'"
                )
            scale = np.where(idf > 0, 1 / np.maximum(idf, 1e-300), np.inf)
        elif "smooth-idf" in steps:
            scale = 1 / (1 + np.log((1 + x.shape[0]) / (1 + rows_with(x))))
        return cls("+".join(steps) or None, mean, scale, quantiles, medians, kept)

    def transform(self, x: Any) -> Any:
        """Prepared features, (M, F) float32, dense or CSR as given; rows of zeros in at least 32 columns stay so.

        Raises:
            ValueError: negative numbers where there is a step ``log1p``, ``log1p-median`` or ``sqrt``; rows that are no
                one-hot degrees for ``log-degree``.

        """
        steps, x = self.steps, _columns(x, self.kept)
        if steps == _DEGREE:
            return log_positions(x)
        known = None if self.mean is None else known_rows(x)
        x = _compressed(x, steps, self.medians)
        if self.quantiles is not None:
            x = normal_scores(x, self.quantiles)
        x = FeatureScaling("standardize", self.mean, self.scale).transform(x)
        if known is not None and not known.all():
            x = sp.csr_array(sp.diags_array(known.astype(x.dtype)) @ x) if sp.issparse(x) else x * known[:, None]
        for norm in ("l1", "l2"):
            if norm in steps:
                x = normalize_rows(x, norm)
        return x


def arrays_of_steps(kind: str | None, sparse: bool) -> tuple[set[str], ...]:
    """Arrays that a fitted preparation can have beside its steps; sparse features may have no mean.

    Raises:
        ValueError: an unknown step.

    """
    steps = _checked(kind)
    if "log1p-median" in steps:
        others = arrays_of_steps("+".join(step for step in steps if step != "log1p-median") or None, sparse)
        return tuple(one | {"medians"} for one in others)
    if "normal-scores" in steps:
        if not _CENTRING & set(steps):
            return ({"quantiles"},)
        least = {"quantiles", "scale"}
        return (least, least | {"mean"}) if sparse else (least | {"mean"},)
    if _CENTRING & set(steps):
        return ({"scale"}, {"mean", "scale"}) if sparse else ({"mean", "scale"},)
    return ({"scale"} if {"idf", "smooth-idf"} & set(steps) else set(),)


def prepared_columns(kind: str | None, columns: int) -> int:
    """Number of columns that so many have after fitted steps."""
    return 1 if kind == "log-degree" else columns


def _checked(kind: str | None) -> tuple[str, ...]:
    steps = () if kind is None else tuple(kind.split("+")) if isinstance(kind, str) else (kind,)
    known = all(step in STEPS for step in steps) and len(set(steps)) == len(steps)
    alone = len(steps) == 1 or not set(_DEGREE) & set(steps)
    alone = alone and not ("normal-scores" in steps and _NOT_OF_RANKS & set(steps))
    if not known or not alone or any(len(group & set(steps)) > 1 for group in (_ONE_OF, set(_COMPRESSING))):
        raise ValueError(
            f"expected feature_norm to be 'auto', None or different steps of {', '.join(STEPS)} joined by '+', of "
            f"{', '.join(step for step in STEPS if step in _ONE_OF)} only one, of {', '.join(_COMPRESSING)} only one, "
            f"{_DEGREE[0]} alone and normal-scores without {', '.join(sorted(_NOT_OF_RANKS))}, got {kind!r}"
        )
    return steps


def choose_steps(x: Any) -> tuple[str, ...]:
    """Steps for features x (N, F), dense or CSR, from their values alone.

    - Nothing but 0 and 1 (`are_binary`): `steps_of_binary`.
    - Shares of a whole (`are_shares`) that are mostly not zero: ``sqrt`` and ``l2``, which leaves Hellinger's distance
      between rows: a part of 1 % that doubles says as much as one of 50 % that grows to 56.
    - Intensities (`are_intensities`): ``common-scale``, as they have one unit, and pixels that are nearly always dark
      would be blown up; they come before bags, since pictures may be mostly dark.
    - Measurements beside dummies of categories (`are_mixed`), however many zeros these bring: ``standardize-numeric``,
      with one scale for all dummies, since one of its own for each would let rare categories outweigh the rest.
    - Logarithms of counts (`are_log_counts`): ``l2``; counts that are mostly not zero (`are_counts`): ``log1p`` before
      it. Genes have one unit, and those found in all cells say most. Bags that were not divided by a size of their rows
      before the logarithm may be words: ``smooth-idf`` before it.
    - Bags (non-negative and mostly zero): ``l2``, since the length of a document is not its
      topic; before it ``idf``, since words that all rows share say nothing, unless the values carry it already. Where
      entries are counts above 1, these words say something by how often they occur: ``log1p`` and ``smooth-idf``.
    - Amounts, bags of numbers of which few outweigh the rest of their column, or the other columns (`are_amounts`):
      ``log1p-median`` before ``smooth-idf`` and ``l2``, the logarithm of one plus the multiple of a column's median.
    - Scores on principal components (`are_component_scores`): ``common-scale``, as their variances are what they say.
    - Embeddings (`are_embeddings`): ``common-scale`` and ``l2``, the direction from their mean.
    - Anything else are measurements: ``standardize``, so that units do not matter; those with heavy tails get
      ``normal-scores`` before it (`FeaturePreparation.fit`).

    ``idf`` is ``log(N / n)`` with n the rows that have a word, ``smooth-idf`` ``1 + log((1 + N) / (1 + n))``, which
    scikit-learn's `TfidfTransformer` takes.

    Whether values carry an IDF: in TF-IDF the mean of a column's non-zero values grows in proportion to the column's
    IDF, in counts it does not. The slope of one on the other in logarithms is 1 and about 0.
    """
    if are_binary(x):
        return steps_of_binary(x)
    values = x.data if sp.issparse(x) else x
    nonzero = values[values != 0]
    bag = is_bag_of_words(x)
    if not bag and are_shares(x):
        return ("sqrt", "l2")
    if are_intensities(x):
        return ("common-scale",)
    if are_mixed(x):
        return ("standardize-numeric",)
    if are_log_counts(x):
        return ("smooth-idf", "l2") if bag and have_one_size(x) else ("l2",)
    if not bag:
        if are_counts(x):
            return ("log1p", "l2")
        if are_component_scores(x):
            return ("common-scale",)
        return ("common-scale", "l2") if are_embeddings(x) else ("standardize",)
    if are_amounts(x):
        return ("log1p-median", "smooth-idf", "l2")
    if bool((nonzero == np.round(nonzero)).all()):
        return ("log1p", "smooth-idf", "l2")
    return ("l2",) if _slope_on_idf(x) > _WEIGHTED_SLOPE else ("idf", "l2")


def known_rows(x: Any) -> np.ndarray:
    """Which rows of x (N, F), dense or CSR, say anything, (N,) bool: all in few columns, or those not all zero."""
    if x.shape[1] < MANY_COLUMNS:
        return np.ones(x.shape[0], bool)
    if not sp.issparse(x):
        return np.asarray((x != 0).any(1))
    if x.data.all():  # no stored zeros, as in a `Graph`
        return np.diff(x.indptr) > 0
    rows = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
    return np.bincount(rows[x.data != 0], minlength=x.shape[0]) > 0


def have_lengths(x: Any) -> bool:
    """Whether rows of x (N, F), dense or CSR, differ in length, rows of zeros left aside."""
    lengths = sp.linalg.norm(x, axis=1) if sp.issparse(x) else np.linalg.norm(x, axis=1)
    lengths = lengths[lengths > 0]
    return bool(lengths.size) and float(np.ptp(lengths)) > _EQUAL_LENGTHS * float(lengths.max())


def _columns(x: Any, kept: np.ndarray | None) -> Any:
    return x if kept is None else x[:, np.flatnonzero(kept)]


def _measurements(x: Any, kind: str | None) -> Any:
    if sp.issparse(x) and is_bag_of_words(x):
        raise ValueError(
            f"expected measurements for the step normal-scores of feature_norm={kind!r}, got a sparse matrix that is "
            "mostly zero, in which every zero would become a number; take feature_norm='idf+l2' for words"
        )
    return x


def _slope_on_idf(x: Any) -> float:
    rows, sums = rows_with(x), np.asarray(x.sum(0)).ravel()
    seen = (rows >= _FEWEST_ROWS) & (rows < x.shape[0])
    if seen.sum() < 2:
        return 0.0
    idf, means = np.log(np.log(x.shape[0] / rows[seen])), np.log(sums[seen] / rows[seen])
    centred = idf - idf.mean()
    spread = float(centred @ centred)
    return float(centred @ (means - means.mean())) / spread if spread > 0 else 0.0


def rows_with(x: Any) -> np.ndarray:
    """Number of rows of x (N, F), dense or CSR, in which each column is not 0, (F,)."""
    if sp.issparse(x):
        return np.bincount(x.indices[x.data != 0], minlength=x.shape[1])
    return np.count_nonzero(x, axis=0)


def _compressed(x: Any, steps: tuple[str, ...], medians: np.ndarray | None) -> Any:
    """Features x (N, F), dense or CSR, after the step of `_COMPRESSING` among those given, or as they are."""
    name = next((step for step in steps if step in _COMPRESSING), None)
    if name is None:
        return x
    values = x.data if sp.issparse(x) else x
    if values.min(initial=0) < 0:
        if sp.issparse(x):
            place = int(np.argmax(x.data < 0))
            row, column = int(np.searchsorted(x.indptr, place, side="right")) - 1, int(x.indices[place])
        else:
            row, column = (int(at) for at in np.argwhere(x < 0)[0])
        wanted = {"sqrt": "shares", "log1p": "counts", "log1p-median": "amounts"}[name]
        raise ValueError(
            f"expected {wanted} >= 0 for the step {name} of feature_norm, got {x[row, column]:g} in row {row}, column "
            f"{column}; take feature_norm='standardize' for measurements, or 'l2' for values that carry their weights"
        )
    function = _COMPRESSING[name]
    if medians is not None:
        x = sp.csr_array(x @ sp.diags_array(1 / medians)) if sp.issparse(x) else x / medians
    return sp.csr_array((function(x.data), x.indices, x.indptr), shape=x.shape) if sp.issparse(x) else function(x)
