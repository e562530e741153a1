"""Real networks of short texts with known classes, from dictionaries and from the index of Debian's packages.

Nodes are entries, features which words they have, edges what refers to what. The files are those of the Debian packages
``dict-foldoc`` (the Free On-line Dictionary of Computing: entries of a subject area) and ``wordnet-base`` (WordNet 3.0:
sets of synonyms with their definition, joined with more general ones, whose classes are the files of its
lexicographers); ``debian`` is what apt knows: source packages with the short descriptions of what is built from them,
dependencies, and sections.
"""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.quality.packages import bags_of_words
from tvgnn import Graph
from tvgnn.errors import DataError

__all__ = ["SHORT_TEXTS"]

_FOLDOC, _WORDNET = Path("/usr/share/dictd/foldoc.dict.dz"), Path("/usr/share/wordnet")
_HUB = 0.02  # of the packages; what more of them depend on, as the C library, says nothing
_FEWEST = 3  # words of an entry that is left out
_WORD = re.compile(r"[A-Za-z]{3,}")


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _network(
    texts: Sequence[list[str]], edges: list[tuple[int, int]], classes: Sequence[str | None], smallest: float
) -> Graph:
    """Network of the entries that refer to others, in classes of a share of them that is not below the smallest."""
    for _ in range(2):  # as entries that go may leave others alone
        joined = {end for edge in edges for end in edge}
        known = [i for i in joined if classes[i] is not None and len(texts[i]) > _FEWEST]
        sizes = Counter(classes[i] for i in known)
        kept = {i for i in known if sizes[classes[i]] >= smallest * len(known)}
        edges = [(a, b) for a, b in edges if a in kept and b in kept and a != b]
    nodes = sorted({end for edge in edges for end in edge})
    row = {node: i for i, node in enumerate(nodes)}
    ends = np.array([(row[a], row[b]) for a, b in edges]).T
    y = np.unique([str(classes[i]) for i in nodes], return_inverse=True)[1]
    return Graph.from_edge_index(ends, num_nodes=len(nodes), x=bags_of_words([texts[i] for i in nodes]), y=y)


def _foldoc() -> Graph:
    """Entries that name others in braces; the subject area in angle brackets is the class and no part of the text."""
    if not _FOLDOC.exists():
        raise DataError(f"expected {_FOLDOC}, which is not there; install the Debian package dict-foldoc")
    number: dict[str, int] = {}
    texts, classes, named = [], [], []
    for heads, body in _entries(gzip.decompress(_FOLDOC.read_bytes()).decode("utf8", "replace").split("\n")):
        area = re.match(r"\s*(?:\d\.\s*)?<([^>,]+)", body)
        text = re.sub(r"<[^>]*>", " ", body)
        for head in heads:
            number.setdefault(head.lower(), len(texts))
        named.append([re.sub(r"\s+", " ", one).lower() for one in re.findall(r"\{([^}]+)\}", text)])
        texts.append(_words(" ".join([*heads, text])))
        classes.append(area[1].strip().lower() if area else None)
    edges = [(i, number[one]) for i, others in enumerate(named) for one in others if number.get(one, i) != i]
    return _network(texts, edges, classes, smallest=0.03)


def _entries(lines: list[str]) -> Iterator[tuple[list[str], str]]:
    """Head words, which begin a line, and what is said of them; a line that goes on after text is no head."""
    heads: list[str] = []
    body: list[str] = []
    for before, line in zip(["", *lines], lines, strict=False):
        if line and not line[0].isspace() and (not body or not before.strip()):
            if body:
                yield heads, "\n".join(body)
                heads, body = [], []
            heads.append(line.strip())
        elif heads:
            body.append(line)
    yield heads, "\n".join(body)


def _wordnet(kind: str) -> Graph:
    """Synonyms and definitions, joined by all relations of this part of speech but antonyms and derivations."""
    path = _WORDNET / f"data.{kind}"
    if not path.exists():
        raise DataError(f"expected {path}, which is not there; install the Debian package wordnet-base")
    number: dict[str, int] = {}
    texts, classes, named = [], [], []
    for line in path.read_text(encoding="utf8").splitlines():
        if line.startswith("  "):  # the license
            continue
        data, gloss = line.split(" | ", 1)
        offset, file, _, count, *fields = data.split()
        number[offset] = len(texts)
        synonyms, pointers = fields[: 2 * int(count, 16) : 2], fields[2 * int(count, 16) + 1 :]
        quadruples = zip(*(pointers[place::4] for place in range(4)), strict=False)
        named.append([to for sign, to, part, _ in quadruples if part == kind[0] and sign not in ("!", "+")])
        texts.append(_words(" ".join(synonyms).replace("_", " ") + " " + gloss.split('; "')[0]))
        classes.append(file)
    edges = [(i, number[one]) for i, others in enumerate(named) for one in others if one in number]
    return _network(texts, edges, classes, smallest=0.01)


def _debian() -> Graph:
    """Source packages: descriptions and names of what is built from them, what that depends on, the usual section."""
    if shutil.which("apt-cache") is None:
        raise DataError("expected the command apt-cache of Debian, which is not there")
    known = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True).stdout
    source: dict[str, str] = {}
    texts, sections, needed = defaultdict(list), defaultdict(Counter), defaultdict(set)
    for paragraph in known.split("\n\n"):
        field = dict(line.split(": ", 1) for line in paragraph.split("\n") if ": " in line and line[0] != " ")
        if "Package" not in field:
            continue
        name = field["Package"]
        own = source[name] = field.get("Source", name).split()[0]
        texts[own] += _words(f"{field.get('Description', '')} {name}")
        sections[own][field.get("Section", "")] += 1
        others = re.split(r"[,|]", f"{field.get('Depends', '')},{field.get('Recommends', '')}")
        needed[own] |= {re.split(r"[ :(]", one.strip())[0] for one in others}
    row = {name: i for i, name in enumerate(sorted(texts))}
    edges = [(i, row[source[one]]) for name, i in row.items() for one in needed[name] if source.get(one, name) != name]
    times = Counter(to for _, to in edges)
    edges = sorted(edge for edge in edges if not any(times[end] > _HUB * len(row) for end in edge))
    classes = [sections[name].most_common(1)[0][0] for name in row]
    return _network([texts[name] for name in row], edges, classes, smallest=0.02)


SHORT_TEXTS = {
    "foldoc": _foldoc,
    "verbs": lambda: _wordnet("verb"),
    "nouns": lambda: _wordnet("noun"),
    "debian": _debian,
}
