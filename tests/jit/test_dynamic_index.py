"""Indices, sizes and ids as values of a graph: other values need no new trace."""

import numpy as np
import pytest

import gradtape as tf

X = tf.constant(np.arange(12.0).reshape(4, 3), tf.float32)


def i32(value):
    return tf.constant(value, tf.int32)


def traces(function):
    return function.experimental_get_tracing_count()


def test_an_index_is_a_value_of_the_graph():
    row = tf.function(lambda x, i: x[i])
    for i in (0, 1, 3, -1):
        np.testing.assert_array_equal(row(X, i32(i)), X[i])
    assert traces(row) == 1


@pytest.mark.parametrize(
    "take",
    [
        lambda x, i: x[..., i],
        lambda x, i: x[i, tf.newaxis, 1:],
        lambda x, i: x[:, i][None],
        lambda x, i: x[1:, i],
        lambda x, i: x[i, i],
    ],
)
def test_an_index_may_be_one_of_several(take):
    function = tf.function(take)
    for i in (0, 2, -2):
        np.testing.assert_array_equal(function(X, i32(i)), take(X, i))
    assert traces(function) == 1


def test_an_index_outside_is_an_error_in_every_call():
    row = tf.function(lambda x, i: x[i])
    row(X, i32(0))
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="slice index 4 of dimension 0"):
            row(X, i32(4))
        np.testing.assert_array_equal(row(X, i32(2)), X[2])


def test_a_window_is_traced_once_for_all_sizes():
    window = tf.function(lambda x, i: x[i : i + 2])
    for i in (0, 1, 2):
        np.testing.assert_array_equal(window(X, i32(i)), X[i : i + 2])
    assert traces(window) == 1
    assert window(X, i32(3)).shape == (1, 3)
    assert window(X, i32(9)).shape == (0, 3)
    assert traces(window) == 1


def test_the_step_of_a_slice_may_be_a_value():
    function = tf.function(lambda x, i: x[::i])
    for i in (1, 2, 3, 2):
        np.testing.assert_array_equal(function(X, i32(i)), X[::i])


def test_gradients_flow_to_what_was_indexed():
    @tf.function
    def gradient(x, i):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x[i] ** 2)
        return tape.gradient(y, x)

    for i in (0, -1):
        wanted = np.zeros((4, 3))
        wanted[i] = 2 * X[i].numpy()
        np.testing.assert_array_equal(gradient(X, i32(i)), wanted)
    assert traces(gradient) == 1


def test_a_loop_over_indices_is_one_node():
    @tf.function
    def total(x, n):
        def step(i, s):
            return i + 1, s + x[i]

        return tf.while_loop(lambda i, _: i < n, step, [i32(0), tf.zeros([3])])[1]

    for n in (1, 4, 2):
        np.testing.assert_array_equal(total(X, i32(n)), X.numpy()[:n].sum(axis=0))
    assert traces(total) == 1


def test_the_start_of_a_slice_may_be_a_value():
    function = tf.function(lambda x, i: tf.slice(x, i, [2, -1]))
    for i in ([0, 0], [1, 0], [2, 0]):
        np.testing.assert_array_equal(function(X, i32(i)), X.numpy()[i[0] : i[0] + 2])
    assert traces(function) == 1
    np.testing.assert_array_equal(function(X, i32([1, 2])), X.numpy()[1:3, 2:])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected size\[0\]"):
        function(X, i32([3, 0]))


def test_shapes_may_be_values():
    function = tf.function(lambda x, s: (tf.reshape(x, s), tf.zeros(s)))
    for shape in ([2, 6], [3, 4], [2, 6]):
        flat, zeros = function(X, i32(shape))
        assert flat.shape == zeros.shape == shape


def test_the_padding_value_may_change_from_call_to_call():
    function = tf.function(lambda x, v: tf.pad(x, [[0, 0], [1, 0]], constant_values=v))
    for value in (1.0, 2.0, 3.0):
        np.testing.assert_array_equal(function(X, tf.constant(value))[:, 0], np.full(4, value))
    assert traces(function) == 1


def test_a_tensor_for_a_static_parameter_adds_a_guard():
    # reading the tensor adds a guard; later calls must not use a value of the closed trace
    function = tf.function(lambda x, k: tf.math.top_k(x, k)[0])
    for k in (1, 2, 1, 2):
        assert function(X, i32(k)).shape == (4, k)


@pytest.mark.parametrize(
    ("function", "good", "bad"),
    [
        (lambda i: tf.math.segment_sum(X, i), [0, 0, 1, 1], [0, 1, 0, 1]),
        (lambda i: tf.math.unsorted_segment_sum(X, i, 3), [0, 2, 1, -1], [0, 1, 3, 1]),
        (lambda i: tf.sparse.segment_sum(X, i, [0, 0, 1]), [0, 3, 1], [0, 4, 1]),
        (tf.math.invert_permutation, [2, 0, 1], [2, 2, 1]),
        (lambda i: tf.math.bincount(i, minlength=4, maxlength=4), [1, 2, 3], [1, -2, 3]),
        (lambda i: tf.dynamic_partition(X, i, 2)[0] + 1, [0, 0, 1, 1], [0, 0, 2, 1]),
        (lambda i: tf.dynamic_stitch([i], [X]), [0, 2, 1, 3], [0, -1, 1, 3]),
        (lambda i: tf.math.confusion_matrix(i, [0, 1], 3), [0, 2], [0, 3]),
        (lambda i: tf.reverse_sequence(X, i, 1), [1, 2, 3, 0], [1, 2, 4, 0]),
        (lambda i: tf.unravel_index(i, [2, 3]), [0, 5], [0, 6]),
        (lambda i: tf.strings.substr(["ab", "c"], i, 1), [1, 0], [1, 2]),
        (lambda i: tf.repeat(X, i, axis=0), [1, 2, 1, 0], [1, -2, 1, 0]),
    ],
)
def test_bad_values_raise_when_the_compiled_graph_runs(function, good, bad):
    with pytest.raises(tf.errors.InvalidArgumentError):
        function(i32(bad))
    staged = tf.function(function)
    wanted = function(i32(good)).numpy().tolist()
    for _ in range(2):
        assert staged(i32(good)).numpy().tolist() == wanted
    with pytest.raises(tf.errors.InvalidArgumentError):
        staged(i32(bad))
    assert staged(i32(good)).numpy().tolist() == wanted
    assert traces(staged) == 1


def test_an_op_may_fail_on_stand_ins():
    # the stand-in is an array of zeros, which is no permutation
    function = tf.function(tf.math.invert_permutation)
    concrete = function.get_concrete_function(tf.TensorSpec([3], tf.int32))
    np.testing.assert_array_equal(concrete(i32([2, 0, 1])), [1, 2, 0])


def test_random_crops_and_flips_are_traced_once():
    images = tf.constant(np.arange(48.0).reshape(4, 4, 3), tf.float32)

    @tf.function
    def changed(x, seed):
        x = tf.image.stateless_random_crop(x, [2, 2, 3], seed)
        return tf.image.stateless_random_flip_left_right(x, seed)

    for k in range(8):
        seed = i32([k, 1])
        wanted = tf.image.stateless_random_crop(images, [2, 2, 3], seed)
        wanted = tf.image.stateless_random_flip_left_right(wanted, seed)
        np.testing.assert_array_equal(changed(images, seed), wanted)
    assert traces(changed) == 1


def test_a_tensor_of_a_closed_trace_is_refused():
    kept = []
    tf.function(lambda i: kept.append(i))(i32([0, 1]))
    with pytest.raises(TypeError, match="out of scope"):
        tf.math.segment_sum(X[:2], kept[0])


@pytest.mark.parametrize(
    "draw",
    [
        lambda x: tf.image.extract_glimpse(x + 1, [4, 4], [[0.99, 0.99]]),
        lambda x: tf.nn.fractional_max_pool(x, 1.4)[1],
        lambda x: tf.nn.fractional_avg_pool(x, [1, 1.4, 1.4, 1])[2],
        lambda x: tf.image.sample_distorted_bounding_box(
            [99, 99, 3], x[:, :1, :4, 0] * [0, 0, 1, 1]
        )[0],
        lambda x: tf.random.uniform_candidate_sampler(
            tf.cast(x[:, :1, 0, 0], tf.int64), 1, 4, True, 5000
        )[0],
    ],
)
def test_every_call_draws_new_random_numbers(draw):
    images = tf.ones([1, 24, 24, 1]) * tf.range(24.0)[:, None] / 24
    function = tf.function(draw)
    results = {function(images).numpy().tobytes() for _ in range(6)}
    assert len(results) > 2
