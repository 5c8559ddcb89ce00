"""Counts of values: bincount and confusion matrices."""

import pytest

import gradtape as tf


def test_maxlength_limits_the_bins_and_axis_counts_by_row():
    assert tf.math.bincount([1, 1, 3]).numpy().tolist() == [0, 2, 0, 1]
    assert tf.math.bincount([1, 1, 3], maxlength=2).numpy().tolist() == [0, 2]
    rows = tf.math.bincount([[1, 1], [3, 0]], axis=-1, maxlength=2)
    assert rows.numpy().tolist() == [[0, 2], [1, 0]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.math.bincount([-1])


def test_a_confusion_matrix_has_labels_as_rows():
    out = tf.math.confusion_matrix([0, 1, 1], [0, 1, 0])
    assert out.numpy().tolist() == [[1, 0], [1, 1]]
