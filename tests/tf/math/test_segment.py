"""Segment reductions: negative ids, empty segments and invalid ids."""

import pytest

import gradtape as tf


def test_rows_with_negative_ids_are_dropped():
    out = tf.math.unsorted_segment_sum([1.0, 2.0, 3.0], [1, -1, 1], 2)
    assert out.numpy().tolist() == [0, 4]
    assert tf.math.unsorted_segment_max([1, 2], [0, 0], 2).numpy().tolist() == [2, -(2**31)]


def test_empty_segments_of_sorted_ids_are_zero():
    assert tf.math.segment_max([1.0, 2.0], [0, 2]).numpy().tolist() == [1, 0, 2]
    assert tf.math.segment_prod([1, 2], [0, 2]).numpy().tolist() == [1, 1, 2]
    assert tf.math.segment_mean([-1, -2], [0, 0]).numpy().tolist() == [-1]


@pytest.mark.parametrize("ids", [[1, 0], [-1, 0], [0], [[0, 1]]])
def test_invalid_ids_raise(ids):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.math.segment_sum([1.0, 2.0], ids)
