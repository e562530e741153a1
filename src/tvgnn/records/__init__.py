"""Runs of experiments as records (no torch)."""

from tvgnn.records.classification import RunRecord
from tvgnn.records.clustering import ClusteringRecord, run_fingerprint
from tvgnn.records.curves import CurveRecord
from tvgnn.records.datasets import DatasetRecord
from tvgnn.records.store import Record, RunStore, compact, latest, read_records

__all__ = [
    "ClusteringRecord",
    "CurveRecord",
    "DatasetRecord",
    "Record",
    "RunRecord",
    "RunStore",
    "compact",
    "latest",
    "read_records",
    "run_fingerprint",
]
