"""Specs of elements are inferred without running the user's functions on invented data."""

import numpy as np
import pytest

import gradtape as tf

Dataset = tf.data.Dataset


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "numbers.bin"
    file.write_bytes(np.arange(6, dtype=np.float32).tobytes())
    return str(file)


def read_numbers(path):
    return np.fromfile(path.decode(), np.float32)


def serialized():
    return Dataset.from_tensors(tf.io.serialize_tensor(tf.ones([2, 3])))


def decode(path):
    return tf.io.decode_raw(tf.io.read_file(path), tf.float32)


# What TensorFlow 2.21 says of the same datasets
def test_bytes_of_a_file(path):
    files = Dataset.from_tensors(path)
    assert files.map(decode).element_spec == tf.TensorSpec([None])
    shaped = files.map(lambda name: tf.reshape(decode(name), [2, 3]))
    assert shaped.element_spec == tf.TensorSpec([2, 3])
    assert [element.shape for element in shaped] == [(2, 3)]


def test_a_python_function_that_opens_a_file(path):
    calls = []

    def load(name):
        calls.append(1)
        return read_numbers(name.numpy())

    dataset = Dataset.from_tensors(path).map(lambda name: tf.py_function(load, [name], tf.float32))
    assert dataset.element_spec == tf.TensorSpec(None)
    assert not calls
    assert [element.shape for element in dataset] == [(6,)]
    assert len(calls) == 1


def test_a_numpy_function_that_opens_a_file(path):
    dataset = Dataset.from_tensors(path).map(
        lambda name: tf.numpy_function(read_numbers, [name], tf.float32)
    )
    assert dataset.element_spec == tf.TensorSpec(None)
    assert [element.shape for element in dataset] == [(6,)]


def test_a_parsed_tensor_has_an_unknown_rank():
    dataset = serialized().map(lambda text: tf.io.parse_tensor(text, tf.float32))
    assert dataset.element_spec == tf.TensorSpec(None)
    doubled = serialized().map(lambda text: tf.io.parse_tensor(text, tf.float32) * 2.0)
    assert doubled.element_spec == tf.TensorSpec(None)
    stated = serialized().map(
        lambda text: tf.ensure_shape(tf.io.parse_tensor(text, tf.float32), [2, 3])
    )
    assert stated.element_spec == tf.TensorSpec([2, 3])
    assert [element.numpy().sum() for element in stated] == [6.0]


def test_a_random_crop():
    images = Dataset.from_tensors(tf.zeros([8, 8, 3]))
    cropped = images.map(lambda image: tf.image.random_crop(image, [4, 4, 3]))
    assert cropped.element_spec == tf.TensorSpec([4, 4, 3])


def test_branches_that_inference_tries_do_not_run_later():
    variable = tf.Variable(0.0)

    @tf.function
    def note_large(x):
        if tf.reduce_min(x) > 1:
            variable.assign(5.0)
        return x

    def total(rows):
        dataset = tf.data.Dataset.from_tensor_slices(rows).map(lambda row: 1 * note_large(row))
        return dataset.reduce(tf.constant(0.0), lambda a, row: a + tf.reduce_sum(row))

    rows = tf.constant([[0.5, 1.0], [0.25, 3.0]])
    assert float(tf.function(total)(rows)) == 4.75
    assert float(variable) == 0.0
    assert float(tf.function(total)(rows + 1)) == 8.75
    assert float(variable) == 5.0
