"""Sizes that only the data determines: one trace serves all of them, as in TensorFlow."""

import numpy as np
import pytest

import gradtape as tf


def counted(function, **options):
    """The function, and a list of what `function` has seen while it was traced."""
    seen = []
    return tf.function(lambda *args: function(seen, *args), **options), seen


@pytest.mark.parametrize(
    "signature", [None, [tf.TensorSpec([None]), tf.TensorSpec([None], "bool")]]
)
def test_masks_of_different_counts_share_a_trace(signature):
    def select(seen, x, mask):
        rows = tf.boolean_mask(x, mask)
        seen.append(rows.shape.as_list())
        return tf.reduce_sum(rows), tf.shape(rows), tf.where(mask)

    function, seen = counted(select, input_signature=signature)
    x = tf.range(5.0)
    for mask in (
        [1, 0, 1, 0, 0],
        [1, 1, 1, 1, 0],
        [0, 1, 0, 0, 0],
        [1, 1, 1, 1, 1],
        [1, 1, 1, 1, 0],
    ):
        total, size, places = function(x, tf.cast(mask, tf.bool))
        assert total.numpy() == np.dot(np.arange(5), mask)
        assert size.numpy().tolist() == [sum(mask)]
        assert places.numpy().ravel().tolist() == np.flatnonzero(mask).tolist()
    assert seen == [[None]]
    assert function.experimental_get_tracing_count() == 1


def test_gradients_through_found_sizes():
    def differentiate(seen, x, mask):
        with tf.GradientTape() as tape:
            tape.watch(x)
            rows = tf.reshape(tf.boolean_mask(x, mask), [-1, 2, 2])
            seen.append(rows.shape.as_list())
            loss = tf.reduce_sum(tf.matmul(rows, rows))
        return loss, tape.gradient(loss, x)

    function, seen = counted(differentiate)
    x = tf.reshape(tf.range(16.0), [4, 4])
    for mask in ([1, 0, 0, 1], [1, 1, 1, 0], [1, 0, 1, 1], [1, 1, 1, 1], [1, 1, 1, 0]):
        wanted = differentiate([], x, tf.cast(mask, tf.bool))
        loss, gradient = function(x, tf.cast(mask, tf.bool))
        np.testing.assert_allclose(loss, wanted[0])
        np.testing.assert_allclose(gradient, wanted[1])
    assert seen == [[None, 2, 2]]


def test_gradients_of_a_function_whose_sizes_are_found():
    function, seen = counted(lambda seen, x: seen.append(0) or tf.boolean_mask(x, x > 0.0) ** 2)
    for values in ([1.0, -1.0, 2.0], [1.0, 3.0, 2.0], [-1.0, -1.0, 2.0], [1.0, 3.0, 2.0]):
        x = tf.constant(values)
        with tf.GradientTape() as tape:
            tape.watch(x)
            squares = function(x)
        assert tape.gradient(squares, x).numpy().tolist() == [2 * max(v, 0) for v in values]
    assert seen == [0]


def test_an_integer_that_serves_as_a_size_is_unknown():
    def build(seen, n):
        shape = tf.zeros([n, 2]).shape
        seen.append(shape.as_list())
        return tf.range(n), tf.fill([n, n], 7), tf.one_hot([0], n), tf.zeros([n, 2])

    function, seen = counted(build)
    for n in (3, 4, 2, 6, 4):
        numbers, sevens, hot, zeros = function(tf.constant(n))
        assert numbers.numpy().tolist() == list(range(n))
        assert sevens.numpy().tolist() == np.full((n, n), 7).tolist()
        assert (hot.shape, zeros.shape) == ((1, n), (n, 2))
    assert seen == [[None, 2]]


def test_a_violated_assumption_is_traced_again():
    def branch(seen, x):
        found = tf.boolean_mask(x, x > 0.0)
        seen.append(0)
        return tf.broadcast_to(found, [3])

    function, _ = counted(branch)
    assert function(tf.constant([1.0, 2.0, 3.0])).numpy().tolist() == [1, 2, 3]
    assert function(tf.constant([5.0, -2.0, -3.0])).numpy().tolist() == [5, 5, 5]
    assert function(tf.constant([1.0, 2.0, 4.0])).numpy().tolist() == [1, 2, 4]
    with pytest.raises(tf.errors.InvalidArgumentError):
        function(tf.constant([5.0, 2.0, -3.0]))


def test_side_effects_happen_once_when_a_size_is_new():
    calls = []

    def effect(x):
        calls.append(len(x))
        return x * 2.0

    def run(seen, x):
        rows = tf.boolean_mask(x, x > 0.0)
        doubled = tf.py_function(effect, [rows], tf.float32)
        doubled = tf.ensure_shape(doubled, [None])
        seen.append(doubled.shape.as_list())
        return tf.reduce_sum(tf.boolean_mask(doubled, doubled > 2.0))

    function, _ = counted(run)
    for values, wanted in (([1, -1, 2], 4), ([1, 3, 2], 10), ([-1, -1, 2], 4), ([1, 1, 1], 0)):
        assert function(tf.constant(values, tf.float32)).numpy() == wanted
    assert calls == [2, 3, 1, 3]


def test_a_variable_whose_shape_may_change():
    variable = tf.Variable(tf.zeros([0, 3]), shape=[None, 3])

    def append(seen, x):
        seen.append(variable.read_value().shape.as_list())
        variable.assign(tf.concat([variable, x], 0))
        return tf.shape(variable), tf.reduce_mean(variable), variable + 1.0

    function, seen = counted(append)
    for n in (1, 2, 3, 4):
        size, mean, more = function(tf.fill([1, 3], float(n)))
        assert size.numpy().tolist() == [n, 3]
        assert (mean.numpy(), more.shape) == ((n + 1) / 2, (n, 3))
    assert seen == [[None, 3]]
    variable.assign(tf.ones([7, 3]))
    assert function(tf.ones([1, 3]))[0].numpy().tolist() == [8, 3]


def test_concat_compares_no_sizes_along_its_axis():
    function, seen = counted(
        lambda seen, x, y: seen.append(0) or tf.concat([x, y], 0),
        input_signature=[tf.TensorSpec([None]), tf.TensorSpec([None])],
    )
    for m, n in ((2, 2), (2, 3), (1, 3)):
        assert function(tf.ones([m]), tf.ones([n])).shape == (m + n,)
    assert seen == [0]


def test_padding_by_computed_widths():
    def pad(seen, x):
        seen.append(x.shape.as_list())
        length = tf.shape(x)[0]
        return (
            tf.pad(x, [[0, 10 - length], [0, 0]]),
            tf.pad(x, [[1, 1], [0, length]], constant_values=2.0),
            tf.pad(x, [[length // 2, 0], [1, 1]], "REFLECT"),
        )

    function, seen = counted(pad, input_signature=[tf.TensorSpec([None, 3])])
    for n in (3, 5, 9):
        x = tf.random.stateless_normal([n, 3], [1, n])
        for one, other in zip(function(x), pad([], x), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6)
    assert seen == [[None, 3]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="non-negative"):
        function(tf.ones([11, 3]))
    dataset = tf.data.Dataset.range(3).map(lambda n: tf.pad([1, 2], [[0, n]]))
    assert dataset.element_spec == tf.TensorSpec([None], tf.int32)
    assert [x.numpy().tolist() for x in dataset] == [[1, 2], [1, 2, 0], [1, 2, 0, 0]]


def test_a_traced_function_does_not_allocate_its_constants():
    total = tf.function(lambda x: tf.reduce_sum(tf.ones([10**6, 10**6]) * x))
    concrete = total.get_concrete_function(tf.TensorSpec([]))
    assert concrete.structured_outputs == tf.TensorSpec([], tf.float32)


def test_ragged_rows_of_a_dense_tensor_of_unknown_sizes():
    function = tf.function(
        lambda x: tf.RaggedTensor.from_tensor(x), input_signature=[tf.TensorSpec([None, None])]
    )
    for shape in ((1, 2), (2, 1), (3, 4)):
        x = tf.random.stateless_normal(shape, [1, 2])
        assert function(x).to_list() == x.numpy().tolist()
    assert function.experimental_get_tracing_count() == 1
