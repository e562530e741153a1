"""The classification benchmark trains what the estimator trains, on the same graphs, and refuses what differs."""

import importlib
import sys
import warnings

import numpy as np
import pytest
import torch
from benchmarks.baselines import torch_geometric_pool as peer
from benchmarks.classification import classification, classification_memory
from benchmarks.graph_variants import (
    BATCH,
    GraphProblem,
    GraphVariant,
    disagreement,
    graph_variant,
    names_of_variants,
    peer_names,
)
from benchmarks.records import Measurement
from benchmarks.registry import BENCHMARKS, GRAPH_SETS, Settings
from benchmarks.report import latest, written
from benchmarks.run import main
from benchmarks.tables import TABLES

from benchmarks import classification as module
from benchmarks import graph_variants, probes
from tvgnn import TVGraphClassifier
from tvgnn.errors import DataError
from tvgnn.graph.graph import Graph

POOLINGS = ["mincut pooling", "dmon pooling", "diffpool pooling"]
POOLINGS += ["topk pooling, one graph at a time", "sag pooling, one graph at a time"]


def _peer_imports():
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecations inside PyTorch Geometric's imports
            importlib.import_module("tgp.poolers")
    except Exception as error:  # it fails in its own ways where an extension was built for another torch
        return f"{peer.NAME} cannot be imported: {error}"
    return None


@pytest.fixture
def problem():
    random = np.random.default_rng(0)
    graphs = []
    for number in range(5 * BATCH):
        nodes = int(random.integers(4, 12))
        first = np.arange(nodes)
        graph = Graph.from_edges(first, (first + 1) % nodes, x=random.random((nodes, 3), dtype=np.float32))
        graphs.append(graph.with_label(number % 2))
    return GraphProblem(graphs, np.arange(len(graphs)) % 2, "mutag", timed=2)


@pytest.fixture
def without_peer(monkeypatch):
    monkeypatch.setattr(peer, "AVAILABLE", False)


def test_every_variant_is_timed_and_the_part_is_named(problem, without_peer):
    measured = classification(problem, "mutag", rounds=1)
    assert {one.benchmark for one in measured} == {"classification, 2 of 5 batches, mutag"}
    assert [one.variant for one in measured] == names_of_variants(problem)
    assert [one.variant for one in measured][-5:] == POOLINGS
    assert all(one.median > 0 for one in measured)


def test_network_and_threads_are_those_of_the_estimator(problem):
    estimator = TVGraphClassifier(preset="mutag", max_epochs=1, feature_norm=None, random_state=0)
    estimator.fit(problem.graphs, problem.targets, validation=(problem.graphs[:2], problem.targets[:2]))
    assert problem.network().config == estimator.model_.config
    before = torch.get_num_threads()
    with problem.threads("tvgnn"):
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before


def test_other_numbers_of_threads_are_shown_where_they_differ(problem, monkeypatch):
    monkeypatch.setattr(peer, "AVAILABLE", True)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        names = names_of_variants(problem)
        assert names[:2] == ["tvgnn", "tvgnn, with torch's threads"]
        assert names[2:6] == [*peer_names(), "torch-geometric-pool, one thread"]
        torch.set_num_threads(1)
        assert names_of_variants(problem) == ["tvgnn", *peer_names(), *POOLINGS]
    finally:
        torch.set_num_threads(before)


def test_all_take_the_same_graphs(problem, monkeypatch):
    assert len(set(problem.order.tolist())) == 4 * BATCH
    seen = []
    batch = problem.collection.batch
    monkeypatch.setattr(problem.collection, "batch", lambda numbers: seen.append(list(numbers)) or batch(numbers))
    for name in ("tvgnn", "sag pooling, one graph at a time"):
        graph_variant(name, problem).turn()
    assert [len(numbers) for numbers in seen] == 4 * [BATCH] + 4 * BATCH * [1]
    assert np.concatenate(seen[:4]).tolist() == np.concatenate(seen[4:]).tolist() == problem.order.tolist()


def test_the_first_losses_leave_the_network_as_it_was(problem):
    network = problem.network()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    with graph_variants._in_double(network):
        assert next(network.parameters()).dtype == torch.get_default_dtype() == torch.float64
    assert torch.get_default_dtype() == torch.float32
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
    assert graph_variant("tvgnn", problem).first() == graph_variant("tvgnn", problem).first()


def test_an_unknown_variant_is_refused(problem):
    with pytest.raises(ValueError, match="got 'graclus pooling'"):
        graph_variant("graclus pooling", problem)


def test_another_loss_is_refused(problem, monkeypatch):
    assert disagreement({"balance_1": 1.0}, {"balance_1": 1.0}) is None
    assert disagreement({"balance_1": 1.0}, {"balance_1": np.nan}) == "its balance_1 is nan, ours is 1.0"
    ours = graph_variant("tvgnn", problem).first()
    wrong = GraphVariant(lambda: 1.0, lambda: ours | {"balance_2": 1.01 * ours["balance_2"]})
    monkeypatch.setattr(peer, "AVAILABLE", True)
    made = module.graph_variant
    monkeypatch.setattr(module, "graph_variant", lambda name, p: wrong if name.startswith(peer.NAME) else made(name, p))
    with pytest.raises(
        ArithmeticError, match="'torch-geometric-pool' computes something else than tvgnn: its balance_2"
    ):
        classification(problem, "mutag", rounds=1)


def test_memory_comes_from_a_process_each(problem, without_peer, monkeypatch):
    monkeypatch.setattr(GraphProblem, "from_dataset", lambda name, mirror: problem)
    asked = []
    monkeypatch.setattr(module, "probe", lambda *arguments: asked.append(arguments) or 3e6)
    [cold], [loaded] = classification_memory("mutag", "mirror", rounds=1)
    assert (cold.benchmark, cold.variant) == ("peak memory of classification, mutag", "tvgnn")
    assert loaded.benchmark == "peak memory of classification with all code loaded, mutag"
    assert (cold.median, cold.unit) == (3.0, "MB")
    assert asked == [("classification_memory", "mutag", "tvgnn", "mirror", loaded) for loaded in (False, True)]


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_the_probe_trains(problem, monkeypatch):
    importlib.import_module("torch._dynamo")  # with warnings that are not ours
    monkeypatch.setattr(GraphProblem, "from_dataset", lambda name, mirror: problem)
    assert isinstance(probes.classification_memory("mutag", "tvgnn", None, code_loaded=True), float)


@pytest.mark.skipif(_peer_imports() is not None, reason=str(_peer_imports()))
def test_the_peer_computes_the_same_losses(problem):
    ours = graph_variant("tvgnn", problem).first()
    for name in peer_names():
        variant = graph_variant(name, problem)
        assert disagreement(ours, variant.first()) is None
        assert variant.turn() > 0


def test_cases_of_the_registry_and_absent_data(tmp_path):
    settings = Settings(False, 2, str(tmp_path), (), GRAPH_SETS["full"])
    cases = list(BENCHMARKS["classification"](settings))
    assert [case.title for case in cases][:2] == ["classification, mutag", "memory of classification, mutag"]
    assert len(cases) == 2 * len(GRAPH_SETS["full"])
    assert not list(BENCHMARKS["classification"](Settings(False, 2, None, ("cora",))))


def test_absent_data_is_skipped_by_name(tmp_path, monkeypatch, capsys, without_peer):
    def absent(name, mirror):
        raise DataError(f"{name} is not in {mirror}")

    monkeypatch.setattr(GraphProblem, "from_dataset", absent)
    arguments = ["--only", "classification", "--datasets", "nci1", "cora", "--mirror", "folder"]
    monkeypatch.setattr(sys, "argv", ["run", *arguments, "--out", str(tmp_path / "records.jsonl")])
    main()
    text = capsys.readouterr().out
    assert "skipped classification, nci1: nci1 is not in folder" in text
    assert "skipped memory of classification, nci1" in text
    assert "mutag" not in text


def _record(benchmark, variant, median, unit="ms"):
    return Measurement(benchmark, variant, median, median, median, 3, unit, "cpu X", 2, {"torch": "2"}, "abc", "2026")


def _page(records):
    empty = "".join(f"<!-- begin {table.name} -->\n<!-- end {table.name} -->\n" for table in TABLES)
    return written(empty, records).partition("<!-- begin classification -->")[2].partition("<!-- end")[0]


def test_the_page_judges_the_dense_model_and_extrapolates():
    figures = {
        "tvgnn": 100,
        "torch-geometric-pool": 310,
        "torch-geometric-pool, padded throughout": 299,
        "torch-geometric-pool, batched=False": 250,
        "mincut pooling": 90,
    }
    records = [_record("classification, 16 of 148 batches, dd", *item) for item in figures.items()]
    records += [_record("classification, 14 of 17 batches, mutag", "tvgnn", 10)]
    records += [_record("peak memory of classification, dd", *item, "MB") for item in list(figures.items())[:2]]
    text = _page(records)
    assert "| ms per batch of 8 graphs | MUTAG | DD |" in text
    assert "| mincut pooling | - | 90.0 (0.900x) |" in text
    assert "| target: faster than torch-geometric-pool's dense model | - | 2.99x, at least 3x: **missed** |" in text
    assert "| faster than its best way | - | 2.50x |" in text
    assert "| batches timed, of an epoch's | 14 of 17 | 16 of 148 |" in text
    assert "| tvgnn | 0.170 | 14.8 |" in text
    assert "| torch-geometric-pool, padded throughout | - | 44.3 |" in text
    assert "| target: less than torch-geometric-pool's dense model | 3.10x, at least 2x: met |" in text
    assert set(latest(records)) == {one.benchmark for one in records}


def test_the_page_without_the_peer_judges_nothing():
    text = _page([_record("classification, 16 of 148 batches, dd", "tvgnn", 1)])
    assert "| target: faster than torch-geometric-pool's dense model | - |" in text
    assert "| s per epoch, extrapolated | DD |" in text
    assert "MB" not in text


def test_memory_with_all_code_loaded_has_no_target():
    title = "peak memory of classification with all code loaded, dd"
    text = _page([_record(title, "tvgnn", 10, "MB"), _record(title, "torch-geometric-pool", 15, "MB")])
    assert "| MB above the imports and all code | DD |" in text
    assert "| less than torch-geometric-pool's dense model | 1.50x |" in text
    assert "target" not in text
