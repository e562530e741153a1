"""An option that would have no effect is refused, before anything is read: none of the files here exists."""

import json

import pytest

from tvgnn.cli.unused import Effect, refuse_unused

DATASET = ("--dataset", "ring")
H5AD = ("--h5ad", "cells.h5ad")
TEXT, PARQUET, MATRIX, MARKET = (("--edges", f"graph.{suffix}") for suffix in ("csv.gz", "parquet", "npz", "mtx"))
NETWORK = ("--edges", "graph.graphml")
ROWS, ARRAY = ("--features", "x.csv"), ("--features", "x.npy")
DIRECTED, WEIGHTS, DELIMITER = ("--directed",), ("--weight-column", "none"), ("--delimiter", ";")
HEADER, NO_HEADER, ATTRIBUTES = ("--header",), ("--no-header",), ("--node-attributes", "age")
ROOT, MIRROR = ("--root", "data"), ("--mirror", "data")
REFUSED = {
    DATASET: (DIRECTED, WEIGHTS, DELIMITER, HEADER),
    H5AD: (DIRECTED, WEIGHTS, DELIMITER, HEADER, NO_HEADER, ROOT, MIRROR, ("--spatial-neighbors", "5"),
           ("--obsp-weights", "1")),
    TEXT: (ATTRIBUTES, ROOT, MIRROR, ("--spatial-neighbors", "5")),
    PARQUET: (DELIMITER, HEADER, ATTRIBUTES, ROOT, MIRROR),
    MATRIX: (DIRECTED, WEIGHTS, DELIMITER, HEADER, ATTRIBUTES, ROOT, MIRROR),
    MARKET: (DIRECTED, WEIGHTS, DELIMITER, HEADER, ATTRIBUTES, ROOT, MIRROR),
    NETWORK: (DIRECTED, DELIMITER, HEADER, ROOT, MIRROR),
    ROWS: (DIRECTED, WEIGHTS, ATTRIBUTES, ROOT, MIRROR),
    ARRAY: (DIRECTED, WEIGHTS, DELIMITER, HEADER, ATTRIBUTES, ROOT, MIRROR),
}  # fmt: skip
READ = {
    DATASET: (ROOT, ),
    H5AD: (("--spatial-key", "spatial", "--spatial-neighbors", "5"), ("--obsp", "a,b", "--obsp-weights", "1,2")),
    TEXT: (DIRECTED, WEIGHTS, DELIMITER, HEADER, NO_HEADER),
    PARQUET: (DIRECTED, WEIGHTS),
    NETWORK: (WEIGHTS, ATTRIBUTES),
    ROWS: (DELIMITER, HEADER),
}  # fmt: skip


def cases(table):
    pairs = [(given, option) for given in table for option in table[given]]
    return [pytest.param(*pair, id=f"{pair[0][1]} {' '.join(pair[1])}") for pair in pairs]


@pytest.mark.parametrize("command", ["cluster", "sweep"])
@pytest.mark.parametrize(("given", "option"), cases(REFUSED))
def test_an_option_that_the_input_does_not_need(tvgnn, tmp_path, command, given, option):
    result = tvgnn(command, *given, "-k", "2", *option)
    assert result.code == 2
    assert result.error.startswith(f"error: {option[0]} ")
    assert result.error.endswith(("; leave it out", "whose parts it names"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("given", "option"), cases(READ))
def test_an_option_that_the_input_needs(tvgnn, given, option):
    result = tvgnn("cluster", *given, "-k", "2", *option, "--max-memory", "1")
    assert result.code == 2  # no such file, or more memory than 1 byte
    assert "leave it out" not in result.error


def test_the_message_says_what_there_is_instead(tvgnn):
    error = tvgnn("cluster", *MATRIX, "--weight-column", "cost", "-k", "2").error
    assert error == (
        "error: --weight-column reads edge tables, GraphML and GEXF; graph.npz already holds weights and directions; "
        "leave it out"
    )


@pytest.mark.parametrize("option", [ROOT, MIRROR], ids=" ".join)
def test_classify_reads_its_folder_where_it_is(tvgnn, option):
    error = tvgnn("classify", "--data", "graphs", *option).error
    assert f"{option[0]} is of datasets by name; --data graphs is read" in error


def test_classify_limits_degrees_where_they_are_the_features(tvgnn):
    error = tvgnn("classify", "--dataset", "bench-easy-small", "--max-degree", "5").error
    assert error.startswith("error: --max-degree limits one-hot degrees; the features of bench-easy-small are others")


def test_report_has_no_map_without_a_page(tvgnn, tmp_path):
    assert tvgnn("cluster", "--dataset", "ring", "-k", "2", "--max-epochs", "1", "--out", "out").code == 0
    before = sorted((tmp_path / "out").iterdir())
    error = tvgnn("report", "out", "--no-html", "--map", "pca").error
    assert error == "error: --map places the nodes of the page; with --no-html there is none; leave it out"
    assert sorted((tmp_path / "out").iterdir()) == before
    (tmp_path / "out/metrics.json").write_text(json.dumps({"task": "classification"}))
    assert "a classification has none" in tvgnn("report", "out", "--map", "pca").error


def test_options_that_work_are_not_refused():
    refuse_unused([Effect("--a", True, True, "works"), Effect("--b", False, False, "does not")], "nothing")


@pytest.mark.parametrize("option", [("--memory", "low"), ("--precision", "bfloat16")], ids=" ".join)
def test_quality_computes_in_one_way(tvgnn, option):
    error = tvgnn("cluster", "--dataset", "ring", "-k", "2", "--preset", "quality", *option).error
    assert error.endswith("leave it out, or take --preset paper")
    assert f"expected {option[0]}" in error


@pytest.mark.parametrize("option", [("--memory", "low"), ("--precision", "bfloat16")], ids=" ".join)
def test_ways_to_compute_choose_the_preset_that_has_them(tvgnn, files, option):
    given = ("cluster", "--features", "features.csv", "-k", "2", "--out", "out", *option)  # no option of paper's alone
    assert tvgnn(*given, "--hidden-channels", "8", "--max-epochs", "2").code == 0
    assert json.loads((files / "out/metrics.json").read_text())["preset"] == "paper"
