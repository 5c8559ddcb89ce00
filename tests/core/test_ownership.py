"""An array is overwritten only where no other code refers to it."""

import sys

import numpy as np
import pytest

from gradtape.core import ownership
from gradtape.core.ownership import is_exclusive, is_sole_result
from gradtape.ops.cotangent import IN_PLACE_MIN_SIZE, accumulate
from gradtape.state.variable.commit import ExclusiveUpdate
from gradtape.state.variable.storage import VariableStorage

gil = pytest.mark.skipif(
    not getattr(sys, "_is_gil_enabled", lambda: True)(), reason="counts prove nothing"
)


def update(storage):
    """Whether an update finds the array exclusive."""
    found = []

    def keep(array, own):
        found.append(own)
        return array

    storage._update(keep)
    return found[0]


@gil
def test_an_update_owns_an_array_without_other_references():
    storage = VariableStorage(np.zeros(3))
    assert update(storage)
    array = storage._value._array
    assert not update(storage)
    del array
    assert update(storage)
    version = storage._value
    assert not update(storage)
    del version
    assert update(storage)


@gil
def test_a_common_update_owns_arrays_without_other_references():
    def take(*storages):
        places = list(range(len(storages)))
        with ExclusiveUpdate(storages, places, places) as taken:
            return taken.is_owned

    one, two = VariableStorage(np.zeros(3)), VariableStorage(np.zeros(2))
    assert take(one, two)
    array = two._value._array
    assert not take(one, two)
    assert take(one)
    del array
    version = one._value
    assert not take(one, two)
    del version
    assert take(one, two)


@pytest.mark.parametrize(
    "array",
    [np.zeros((4, 4))[1:], np.float32(1), np.broadcast_to(np.zeros(1), (3,))],
    ids=["view", "scalar", "read-only"],
)
def test_views_scalars_and_read_only_arrays_are_not_owned(array):
    assert not update(VariableStorage(array))
    assert not is_sole_result(array, (array,))


@gil
def test_a_cotangent_is_accumulated_in_place_if_only_the_backward_pass_refers_to_it():
    def add(keep):
        grads = {0: np.ones(IN_PLACE_MIN_SIZE)}
        t = np.ones(IN_PLACE_MIN_SIZE)
        address = grads[0].ctypes.data
        other = grads[0] if keep else None
        p = grads.get(0)
        grads[0] = t if p is None else accumulate(p, t)
        assert grads[0][0] == 2
        assert other is None or other[0] == 1
        return grads[0].ctypes.data == address

    assert add(keep=False)
    assert not add(keep=True)


def test_a_result_that_another_result_shares_is_not_overwritten():
    array = np.zeros(3)
    assert is_sole_result(array, (array, np.zeros(3)))
    assert not is_sole_result(array, (array, array))
    assert not is_sole_result(array, (array, array[1:]))


def test_without_the_gil_nothing_is_exclusive():
    assert not is_exclusive(np.zeros(3), -1)
    assert (ownership.UPDATE_REFERENCES > 0) is getattr(sys, "_is_gil_enabled", lambda: True)()
