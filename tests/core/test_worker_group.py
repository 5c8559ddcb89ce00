"""The group of one worker."""

import numpy as np
import pytest

from gradtape.core.errors import InvalidArgumentError
from gradtape.core.worker_group import SINGLE_WORKER, WorkerGroup


def test_one_worker_is_a_group():
    assert isinstance(SINGLE_WORKER, WorkerGroup)
    assert (SINGLE_WORKER.rank, SINGLE_WORKER.size) == (0, 1)


@pytest.mark.parametrize("op", ["SUM", "MEAN", "MIN", "MAX"])
def test_reduction_over_one_worker_changes_nothing(op):
    arrays = [np.arange(3.0), np.ones((2, 2), np.int32)]
    for before, after in zip(arrays, SINGLE_WORKER.all_reduce(arrays, op), strict=True):
        np.testing.assert_array_equal(before, after)


def test_gather_broadcast_and_barrier_of_one_worker():
    array = np.arange(3.0)
    np.testing.assert_array_equal(SINGLE_WORKER.all_gather(array), [array])
    np.testing.assert_array_equal(SINGLE_WORKER.broadcast(array, root=0), array)
    SINGLE_WORKER.barrier("end")


def test_unknown_reductions_and_roots_are_errors():
    with pytest.raises(InvalidArgumentError, match="PRODUCT"):
        SINGLE_WORKER.all_reduce([], "PRODUCT")
    with pytest.raises(InvalidArgumentError, match=r"\[0, 1\)"):
        SINGLE_WORKER.broadcast(np.ones(1), root=1)
