"""``tvgnn sweep`` in several processes, killed and begun again."""

import csv
import json
import os
import signal
import subprocess
import sys
import time

import pytest
from cli_cases import SMALL

MAIN = "import sys; from tvgnn.cli.app import main; sys.exit(main(sys.argv[1:]))"
KS = ("-k", "2:3", "--seeds", "2")
INPUT = ("sweep", "--edges", "edges.csv", "--features", "features.csv", *KS)


def table(folder):
    """The rows of the table but for their times."""
    with (folder / "sweep.csv").open(newline="") as file:
        return [{name: value for name, value in row.items() if name != "seconds"} for row in csv.DictReader(file)]


def records(folder):
    path = folder / "records.jsonl"
    return path.read_bytes().splitlines(keepends=True) if path.exists() else []


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="--jobs 2 needs two cores")
def test_two_jobs_find_what_one_finds(tvgnn, files):
    for jobs in ("1", "2"):
        result = tvgnn(*INPUT, "--jobs", jobs, "--out", f"by-{jobs}", *SMALL)
        assert result.code == 0, result.err
    one, two = files / "by-1", files / "by-2"
    assert table(one) == table(two)
    assert (one / "labels.csv").read_bytes() == (two / "labels.csv").read_bytes()
    summaries = [json.loads((folder / "sweep.json").read_text()) for folder in (one, two)]
    assert summaries[0]["n_clusters"] == summaries[1]["n_clusters"]
    assert summaries[0]["reason"] == summaries[1]["reason"]


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="--jobs 2 needs two cores")
def test_a_killed_sweep_goes_on_and_repeats_nothing(tvgnn, files):
    out = files / "out"
    arguments = (*INPUT[:-4], "-k", "2:9", "--seeds", "4", "--out", "out", *SMALL, "--jobs", "2", "--max-epochs", "40")
    process = subprocess.Popen([sys.executable, "-c", MAIN, *arguments], stderr=subprocess.PIPE)
    deadline = time.monotonic() + 300
    while len(records(out)) < 2 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    _, complaint = process.communicate()
    before = records(out)
    assert 2 <= len(before) < 32, complaint
    complete = [line for line in before if line.endswith(b"\n")]
    result = tvgnn(*arguments)
    assert result.code == 0, result.err
    after = records(out)
    assert after[: len(complete)] == complete
    assert len(after) == 32
    assert not list((out / "arrays").glob("*.part*"))
    assert len(table(out)) == 8


def test_a_sweep_of_features_alone(tvgnn, files):
    result = tvgnn(
        "sweep", "--features", "features.csv", *KS, "--n-neighbors", "3", "--connect", "--out", "out", *SMALL
    )
    assert result.code == 0, result.err
    assert "note: edges: union of the 3 nearest neighbours" in result.err
    assert [row["n_clusters"] for row in table(files / "out")] == ["2", "3"]
    result = tvgnn("sweep", "--features", "features.csv", *KS, "--n-neighbors", "4", "--out", "out", *SMALL)
    assert result.code == 2
    assert "the sweep of other data" in result.error
