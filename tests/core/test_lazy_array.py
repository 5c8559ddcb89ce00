"""Arrays whose value is fetched when somebody looks."""

import ml_dtypes
import numpy as np

from gradtape.core.lazy_array import Reading, shown


class Kept(Reading):
    """The value is there."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value
        self.shape, self.dtype = value.shape, value.dtype

    def seen(self):
        return self.value


def test_numpy_sees_the_dtype():
    value = np.ones((2, 3), ml_dtypes.bfloat16)
    assert np.asarray(Kept(value)).dtype == value.dtype
    assert np.ascontiguousarray(Kept(value)).dtype == value.dtype


def test_a_copy_is_one():
    value = np.zeros(3)
    np.array(Kept(value))[0] = 1
    assert value[0] == 0
    assert np.asarray(Kept(value)) is value


def test_scalars_become_numbers():
    assert complex(Kept(np.complex64(1 + 2j))) == 1 + 2j
    assert (int(Kept(np.int32(3))), float(Kept(np.float32(0.5)))) == (3, 0.5)
    assert [5, 6, 7][Kept(np.int64(1))] == 6


def test_facts_need_no_value():
    class Unseen(Kept):
        __slots__ = ()

        def seen(self):
            raise AssertionError

    array = Unseen(np.ones((2, 3)))
    assert (np.shape(array), np.ndim(array), np.size(array)) == ((2, 3), 2, 6)
    assert (array.ndim, array.size, array.nbytes, len(array)) == (2, 6, 48, 2)


def test_values_are_shown_in_containers_too():
    array = np.arange(3)
    assert shown([Kept(array), (1, Kept(array))])[1][1] is array
    assert np.concatenate([Kept(array), array]).tolist() == [0, 1, 2, 0, 1, 2]
    assert (Kept(array) + 1).tolist() == [1, 2, 3]
