"""GradientTape: valid targets, sources and weights."""

import pytest

import gradtape as tf


def squared():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
    return tape, x, y


def test_a_handle_stands_for_its_variable():
    tape, x, y = squared()
    assert tape.gradient(y, x.handle).numpy().tolist() == [2.0, 4.0]
    assert tape.gradient(x.handle, x).numpy().tolist() == [1.0, 1.0]
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(x.handle)
        y = x * 3.0
    assert tape.gradient(y, x).numpy().tolist() == [3.0, 3.0]


@pytest.mark.parametrize("weights", [[1.0, 10.0], [1.0]], ids=["too many", "too few"])
def test_a_wrong_number_of_weights_warns_and_uses_ones(weights, caplog):
    tape, x, y = squared()
    targets = y if len(weights) == 2 else [y, 2.0 * y]
    gradient = tape.gradient(y if targets is y else [y, y], x, output_gradients=weights)
    assert gradient.numpy().tolist() == ([2.0, 4.0] if targets is y else [4.0, 8.0])
    assert "output_gradients" in caplog.text


def test_extra_leading_axes_of_length_one_in_a_weight_are_dropped():
    tape, x, y = squared()
    assert tape.gradient(y, x, output_gradients=tf.constant([[1.0, 10.0]])).numpy().tolist() == [
        2.0,
        40.0,
    ]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        tape.gradient(y, x, output_gradients=tf.ones((2, 2)))


def test_the_zero_gradient_of_a_string_tensor_is_empty_strings():
    tape, _, y = squared()
    zeros = tape.gradient(y, tf.constant(["a", "b"]), unconnected_gradients="zero")
    assert zeros.numpy().tolist() == [b"", b""]


def test_a_batch_jacobian_inside_the_context_does_not_warn(caplog):
    x = tf.Variable([[1.0], [2.0]])
    with tf.GradientTape(persistent=True) as tape:
        y = x * x
        assert tape.batch_jacobian(y, x).numpy().ravel().tolist() == [2.0, 4.0]
    assert caplog.text == ""


def test_an_integer_has_gradient_one_by_itself_and_none_through_ops():
    x, v = tf.constant(3), tf.Variable(3)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = x * 2, v * 2
        f = tf.cast(x, tf.float32)
    assert int(tape.gradient(x, x)) == int(tape.gradient(v, v)) == 1
    assert int(tape.gradient([x, x], x)) == 2
    assert int(tape.gradient(x, x, output_gradients=tf.constant(5))) == 5
    assert tape.gradient(y, x) is None
    assert tape.gradient(z, v) is None
    assert tape.gradient(f, x) is None
    assert int(tape.gradient(f, x, unconnected_gradients="zero")) == 0
    assert tape.watched_variables() == (v,)


def test_integer_results_of_a_custom_gradient_function_get_cotangents():
    @tf.custom_gradient
    def f(x):
        return (x * 1.0, tf.constant(3)), lambda g, h: g + tf.cast(h, tf.float32)

    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        y = f(x)
    assert float(tape.gradient(y, x)) == 2.0
    assert float(tape.gradient(y[1], x)) == 1.0


def test_the_values_of_a_watched_sparse_tensor_are_watched():
    sparse = tf.SparseTensor([[0, 0], [1, 2]], [1.0, 2.0], [3, 4])
    with tf.GradientTape() as tape:
        tape.watch(sparse)
        y = tf.reduce_sum(tf.sparse.to_dense(sparse) ** 2)
    assert tape.gradient(y, sparse.values).numpy().tolist() == [2.0, 4.0]
