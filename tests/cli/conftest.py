"""One way to call the command line in this process, and one small graph in files."""

from dataclasses import dataclass

import pytest
import torch
from cli_cases import clique_edges
from threadpoolctl import threadpool_limits

from tvgnn.cli.app import main


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The one line of a failure."""
        lines = [line for line in self.err.splitlines() if not line.startswith(("note: ", "warning: "))]
        assert len(lines) == 1, f"expected one line on standard error, got {self.err!r}"
        return lines[0]


@pytest.fixture
def tvgnn(capsys, tmp_path, monkeypatch):
    """Run ``tvgnn ARGUMENTS`` in an empty folder; the number of threads is put back afterwards."""
    monkeypatch.chdir(tmp_path)
    threads, limits = torch.get_num_threads(), threadpool_limits()

    def run(*arguments):
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    yield run
    limits.restore_original_limits()
    torch.set_num_threads(threads)


@pytest.fixture
def files(tmp_path):
    """Write ``edges.csv``, ``features.csv`` and ``labels.csv`` of two cliques of five people."""
    names = [f"p{i}" for i in range(10)]
    edges = "source,target\n" + "".join(f"{names[i]},{names[j]}\n" for i, j in clique_edges())
    features = "node_id,a,b\n" + "".join(f"{name},{int(i < 5)},{i / 10}\n" for i, name in enumerate(names))
    labels = "node_id,label\n" + "".join(f"{name},{'left' if i < 5 else 'right'}\n" for i, name in enumerate(names))
    for name, text in (("edges", edges), ("features", features), ("labels", labels)):
        (tmp_path / f"{name}.csv").write_text(text)
    return tmp_path
