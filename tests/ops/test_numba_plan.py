"""The division of rows into tasks: every entry belongs to exactly one, whatever the degrees."""

import subprocess
import sys

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tvgnn.ops._numba import (
    HUB,
    MAX_TASKS,
    SHARED_ELEMENTS,
    UNITS_PER_TASK,
    add_pieces,
    last_row,
    piece,
    starts_cut_row,
    use_threads,
)
from tvgnn.ops._numba import make_plan as compiled_make_plan

# Kernels contain it and none gives its array to Python. The compiled function itself may share a symbol with the copy
# inside a kernel that comes from the cache, and then fails here: "'descr' is NULL".
make_plan = compiled_make_plan.py_func


def row_pointers(degrees):
    return np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32)


def entries_per_task(indptr, plan):
    return [
        sum(np.subtract(*piece(plan, task, row, indptr)[1::-1]) for row in range(plan[task, 0], last_row(plan, task)))
        for task in range(len(plan))
    ]


def check_cover(degrees):
    """Walk the plan as a kernel does: whole rows are written once, cut rows are the sum of their pieces."""
    indptr = row_pointers(degrees)
    plan = make_plan(indptr)
    visits = np.zeros(indptr[-1], int)
    writes = np.zeros(len(degrees), int)
    out = np.zeros((len(degrees), 1))
    partial = np.zeros((2 * len(plan), 1))
    for task in range(len(plan)):
        for row in range(plan[task, 0], last_row(plan, task)):
            first, last, slot = piece(plan, task, row, indptr)
            assert indptr[row] <= first <= last <= indptr[row + 1]
            visits[first:last] += 1
            if slot < 0:
                assert (first, last) == (indptr[row], indptr[row + 1])
                writes[row] += 1
                out[row] = last - first
            else:
                assert degrees[row] > HUB
                assert slot // 2 == task
                assert partial[slot] == 0  # no two pieces share a slot
                partial[slot] = last - first
    for task in range(len(plan)):
        if starts_cut_row(plan, task):
            writes[plan[task, 2]] += 1
            add_pieces(plan, partial, task, out)
    assert np.all(visits == 1)
    assert np.all(writes == 1)
    assert out[:, 0].tolist() == list(degrees)
    return plan


@pytest.mark.parametrize(
    "degrees",
    [
        [],
        [0],
        [1],
        [0] * 5000,
        [3] * 5000,
        [HUB],
        [HUB + 1],
        [10 * UNITS_PER_TASK],
        [0, 10 * UNITS_PER_TASK, 0],
        [1] * 1000 + [10 * UNITS_PER_TASK] + [1] * 1000,
        [5 * UNITS_PER_TASK] * 3,
        [HUB] * 50,
        [HUB + 1] * 50,
        [UNITS_PER_TASK - 1] * 8,  # rows and tasks end together
        [100_000] + [1] * 100_000,
    ],
    ids=lambda degrees: f"{len(degrees)} rows of {max(degrees, default=0)}",
)
def test_every_entry_once(degrees):
    check_cover(degrees)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.one_of(st.integers(0, 5), st.integers(HUB - 2, HUB + 2), st.integers(900, 1100), st.just(7000)), max_size=25
    )
)
def test_every_entry_once_for_mixed_degrees(degrees):
    check_cover(degrees)


def test_a_hub_is_shared_by_many_tasks():
    indptr = row_pointers([100_000] + [1] * 100_000)
    plan = make_plan(indptr)
    assert len(plan) > 100
    assert max(entries_per_task(indptr, plan)) <= 2 * UNITS_PER_TASK


def test_tasks_are_bounded_in_number_and_equal_in_work():
    degrees = np.random.default_rng(0).integers(0, 40, 100_000)
    indptr = row_pointers(degrees)
    plan = make_plan(indptr)
    assert len(plan) == MAX_TASKS
    work = [e + plan[t, 2] - plan[t, 0] for t, e in enumerate(entries_per_task(indptr, plan))]
    assert max(work) <= (indptr[-1] + len(degrees)) / MAX_TASKS + HUB


@pytest.mark.parametrize("count", [1, 2])
def test_kernels_use_the_threads_of_torch_where_there_is_enough_to_share(threads, count):
    threads(count)
    use_threads(SHARED_ELEMENTS)
    assert numba.get_num_threads() == min(count, numba.config.NUMBA_NUM_THREADS)
    use_threads(SHARED_ELEMENTS - 1)
    assert numba.get_num_threads() == 1


def test_plan_does_not_depend_on_threads(threads):
    indptr = row_pointers([5000, 3, 0, 900] * 4)
    plans = []
    for count in (1, 2):
        threads(count)
        use_threads(SHARED_ELEMENTS)
        plans.append(make_plan(indptr))
    assert np.array_equal(*plans)


def test_first_kernel_leaves_torch_its_number_of_threads():
    code = (
        "import torch; torch.set_num_threads(1);"
        "from tvgnn import total_variation_loss;"
        "s = torch.softmax(torch.randn(4000, 20), 1); total_variation_loss(s, torch.randint(0, 4000, (2, 20000)));"
        "print(torch.get_num_threads())"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "1"
