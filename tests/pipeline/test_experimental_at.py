"""tf.data.experimental.at."""

import pytest

import gradtape as tf


def test_the_element_at_a_place():
    at = tf.data.experimental.at
    dataset = tf.data.Dataset.range(5).map(lambda x: (x, x * 2)).batch(2)
    assert [part.numpy().tolist() for part in at(dataset, 1)] == [[2, 3], [4, 6]]
    assert at(tf.data.Dataset.from_tensor_slices({"a": [1, 2]}), 1)["a"] == 2
    assert at(tf.data.Dataset.range(3).repeat(), 7) == 1
    for place in (3, -1):
        with pytest.raises(tf.errors.OutOfRangeError, match="out of range"):
            at(dataset, place)
    with pytest.raises(TypeError):
        at(dataset, 1.5)
