"""Gradients by constants of a function, tangents of unused arguments, literals of signatures."""

from checking import Raises, check, end

import gradtape as tf

two = tf.constant(2.0)
variable = tf.Variable(3.0)


@tf.function
def by_constant():
    x = tf.constant(10.0)
    return tf.gradients(two * (x * two), x)[0]


@tf.function
def by_variable():
    x = tf.constant(3.0)
    return tf.gradients(x * variable, [x, variable])


@tf.function
def twice():
    x = tf.constant([1.0, 2.0])
    return tf.gradients(tf.gradients(tf.reduce_sum(x**3), x)[0], x)[0]


@tf.function
def through_loop():
    x = tf.constant(2.0)
    y = tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, a * x), [0, x])[1]
    return tf.gradients(y, x)[0]


@tf.function
def through_cond():
    x = tf.constant(2.0)
    return tf.gradients(tf.cond(x > 0, lambda: x * x, lambda: x), x)[0]


@tf.function(autograph=False)
def inside_loop(x, factor):
    def step(i, value):
        return i + 1, value - tf.gradients(factor * value**2, value)[0]

    return tf.while_loop(lambda i, _: i < 3, step, [0, x])[1]


@tf.function
def inside_cond(x):
    return tf.cond(x > 0, lambda: tf.gradients(x**3, x)[0], lambda: x)


for _ in range(3):
    check("gradient in a loop", 0.125, lambda: float(inside_loop(tf.constant(1.0), 0.25)))
    check("gradient in a branch", 12, lambda: float(inside_cond(two)))
    check("constant", 4, lambda: float(by_constant()))
    check("variable", [3, 3], lambda: [float(g) for g in by_variable()])
    check("second derivative", [6, 12], lambda: twice().numpy().tolist())
    check("loop", 32, lambda: float(through_loop()))
    check("cond", 4, lambda: float(through_cond()))


def tangents_of(function):
    with tf.autodiff.ForwardAccumulator(two, tf.constant(11.0)) as accumulator:
        results = function(two)
    return [None if (t := accumulator.jvp(r)) is None else float(t) for r in results]


check(
    "unused argument",
    [22, None, None],
    lambda: tangents_of(tf.function(lambda x: (x * 2, tf.constant(1.0), tf.stop_gradient(x)))),
)

concrete = tf.function(lambda x, n: x * n).get_concrete_function(tf.TensorSpec([]), 3)
nested = tf.function(lambda d: d["a"] * d["b"]).get_concrete_function(
    {"a": tf.TensorSpec([]), "b": 5}
)
check("same literal", 6, lambda: float(concrete(two, 3)))
check("no literal", 6, lambda: float(concrete(two)))
check("another literal", Raises(TypeError), lambda: concrete(two, 4))
check("same nested literal", 10, lambda: float(nested({"a": two, "b": 5})))
check("another nested literal", Raises(TypeError), lambda: nested({"a": two, "b": 6}))
end()
