"""Real networks with known classes, from any Python package: what its functions and classes say and mention.

A node is a function or class at the top of a module, its features are words of its name and docstring, and an edge
means that one mentions the other by a name that nothing else in the package has. Classes are parts of the package.
Nothing is imported or run; tests are left out.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.utils.extmath import randomized_svd

from tvgnn import Graph
from tvgnn.errors import DataError

__all__ = [
    "bags_of_words",
    "joint_network",
    "package_network",
    "with_topics",
    "with_word_vectors",
    "without_some_words",
]

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_WORDS = 30  # of a definition, drawn where it has more; an abstract of Citeseer has as many
_VOCABULARY = 3000
_VECTOR = 100  # columns of a word's vector
_TOPICS = 40
_RARE, _COMMON = 8, 0.2  # words in fewer definitions, or in a larger share of them, are left out
_SILENT = 0.4  # share of the definitions that lose their words where features are missing
_LARGEST, _SMALLEST = 0.4, 0.03  # share of the modules from which a part is split, of the nodes below which it goes


class _Definition(NamedTuple):
    module: str
    name: str
    words: list[str]
    mentioned: set[str]


def package_network(package: str) -> Graph:
    """Network of an installed package.

    Parameters:
        package: name to import it by; its top-level folder is read.

    Returns:
        N nodes without direction or weights, ``x`` (N, at most 3000) float32 CSR of ones, ``y`` (N,).

    Raises:
        DataError: the package is not installed, or has too few parts or definitions that mention each other.

    """
    found = importlib.util.find_spec(package) if package.isidentifier() else None
    if found is None or not found.submodule_search_locations:
        raise DataError(f"expected an installed package of several modules, got {package}; install it, or name another")
    nodes = [one for one in _definitions(Path(found.submodule_search_locations[0]), package) if not _is_test(one)]
    edges = _edges(nodes)
    parts = _parts(sorted({one.module for one in nodes}), package)
    joined = {end for edge in edges for end in edge}
    chosen = [i for i, one in enumerate(nodes) if i in joined and len(one.words) > 3]
    sizes = Counter(parts[nodes[i].module] for i in chosen)
    least = max(20, _SMALLEST * len(chosen))
    classes = sorted(part for part, size in sizes.items() if size >= least and part != package)
    chosen = [i for i in chosen if parts[nodes[i].module] in classes]
    number = {i: row for row, i in enumerate(chosen)}
    kept = [(number[a], number[b]) for a, b in edges if a in number and b in number]
    if len(classes) < 2 or not kept:
        raise DataError(f"expected definitions in several parts of {package} that mention each other, got none")
    x = bags_of_words([nodes[i].words for i in chosen])
    y = np.array([classes.index(parts[nodes[i].module]) for i in chosen])
    return Graph.from_edge_index(np.array(kept).T, num_nodes=len(y), x=x, y=y)


def joint_network(graph: Graph, most: int = 15) -> Graph:
    """Return the graph with each node joined to those that share most neighbours with it, as joint purchases join.

    Neighbours count by the inverse logarithm of their degree (Adamic & Adar, 2003); those without any go alone.
    """
    adjacency = graph.adjacency().astype(np.float64)
    weights = 1 / np.log1p(np.maximum(np.asarray(adjacency.sum(1)).ravel(), 1))
    shared = sp.csr_array(adjacency @ sp.diags_array(weights) @ adjacency)
    shared.setdiag(0)
    shared.eliminate_zeros()
    shared.sort_indices()
    edges = []
    for node, (begin, end) in enumerate(pairwise(shared.indptr)):
        order = np.argsort(-shared.data[begin:end], kind="stable")[:most]
        edges += [(node, other) for other in shared.indices[begin:end][order]]
    ends = np.array(edges, np.int64).reshape(-1, 2).T
    return Graph.from_edge_index(ends, num_nodes=graph.num_nodes, x=graph.x, y=graph.y)


def without_some_words(graph: Graph) -> Graph:
    """Return the graph with no words for two in five of its nodes, as of documents whose texts nobody has."""
    says = np.random.default_rng(1).random(graph.num_nodes) >= _SILENT
    x = sp.csr_array(sp.diags_array(says.astype(np.float32)) @ graph.x)
    x.eliminate_zeros()
    return Graph.from_scipy(graph.adjacency(), x=x, y=graph.y)


def with_word_vectors(graph: Graph) -> Graph:
    """Return the graph with means of word vectors, (N, 100) float32, for its bags of words.

    A word's vector is its row in the factors ``U S^1/2`` of the positive pointwise mutual information of words in the
    same document (Levy & Goldberg, NeurIPS 2014).
    """
    bags = graph.x.astype(np.float64)
    together = (bags.T @ bags).tocsr()
    together.setdiag(0)
    together.eliminate_zeros()
    times = np.asarray(together.sum(1)).ravel()
    pairs = together.tocoo()
    information = np.log(np.maximum(pairs.data * times.sum() / (times[pairs.row] * times[pairs.col]), 1))
    matrix = sp.csr_array((information, (pairs.row, pairs.col)), shape=together.shape)
    left, values, _ = randomized_svd(matrix, min(_VECTOR, len(times)), random_state=0)
    means = (bags @ (left * np.sqrt(values))) / np.maximum(np.asarray(bags.sum(1)).ravel(), 1)[:, None]
    return Graph.from_scipy(graph.adjacency(), x=means.astype(np.float32), y=graph.y)


def with_topics(graph: Graph) -> Graph:
    """Return the graph with a mixture of topics, (N, 40) float32 of rows that sum to 1, for its bags of words.

    By latent Dirichlet allocation (Blei et al., JMLR 2003).
    """
    found = LatentDirichletAllocation(_TOPICS, max_iter=15, learning_method="online", random_state=0)
    topics = found.fit_transform(sp.csr_matrix(graph.x, dtype=np.float64))
    return Graph.from_scipy(graph.adjacency(), x=topics.astype(np.float32), y=graph.y)


def _definitions(folder: Path, package: str) -> Iterator[_Definition]:
    modules = {_module(path.relative_to(folder), package): path for path in folder.rglob("*.py")}
    for module, path in sorted(modules.items(), key=lambda one: str(one[1].relative_to(folder))):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of escapes in the strings of other people's code
                tree = ast.parse(path.read_text(encoding="utf-8", errors="replace"))
        except SyntaxError:  # a template, or code of another version of Python
            continue
        for one in tree.body:
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                words = [*_words(ast.get_docstring(one) or ""), *_words(one.name)]
                yield _Definition(module, one.name, words, _names(one))


def _module(path: Path, package: str) -> str:
    names = path.with_suffix("").parts
    return ".".join((package, *(names[:-1] if names[-1] == "__init__" else names)))


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text) if len(word) > 2]


def _names(tree: ast.AST) -> set[str]:
    everything = list(ast.walk(tree))
    names = {one.id for one in everything if isinstance(one, ast.Name)}
    return names | {one.attr for one in everything if isinstance(one, ast.Attribute)}


def _is_test(one: _Definition) -> bool:
    return ".test" in one.module or one.name.lower().startswith("test")


def _edges(nodes: list[_Definition]) -> list[tuple[int, int]]:
    """From each definition to those that it mentions by a name of their own."""
    times = Counter(one.name for one in nodes)
    by_name = {one.name: i for i, one in enumerate(nodes) if times[one.name] == 1 and len(one.name) > 3}
    return [
        (i, by_name[name])
        for i, one in enumerate(nodes)
        for name in sorted(one.mentioned & by_name.keys() - {one.name})
    ]


def _parts(modules: list[str], package: str) -> dict[str, str]:
    """Part of each module: the folder or module below the package, or further below where a part holds too many."""

    def beginning(module: str, depth: int) -> str:
        return ".".join(module.split(".")[:depth])

    parts = {module: beginning(module, 2) for module in modules}
    while parts:
        largest, size = Counter(parts.values()).most_common(1)[0]
        finer = {
            module: beginning(module, largest.count(".") + 2) if part == largest else part
            for module, part in parts.items()
        }
        if size < _LARGEST * len(modules) or finer == parts or len(set(finer.values())) > len(modules) / 2:
            break
        parts = finer
    return parts


def bags_of_words(documents: list[list[str]]) -> sp.csr_array:
    """Which of the most frequent words each document has, (N, at most `_VOCABULARY`), CSR of ones."""
    distinct = [list(dict.fromkeys(words)) for words in documents]
    frequency = Counter(word for words in distinct for word in words)
    most = _COMMON * len(documents)
    vocabulary = [word for word, times in frequency.most_common() if _RARE <= times <= most][:_VOCABULARY]
    column = {word: j for j, word in enumerate(vocabulary)}
    random = np.random.default_rng(0)
    rows = []
    for words in distinct:
        known = [column[word] for word in words if word in column]
        rows.append(random.choice(known, _WORDS, replace=False) if len(known) > _WORDS else np.array(known, int))
    indices, lengths = np.concatenate(rows), [len(row) for row in rows]
    x = sp.csr_array((np.ones(len(indices), np.float32), indices, np.cumsum([0, *lengths])), (len(rows), len(column)))
    x.sort_indices()
    return x
