"""Index expressions as keys of `slice_`, and their errors."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.errors import InvalidArgumentError
from gradtape.ops.basic_indexing import make_slice_key

ALL = slice(None)


@pytest.mark.parametrize(
    ("key", "want"),
    [
        (1, (1, ALL, ALL)),
        (-1, (1, ALL, ALL)),
        ((..., 0), (ALL, ALL, 0)),
        ((0, ..., None), (0, ALL, ALL, None)),
        ([1, 2], (1, 2, ALL)),
        (np.int64(1), (1, ALL, ALL)),
        (tf.constant(1), (1, ALL, ALL)),
        (tf.Variable(1), (1, ALL, ALL)),
        ((slice(tf.constant(0), None), None), (slice(0, None, None), None, ALL, ALL)),
        ((), (ALL, ALL, ALL)),
    ],
)
def test_a_key_has_an_entry_for_every_axis(key, want):
    assert make_slice_key(key, (2, 3, 4)) == want


@pytest.mark.parametrize("key", ["a", 1.0, [[0]], np.array([0, 1]), tf.constant([0]), b"x"])
def test_an_invalid_index_raises_a_type_error(key):
    with pytest.raises(TypeError, match="valid indices"):
        make_slice_key(key, (2, 3))


@pytest.mark.parametrize(
    ("key", "shape", "words"),
    [
        (2, (2, 3), "slice index 2 of dimension 0 out of bounds"),
        (-3, (2,), "out of bounds"),
        ((0, 0), (2,), "input has only 1 dims"),
        (0, (), "scalar input"),
        ((..., ...), (2,), "Multiple ellipses"),
        (slice(None, None, 0), (2,), "must be non-zero"),
    ],
)
def test_a_key_that_does_not_match_the_shape_raises(key, shape, words):
    with pytest.raises(InvalidArgumentError, match=words):
        make_slice_key(key, shape)
