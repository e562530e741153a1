"""Cluster documents
=================

Its corpus is the documentation of SciPy's functions, which is installed with tvgnn::

    python examples/cluster_documents.py

Each document becomes a row of weighted word counts and is joined to the documents most like it. The subpackage that a
function belongs to is never shown to the clustering; it is compared with the clusters at the end. Words that name a
subpackage are left out, since they would give it away.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
from collections import Counter
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer

from tvgnn import Graph, TVClustering
from tvgnn.metrics import normalized_mutual_info

SUBPACKAGES = ("interpolate", "linalg", "ndimage", "optimize", "signal", "stats")
BOILERPLATE = {"scipy", "numpy", "examples", "parameters", "returns", "import", "array_like", "ndarray", "optional"}


@dataclass
class Corpus:
    """Names, texts and subpackages of the documents."""

    names: list[str]
    texts: list[str]
    topics: list[str]


def documentation() -> Corpus:
    """Return what the functions and classes of some subpackages do and take, without the notes and examples below."""
    names, texts, topics = [], [], []
    for topic in SUBPACKAGES:
        module = importlib.import_module(f"scipy.{topic}")
        for name in module.__all__:
            member = getattr(module, name)
            text = (inspect.getdoc(member) or "").split("\nNotes\n")[0].split("\nExamples\n")[0]
            if callable(member) and len(text) > 200:
                names.append(f"{topic}.{name}")
                texts.append(text)
                topics.append(topic)
    return Corpus(names, texts, topics)


def word_weights(texts: list[str]) -> tuple[sp.csr_array, np.ndarray]:
    """Return TF-IDF rows (documents, words) and the words."""
    skipped = [*ENGLISH_STOP_WORDS, *BOILERPLATE, *SUBPACKAGES]
    vectorizer = TfidfVectorizer(
        min_df=5, max_df=0.3, stop_words=skipped, token_pattern=r"[a-z_]{3,}", sublinear_tf=True
    )
    return sp.csr_array(vectorizer.fit_transform(texts)), vectorizer.get_feature_names_out()


def typical_words(x: sp.csr_array, words: np.ndarray, labels: np.ndarray, cluster: int, count: int = 6) -> list[str]:
    """Return the words whose mean weight is higher inside a cluster than outside, the most so first."""
    inside, outside = x[labels == cluster].mean(axis=0), x[labels != cluster].mean(axis=0)
    return words[np.argsort(outside - inside)[:count]].tolist()


def main(arguments: list[str] | None = None) -> dict[str, float]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-k", "--n-clusters", type=int, default=len(SUBPACKAGES))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    corpus = documentation()
    x, words = word_weights(corpus.texts)
    graph = Graph.from_features(x, n_neighbors=10, metric="cosine", y=corpus.topics, node_ids=corpus.names)
    print(f"{graph}, words and documents of {', '.join(SUBPACKAGES)}")

    model = TVClustering(options.n_clusters, preset="quality", random_state=options.seed).fit(graph)
    for cluster in range(model.n_clusters_found_):
        members = np.flatnonzero(model.labels_ == cluster)
        (topic, number), *_ = Counter(corpus.topics[i] for i in members).most_common(1)
        typical = members[np.argmax(x[members] @ x[members].mean(axis=0))]
        print(
            f"cluster {cluster}: {len(members)} documents, {100 * number / len(members):.0f} % {topic}, for example "
            f"{corpus.names[typical]}; {', '.join(typical_words(x, words, model.labels_, cluster))}"
        )
    k_means = KMeans(options.n_clusters, n_init=10, random_state=options.seed).fit_predict(x)
    agreement = {
        "tvgnn": normalized_mutual_info(graph.y, model.labels_),
        "k-means": normalized_mutual_info(graph.y, k_means),
    }
    print("NMI with the subpackages: " + ", ".join(f"{name} {value:.3f}" for name, value in agreement.items()))
    return agreement


if __name__ == "__main__":
    main()
