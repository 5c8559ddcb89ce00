"""tf.fingerprint: TensorFlow's 64 bits for each row."""

import pytest

import gradtape as tf


def as_rows(data):
    return tf.fingerprint(data).numpy().tolist()


def test_rows_of_numbers_and_strings():
    strings = [[227, 117, 223, 182, 101, 66, 69, 179], [119, 129, 82, 223, 68, 160, 90, 83]]
    assert as_rows(["a", "bc"]) == as_rows([["a"], ["bc"]]) == strings
    assert as_rows([["a", "bc"]]) == [[85, 27, 103, 37, 147, 177, 144, 87]]
    assert as_rows([[1, 2], [3, 4]])[0] == [76, 18, 253, 133, 168, 204, 240, 10]
    assert tf.function(tf.fingerprint)(tf.zeros([0, 3])).shape == [0, 8]


def test_scalars_and_other_methods_are_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="dimension"):
        tf.fingerprint(1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="xx"):
        tf.fingerprint([1], method="xx")
