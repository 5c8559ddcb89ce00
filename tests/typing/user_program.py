"""A user's program with the types that checkers must find; mypy and pyright read it."""

from typing import Any, assert_type

import numpy as np

import gradtape as tf

w = tf.Variable([[1.0], [2.0]])
x = tf.constant([[1.0, 2.0]])


@tf.function
def predict(x: tf.Tensor, scale: float = 1.0) -> tf.Tensor:
    return (x @ w) * scale


assert_type(predict(x, scale=2.0), tf.Tensor)
with tf.GradientTape(persistent=True) as tape:
    loss = tf.reduce_sum(predict(x))
assert_type(tape.gradient(loss, w), tf.Tensor)
assert_type(tape.gradient(loss, [w]), list[tf.Tensor])
assert_type(tape.gradient(loss, {"w": w}), dict[str, tf.Tensor])
assert_type(tape.jacobian(loss, w), tf.Tensor)
assert_type(loss.numpy(), np.ndarray[Any, Any])
assert_type(w.numpy(), np.ndarray[Any, Any])
assert_type(w.assign_add(x), tf.Variable)
assert_type(x.shape, tf.TensorShape)

pairs = tf.data.Dataset.from_tensor_slices(([1.0], [2])).shuffle(3).batch(1)
for features, label in pairs:
    assert_type(features, tf.Tensor)
    assert_type(label, tf.Tensor)
for named in tf.data.Dataset.from_tensor_slices({"a": [1.0]}).prefetch(1):
    assert_type(named, dict[str, tf.Tensor])
for _number, element in tf.data.Dataset.range(3).enumerate():
    assert_type(element, tf.Tensor)
assert_type(next(iter(tf.data.Dataset.range(3))), tf.Tensor)
for mapped in pairs.map(lambda a, b: tf.reduce_sum(a)):
    assert_type(mapped, tf.Tensor)
