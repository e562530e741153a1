"""The suite records nothing that disagrees, names what it skips, and lets variants take turns."""

import numpy as np
import pytest
import torch
from benchmarks.epoch import epoch
from benchmarks.graphs import ring, star
from benchmarks.operators import Operator, measure
from benchmarks.records import read
from benchmarks.registry import BENCHMARKS, SUITES, Case, Settings
from benchmarks.roofline import dense_products, epoch_bytes
from benchmarks.run import run
from benchmarks.timing import interleaved, sample
from benchmarks.variants import VARIANTS, Problem, disagreement, names_that_fit
from rich.console import Console

from tvgnn.errors import DataError
from tvgnn.graph.graph import Graph
from tvgnn.models.node_clustering import NodeClusteringConfig


@pytest.fixture
def problem():
    x = np.random.default_rng(0).random((30, 5), dtype=np.float32)
    return Problem(Graph.from_features(x, 4), NodeClusteringConfig(5, 3, hidden_channels=8, mlp_channels=6))


@pytest.fixture
def console():
    return Console(width=200, record=True, quiet=False, file=None)


def test_every_variant_starts_with_our_loss_and_gradient(problem):
    firsts = {name: VARIANTS[name](problem).first() for name in names_that_fit(30)}
    assert {name: disagreement(firsts["tvgnn"], first) for name, first in firsts.items()} == dict.fromkeys(firsts)


def test_another_loss_or_gradient_is_noticed():
    gradients = [torch.ones(3), torch.ones(2)]
    assert disagreement((1.0, gradients), (1.0, gradients)) is None
    assert "loss is 1.001" in disagreement((1.0, gradients), (1.001, gradients))
    assert "parameter 1" in disagreement((1.0, gradients), (1.0, [torch.ones(3), -torch.ones(2)]))
    assert "parameter 0" in disagreement((1.0, gradients), (1.0, [torch.full((3,), torch.nan), torch.ones(2)]))


def test_epoch_measures_all_variants_and_floors(problem):
    measured = {one.variant: one for one in epoch(problem, "points", rounds=1)}
    floors = {"its dense products alone", "roofline, rows gathered", "roofline, each array once"}
    assert set(measured) == {*names_that_fit(30), *floors}
    products, gathered, once = (measured[name].median for name in sorted(floors, key=lambda n: (n[0], "each" in n)))
    assert products < once < gathered


def test_epoch_refuses_a_variant_that_computes_something_else(problem, monkeypatch):
    wrong = VARIANTS["released, E x K loss"]
    monkeypatch.setitem(
        VARIANTS, "released, E x K loss", lambda _: wrong(Problem(problem.graph, NodeClusteringConfig(5, 3)))
    )
    with pytest.raises(ArithmeticError, match="released, E x K loss"):
        epoch(problem, "points", rounds=1)


def test_an_operator_that_disagrees_is_refused():
    variants = {"tvgnn": lambda x: x * 2, "reference backend": lambda x: x * 2.1}
    with pytest.raises(ArithmeticError, match="'reference backend' differs"):
        list(measure(Operator("double", variants, torch.ones(3), (1, 1)), rounds=1))
    detached = {"tvgnn": lambda x: x * 2, "other": lambda x: x * 2 + (x - x.detach())}
    with pytest.raises(ArithmeticError, match="gradient of double"):
        list(measure(Operator("double", detached, torch.ones(3), (1, 1)), rounds=1))


def test_variants_take_turns_and_the_warm_up_is_dropped():
    calls = []
    samplers = {name: (lambda name=name: calls.append(name) or len(calls)) for name in "ab"}
    assert sample(samplers, rounds=2, warm_up=1) == {"a": [3, 5], "b": [4, 6]}
    assert calls == list("ababab")
    assert len(sample(samplers, rounds=9, warm_up=0, seconds=0)["a"]) == 3


def test_run_keeps_records_and_names_what_it_leaves_out(tmp_path, console):
    def absent():
        raise DataError("expected 4 files, got none")

    def wrong():
        raise ArithmeticError("the losses differ")

    good = interleaved("sleepless", {"a": lambda: 2.0, "b": lambda: 3.0}, rounds=1)
    path = tmp_path / "records.jsonl"
    assert run([Case("no data", absent), Case("good", lambda: [good])], path, console)
    assert not run([Case("bad", wrong)], path, console)
    assert read(path) == good
    text = console.export_text()
    assert "skipped no data: expected 4 files" in text
    assert "not recorded bad: the losses differ" in text
    assert "1.50" in text


def test_suites_name_benchmarks_whose_cases_differ():
    settings = Settings(True, 1, None, ("cora",))
    titles = [case.title for name in SUITES["full"] for case in BENCHMARKS[name](settings)]
    assert set(SUITES["short"]) <= set(SUITES["full"]) == set(BENCHMARKS)
    assert len(titles) == len(set(titles))


def test_star_and_ring_have_as_many_edges():
    assert star(9).num_entries == 18
    assert ring(9).num_entries == 18
    assert star(9).degrees(torch.float32).tolist() == [9.0] + [1.0] * 9
    assert ring(3).indices.tolist() == [1, 2, 0, 2, 0, 1]


def test_bytes_and_products_by_hand():
    config = NodeClusteringConfig(5, 3, hidden_channels=8, mlp_channels=6, num_layers=1)
    once, gathered = (epoch_bytes(config, 10, 40, None, gathered=gathered) for gathered in (False, True))
    assert gathered - once == 4 * 40 * (3 * 8 + 2 * 3)
    sparse = epoch_bytes(config, 10, 40, 20, gathered=False)
    assert sparse - once == 2 * (8 * 20 + 4 * 8 * (10 + 5))
    dense_products(config, 10, torch.ones(10, 5))()
