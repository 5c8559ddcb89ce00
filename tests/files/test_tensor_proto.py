"""TensorProto: lists of values, contents, shapes that are too large."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.errors import InvalidArgumentError
from gradtape.files import limit
from gradtape.files.tensor_proto import TensorProto


def parse(dtype, shape, **values):
    message = TensorProto(dtype=dtype.as_datatype_enum, **values)
    message.tensor_shape.SetInParent()
    for size in shape:
        message.tensor_shape.dim.add(size=size)
    return tf.io.parse_tensor(message.SerializeToString(), dtype).numpy()


def test_integers_of_a_list_wrap():
    assert parse(tf.int8, [2], int_val=[300, -1]).tolist() == [44, -1]
    assert parse(tf.uint8, [2], int_val=[-1]).tolist() == [255, 255]
    assert parse(tf.uint16, [1], int_val=[70000]).tolist() == [4464]
    assert parse(tf.float16, [2], half_val=[15360]).tolist() == [1, 1]
    assert np.isnan(parse(tf.float16, [1], half_val=[-1])).all()
    assert parse(tf.qint8, [2], int_val=[5]).view(np.int8).tolist() == [5, 5]


def test_strings_may_be_in_the_content():
    assert parse(tf.string, [2], tensor_content=b"\1\2abc").tolist() == [b"a", b"bc"]
    for content in (b"\5\1ab", b"\1", b"\xff\xff"):
        with pytest.raises(InvalidArgumentError, match="invalid strings"):
            parse(tf.string, [2], tensor_content=content)


def test_an_empty_tensor_needs_no_content():
    assert parse(tf.bool, [0, 3], tensor_content=b"\1\1").shape == (0, 3)
    assert parse(tf.string, [0]).tolist() == []


@pytest.mark.parametrize(
    ("shape", "values"),
    [
        ([-1], {}),
        ([1] * 70, {}),
        ([1 << 40, 1 << 40], {}),
        ([0, 1 << 62, 1 << 62], {}),
        ([1 << 33], {"float_val": [1.0]}),
        ([3], {"tensor_content": b"abc"}),
    ],
)
def test_a_shape_that_does_not_fit_is_an_error(shape, values):
    with pytest.raises(InvalidArgumentError):
        parse(tf.float32, shape, **values)


def test_a_bool_is_zero_or_one():
    with pytest.raises(InvalidArgumentError, match="0 or 1"):
        parse(tf.bool, [2], tensor_content=b"\1\2")


def test_one_value_fills_a_tensor_up_to_the_limit(monkeypatch):
    monkeypatch.setattr(limit, "ALWAYS_ALLOWED", 4000)
    monkeypatch.setattr(limit, "MAX_EXPANSION", 1)
    assert parse(tf.float32, [1000], float_val=[2.0]).sum() == 2000
    with pytest.raises(InvalidArgumentError, match="invalid shape"):
        parse(tf.float32, [1001], float_val=[2.0])
