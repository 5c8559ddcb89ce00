"""Gathers and scatters, beyond the properties that the sweep checks."""

import re

import numpy as np
import pytest

from gradtape.core.errors import InvalidArgumentError
from gradtape.ops import gather_scatter, gather_scatter_nd
from gradtape.ops.shape import place


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "int32"])
def test_sums_of_many_rows_agree_with_np_add_at(dtype):
    rng = np.random.default_rng(0)
    rows = rng.integers(-3, 4, (500, 8)).astype(dtype)
    ids = rng.integers(0, 20, 500)
    want = np.zeros((20, 8), np.result_type(dtype, np.float32))
    np.add.at(want, ids, rows)
    got = gather_scatter.scatter_add(rows, ids, axis=-2, size=20)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, want.astype(dtype))


def test_the_error_names_the_first_index_out_of_range():
    with pytest.raises(InvalidArgumentError, match=r"indices\[1\]\[0\] = 7 is not in \[0, 3\)"):
        gather_scatter.gather(np.zeros(3), np.array([[0], [7]]), axis=-1)
    with pytest.raises(InvalidArgumentError, match=r"indices\[1\] = \[0, 5\] does not index"):
        gather_scatter_nd.gather_nd(np.zeros((2, 2)), np.array([[0, 1], [0, 5]]), rank=2)


def test_equal_elements_keep_their_order_both_ways():
    x = np.array([2.0, 1.0, 2.0, 1.0])
    assert gather_scatter.stable_argsort(x, descending=False).tolist() == [1, 3, 0, 2]
    assert gather_scatter.stable_argsort(x, descending=True).tolist() == [0, 2, 1, 3]


def test_the_last_of_several_updates_wins():
    array, indices = np.zeros(3), np.array([[1], [1]])
    out = gather_scatter_nd.update_nd(array, indices, np.array([5.0, 6.0]), rank=1)
    assert out.tolist() == [0, 6, 0]


def test_a_single_string_stays_an_array():
    words = np.array([b"a", b"bc"], object)
    assert gather_scatter.gather(words, np.int64(1), axis=-1).shape == ()


@pytest.mark.parametrize("dtype", ["int16", "int32", "int64"])
@pytest.mark.parametrize(("indices", "place"), [([0, -1], "[1] = -1"), ([3, 0], "[0] = 3")])
def test_negative_indices_are_out_of_range(dtype, indices, place):
    with pytest.raises(InvalidArgumentError, match=re.escape(f"indices{place} is not in [0, 3)")):
        gather_scatter.gather(np.zeros((3, 2)), np.array(indices, dtype), axis=-2)
    for one in np.array(indices, dtype):
        if one:
            with pytest.raises(InvalidArgumentError):
                gather_scatter.gather(np.zeros((3, 2)), one, axis=-2)
    with pytest.raises(InvalidArgumentError):
        gather_scatter.gather(np.zeros((0, 2)), np.array([0], dtype), axis=-2)


def test_the_gradient_of_an_added_or_removed_axis_is_a_view():
    g = np.arange(6.0, dtype="float32").reshape(2, 3)
    new = place(g, key=(slice(None), 0), rank=2, shape=(3, 1))
    assert new.shape == (2, 3, 1)
    assert np.shares_memory(new, g)
    turned = place(g, key=(slice(None, None, -1), 0), rank=2, shape=(3, 1))
    np.testing.assert_array_equal(turned[..., 0], g[:, ::-1])


@pytest.mark.parametrize("bad", [20, 10**9, -1])
def test_sums_of_many_rows_check_the_ids(bad):
    ids = np.arange(500) % 20
    ids[7] = bad
    with pytest.raises(InvalidArgumentError, match=r"scatter_add: indices\[7\]"):
        gather_scatter.scatter_add(np.ones((500, 8)), ids, axis=-2, size=20)
