"""Counting and ranking, casts and segments."""

import numpy as np
import pytest

import gradtape as tf


def test_bins_are_cut_to_length_and_rows_counted_alone():
    assert tf.math.bincount([1, 1, 3]).numpy().tolist() == [0, 2, 0, 1]
    assert tf.math.bincount([1, 1, 3], maxlength=2).numpy().tolist() == [0, 2]
    rows = tf.math.bincount([[1, 1], [3, 0]], axis=-1, maxlength=2)
    assert rows.numpy().tolist() == [[0, 2], [1, 0]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.math.bincount([-1])


def test_equal_entries_come_in_order_and_nan_last():
    values, indices = tf.math.top_k([1.0, 3.0, 3.0, np.nan], 4)
    np.testing.assert_array_equal(values.numpy(), [3, 3, 1, np.nan])
    assert indices.numpy().tolist() == [1, 2, 0, 3]


def test_a_target_that_ties_is_in_and_one_out_of_range_is_not():
    scores = [[0.1, 0.5, 0.5], [0.3, 0.2, 0.1]]
    assert tf.math.in_top_k([2, 7], scores, 1).numpy().tolist() == [True, False]


def test_a_confusion_matrix_has_labels_as_rows():
    out = tf.math.confusion_matrix([0, 1, 1], [0, 1, 0])
    assert out.numpy().tolist() == [[1, 0], [1, 1]]


def test_casts_saturate_only_where_asked():
    assert tf.saturate_cast([300, -5, 7], tf.uint8).numpy().tolist() == [255, 0, 7]
    assert tf.saturate_cast([3e9, -3e9], tf.int32).numpy().tolist() == [2147483520, -(2**31)]
    assert tf.cast([300, -5, 7], tf.uint8).numpy().tolist() == [44, 251, 7]
    with pytest.raises(tf.errors.UnimplementedError):
        tf.cast("1", tf.float32)


def test_rows_with_negative_ids_are_left_out():
    out = tf.math.unsorted_segment_sum([1.0, 2.0, 3.0], [1, -1, 1], 2)
    assert out.numpy().tolist() == [0, 4]
    assert tf.math.unsorted_segment_max([1, 2], [0, 0], 2).numpy().tolist() == [2, -(2**31)]


def test_empty_segments_of_sorted_ids_are_zero():
    assert tf.math.segment_max([1.0, 2.0], [0, 2]).numpy().tolist() == [1, 0, 2]
    assert tf.math.segment_prod([1, 2], [0, 2]).numpy().tolist() == [1, 1, 2]
    assert tf.math.segment_mean([-1, -2], [0, 0]).numpy().tolist() == [-1]


@pytest.mark.parametrize("ids", [[1, 0], [-1, 0], [0], [[0, 1]]])
def test_ids_that_make_no_segments_are_refused(ids):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.math.segment_sum([1.0, 2.0], ids)


def test_sobol_points_begin_after_the_origin():
    assert tf.math.sobol_sample(1, 3).numpy().ravel().tolist() == [0.5, 0.75, 0.25]


def test_nan_sorts_last_and_is_never_among_the_largest():
    # TensorFlow's order depends on where the NaN stands: its comparison is not an order then.
    x = tf.constant([np.nan, 1.0, np.nan, 3.0, np.inf])
    np.testing.assert_array_equal(tf.sort(x), [1, 3, np.inf, np.nan, np.nan])
    np.testing.assert_array_equal(tf.argsort(x), [1, 3, 4, 0, 2])
    np.testing.assert_array_equal(tf.sort(x, direction="DESCENDING")[:2], [np.nan, np.nan])
    np.testing.assert_array_equal(tf.math.top_k(x, 3).indices, [4, 3, 1])


def test_complex_numbers_saturate_part_by_part():
    most = np.finfo(np.float32).max
    cast = tf.saturate_cast(tf.constant([1e200 - 1e300j, 1 + 2j], tf.complex128), tf.complex64)
    assert cast.dtype == tf.complex64
    assert cast.numpy().tolist() == [complex(most, -most), 1 + 2j]
