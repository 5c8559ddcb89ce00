"""Array functions: creation, shapes, concatenation, indexing and scatter."""

import numpy as np
import pytest

import gradtape as tf

X = tf.constant([[1.0, 2.0], [3.0, 4.0]])


def gradient(function, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tf.convert_to_tensor(tape.gradient(y, x)).numpy()


def test_scalars_are_numpy_scalars_inside():
    for t in (tf.constant(1.0), tf.zeros(()), X[0, 0], tf.reshape([1.0], []), tf.size(X)):
        assert isinstance(t._array, np.generic)


@pytest.mark.parametrize(
    ("call", "want"),
    [
        (lambda: tf.range(3, 0, -1), [3, 2, 1]),
        (lambda: tf.range(2.5), [0, 1, 2]),
        (lambda: tf.linspace(0.0, 1.0, 3), [0, 0.5, 1]),
        (lambda: tf.linspace(0.0, 1.0, 1), [0]),
        (lambda: tf.constant(7, shape=(2,)), [7, 7]),
        (lambda: tf.tile([1, 2], [2]), [1, 2, 1, 2]),
        (lambda: tf.repeat([1, 2], [2, 1]), [1, 1, 2]),
        (lambda: tf.roll([1, 2, 3], 1, 0), [3, 1, 2]),
        (lambda: tf.pad([1, 2], [[1, 1]], constant_values=9), [9, 1, 2, 9]),
        (lambda: tf.pad([1, 2, 3], [[2, 0]], "symmetric"), [2, 1, 1, 2, 3]),
        (lambda: tf.sort([2, 3, 1], direction="DESCENDING"), [3, 2, 1]),
        (lambda: tf.unique([3, 1, 3]).idx, [0, 1, 0]),
        (lambda: tf.searchsorted([1, 2, 3], [2], side="right"), [2]),
        (lambda: tf.gather([[1, 2], [3, 4]], [[1], [0]], batch_dims=1), [[2], [3]]),
        (lambda: tf.boolean_mask([[1, 2], [3, 4]], [True, False], axis=1), [[1], [3]]),
        (lambda: tf.where([0, 2, 3]), [[1], [2]]),
        (lambda: tf.scatter_nd([[1], [1]], [2, 3], [3]), [0, 5, 0]),
        (lambda: tf.tensor_scatter_nd_max([1, 2, 3], [[0], [2]], [5, 1]), [5, 2, 3]),
        (lambda: tf.reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3], 1, 0), [[2, 1, 3], [6, 5, 4]]),
        (lambda: tf.unravel_index([3, 5], [2, 3]), [[1, 1], [0, 2]]),
        (lambda: tf.bitcast(1.0, tf.int32), 1065353216),
    ],
)
def test_values(call, want):
    np.testing.assert_array_equal(call(), want)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: tf.zeros((-1,)), tf.errors.InvalidArgumentError),
        (lambda: tf.range(0, 3, 0), tf.errors.InvalidArgumentError),
        (lambda: tf.reshape(X, (-1, 3)), tf.errors.InvalidArgumentError),
        (lambda: tf.reshape(X, (-1, -1)), tf.errors.InvalidArgumentError),
        (lambda: tf.transpose(X, [0, 0]), tf.errors.InvalidArgumentError),
        (lambda: tf.expand_dims(X, 4), tf.errors.InvalidArgumentError),
        (lambda: tf.squeeze(X, 0), tf.errors.InvalidArgumentError),
        (lambda: tf.concat([X, X[0]], 0), tf.errors.InvalidArgumentError),
        (lambda: tf.concat([X, tf.zeros((2, 2), tf.float64)], 0), tf.errors.InvalidArgumentError),
        (lambda: tf.stack([X, X[0]]), tf.errors.InvalidArgumentError),
        (lambda: tf.unstack(X, axis=2), ValueError),
        (lambda: tf.split(X, 3), tf.errors.InvalidArgumentError),
        (lambda: tf.pad(X, [[2, 0], [0, 0]], "REFLECT"), tf.errors.InvalidArgumentError),
        (lambda: tf.pad(X, [[1, 0]], "WRAP"), ValueError),
        (lambda: tf.gather(X, [0.5]), tf.errors.InvalidArgumentError),
        (lambda: tf.gather_nd(X, [[0, 0, 0]]), tf.errors.InvalidArgumentError),
        (lambda: tf.boolean_mask(X, True), ValueError),
        (lambda: tf.where([True], X), ValueError),
        (lambda: tf.constant([1, 2], shape=(3,)), TypeError),
        (lambda: tf.constant(X, tf.float64), TypeError),
        (lambda: tf.sort(X, direction="UP"), ValueError),
    ],
)
def test_invalid_arguments_raise_as_in_tensorflow(call, error):
    with pytest.raises(error):
        call()


def test_tracebacks_end_at_the_callers_line():
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        X[5]
    assert caught.traceback[-1].path.name == "test_shape.py"


def test_gradients_of_repeated_elements_are_summed():
    np.testing.assert_array_equal(gradient(lambda x: tf.repeat(x, [1, 3]), tf.ones(2)), [1, 3])
    mirror = gradient(lambda x: tf.pad(x, [[2, 1]], "REFLECT"), tf.ones(3))
    np.testing.assert_array_equal(mirror, [1, 3, 2])


def test_unused_pieces_of_a_split_have_zero_gradient():
    np.testing.assert_array_equal(gradient(lambda x: tf.split(x, 2)[1], tf.ones(4)), [0, 0, 1, 1])
    np.testing.assert_array_equal(gradient(lambda x: tf.unstack(x)[0], tf.ones(3)), [1, 0, 0])


def test_gather_has_a_sparse_gradient_and_a_mask_a_dense_one():
    table = tf.Variable([[1.0], [2.0], [3.0]])
    with tf.GradientTape(persistent=True) as tape:
        looked_up = tf.gather(table, [0, 2])
        masked = table[tf.constant([True, False, True])]
    assert isinstance(tape.gradient(looked_up, table), tf.IndexedSlices)
    assert tape.gradient(masked, table).numpy().ravel().tolist() == [1, 0, 1]


def test_lists_of_tensors_and_numbers_become_one_tensor_with_a_gradient():
    x = tf.constant(2.0)
    got = gradient(lambda x: tf.reduce_sum(tf.convert_to_tensor([x, 1.0, x * x])), x)
    assert got == 5


OUTSIDE = [[0], [5], [-1]]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda x, **how: tf.gather_nd(x, OUTSIDE, **how), [1, 0, 0]),
        (lambda x, **how: tf.scatter_nd(OUTSIDE, x, [3], **how), [1, 0, 0]),
        (lambda x, **how: tf.tensor_scatter_nd_add([7.0, 8.0], OUTSIDE, x, **how), [8, 8]),
        (lambda x, **how: tf.tensor_scatter_nd_sub([7.0, 8.0], OUTSIDE, x, **how), [6, 8]),
        (lambda x, **how: tf.tensor_scatter_nd_max([0.0, 8.0], OUTSIDE, x, **how), [1, 8]),
        (lambda x, **how: tf.tensor_scatter_nd_min([7.0, 8.0], OUTSIDE, x, **how), [1, 8]),
    ],
)
def test_indices_that_point_outside_can_be_ignored(call, expected):
    x = tf.constant([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(call(x, bad_indices_policy="IGNORE"), expected)
    assert np.abs(gradient(lambda x: call(x, bad_indices_policy="IGNORE"), x)).tolist() == [1, 0, 0]
    for policy in ("", "ERROR", "no such policy"):
        with pytest.raises(tf.errors.InvalidArgumentError):
            call(x, bad_indices_policy=policy)


def test_a_function_rolls_by_a_computed_shift():
    @tf.function
    def rolled(x, shift):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.roll(x, shift * 1, [0, -1])
            loss = tf.reduce_sum(y * tf.reshape(tf.range(12.0), [3, 4]))
        return y, tape.gradient(loss, x), tf.roll(x, shift[0], 1)

    x = tf.reshape(tf.range(12.0), [3, 4])
    for shift in ([1, -2], [5, 9], [0, 0]):
        y, gradient, single = rolled(x, tf.constant(shift))
        assert y.numpy().tolist() == tf.roll(x, shift, [0, -1]).numpy().tolist()
        back = tf.roll(x, [-by for by in shift], [0, -1])
        assert gradient.numpy().tolist() == back.numpy().tolist()
        assert single.numpy().tolist() == tf.roll(x, shift[0], 1).numpy().tolist()
