"""Clusterings that the tests of the page share."""

import numpy as np
import scipy.sparse as sp

from tvgnn.report.page import ClusteringView

IMAGE = "<img src=x onerror=alert(1)>"
SCRIPT = "</script><script>alert(2)</script>"
HOSTILE = (IMAGE, SCRIPT, "a\u2028b & 'c\" ]]> <!--", "\udc80 &lt;b&gt;", "${alert(3)} {{ 7 * 7 }}")


def soft(labels, n_clusters, share=0.9):
    """Return assignments with one share at the label and the rest spread evenly."""
    labels = np.asarray(labels)
    rows = np.full((len(labels), n_clusters), (1 - share) / max(n_clusters - 1, 1))
    rows[np.arange(len(labels)), labels] = share
    return rows


def ring_of_cliques(n_cliques=3, size=5):
    """Return the adjacency and the clique of each node: cliques, joined in a ring by one edge each."""
    n = n_cliques * size
    clique = np.repeat(np.arange(n_cliques), size)
    adjacency = (clique[:, None] == clique).astype(np.float32) - np.eye(n, dtype=np.float32)
    first = np.arange(0, n, size)
    adjacency[first, np.roll(first, 1) + 1] = adjacency[np.roll(first, 1) + 1, first] = 1
    return sp.csr_array(adjacency), clique


def cliques_view(n_cliques=3, size=5, **parts):
    """Return a view of a ring of cliques with everything known that ``parts`` do not replace."""
    adjacency, clique = ring_of_cliques(n_cliques, size)
    rng = np.random.default_rng(0)
    x = np.stack([clique * 2.0, rng.normal(size=len(clique)), np.full(len(clique), 4.0)], axis=1)
    given = {
        "title": "cliques",
        "embedding": np.eye(n_cliques)[clique] + rng.normal(scale=0.05, size=(len(clique), n_cliques)),
        "x": x,
        "feature_names": ["level", "noise", "constant"],
        "y": clique,
        "class_names": [f"team {i}" for i in range(n_cliques)],
        "node_ids": [f"person {i}" for i in range(len(clique))],
        "loss_history": [1.0, 0.5, 0.25],
    }
    assignments = parts.pop("assignments", soft(clique, n_cliques))
    return ClusteringView(assignments, adjacency, **(given | parts))
