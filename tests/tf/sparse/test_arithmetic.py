"""Arithmetic and shapes of sparse tensors; expected values come from TensorFlow."""

import numpy as np
import pytest

import gradtape as tf


def parts(sparse):
    return (
        sparse.indices.numpy().tolist(),
        sparse.values.numpy().tolist(),
        sparse.dense_shape.numpy().tolist(),
    )


@pytest.fixture
def f():
    return tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [-1.0, -2.0, 4.0], [3, 3])


@pytest.fixture
def ids():
    return tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1, 1, 4], [3, 3])


def test_a_sum_has_the_indices_of_both(f):
    assert parts(tf.sparse.add(f, tf.sparse.transpose(f))) == (
        [[0, 0], [0, 2], [1, 1], [2, 0]],
        [-2.0, -2.0, 8.0, -2.0],
        [3, 3],
    )
    assert parts(tf.sparse.add(f, f, threshold=3.0))[1] == [-4.0, 8.0]
    assert tf.sparse.add(f, tf.ones((3, 3))).numpy()[0].tolist() == [0.0, 1.0, -1.0]
    with pytest.raises(TypeError, match="At least one input"):
        tf.sparse.add(tf.ones(1), tf.ones(1))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.sparse.add(f, tf.ones((2, 2)))


def test_missing_elements_count_as_zero_for_extremes(f):
    other = tf.SparseTensor([[0, 0], [2, 2]], [-5.0, -5.0], [3, 3])
    assert parts(tf.sparse.maximum(f, other))[1] == [-1.0, 0.0, 4.0, 0.0]
    assert parts(tf.sparse.minimum(f, other))[1] == [-5.0, -2.0, 0.0, -5.0]


def test_reductions_ignore_missing_elements(f):
    assert tf.sparse.reduce_max(f, axis=1).numpy().tolist() == [-1.0, 4.0, 0.0]
    assert tf.sparse.reduce_sum(f, axis=0, keepdims=True).numpy().tolist() == [[-1.0, 4.0, -2.0]]
    assert tf.sparse.reduce_max(f).numpy() == 4.0
    by_row = tf.sparse.reduce_max(f, axis=-1, output_is_sparse=True)
    assert parts(by_row) == ([[0], [1]], [-1.0, 4.0], [3])
    kept = tf.sparse.reduce_sum(f, axis=1, keepdims=True, output_is_sparse=True)
    assert parts(kept) == ([[0, 0], [1, 0]], [-3.0, 4.0], [3, 1])
    assert parts(tf.sparse.reduce_sum(f, output_is_sparse=True)) == ([[]], [1.0], [])


def test_products_with_dense_matrices(f):
    dense = tf.reshape(tf.range(6.0), (3, 2))
    whole = tf.sparse.to_dense(f)
    np.testing.assert_array_equal(tf.sparse.sparse_dense_matmul(f, dense), whole @ dense)
    np.testing.assert_array_equal(
        tf.sparse.sparse_dense_matmul(f, tf.transpose(dense), adjoint_a=True, adjoint_b=True),
        tf.transpose(whole) @ dense,
    )
    row = tf.constant([[1.0, 2.0, 3.0]])
    np.testing.assert_array_equal(tf.sparse.sparse_dense_matmul(row, f), row @ whole)
    with pytest.raises(tf.errors.InvalidArgumentError, match="inner dimension"):
        tf.sparse.sparse_dense_matmul(f, tf.ones((2, 2)))
    assert parts(f * 2.0)[1] == [-2.0, -4.0, 8.0]
    assert parts(f / tf.fill((3, 3), 2.0))[1] == [-0.5, -1.0, 2.0]


def test_gradients_reach_the_values():
    v = tf.Variable([-1.0, -2.0, 4.0])
    dense = tf.reshape(tf.range(6.0), (3, 2))
    with tf.GradientTape() as tape:
        sparse = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], v, [3, 3])
        y = tf.reduce_sum(tf.sparse.sparse_dense_matmul(sparse, dense) ** 2)
        y += tf.reduce_sum(tf.sparse.reduce_sum(tf.sparse.add(sparse, sparse), axis=1) ** 2)
    assert tape.gradient(y, v).numpy().tolist() == [-46.0, -198.0, 136.0]


def test_indices_may_change_between_calls_of_a_function(f):
    @tf.function
    def g(sparse):
        return tf.sparse.to_dense(tf.sparse.add(sparse, sparse))

    for sparse in (f, f * 2.0, tf.SparseTensor([[2, 2]], [1.0], [3, 3])):
        np.testing.assert_array_equal(g(sparse), 2 * tf.sparse.to_dense(sparse))


def test_map_values_keeps_the_indices(f, ids):
    assert parts(tf.sparse.map_values(tf.negative, f))[1] == [1.0, 2.0, -4.0]
    with pytest.raises(ValueError, match="incompatible"):
        tf.sparse.map_values(lambda v: v[:1], f)
    with pytest.raises(ValueError, match="No SparseTensor"):
        tf.sparse.map_values(tf.negative, 1.0)


def test_reshape_expand_dims_transpose_and_reset_shape(f):
    assert parts(tf.sparse.reshape(f, [9]))[0] == [[0], [2], [4]]
    assert parts(tf.sparse.reshape(f, [-1, 1]))[2] == [9, 1]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.sparse.reshape(f, [2, 2])
    assert parts(tf.sparse.expand_dims(f, 0))[2] == [1, 3, 3]
    assert parts(tf.sparse.expand_dims(f))[2] == [3, 3, 1]
    assert parts(tf.sparse.transpose(f))[0] == [[0, 0], [1, 1], [2, 0]]
    assert parts(tf.sparse.reset_shape(f))[2] == [2, 3]
    assert parts(tf.sparse.reset_shape(f, [4, 4]))[2] == [4, 4]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.sparse.reset_shape(f, [2, 2])


def test_concat_slice_split_retain_and_fill(f):
    joined = tf.sparse.concat(1, [f, f])
    assert parts(joined)[0] == [[0, 0], [0, 2], [0, 3], [0, 5], [1, 1], [1, 4]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="must match"):
        tf.sparse.concat(0, [f, tf.SparseTensor([[0, 0]], [1.0], [1, 1])])
    assert parts(tf.sparse.slice(f, [0, 1], [2, 2])) == ([[0, 1], [1, 0]], [-2.0, 4.0], [2, 2])
    assert [parts(p)[2] for p in tf.sparse.split(f, 2, 1)] == [[3, 2], [3, 1]]
    assert parts(tf.sparse.retain(f, [True, False, True]))[1] == [-1.0, 4.0]
    filled, empty = tf.sparse.fill_empty_rows(f, 7.0)
    assert parts(filled)[1] == [-1.0, -2.0, 4.0, 7.0]
    assert empty.numpy().tolist() == [False, False, True]
    assert parts(tf.sparse.eye(2, 3)) == ([[0, 0], [1, 1]], [1.0, 1.0], [2, 3])


def test_softmax_ignores_missing_elements(f):
    np.testing.assert_allclose(tf.sparse.softmax(f).values, [0.7310586, 0.26894143, 1.0], rtol=1e-6)


def test_bincount_counts_all_or_each_row(ids):
    x = tf.constant([[1, 3, 3], [0, 1, 9]])
    assert parts(tf.sparse.bincount(x)) == ([[0], [1], [3], [9]], [1, 2, 2, 1], [10])
    by_row = tf.sparse.bincount(x, axis=-1, maxlength=4)
    assert parts(by_row) == ([[0, 1], [0, 3], [1, 0], [1, 1]], [1, 2, 1, 1], [2, 4])
    marks = tf.sparse.bincount(x, axis=-1, binary_output=True, minlength=12)
    assert parts(marks)[1:] == ([1, 1, 1, 1, 1], [2, 12])
    weights = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    weighted = tf.sparse.bincount(x, axis=-1, weights=weights)
    assert parts(weighted)[1] == [1.0, 5.0, 4.0, 5.0, 6.0]
    assert parts(tf.sparse.bincount(ids, axis=-1)) == ([[0, 1], [1, 4]], [2, 1], [3, 5])
    assert tf.sparse.to_indicator(ids, 5).numpy()[:, 1].tolist() == [True, False, False]


def test_general_functions_accept_sparse_tensors(f):
    assert tf.is_tensor(f)
    assert (tf.size(f).numpy(), tf.rank(f).numpy()) == (9, 2)
    assert tf.shape(f).numpy().tolist() == [3, 3]
    assert parts(tf.cast(f, tf.int32))[1] == [-1, -2, 4]
    assert parts(tf.identity(f)) == parts(f)
    rows = tf.map_fn(lambda row: tf.sparse.to_dense(row) * 2, f, fn_output_signature=tf.float32)
    np.testing.assert_array_equal(rows, 2 * tf.sparse.to_dense(f))


def test_set_shape_raises_for_an_incompatible_shape(f):
    f.set_shape((3, None))
    with pytest.raises(ValueError, match="not compatible"):
        f.set_shape((2, 3))
