"""tf.make_tensor_proto and tf.make_ndarray; the messages are TensorFlow's."""

import numpy as np
import pytest

import gradtape as tf

pytest.importorskip("google.protobuf")


@pytest.mark.parametrize(
    ("values", "options", "dtype", "expected"),
    [
        (1.5, {}, "float32", 1.5),
        ([1, 2], {}, "int32", [1, 2]),
        ([1.0, 2.0], {"dtype": tf.float64}, "float64", [1.0, 2.0]),
        (["a", b"b"], {}, "object", [b"a", b"b"]),
        (True, {}, "bool", True),
        (1 + 2j, {}, "complex128", 1 + 2j),
        (5, {"shape": [2, 2]}, "int32", [[5, 5], [5, 5]]),
        ([1, 2], {"shape": [2, 2]}, "int32", [[1, 2], [2, 2]]),
        ([1, 2, 3], {"shape": [3, 1]}, "int32", [[1], [2], [3]]),
        (5, {"shape": [3], "allow_broadcast": True}, "int32", [5, 5, 5]),
        (3, {"dtype": tf.bfloat16}, "bfloat16", 3.0),
        (np.float16(1), {"shape": [2]}, "float16", [1.0, 1.0]),
        (np.zeros((0, 2)), {}, "float64", []),
        (tf.constant([1, 2], tf.uint8), {}, "uint8", [1, 2]),
    ],
)
def test_an_array_comes_back(values, options, dtype, expected):
    array = tf.make_ndarray(tf.make_tensor_proto(values, **options))
    assert (array.dtype.name, array.tolist()) == (dtype, expected)


@pytest.mark.parametrize(
    ("values", "options", "error"),
    [
        ([1, 2, 3], {"shape": [2]}, ValueError),
        (None, {}, ValueError),
        ([1.5], {"dtype": tf.int32}, TypeError),
        (5, {"shape": [2], "verify_shape": True}, TypeError),
        ([1, 2, 3], {"shape": [2], "allow_broadcast": True}, TypeError),
    ],
)
def test_values_that_do_not_fit_are_refused(values, options, error):
    with pytest.raises(error):
        tf.make_tensor_proto(values, **options)


def test_a_scalar_is_stored_as_a_value():
    message = tf.make_tensor_proto(1.5)
    assert list(message.float_val) == [1.5]
    assert message.tensor_content == b""
