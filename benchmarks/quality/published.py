"""Figures that the authors of other methods have published, for the table beside the recipe's."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["PYAGC_CORA", "Published"]


class Published(NamedTuple):
    """Means and standard deviations of repeated runs.

    Attributes:
        nmi, nmi_spread: normalised mutual information in percent.
        acc, acc_spread: accuracy in percent.
        seconds: of one run, on a GPU where the method has a use for one.

    """

    nmi: float
    nmi_spread: float
    acc: float
    acc_spread: float
    seconds: float


PYAGC_CORA = {
    "k-means": Published(13.89, 4.46, 33.09, 4.00, 0.28),
    "node2vec": Published(44.95, 1.49, 60.52, 2.81, 24.57),
    "SSGC": Published(51.85, 1.05, 65.38, 1.47, 0.56),
    "SAGSC": Published(44.35, 0.06, 63.45, 0.03, 0.86),
    "MS2CAG": Published(53.64, 0.64, 70.29, 0.66, 0.78),
    "GAE": Published(50.09, 0.07, 67.53, 0.13, 32.03),
    "DGI": Published(56.22, 0.87, 72.22, 2.92, 15.50),
    "CCA-SSG": Published(58.74, 0.87, 73.35, 1.92, 0.46),
    "S3GC": Published(55.45, 1.12, 70.33, 1.98, 124.74),
    "NS4GC": Published(59.40, 0.48, 74.92, 0.59, 9.77),
    "MAGI": Published(58.94, 0.41, 74.22, 0.57, 51.25),
    "DAEGC": Published(46.88, 1.71, 64.06, 3.18, 35.80),
    "DinkNet": Published(55.56, 0.18, 72.49, 0.50, 13.31),
    "MinCut": Published(40.80, 1.83, 52.95, 6.65, 5.51),
    "DMoN": Published(43.84, 2.29, 52.99, 4.70, 3.58),
    "Neuromap": Published(46.98, 2.61, 56.96, 3.98, 4.73),
}
"""PyAGC's structured benchmark, `benchmark/results` of its repository at `82fe195`, Cora."""
