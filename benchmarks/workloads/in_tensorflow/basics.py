"""Chains of ops, dense nets and derivatives in TensorFlow."""

import tensorflow as tf

from workloads import Work


def run_chain(x, repeats):
    y = x
    for _ in range(repeats):
        y = tf.sin(y * x + x)
    return y


def chain_outside(x, repeats):
    x = tf.constant(x)
    return Work(lambda x: [run_chain(x, repeats)], [x])


def chain_unwatched(x, repeats):
    x, other = tf.constant(x), tf.Variable(1.0)

    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(other)
            return [run_chain(x, repeats)]

    return Work(step, [x])


def chain(x, repeats):
    x = tf.constant(x)

    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = run_chain(x, repeats)
        return [y, tape.gradient(y, x)]

    return Work(step, [x])


def chain_memory(x, repeats):
    x = tf.constant(x)

    def hold():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = run_chain(x, repeats)
        return tape, y

    return hold


def loss_of(x, y, weights, biases):
    for w, b in zip(weights[:-1], biases[:-1], strict=True):
        x = tf.nn.relu(tf.matmul(x, w) + b)
    logits = tf.matmul(x, weights[-1]) + biases[-1]
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
    return tf.reduce_mean(losses)


def descend(variables, gradients, rate):
    for variable, g in zip(variables, gradients, strict=True):
        variable.assign_sub(rate * g)


def mlp(x, y, weights, biases, rate):
    x, y = tf.constant(x), tf.constant(y)
    weights, biases = [tf.Variable(w) for w in weights], [tf.Variable(b) for b in biases]
    variables = weights + biases

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(x, y, weights, biases)
        descend(variables, tape.gradient(loss, variables), rate)
        return [loss]

    return Work(step, [x, y], variables)


def mlp_memory(x, y, weights, biases, rate):
    x, y = tf.constant(x), tf.constant(y)
    weights, biases = [tf.Variable(w) for w in weights], [tf.Variable(b) for b in biases]

    def hold():
        with tf.GradientTape() as tape:
            loss = loss_of(x, y, weights, biases)
        return tape, loss

    return hold


def elementwise(x):
    x = tf.constant(x)

    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            value = tf.reduce_sum(tf.tanh(x) * x + x * x)
        return [value, tape.gradient(value, x)]

    return Work(step, [x])


def jacobian(x, w):
    x, w = tf.constant(x), tf.Variable(w)

    def step(x):
        with tf.GradientTape() as tape:
            y = tf.tanh(tf.matmul(x, w))
        return [tape.jacobian(y, w)]

    return Work(step, [x])


def batch_jacobian(x, w1, w2):
    x, w1, w2 = tf.constant(x), tf.constant(w1), tf.constant(w2)

    def step(x, w1, w2):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.matmul(tf.tanh(tf.matmul(x, w1)), w2)
        return [tape.batch_jacobian(y, x)]

    return Work(step, [x, w1, w2])


def second_order(x, w1, w2):
    x, variables = tf.constant(x), [tf.Variable(w1), tf.Variable(w2)]

    def step(x):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = tf.matmul(tf.tanh(tf.matmul(x, variables[0])), variables[1])
                loss = tf.reduce_mean(tf.square(y - 1.0))
            d1, d2 = inner.gradient(loss, variables)
            norm = tf.reduce_sum(tf.square(d1)) + tf.reduce_sum(tf.square(d2))
        return outer.gradient(norm, variables)

    return Work(step, [x])
