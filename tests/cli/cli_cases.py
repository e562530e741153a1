"""Small inputs that the tests of several commands share."""

import numpy as np

SMALL = ("--hidden-channels", "8", "--mlp-channels", "8", "--max-epochs", "4", "--threads", "1")


def clique_edges(size=5):
    """Return the edges of two cliques and one edge between them."""
    pairs = [(i, j) for start in (0, size) for i in range(start, start + size) for j in range(i + 1, start + size)]
    return np.array([*pairs, (size - 1, size)])
