"""TensorArray: reads, writes, sizes and its spec."""

import pytest

import gradtape as tf


def test_stacking_gathering_and_concatenating_do_not_clear():
    array = tf.TensorArray(tf.float32, 2).write(0, [1.0]).write(1, [2.0])
    for _ in range(2):
        assert array.stack().numpy().tolist() == [[1.0], [2.0]]
        assert array.gather([1, 1]).numpy().tolist() == [[2.0], [2.0]]
        assert array.concat().numpy().tolist() == [1.0, 2.0]
    array.read(0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="twice"):
        array.read(0)
    assert array.stack().numpy().tolist() == [[0.0], [2.0]]


def test_reading_an_unwritten_element_of_unknown_shape_raises():
    array = tf.TensorArray(tf.float32, 2)
    for read in (lambda: array.read(0), array.stack, array.concat):
        with pytest.raises(ValueError, match="not written"):
            read()


def test_invalid_arguments_raise():
    with pytest.raises(ValueError, match="Size must be declared"):
        tf.TensorArray(tf.float32)
    with pytest.raises(ValueError, match="handle"):
        tf.TensorArray(tf.float32, 1, handle=tf.constant(1.0))
    for size in (2.0, "a"):
        with pytest.raises(TypeError):
            tf.TensorArray(tf.float32, size)
    with pytest.raises(TypeError):
        tf.TensorArray(tf.float32, 3).write(1.5, 1.0)
    with pytest.raises(TypeError):
        len(tf.TensorArray(tf.float32, 3))


def test_an_empty_array_stacks_to_its_element_shape():
    assert tf.TensorArray(tf.float32, 0, element_shape=[2]).stack().shape == (0, 2)
    assert tf.TensorArray(tf.float32, 0, element_shape=[None, 2]).stack().shape == (0,)


def test_a_split_must_fill_the_array():
    value = tf.constant([1.0, 2.0, 3.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="size of lengths"):
        tf.TensorArray(tf.float32, 5).split(value, [1, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="vector"):
        tf.TensorArray(tf.float32, 2).split(value, 1)
    assert tf.TensorArray(tf.float32, 0, dynamic_size=True).split(value, [1, 2]).size() == 2


def test_scatter_ignores_the_surplus_of_the_longer_argument():
    assert tf.TensorArray(tf.float32, 3).scatter([0], [1.0, 2.0]).stack().numpy().tolist() == [
        1,
        0,
        0,
    ]
    assert tf.TensorArray(tf.float32, 3).scatter([2, 1, 0], [5.0]).stack().numpy().tolist() == [
        0,
        0,
        5,
    ]


def test_a_spec_describes_an_array():
    spec = tf.type_spec_from_value(tf.TensorArray(tf.float32, 2, element_shape=[2]))
    assert spec == tf.TensorArraySpec([2])
    assert repr(spec) == "TensorArraySpec(TensorShape([2]), tf.float32, False, True)"


def test_functions_keep_elements_that_were_read():
    @tf.function
    def read_twice():
        array = tf.TensorArray(tf.float32, 3).unstack([1.0, 2.0, 3.0])
        return array.read(1) + array.read(1), array.stack()

    twice, whole = read_twice()
    assert twice.numpy() == 4
    assert whole.numpy().tolist() == [1, 2, 3]


def test_a_recurrence_reads_each_element_twice():
    @tf.function
    def fibonacci(n):
        array = tf.TensorArray(tf.float32, 0, dynamic_size=True).unstack([0.0, 1.0])
        for i in range(2, n):
            array = array.write(i, array.read(i - 1) + array.read(i - 2))
        return array.stack()

    assert fibonacci(7).numpy().tolist() == [0, 1, 1, 2, 3, 5, 8]
