import json
import subprocess
import sys

import pytest

from tvgnn.errors import MemoryLimitError
from tvgnn.models.node_clustering import NodeClusteringConfig
from tvgnn.training.memory_estimate import check_memory, parse_bytes, readable, training_bytes

MEASURE = """
import json, sys, warnings
import numpy as np
from scipy import sparse as sp
from tvgnn import TVClustering

def status(field):
    return next(1024 * int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(field))

warnings.simplefilter("ignore")
nodes, columns, settings = json.loads(sys.argv[1])
diagonals = [np.ones(nodes, np.float32)] * 4
ring = sp.csr_array(sp.dia_array((diagonals, [1, -1, 2, -2]), shape=(nodes, nodes)))
x = np.random.default_rng(0).random((nodes, columns), np.float32)
TVClustering(4, **settings).fit(x[:50], adjacency=ring[:50, :50])  # loads the kernels
open("/proc/self/clear_refs", "w").write("5")
before = status("VmRSS")
model = TVClustering(4, **settings).fit(x, adjacency=ring)
print(json.dumps([model.estimated_bytes_, status("VmHWM") - before]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured on Linux only")
@pytest.mark.parametrize("memory", ["normal", "low"])
def test_estimate_is_near_the_measured_peak(memory):
    settings = {"max_iter": 3, "hidden_channels": 128, "mlp_channels": 64, "memory": memory}
    estimated, measured = _estimated_and_measured(100_000, 16, settings)
    assert 0.6 < estimated / measured < 1.6


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured on Linux only")
@pytest.mark.parametrize("batch_size", [None, 5_000])
def test_estimate_of_the_quality_preset(batch_size):
    settings = {"preset": "quality", "n_init": 1, "max_iter": 3, "num_layers": 2, "batch_size": batch_size}
    estimated, measured = _estimated_and_measured(60_000, 200, settings)
    assert 0.6 < estimated / measured < 1.7


def _estimated_and_measured(nodes, columns, settings):
    call = [sys.executable, "-c", MEASURE, json.dumps([nodes, columns, settings])]
    done = subprocess.run(call, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def estimate(nodes=1000, entries=10_000, nonzeros=None, layers=2, **settings):
    config = NodeClusteringConfig(20, 5, hidden_channels=64, mlp_channels=32, num_layers=layers)
    return training_bytes(config, nodes, entries, nonzeros, **{"weighted": False, **settings})


def test_estimate_grows_with_what_takes_memory():
    assert estimate() < estimate(nodes=2000) < estimate(nodes=2000, layers=3)
    assert estimate(entries=10**8) < estimate(entries=2 * 10**8)
    assert estimate(nonzeros=10) < estimate()
    assert estimate(nodes=10**6, layers=6, memory="low") < 0.75 * estimate(nodes=10**6, layers=6)
    assert estimate(precision="bfloat16") > estimate()


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("8GB", 8 * 10**9),
        (" 1.5 g ", 1_500_000_000),
        ("500mb", 500 * 10**6),
        ("12", 12),
        (10, 10),
        (1e9, 10**9),
        (None, None),
    ],
)
def test_parse_bytes(text, size):
    assert parse_bytes(text) == size


@pytest.mark.parametrize("bad", ["", "8 GiB", "-1GB", "lots", 0, -5, float("nan"), float("inf"), True, [8], "0"])
def test_sizes_that_make_no_sense(bad):
    with pytest.raises(ValueError, match="expected max_memory to be a size such as '8GB'"):
        parse_bytes(bad)


def test_refusal_says_what_to_do():
    check_memory(5, None, "normal")
    check_memory(5, 5, "normal")
    with pytest.raises(MemoryLimitError, match=r"max_memory, 1 GB, .* take 2\.5 GB; use memory='low', smaller"):
        check_memory(25 * 10**8, 10**9, "normal")
    with pytest.raises(MemoryLimitError, match=r"take 2 kB; use smaller hidden_channels"):
        check_memory(2000, 1, "low")


def test_readable():
    assert [readable(size) for size in (999, 1e6, 1.234e9, 5e12)] == ["0.999 kB", "1 MB", "1.23 GB", "5e+03 GB"]
