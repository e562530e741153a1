"""The benchmark of neighbour search on few rows."""

import pytest
from benchmarks.neighbors import measure, rows_of


@pytest.mark.parametrize("how", ["exact", "approximate"])
def test_time_and_recall_are_measured(how):
    result = measure(rows_of(600, 4, blobs=True), how)
    assert result["cpu_seconds"] >= 0
    assert result["recall"] == 1.0 if how == "exact" else result["recall"] > 0.98
