"""tf.ragged_fill_empty_rows and tf.ragged.cross_hashed."""

import pytest

import gradtape as tf


def test_empty_rows_get_the_default():
    filled = tf.ragged_fill_empty_rows([0, 2], [1.0, 2], 4, 9.0)
    assert filled.output_value_rowids.numpy().tolist() == [0, 1, 2, 3]
    assert filled.output_values.numpy().tolist() == [1, 9, 2, 9]
    assert filled.empty_row_indicator.numpy().tolist() == [False, True, False, True]
    assert filled.reverse_index_map.numpy().tolist() == [0, 2]


def test_the_gradient_of_the_default_is_the_rest():
    back = tf.ragged_fill_empty_rows_grad([1, 2], [1.0, 2, 3, 4])
    assert back.d_values.numpy().tolist() == [2, 3]
    assert back.d_default_value == 5
    values, default = tf.constant([1.0, 2]), tf.constant(9.0)
    with tf.GradientTape() as tape:
        tape.watch([values, default])
        out = tf.ragged_fill_empty_rows([0, 2], values, 4, default).output_values * [1, 2, 3, 4]
    assert [g.numpy().tolist() for g in tape.gradient(out, [values, default])] == [[1, 3], 6]


@pytest.mark.parametrize(("rows", "count"), [([0, 5], 1), ([0, 0], 0), ([-1, 0], 2)])
def test_rows_must_exist(rows, count):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.ragged_fill_empty_rows(rows, [1.0, 2], count, 9.0)


def test_crosses_as_hashes():
    left, right = tf.ragged.constant([["a"], ["b", "c"]]), tf.constant([[1, 2], [3, 4]])
    crossed = tf.ragged.cross_hashed([left, right], num_buckets=100, hash_key=7)
    assert crossed.to_list() == [[77, 40], [82, 71, 12, 62]]
