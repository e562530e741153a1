"""The command as a process: quick help, no torch for it, interruption."""

import os
import signal
import subprocess
import sys
import time

import pytest
from cli_cases import SMALL

import tvgnn as package

COMMAND = [sys.executable, "-c", "import sys; from tvgnn.cli.app import main; sys.exit(main())"]


def test_version(tvgnn):
    result = tvgnn("--version")
    assert (result.code, result.out) == (0, f"tvgnn {package.__version__}\n")


def test_package_runs_as_a_module():
    result = subprocess.run([sys.executable, "-m", "tvgnn", "--version"], capture_output=True, text=True, check=True)
    assert result.stdout == f"tvgnn {package.__version__}\n"


def test_without_a_command_the_help_lists_them(tvgnn):
    result = tvgnn()
    assert result.code == 0
    for command in ("cluster", "sweep", "demo", "report", "datasets"):
        assert command in result.out


def test_help_imports_none_of_the_large_packages():
    program = """
import sys
from tvgnn.cli.app import main
for arguments in (["--version"], ["--help"], ["cluster", "--help"], ["demo", "--help"], ["report", "--help"],
                  ["sweep", "--help"],
                  ["datasets", "--help"], ["datasets", "list", "--help"], ["datasets", "get", "--help"]):
    assert main(arguments) == 0, arguments
large = {"torch", "torch_geometric", "numpy", "scipy", "sklearn", "numba", "matplotlib", "networkx", "safetensors"}
sys.exit(f"imported: {large & set(sys.modules)}" if large & set(sys.modules) else 0)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="the shell of Windows does not close streams")
@pytest.mark.parametrize("closed", ["2>&-", ">&- 2>&-"])
def test_closed_streams_do_not_end_a_run(files, closed):
    def run(*arguments):
        command = ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", *COMMAND, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=files)

    given = ("cluster", "--features", "features.csv", "-k", "2", *SMALL)
    result = run(*given, "--out", "out")
    assert result.returncode == 0, result.stderr
    assert (files / "out/metrics.json").exists()
    assert "note: " not in result.stdout
    assert ("note: " in result.stderr) == ("2>&-" not in closed)
    refused = run(*given, "--out", "out")
    assert (refused.returncode, refused.stdout) == (2, "")


@pytest.mark.parametrize(("given", "used"), [(None, "PASSIVE"), ("ACTIVE", "ACTIVE")])
def test_threads_wait_passively_unless_the_user_says_otherwise(tvgnn, monkeypatch, given, used):
    monkeypatch.setenv("OMP_WAIT_POLICY", given or "")
    if given is None:
        monkeypatch.delenv("OMP_WAIT_POLICY")
    tvgnn("--version")
    assert os.environ["OMP_WAIT_POLICY"] == used


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
    ids=["Ctrl-C", "SIGTERM", "SIGHUP"],
)
def test_an_interrupted_run_leaves_nothing(tmp_path, number, code):
    arguments = ["cluster", "--dataset", "ring", "-k", "2", "--patience", "100000", "--max-epochs", "100000"]
    with subprocess.Popen(
        [*COMMAND, *arguments, "--out", "out"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        # nohup and background jobs of a shell hand down ignored signals, which tvgnn rightly goes on ignoring
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    ) as process:
        try:
            deadline = time.monotonic() + 60
            while not list(tmp_path.glob(".out.*.tmp")) and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.05)
            time.sleep(0.5)
            process.send_signal(number)
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == code, errors
    assert "Traceback" not in errors
    assert list(tmp_path.iterdir()) == []
