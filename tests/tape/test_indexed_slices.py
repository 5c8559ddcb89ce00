"""IndexedSlices: arithmetic, text, conversion to dense tensors, and sparse gradients."""

import numpy as np
import pytest

import gradtape as tf


def slices():
    rows = tf.constant([[1.0, 2.0], [10.0, 20.0]])
    return tf.IndexedSlices(rows, tf.constant([1, 1]), tf.constant([3, 2]))


def test_repeated_rows_are_added_up():
    dense = [[0.0, 0.0], [11.0, 22.0], [0.0, 0.0]]
    assert tf.convert_to_tensor(slices()).numpy().tolist() == dense
    for total in (tf.zeros((3, 2)) + slices(), slices() + tf.zeros((3, 2))):
        assert total.numpy().tolist() == dense


def test_negation_stays_sparse():
    negative = -slices()
    assert isinstance(negative, tf.IndexedSlices)
    assert negative.values.numpy().tolist() == [[-1.0, -2.0], [-10.0, -20.0]]


def test_text_shows_the_parts():
    one = tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]))
    assert str(one) == (
        "IndexedSlices(indices=tf.Tensor([0], shape=(1,), dtype=int32), "
        "values=tf.Tensor([1.], shape=(1,), dtype=float32))"
    )


def test_conversion_needs_a_dense_shape_and_the_same_dtype():
    with pytest.raises(ValueError, match="dense_shape"):
        tf.convert_to_tensor(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])))
    with pytest.raises(ValueError, match="dtype"):
        tf.convert_to_tensor(slices(), tf.int32)


def test_casting_keeps_slices_sparse():
    cast = tf.cast(slices(), tf.float64)
    assert isinstance(cast, tf.IndexedSlices)
    assert cast.dtype is tf.float64
    assert not hasattr(cast, "numpy")
    assert np.shape(cast.values) == (2, 2)


@pytest.mark.parametrize(
    "through",
    [
        tf.identity,
        tf.negative,
        tf.Variable.read_value,
        lambda v: tf.cast(tf.cast(v, "float64"), "float32"),
    ],
    ids=["identity", "negative", "read_value", "cast"],
)
def test_the_gradient_of_a_lookup_stays_sparse_through(through):
    table = tf.Variable([[1.0], [2.0], [3.0]])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.gather(through(table), [2, 0])
    slices = tape.gradient(y, table)
    assert isinstance(slices, tf.IndexedSlices)
    assert slices.indices.numpy().tolist() == [2, 0]
    other = tf.Variable(1.0)
    assert isinstance(tape.gradient(y, [other, table])[1], tf.IndexedSlices)


def test_slices_and_a_dense_gradient_are_added_behind_an_identity():
    table = tf.Variable([[1.0], [2.0], [3.0]])
    with tf.GradientTape() as tape:
        same = tf.identity(table)
        y = tf.reduce_sum(tf.gather(same, [2])) + tf.reduce_sum(same * 10.0)
    assert tape.gradient(y, table).numpy().tolist() == [[10.0], [10.0], [11.0]]


def test_an_axis_counted_from_the_end_gives_a_dense_gradient():
    vector = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = tf.gather(vector, [2, 2], axis=-1)
    assert tape.gradient(y, vector).numpy().tolist() == [0.0, 0.0, 2.0]


def test_the_jacobian_of_slices_is_that_of_the_dense_tensor():
    table = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(tf.gather(table, [0, 2, 0]) ** 2)
        slices = inner.gradient(y, table)
    assert outer.jacobian(slices, table).numpy().tolist() == [[4, 0, 0], [0, 0, 0], [0, 0, 2]]


def test_identity_and_stop_gradient_keep_slices():
    for same in (tf.identity(slices()), tf.stop_gradient(slices())):
        assert isinstance(same, tf.IndexedSlices)
        assert same.indices.numpy().tolist() == [1, 1]


def test_a_spec_describes_the_parts_of_slices():
    spec = tf.type_spec_from_value(slices())
    assert repr(spec) == (
        "IndexedSlicesSpec(TensorShape([3, 2]), tf.float32, tf.int32, tf.int32, TensorShape([2]))"
    )
    assert spec.is_compatible_with(slices())
    assert not tf.IndexedSlicesSpec([3, 2]).is_compatible_with(slices())  # its indices are int64
    assert [part.shape for part in tf.nest.flatten(slices(), expand_composites=True)] == [
        (2, 2),
        (2,),
        (2,),
    ]


def test_sparse_gradients_of_complex_tables_are_conjugated_like_dense_ones():
    table = tf.Variable([1 + 1j, 2 - 1j])
    weight = tf.constant([0.5 + 2j])
    with tf.GradientTape(persistent=True) as tape:
        sparse = tf.reduce_sum(tf.gather(table, [1]) * weight)
        dense = tf.reduce_sum(table[1:] * weight)
    got = tape.gradient(sparse, table)
    assert isinstance(got, tf.IndexedSlices)
    np.testing.assert_array_equal(tf.convert_to_tensor(got), tape.gradient(dense, table))
