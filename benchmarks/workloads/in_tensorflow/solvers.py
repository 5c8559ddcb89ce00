"""Equations and optimizers in TensorFlow."""

import tensorflow as tf

from workloads import Work
from workloads.in_tensorflow.basics import descend


def network(x, weights, biases):
    for w, b in zip(weights[:-1], biases[:-1], strict=True):
        x = tf.tanh(tf.matmul(x, w) + b)
    return tf.matmul(x, weights[-1]) + biases[-1]


def pinn(x, f, ends, weights, biases, rate):
    x, f, ends = tf.constant(x), tf.constant(f), tf.constant(ends)
    weights, biases = [tf.Variable(w) for w in weights], [tf.Variable(b) for b in biases]
    variables = weights + biases

    def second_derivative(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                u = network(x, weights, biases)
            slope = inner.gradient(u, x)
        return outer.gradient(slope, x)

    def step(x, f, ends):
        with tf.GradientTape() as tape:
            inside = tf.reduce_mean(tf.square(second_derivative(x) - f))
            loss = inside + tf.reduce_mean(tf.square(network(ends, weights, biases)))
        descend(variables, tape.gradient(loss, variables), rate)
        return [loss]

    return Work(step, [x, f, ends], variables)


def newton(a, y, w, decay):
    a, y, w = tf.constant(a), tf.constant(y), tf.Variable(w)

    def step(a, y):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                losses = tf.nn.softplus(-y * tf.linalg.matvec(a, w))
                loss = tf.reduce_mean(losses) + decay / 2 * tf.reduce_sum(w * w)
            g = inner.gradient(loss, w)
        hessian = outer.jacobian(g, w)
        w.assign_sub(tf.linalg.solve(hessian, g[:, tf.newaxis])[:, 0])
        return [loss]

    return Work(step, [a, y], [w])


def rosenbrock_value(x, y):
    return (1.0 - x) ** 2 + 100.0 * (y - x**2) ** 2


def rosenbrock(x, y, rate):
    x, y = tf.Variable(x), tf.Variable(y)

    def step():
        with tf.GradientTape() as tape:
            value = rosenbrock_value(x, y)
        dx, dy = tape.gradient(value, [x, y])
        x.assign_sub(rate * dx)
        y.assign_sub(rate * dy)
        return [value]

    return Work(step, [], [x, y])


def rosenbrock_loop(x, y, rate, steps):
    x, y = tf.constant(x), tf.constant(y)

    def body(i, x, y):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            value = rosenbrock_value(x, y)
        dx, dy = tape.gradient(value, [x, y])
        return i + 1, x - rate * dx, y - rate * dy

    def step(x, y):
        start = (tf.constant(0), x, y)
        _, x, y = tf.while_loop(lambda i, x, y: i < steps, body, start)
        return [rosenbrock_value(x, y), x, y]

    return Work(step, [x, y])


def adam(x, y, weights, biases, rate, decays, epsilon):
    x, y = tf.constant(x), tf.constant(y)
    weights, biases = [tf.Variable(w) for w in weights], [tf.Variable(b) for b in biases]
    variables = weights + biases
    firsts, seconds = ([tf.Variable(tf.zeros_like(v)) for v in variables] for _ in range(2))
    count = tf.Variable(0.0)

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(network(x, weights, biases) - y))
        gradients = tape.gradient(loss, variables)
        count.assign_add(1.0)
        by_first, by_second = (1.0 - decay**count for decay in decays)
        for variable, m, v, g in zip(variables, firsts, seconds, gradients, strict=True):
            m.assign(decays[0] * m + (1 - decays[0]) * g)
            v.assign(decays[1] * v + (1 - decays[1]) * tf.square(g))
            size = tf.sqrt(v / by_second) + epsilon
            variable.assign_sub(rate * (m / by_first) / size)
        return [loss]

    return Work(step, [x, y], [*variables, *firsts, *seconds, count])
