"""The rule that recommends a number of clusters, on plain numbers."""

import pytest

from tvgnn.experiments.choice_of_k import SweepRow, recommend

CHANCE = 0.2


def row(k, modularity, stability, found=None, of_all=None, error=0.0, strays=0):
    found = k if found is None else found
    score = stability * (modularity - CHANCE)
    return SweepRow(
        k,
        found,
        0.1,
        0.1,
        modularity,
        0.1,
        0.9,
        of_all or stability,
        stability,
        score,
        error,
        (10,) * found + (0,) * (k - found),
        n_strays=strays,
    )


def chosen(*rows):
    return recommend(rows, CHANCE)


def test_communities_are_found_where_they_are_dense_and_found_again():
    # four planted communities: K=2 joins them in one of three ways, K=5 splits one of four
    result = chosen(row(2, 0.45, 0.4), row(3, 0.55, 0.6), row(4, 0.7, 1.0), row(5, 0.68, 0.75))
    assert result.n_clusters == 4
    assert result.reason.startswith("largest product (0.50) of stability (1.00) and modularity")
    assert "next is K = 5 (0.36)" in result.reason


def test_a_trivial_stable_split_does_not_win():
    assert chosen(row(2, 0.48, 1.0), row(8, 0.8, 0.9)).n_clusters == 8


def test_neither_do_many_arbitrary_dense_clusters():
    assert chosen(row(3, 0.62, 1.0), row(12, 0.8, 0.3)).n_clusters == 3


def test_a_k_with_empty_clusters_is_passed_over():
    assert chosen(row(3, 0.6, 0.9), row(4, 0.7, 1.0, found=3)).n_clusters == 3


def test_neither_does_a_k_with_a_stray_win():
    # the same four communities and one node more, from better seeds
    assert chosen(row(4, 0.69, 0.8), row(5, 0.7, 1.0, strays=1)).n_clusters == 4
    nothing = chosen(row(4, 0.69, 0.8, strays=1), row(5, 0.7, 1.0, strays=2))
    assert nothing.n_clusters is None
    assert "each with more edges inside than to any other" in nothing.reason


def test_one_cluster_is_never_recommended():
    assert chosen(row(1, 0.0, 1.0), row(2, 0.4, 0.9)).n_clusters == 2


def test_a_random_graph_has_no_k():
    result = chosen(row(2, 0.15, 0.9), row(3, 0.19, 0.5))
    assert result.n_clusters is None
    assert "0.19 at K = 3" in result.reason
    assert "random graph of the same degrees (0.20)" in result.reason


def test_arbitrary_cuts_have_no_k():
    result = chosen(row(2, 0.5, 0.3), row(8, 0.8, 0.4))
    assert result.n_clusters is None
    assert "no K stands out" in result.reason


def test_where_nothing_is_in_use_it_says_so():
    for rows in ([row(1, 0.0, 1.0)], [row(3, 0.4, 0.9, found=2)]):
        result = chosen(*rows)
        assert result.n_clusters is None
        assert "all its clusters in use" in result.reason


@pytest.mark.parametrize(("ks", "says"), [((3, 4), "largest K tried"), ((4, 6), "smallest K tried")])
def test_a_k_at_the_end_of_the_range_is_doubted(ks, says):
    assert says in chosen(*(row(k, 0.7, 1.0 if k == 4 else 0.6) for k in ks)).reason


def test_two_clusters_are_no_end_of_a_range():
    assert "tried" not in chosen(row(2, 0.48, 1.0), row(3, 0.48, 0.5)).reason


def test_seeds_that_failed_to_train_do_not_hide_a_k_but_are_mentioned():
    result = chosen(row(2, 0.49, 1.0, of_all=0.4))
    assert result.n_clusters == 2
    assert "stability of all 0.40" in result.reason


def test_of_scores_that_the_seeds_cannot_tell_apart_the_smallest_k_is_taken():
    result = chosen(row(3, 0.6, 0.8), row(4, 0.7, 0.97), row(5, 0.7, 1.0, error=0.03), row(6, 0.7, 0.6))
    assert result.n_clusters == 4
    assert "within one standard error (0.03) of the largest, 0.50 at K = 5" in result.reason


def test_a_smaller_k_on_which_seeds_disagree_is_not_taken():
    assert chosen(row(4, 0.9, 0.6), row(5, 0.7, 0.9, error=0.2), row(6, 0.5, 0.9)).n_clusters == 5
