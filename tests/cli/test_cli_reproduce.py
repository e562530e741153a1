"""``tvgnn reproduce``: every experiment on small data, going on after a stop, interruptions, mistakes in one line."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import psutil
import pytest
from classification_cases import small_graphs
from clustering_cases import blocks, unreadable

from tvgnn.cli.reproduction import EXPERIMENTS
from tvgnn.errors import DataError, SchedulerError
from tvgnn.experiments import classification, clustering
from tvgnn.records import ClusteringRecord, RunRecord, read_records

SHORT = ("--out", "out", "--max-epochs", "2", "--seeds", "1")
RING = ("reproduce", "fig-ring", *SHORT)
TABLE1 = ("reproduce", "table1", *SHORT, "--datasets", "cora", "--methods", "spectral,tvgnn")


@pytest.fixture(autouse=True)
def _small_data(monkeypatch):
    """Replace the public datasets, and what takes long."""
    monkeypatch.setattr(clustering.PublicGraphs, "__call__", lambda self, name, seed: blocks(name, seed))
    monkeypatch.setattr(classification.PublicDatasets, "__call__", lambda self, name: small_graphs(name))
    monkeypatch.setattr("tvgnn.datasets.load_graphs", lambda name, root, mirror: small_graphs(name))
    monkeypatch.setattr("tvgnn.experiments.gtv_steps.PAPER_STEPS", {0.311: 40, 0.005: 400})
    monkeypatch.setitem(sys.modules, "umap", ModuleType("umap"))
    monkeypatch.setattr("tvgnn.report.embedding_map.umap_points", lambda embedding: embedding[:, :2].astype(float))
    for cached in (clustering._graph, classification._graphs):
        cached.cache_clear()
    yield
    for cached in (clustering._graph, classification._graphs):
        cached.cache_clear()


def clustered(folder=Path("out")):
    return read_records(folder / "records.jsonl", ClusteringRecord)


def figures(*names):
    return {f"figures/{name}.{ending}" for name in names for ending in ("png", "pdf")}


ALL_FILES = {
    "datasets": {"datasets.md"},
    "fig-gtv-steps": figures("gtv-steps", "smoothed-total-variation"),
    "fig-ring": figures("ring") | {"ring.md"},
    "fig-grid": figures("grid") | {"grid.md"},
    "fig-denoising": figures("denoising") | {"denoising.md"},
    "times": {"times.md"},
    "table1": {"table1.md"},
    "fig-assignments": figures("assignments-cora"),
    "fig-umap": figures("umap-cora"),
    "table2": {"table2.md"},
}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_each_experiment_writes_its_files_and_a_second_call_makes_no_runs(tvgnn, pyg, monkeypatch, name):
    takes = EXPERIMENTS[name]
    command = ["reproduce", name, "--quick", "--out", "out"]
    command += ["--max-epochs", "2"] * takes.max_epochs + ["--seeds", "1"] * takes.seeds
    if name == "times":
        command += ["--datasets", "cora,mutag"]
    if takes.methods:
        command += ["--methods", "tvgnn,mincut"]
    first = tvgnn(*command)
    assert (first.code, first.err) == (0, "")
    found = {
        path.relative_to("out").as_posix() for path in Path("out").rglob("*") if path.suffix in (".md", ".png", ".pdf")
    }
    assert found == ALL_FILES[name]
    assert all((Path("out") / path).stat().st_size > 50 for path in found)
    assert not list(Path("out").rglob("*.part*"))
    for path in sorted(found):
        assert path.rpartition(".")[0] in first.out
    records = {path: path.read_bytes() for path in Path("out").rglob("*.jsonl")}
    assert records
    tables = {path: path.read_bytes() for path in Path("out").glob("*.md")}
    for again in (tvgnn(*command), drawn_without_data(tvgnn, monkeypatch, command)):
        assert (again.code, again.err) == (0, "")
        assert {path: path.read_bytes() for path in Path("out").rglob("*.jsonl")} == records
        assert {path: path.read_bytes() for path in Path("out").glob("*.md")} == tables
        assert all((Path("out") / path).stat().st_size > 50 for path in found)


def drawn_without_data(tvgnn, monkeypatch, command):
    """Draw where no dataset can be loaded, after the tables and figures are gone."""

    def no_data(*arguments, **settings):
        raise DataError("the dataset cannot be reached")

    for cached in (clustering._graph, classification._graphs):
        cached.cache_clear()
    monkeypatch.setattr(clustering.PublicGraphs, "__call__", no_data)
    monkeypatch.setattr(classification.PublicDatasets, "__call__", no_data)
    for name in ("load_dataset", "load_graph", "load_graphs"):
        monkeypatch.setattr(f"tvgnn.datasets.{name}", no_data)
    for path in (*Path("out").glob("*.md"), *Path("out/figures").glob("*")):
        path.unlink()
    return tvgnn(*command, "--draw-only")


def test_tables_of_both_kinds(tvgnn, pyg):
    assert tvgnn(*TABLE1).code == 0
    text = Path("out/table1.md").read_text()
    assert "### Vertex clustering, at most 2 epochs" in text
    assert "| paper | 0.488 ± 0.016 |" in text
    assert [record.method for record in clustered()] == ["spectral", "tvgnn"]
    second = tvgnn("reproduce", "table2", *SHORT, "--datasets", "mutag", "--methods", "tvgnn")
    assert second.code == 0
    assert "MUTAG" in second.out
    assert len(read_records("out/classification/records.jsonl", RunRecord)) == 5
    assert "Stratified" not in Path("out/table2.md").read_text()


def test_figures_and_table_1_share_their_runs(tvgnn):
    figure = ("reproduce", "fig-assignments", "--out", "out", "--max-epochs", "2", "--datasets", "cora")
    tvgnn(*figure)
    made = len(clustered())
    assert tvgnn("reproduce", "table1", *SHORT, "--datasets", "cora", "--methods", "tvgnn,mincut,abl1").code == 0
    assert len(clustered()) == made == 8


def test_draw_only_runs_nothing_and_says_what_is_left(tvgnn, tmp_path):
    for name in EXPERIMENTS:
        result = tvgnn("reproduce", name, "--draw-only", "--out", "out")
        assert (result.code, list(tmp_path.iterdir())) == (2, [])
        assert result.error.endswith("found no file; without --draw-only the same command makes them")
    tvgnn(*TABLE1)
    clustering.PublicGraphs.__call__ = unreadable  # put back with the other patches
    result = tvgnn(*TABLE1, "--seeds", "3", "--draw-only")
    assert result.code == 0
    assert result.err == "note: 4 of 6 runs are left; without --draw-only the same command makes them\n"
    assert len(clustered()) == 2


def test_what_the_time_limit_left_is_said(tvgnn):
    result = tvgnn(*TABLE1, "--time-limit", "0")
    assert result.code == 2
    assert result.error == "error: expected records of this experiment in out, found none; allow time for a run"
    assert "note: 2 of 2 runs are left; the same command makes them" in result.err
    tvgnn(*TABLE1)
    assert "2 of 4 runs are left" in tvgnn(*TABLE1, "--seeds", "2", "--time-limit", "0").err


def test_the_time_limit_is_that_of_all_experiments_together(tvgnn, monkeypatch):
    given = []

    def stop(request):
        given.append(request.minutes())
        time.sleep(0.06)

    for name in EXPERIMENTS:
        monkeypatch.setitem(EXPERIMENTS, name, type(EXPERIMENTS[name])(stop))
    assert tvgnn("reproduce", "all", "--time-limit", "0.001").code == 0
    assert 0 < given[0] <= 0.001
    assert given[1:] == [0.0] * 9


def test_failed_runs_are_named_and_a_table_of_failures_fails(tvgnn, monkeypatch):
    monkeypatch.setattr("tvgnn.baselines.SpectralBaseline.fit", lambda self, graph: 1 / 0)
    result = tvgnn(*TABLE1)
    assert result.code == 0
    assert result.err.splitlines()[0].startswith(
        "warning: spectral on cora, seed 0 failed: ZeroDivisionError: division by zero (test_cli_reproduce.py:"
    )
    assert result.err.splitlines()[1:] == ["note: 1 of 2 runs are left; the same command makes them"]
    assert "SC on cora, seed 0 failed" in Path("out/table1.md").read_text()
    alone = tvgnn(*TABLE1, "--methods", "spectral", "--out", "other")
    assert (alone.code, alone.error[:38]) == (2, "error: every run failed, the last one:")
    assert not Path("other/table1.md").exists()


def test_failed_runs_of_classification_are_named_too(tvgnn, pyg, monkeypatch):
    def failing(self, *arguments, **settings):
        raise ValueError("no")

    monkeypatch.setattr("tvgnn.estimators.classification.TVGraphClassifier.fit", failing)
    result = tvgnn("reproduce", "table2", *SHORT, "--datasets", "mutag", "--methods", "tvgnn")
    assert "error: every run failed, the last one: ValueError: no" in result.error


def test_several_experiments_go_on_after_one_that_fails(tvgnn, monkeypatch):
    monkeypatch.setattr("tvgnn.report.gtv_figures.smoothed_total_variation_figure", lambda: 1 + int("x"))
    result = tvgnn("reproduce", "fig-gtv-steps,fig-ring,table2", *SHORT, "--datasets", "mutag", "--methods", "dmon")
    assert result.code == 2
    assert "warning: fig-gtv-steps failed: invalid literal for int()" in result.err
    assert result.error == "error: 1 of 3 experiments failed, see above: fig-gtv-steps"
    assert Path("out/ring.md").exists()
    assert Path("out/table2.md").exists()


def test_names_go_to_the_experiments_that_know_them(tvgnn):
    result = tvgnn("reproduce", "table1,table2,datasets", *SHORT, "--datasets", "mutag,nci1", "--methods", "tvgnn")
    assert result.code == 0
    assert result.err == "note: table1 is left out: it has none of the names that were given\n"
    assert sorted(path.name for path in Path("out").glob("*.md")) == ["datasets.md", "table2.md"]


def test_a_lost_scheduler_ends_all(tvgnn, monkeypatch):
    def lost(request):
        raise SchedulerError("lost it")

    monkeypatch.setitem(EXPERIMENTS, "fig-ring", type(EXPERIMENTS["fig-ring"])(lost))
    result = tvgnn("reproduce", "fig-ring,datasets")
    assert (result.code, result.err) == (2, "error: lost it\n")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["reproduce"], "Missing argument 'experiment'"),
        (["reproduce", "table3"], "expected EXPERIMENT to be some of datasets, fig-gtv-steps,"),
        (["reproduce", "fig-rng"], "got 'fig-rng'; did you mean fig-ring?"),
        (["reproduce", ","], "got nothing"),
        (
            [*TABLE1, "--datasets", "coraa"],
            "expected --datasets to be some of cora, citeseer, pubmed, dblp, got 'coraa'",
        ),
        ([*TABLE1, "--datasets", "mutag"], "expected --datasets to be some of cora,"),
        ([*TABLE1, "--datasets", ""], "got nothing"),
        ([*TABLE1, "--methods", "gcn"], "expected --methods to be some of spectral, deepwalk,"),
        (["reproduce", "table2", "--methods", "gae"], "expected --methods to be some of tvgnn, mincut,"),
        (["reproduce", "all", "--methods", "gaee"], "got 'gaee'; did you mean gae?"),
        ([*RING, "--methods", "gae"], "expected --methods to be some of diffpool, mincut, dmon, tvgnn, got 'gae'"),
        (["reproduce", "datasets", "--methods", "tvgnn"], "expected no --methods: datasets would not use it"),
        ([*RING, "--datasets", "ring"], "expected no --datasets: fig-ring would not use it"),
        (["reproduce", "datasets", "--seeds", "3"], "expected no --seeds: datasets would not use it"),
        (["reproduce", "fig-gtv-steps", "--max-epochs", "3"], "expected no --max-epochs"),
        ([*RING, "--seeds", "0"], "--seeds"),
        ([*RING, "--seeds", "1000000000"], "--seeds"),
        ([*RING, "--max-epochs", "0"], "--max-epochs"),
        ([*RING, "--time-limit", "-1"], "--time-limit"),
        ([*RING, "--time-limit", "nan"], "--time-limit"),
        ([*RING, "--jobs", "0"], "--jobs"),
        ([*RING, "--jobs", "99"], "expected --jobs to be at most"),
        ([*RING, "--jobs", "99", "--backend", "dask"], "expected --jobs to be at most"),
        ([*RING, "--backend", "ray"], "--backend"),
        ([*RING, "--scheduler", "tcp://h:1"], "expected --backend dask with --scheduler"),
        ([*RING, "--backend", "dask", "--scheduler", " "], "expected --scheduler to be an address"),
        ([*RING, "--out", "/dev/null"], "/dev/null is no folder; choose another folder with --out"),
        ([*RING, "--out", "/dev/null/a/b"], "/dev/null is no folder; choose another folder with --out"),
    ],
    ids=lambda value: " ".join(value[:2] + value[-2:]) if isinstance(value, list) else "",
)
def test_a_mistake_is_one_line(tvgnn, tmp_path, arguments, says):
    result = tvgnn(*arguments)
    assert result.code == 2
    assert says in result.error
    assert result.out == ""
    assert list(tmp_path.iterdir()) == []


def test_dask_that_is_not_installed_is_one_line(tvgnn, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "pip install 'tvgnn[cluster]'" in tvgnn(*RING, "--backend", "dask").error
    assert list(tmp_path.iterdir()) == []


UMAP = ("reproduce", "fig-umap", "--out", "out", "--max-epochs", "2", "--datasets", "cora")


def test_umap_that_is_not_installed_is_one_line_before_any_run(tvgnn, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", None)
    result = tvgnn(*UMAP)
    assert result.code == 2
    assert result.err == "error: fig-umap: expected umap-learn; install it with: pip install 'tvgnn[viz]'\n"
    assert list(tmp_path.iterdir()) == []


def test_the_others_are_made_where_umap_is_not_installed(tvgnn, monkeypatch):
    monkeypatch.setitem(sys.modules, "umap", None)
    result = tvgnn("reproduce", "fig-umap,fig-assignments", *UMAP[2:])
    assert result.code == 2
    assert result.err.splitlines() == [
        "warning: fig-umap cannot be made: expected umap-learn; install it with: pip install 'tvgnn[viz]'",
        "error: 1 of 2 experiments failed, see above: fig-umap",
    ]
    assert Path("out/figures/assignments-cora.png").exists()


def test_a_package_that_does_not_load_is_one_line(tvgnn, monkeypatch):
    def broken(embedding):
        raise ImportError("no libumap.so")

    monkeypatch.setattr("tvgnn.report.embedding_map.umap_points", broken)
    assert tvgnn(*UMAP).error == "error: no libumap.so"


def test_a_dataset_that_cannot_be_loaded_is_one_line_and_no_run(tvgnn, monkeypatch):
    monkeypatch.setattr(clustering.PublicGraphs, "__call__", lambda self, name, seed: unreadable(name, seed))
    assert tvgnn(*TABLE1).error == "error: cora cannot be loaded"
    assert clustered() == []


def test_a_read_only_folder_is_refused_before_any_work(tvgnn, tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()
    monkeypatch.setattr("tvgnn.cli.reproduce.os.access", lambda path, mode: not mode & os.W_OK)
    assert "out: cannot be written: out is read-only; choose another folder with --out" in tvgnn(*RING).error


def test_a_folder_of_another_kind_of_records_is_one_line(tvgnn, pyg):
    tvgnn("reproduce", "table2", *SHORT, "--datasets", "mutag", "--methods", "tvgnn")
    result = tvgnn(*TABLE1, "--out", "out/classification")
    assert "records.jsonl, line 1: expected a ClusteringRecord: unknown field 'fold'" in result.error
    assert "choose another file" in result.error


def test_damaged_records_and_arrays_are_one_line_and_repaired_by_removal(tvgnn):
    tvgnn(*RING)
    (arrays,) = Path("out/arrays").glob("ring-tvgnn-*.npz")
    arrays.write_bytes(arrays.read_bytes()[:100])
    assert "expected the arrays of tvgnn on ring, seed 0" in tvgnn(*RING).error
    arrays.unlink()
    assert "1 of 4 runs are left" in tvgnn(*RING, "--draw-only").err
    assert (tvgnn(*RING).code, len(clustered())) == (0, 5)
    with Path("out/records.jsonl").open("a") as file:
        file.write("nonsense\n")
    assert "records.jsonl, line 6: expected a ClusteringRecord" in tvgnn(*RING).error


def test_a_full_disk_leaves_no_half_written_file(tvgnn, monkeypatch):
    resource = pytest.importorskip("resource")
    tvgnn(*TABLE1)
    Path("out/table1.md").write_text("former")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    limits = {TABLE1: 300, ("reproduce", "fig-gtv-steps", "--quick", "--out", "out"): 2_000}
    for command, limit in limits.items():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
        try:
            result = tvgnn(*command)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert "cannot be written: File too large; choose another folder with --out" in result.error
    assert Path("out/table1.md").read_text() == "former"
    assert not [path for path in Path("out").rglob("*") if ".part" in path.name or path.suffix in (".png", ".pdf")]


def ends(out, arguments, number):
    """Start a long command, end it once a run is stored; return its code, stderr, processes that stay, and seconds."""
    program = "import sys\nfrom tvgnn.cli.app import main\nif __name__ == '__main__': sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, "reproduce", "fig-ring", "--out", str(out), *arguments]
    records = out / "records.jsonl"
    deadline = time.monotonic() + 200
    with (
        (out.parent / "err").open("w+") as err,
        subprocess.Popen(
            command,
            stderr=err,
            stdout=err,
            start_new_session=True,
            # nohup and background jobs of a shell hand down ignored signals, which tvgnn rightly goes on ignoring
            preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
        ) as process,
    ):
        try:
            while not (records.exists() and records.read_bytes()) and time.monotonic() < deadline:
                assert process.poll() is None
                time.sleep(0.02)
            others = psutil.Process(process.pid).children(recursive=True)
            start = time.monotonic()
            if number == signal.SIGINT:
                os.killpg(process.pid, number)  # as Ctrl-C does
            else:
                process.send_signal(number)
            code = process.wait(60)
            took = time.monotonic() - start
            _, alive = psutil.wait_procs(others, timeout=30)
        finally:
            process.kill()
        err.seek(0)
        return code, err.read(), alive, took


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize(
    ("how", "number", "code"),
    [
        (["--jobs", "1"], signal.SIGTERM, 143),
        (["--jobs", "2"], signal.SIGINT, 130),
        (["--jobs", "2", "--backend", "dask"], signal.SIGINT, 130),
    ],
    ids=lambda value: (
        value.name if isinstance(value, signal.Signals) else "-".join(value) if isinstance(value, list) else ""
    ),
)
def test_an_interrupted_command_leaves_whole_records_and_no_process_and_goes_on(tvgnn, tmp_path, how, number, code):
    from joblib import cpu_count

    if "2" in how and cpu_count() < 2:
        pytest.skip("one core")
    returned, err, alive, took = ends(tmp_path / "out", [*how, "--max-epochs", "20", "--seeds", "300"], number)
    assert (returned, err, alive) == (code, "", [])
    assert took < 30
    assert 1 <= len(clustered()) < 1200
    result = tvgnn("reproduce", "fig-ring", "--out", "out", "--max-epochs", "20", "--seeds", "1")
    assert (result.code, result.err) == (0, "")
    keys = [record.key for record in clustered()]
    assert len(keys) == len(set(keys)) >= 4


def test_help_imports_none_of_the_large_packages():
    program = """
import sys
from tvgnn.cli.app import main
assert main(["reproduce", "--help"]) == 0
assert main(["reproduce", "table3"]) == 2
sys.exit(str({"torch", "numpy", "scipy", "sklearn", "joblib", "tvgnn.experiments"} & set(sys.modules)))
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.stderr.strip().splitlines()[-1] == "set()"
