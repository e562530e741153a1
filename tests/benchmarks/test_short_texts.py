"""Networks of dictionaries and of Debian's packages, from small files of their formats."""

import gzip
import subprocess

import numpy as np
import pytest
from benchmarks.quality import short_texts
from benchmarks.quality.graphs import problem
from benchmarks.quality.simulated import CitationSettings

from tvgnn.errors import DataError


@pytest.fixture
def all_words(monkeypatch):
    """Keep words however rare, as files are small."""
    monkeypatch.setattr("benchmarks.quality.packages._RARE", 1)
    monkeypatch.setattr("benchmarks.quality.packages._COMMON", 1)


_FOLDOC = """Hopper
The amazing one

   <person, history> Wrote the first {compiler} for
   a {machine
   code} and named {nothing} that is known here.

compiler

   <language> A program that turns a language into {machine code}; found by {Hopper}.

machine code

   <language> What processors run; see {Compiler}, <http://here>.

aside

   Words without an area, though {compiler} is named in them.
"""

_WORDNET = """  1 A license of two
  2 lines
00001740 29 v 02 breathe 0 draw_air 0 002 @ 00002000 v 0000 + 00009999 n 0101 00 | take in and let out air; "breathe!"
00002000 29 v 01 act 0 001 ~ 00001740 v 0000 01 + 02 00 | do something with your whole body
00003000 30 v 01 burn 0 002 ! 00001740 v 0000 @ 00002000 v 0000 00 | undergo combustion and much heat
"""

_DEBIAN = """Package: tool
Section: utils
Depends: libone (>= 1.2), libtwo | libthree:any
Description: quick tool that counts words

Package: libone
Source: one (1.3)
Section: libs
Description: shared objects of counting

Package: one-bin
Source: one
Section: utils
Recommends: tool
Description: programs that count

Package: one-doc
Source: one
Section: utils
Description: manual of counting
"""


def _edges(graph):
    return np.argwhere(np.triu(graph.adjacency().toarray())).tolist()


def test_entries_of_foldoc_refer_to_others_in_braces(tmp_path, monkeypatch, all_words):
    path = tmp_path / "foldoc.dict.dz"
    path.write_bytes(gzip.compress(_FOLDOC.encode()))
    monkeypatch.setattr(short_texts, "_FOLDOC", path)
    graph, classes = problem("texts-foldoc", 0)
    assert (graph.num_nodes, classes) == (3, 2)
    assert _edges(graph) == [[0, 1], [0, 2], [1, 2]]
    assert graph.y.tolist() == [1, 0, 0]
    assert graph.x.sum(1).tolist()[2] == 7  # machine, code, what, processors, run, see, compiler; no address


def test_synonyms_of_wordnet_are_joined_with_more_general_ones(tmp_path, monkeypatch, all_words):
    (tmp_path / "data.verb").write_text(_WORDNET, encoding="utf8")
    monkeypatch.setattr(short_texts, "_WORDNET", tmp_path)
    graph, classes = problem("texts-verbs", 0)
    assert _edges(graph) == [[0, 1], [1, 2]]
    assert (classes, graph.y.tolist()) == (2, [0, 0, 1])
    assert graph.x.sum(1).tolist()[1] == 6  # act, something, with, your, whole, body


def test_source_packages_depend_on_each_other(monkeypatch, all_words):
    done = subprocess.CompletedProcess([], 0, _DEBIAN)
    monkeypatch.setattr(short_texts.subprocess, "run", lambda *_, **__: done)
    monkeypatch.setattr(short_texts.shutil, "which", lambda _: "apt-cache")
    monkeypatch.setattr(short_texts, "_HUB", 1)
    graph = short_texts.SHORT_TEXTS["debian"]()
    assert _edges(graph) == [[0, 1]]
    assert graph.num_classes == 1  # most of what is built of the source "one" is in utils, too


@pytest.mark.parametrize("kind", ["foldoc", "verbs", "debian"])
def test_what_is_not_installed_is_named(kind, monkeypatch, tmp_path):
    monkeypatch.setattr(short_texts, "_FOLDOC", tmp_path / "foldoc.dict.dz")
    monkeypatch.setattr(short_texts, "_WORDNET", tmp_path)
    monkeypatch.setattr(short_texts.shutil, "which", lambda _: None)
    with pytest.raises(DataError, match="not there"):
        problem(f"texts-{kind}", 0)


def test_unknown_texts_are_refused():
    with pytest.raises(ValueError, match="texts-poems"):
        problem("texts-poems", 0)


@pytest.mark.parametrize("number", [3, 4])
def test_short_texts_are_drawn(number):
    settings = CitationSettings.draw_short(number)
    graph, classes = problem(f"short-{number}", 0)
    assert (graph.num_nodes, classes) == (settings.nodes, settings.classes)
    assert 1 <= graph.x.nnz / graph.num_nodes < 25
    assert set(np.unique(graph.x.data)) == {1}
