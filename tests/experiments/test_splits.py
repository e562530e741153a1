"""Splits: stratified, disjoint, complete, the same every time, and never of other data."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tvgnn.errors import DataError
from tvgnn.experiments.splits import labels_sha256, make_splits, read_splits, splits_for

LABELS = [position % 3 == 0 for position in range(60)]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(20, 60), min_size=2, max_size=4), st.integers(0, 2**31), st.randoms())
def test_folds_are_disjoint_complete_and_stratified(sizes, seed, random):
    labels = [f"class {number}" for number, size in enumerate(sizes) for _ in range(size)]
    random.shuffle(labels)
    splits = make_splits(labels, seed=seed)
    assert splits.n_graphs == len(labels)
    assert sorted(position for fold in splits.folds for position in fold.test) == list(range(len(labels)))
    for fold in splits.folds:
        assert sorted(fold.train + fold.validation + fold.test) == list(range(len(labels)))
        rest = fold.train + fold.validation
        assert len(fold.validation) == int(np.ceil(0.1 * len(rest)))
        in_test, in_rest, in_validation = (
            Counter(labels[i] for i in part) for part in (fold.test, rest, fold.validation)
        )
        for name, size in Counter(labels).items():
            assert abs(in_test[name] - size / 5) < 1
            assert abs(in_validation[name] - 0.1 * in_rest[name]) <= 1


def test_splits_depend_on_the_seed_and_the_labels_alone():
    assert make_splits(LABELS, seed=3) == make_splits(np.array(LABELS), seed=3)
    assert make_splits(LABELS, seed=3).folds != make_splits(LABELS, seed=4).folds
    assert labels_sha256(LABELS) != labels_sha256(LABELS[::-1])
    assert labels_sha256([1, 0]) != labels_sha256(["1", "0"])


def test_known_splits():
    """Another version of scikit-learn must not change the folds unnoticed."""
    fold = make_splits(LABELS).folds[0]
    assert fold.test == (3, 8, 11, 16, 23, 26, 27, 34, 37, 41, 48, 51)
    assert fold.validation == (12, 25, 31, 44, 45)


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        ([0] * 50, "at least two classes, got 1"),
        ([0] * 50 + [1] * 4, "54 of 2 classes, 4 of them of class 1"),
        ([0, 1] * 6, "12 of 2 classes, 6 of them of class 0"),
    ],
    ids=["one class", "a rare class", "a small dataset"],
)
def test_too_few_graphs_are_refused(labels, says):
    with pytest.raises(DataError, match=says):
        make_splits(labels)


def test_a_file_is_written_once_and_read_back(tmp_path):
    path = tmp_path / "splits" / "mutag.json"
    splits = splits_for(path, LABELS, seed=1)
    assert splits == make_splits(LABELS, seed=1) == read_splits(path)
    content, time = path.read_bytes(), path.stat().st_mtime_ns
    assert splits_for(path, LABELS, seed=1) == splits
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (content, time)
    assert [file.name for file in path.parent.iterdir()] == ["mutag.json"]


@pytest.mark.parametrize(
    ("labels", "given", "says"),
    [
        (LABELS[::-1], {}, r"splits of these 60 graphs, got those of 60 graphs with other labels; choose another"),
        (LABELS + [True] * 5, {}, r"these 65 graphs, got those of 60"),
        (LABELS, {"seed": 1}, r"5 folds of seed 1, got 5 of seed 0; use that seed"),
        (LABELS, {"n_folds": 3}, r"3 folds of seed 0, got 5"),
    ],
    ids=["order", "number", "seed", "folds"],
)
def test_a_file_of_something_else_is_refused(tmp_path, labels, given, says):
    path = tmp_path / "mutag.json"
    splits_for(path, LABELS)
    with pytest.raises(DataError, match=says):
        splits_for(path, labels, **given)


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "mutag.json"
    splits_for(path, LABELS)
    content = json.loads(path.read_text())
    content["folds"][0]["train"][0] = content["folds"][0]["test"][0]
    for text in (json.dumps(content), "{", "[]", "{}", '{"folds": [1]}'):
        path.write_text(text)
        with pytest.raises(DataError, match=r"mutag.json: not readable as splits: .*remove the file"):
            splits_for(path, LABELS)


def test_an_unwritable_folder_is_named(tmp_path):
    (tmp_path / "splits").write_text("a file")
    with pytest.raises(DataError, match="cannot be written"):
        splits_for(tmp_path / "splits" / "mutag.json", LABELS)
