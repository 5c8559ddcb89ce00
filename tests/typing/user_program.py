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


class Line(tf.Module):
    """A line through the origin."""

    def __init__(self) -> None:
        super().__init__()
        self.slope = tf.Variable(2.0, name="slope")

    @tf.function
    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return self.slope * x

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def loss(self, x: tf.Tensor) -> tf.Tensor:
        return tf.reduce_mean(self(x) ** 2)

    @tf.function(reduce_retracing=True)
    def parts(self, x: tf.Tensor) -> tuple[tf.Tensor, dict[str, tf.Tensor]]:
        return x, {"mean": tf.reduce_mean(x)}

    def step(self, x: tf.Tensor) -> float:
        with tf.GradientTape() as tape:
            loss = self.loss(x)
        gradients = tape.gradient(loss, self.trainable_variables)
        assert_type(self.trainable_variables, tuple[tf.Variable, ...])
        assert_type(gradients, tuple[tf.Tensor, ...])
        for variable, gradient in zip(self.trainable_variables, gradients, strict=True):
            variable.assign_sub(0.1 * gradient)
        return float(loss)


line = Line()
assert_type(line(x), tf.Tensor)
assert_type(line.loss(x), tf.Tensor)
assert_type(line.parts(x), tuple[tf.Tensor, dict[str, tf.Tensor]])
assert_type(line.step(x), float)

# Gradients of structures; operators and methods of variables and tensors
assert_type(tape.gradient(loss, (w, x)), tuple[tf.Tensor, ...])
assert_type(tape.jacobian(loss, [w]), list[tf.Tensor])
assert_type(tape.batch_jacobian(loss, x), tf.Tensor)
assert_type(w + 1.0, tf.Tensor)
assert_type(1.0 - w, tf.Tensor)
assert_type(w @ x, tf.Tensor)
row: tf.Tensor = w[0]
assert_type(w[0].assign([3.0]), tf.Variable)
assert_type(w.read_value(), tf.Tensor)
assert_type(w.trainable, bool)
assert_type(x.dtype, tf.DType)
assert_type(list(x), list[tf.Tensor])
assert_type(float(x[0, 0]), float)

# Functions with several results
assert_type(tf.split(x, 2, axis=1), list[tf.Tensor])
assert_type(tf.unstack(x), list[tf.Tensor])
assert_type(tf.math.top_k(x).values, tf.Tensor)
assert_type(tf.nn.moments(x, 0), tuple[tf.Tensor, tf.Tensor])
assert_type(tf.unique([1]).y, tf.Tensor)

# Datasets
numbers = tf.data.Dataset.range(3)
assert_type(numbers.flat_map(lambda n: tf.data.Dataset.range(2)), tf.data.Dataset[tf.Tensor])
assert_type(numbers.interleave(lambda n: tf.data.Dataset.range(2)), tf.data.Dataset[tf.Tensor])
assert_type(numbers.filter(lambda n: n > 1).repeat(2).cache(), tf.data.Dataset[tf.Tensor])


def add(total: tf.Tensor, n: tf.Tensor) -> tf.Tensor:
    return total + n


assert_type(numbers.reduce(np.int64(0), add), tf.Tensor)
generated = tf.data.Dataset.from_generator(
    lambda: iter([1, 2]), output_signature=tf.TensorSpec([], tf.int32)
)
assert_type(generated, tf.data.Dataset[tf.Tensor])


# Control flow, custom gradients and transforms
@tf.custom_gradient
def clipped(x: tf.Tensor) -> tuple[tf.Tensor, Any]:
    return x, lambda g: tf.clip_by_value(g, -1.0, 1.0)


def square(x: tf.Tensor) -> tf.Tensor:
    return tf.reduce_sum(x**2)


assert_type(clipped(x), tf.Tensor)
assert_type(tf.recompute_grad(square)(x), tf.Tensor)
assert_type(tf.cond(x[0, 0] > 0, lambda: x, lambda: -x), tf.Tensor)
assert_type(tf.map_fn(square, x), tf.Tensor)
assert_type(tf.vectorized_map(square, x), tf.Tensor)
assert_type(tf.func.grad(square)(x), tf.Tensor)
assert_type(tf.func.value_and_grad(square)(x), tuple[tf.Tensor, tf.Tensor])
assert_type(tf.func.vmap(square)(x), tf.Tensor)
with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
    y = square(x)
assert_type(accumulator.jvp(y), tf.Tensor)

# Tools
assert_type(tf.debug.source(tf.tanh), str)
assert_type(tf.debug.explain_function(tf.function(square)).traces[0].difference, str)
