"""Several runs as one clustering."""

import numpy as np
import pytest

from tvgnn.errors import GraphError
from tvgnn.estimators.consensus import consensus

TRUE = np.repeat([0, 1, 2], [6, 5, 4])


def run(labels, seed, sharpness=0.8):
    """Soft assignments of ``labels`` with columns in an order of their own."""
    soft = np.full((len(labels), 3), (1 - sharpness) / 2)
    soft[np.arange(len(labels)), labels] = sharpness
    return soft[:, np.random.default_rng(seed).permutation(3)]


def test_runs_that_differ_in_numbering_only_give_their_mean():
    result = consensus([run(TRUE, seed) for seed in range(5)])
    assert result.labels.tolist() == TRUE.tolist()
    np.testing.assert_allclose(result.assignments.max(axis=1), 0.8, rtol=1e-6)
    np.testing.assert_allclose(result.assignments.sum(axis=1), 1, rtol=1e-6)


def test_the_majority_wins_and_the_confidence_says_so():
    odd = TRUE.copy()
    odd[0] = 2
    result = consensus([run(odd, 0), run(TRUE, 1), run(TRUE, 2)])
    assert result.labels.tolist() == TRUE.tolist()
    assert result.assignments[0].max() < result.assignments[1].max()


def test_a_bad_first_run_is_outvoted():
    noise = np.random.default_rng(0).integers(3, size=TRUE.size)
    result = consensus([run(noise, 0), *(run(TRUE, seed) for seed in range(1, 5))])
    assert result.labels.tolist() == TRUE.tolist()


def test_the_order_of_later_runs_does_not_matter():
    draw = np.random.default_rng(1)
    runs = [run(np.where(draw.random(TRUE.size) < 0.1, 0, TRUE), seed) for seed in range(4)]
    first, second = consensus(runs), consensus([runs[0], *runs[:0:-1]])
    assert first.labels.tolist() == second.labels.tolist()


def test_clusters_are_numbered_by_size():
    assert np.bincount(consensus([run(2 - TRUE, 3)]).labels).tolist() == [6, 5, 4]


def test_runs_are_read_one_at_a_time():
    class Stored:
        reads = 0

        def __len__(self):
            return 3

        def __getitem__(self, number):
            if number >= 3:
                raise IndexError
            Stored.reads += 1
            return run(TRUE, number)

    assert consensus(Stored()).labels.tolist() == TRUE.tolist()
    assert Stored.reads >= 6


@pytest.mark.parametrize(
    ("runs", "says"),
    [([], "at least one run"), ([np.ones((3, 2)), np.ones((4, 2))], r"\(3, 2\)"), ([np.ones(3)], r"\(N, K\)")],
)
def test_what_cannot_be_averaged_is_refused(runs, says):
    with pytest.raises(GraphError, match=says):
        consensus(runs)
