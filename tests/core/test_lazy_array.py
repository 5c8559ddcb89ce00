"""Lazy arrays fetch their value on first access."""

import ml_dtypes
import numpy as np

from gradtape.core.lazy_array import LazyArray, materialize


class Wrapper(LazyArray):
    """A lazy array that holds its value."""

    __slots__ = ("raw",)

    def __init__(self, value):
        self.raw = value
        self.shape, self.dtype = value.shape, value.dtype

    def value(self):
        return self.raw


def test_numpy_sees_the_dtype():
    value = np.ones((2, 3), ml_dtypes.bfloat16)
    assert np.asarray(Wrapper(value)).dtype == value.dtype
    assert np.ascontiguousarray(Wrapper(value)).dtype == value.dtype


def test_np_array_copies_and_np_asarray_does_not():
    value = np.zeros(3)
    np.array(Wrapper(value))[0] = 1
    assert value[0] == 0
    assert np.asarray(Wrapper(value)) is value


def test_scalars_become_numbers():
    assert complex(Wrapper(np.complex64(1 + 2j))) == 1 + 2j
    assert (int(Wrapper(np.int32(3))), float(Wrapper(np.float32(0.5)))) == (3, 0.5)
    assert [5, 6, 7][Wrapper(np.int64(1))] == 6


def test_shape_functions_need_no_value():
    class Unreadable(Wrapper):
        __slots__ = ()

        def value(self):
            raise AssertionError

    array = Unreadable(np.ones((2, 3)))
    assert (np.shape(array), np.ndim(array), np.size(array)) == ((2, 3), 2, 6)
    assert (array.ndim, array.size, array.nbytes, len(array)) == (2, 6, 48, 2)


def test_lazy_arrays_in_containers_are_materialized():
    array = np.arange(3)
    assert materialize([Wrapper(array), (1, Wrapper(array))])[1][1] is array
    assert np.concatenate([Wrapper(array), array]).tolist() == [0, 1, 2, 0, 1, 2]
    assert (Wrapper(array) + 1).tolist() == [1, 2, 3]
