"""The workloads in TensorFlow, eagerly; `in_gradtape.py` runs them on gradtape as they stand."""

import tensorflow as tf


def versions():
    return {"tensorflow": tf.__version__}


def use_threads(n):
    tf.config.threading.set_intra_op_parallelism_threads(n)
    tf.config.threading.set_inter_op_parallelism_threads(n)


def as_numpy(results):
    return [r.numpy() for r in results]


def wait(results):
    """Eager kernels on a CPU have run when they return."""


def run_chain(x, repeats):
    y = x
    for _ in range(repeats):
        y = tf.sin(y * x + x)
    return y


def chain_outside(x, repeats):
    x = tf.constant(x)
    return lambda: [run_chain(x, repeats)]


def chain_unwatched(x, repeats):
    x, other = tf.constant(x), tf.Variable(1.0)

    def step():
        with tf.GradientTape() as tape:
            tape.watch(other)
            return [run_chain(x, repeats)]

    return step


def chain(x, repeats):
    x = tf.constant(x)

    def step():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = run_chain(x, repeats)
        return [y, tape.gradient(y, x)]

    return step


def chain_held(x, repeats):
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


def mlp(x, y, weights, biases, rate):
    x, y = tf.constant(x), tf.constant(y)
    weights, biases = [tf.Variable(w) for w in weights], [tf.Variable(b) for b in biases]
    variables = weights + biases

    def step():
        with tf.GradientTape() as tape:
            loss = loss_of(x, y, weights, biases)
        for variable, g in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(rate * g)
        return [loss, *variables]

    return step


def mlp_held(x, y, weights, biases, rate):
    x, y = tf.constant(x), tf.constant(y)
    weights, biases = [tf.Variable(w) for w in weights], [tf.Variable(b) for b in biases]

    def hold():
        with tf.GradientTape() as tape:
            loss = loss_of(x, y, weights, biases)
        return tape, loss

    return hold


def elementwise(x):
    x = tf.constant(x)

    def step():
        with tf.GradientTape() as tape:
            tape.watch(x)
            value = tf.reduce_sum(tf.tanh(x) * x + x * x)
        return [value, tape.gradient(value, x)]

    return step


def jacobian(x, w):
    x, w = tf.constant(x), tf.Variable(w)

    def step():
        with tf.GradientTape() as tape:
            y = tf.tanh(tf.matmul(x, w))
        return [tape.jacobian(y, w)]

    return step


def batch_jacobian(x, w1, w2):
    x, w1, w2 = tf.constant(x), tf.constant(w1), tf.constant(w2)

    def step():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.matmul(tf.tanh(tf.matmul(x, w1)), w2)
        return [tape.batch_jacobian(y, x)]

    return step


def second_order(x, w1, w2):
    x, variables = tf.constant(x), [tf.Variable(w1), tf.Variable(w2)]

    def step():
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = tf.matmul(tf.tanh(tf.matmul(x, variables[0])), variables[1])
                loss = tf.reduce_mean(tf.square(y - 1.0))
            d1, d2 = inner.gradient(loss, variables)
            norm = tf.reduce_sum(tf.square(d1)) + tf.reduce_sum(tf.square(d2))
        return outer.gradient(norm, variables)

    return step


def cnn_loss(x, y, kernels, dense, biases):
    for w, b in zip(kernels, biases[:-1], strict=True):
        x = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w, 1, "SAME"), b))
        x = tf.nn.max_pool2d(x, 2, 2, "VALID")
    logits = tf.matmul(tf.reshape(x, (len(y), -1)), dense) + biases[-1]
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
    return tf.reduce_mean(losses)


def cnn(x, y, kernels, dense, biases, rate):
    x, y = tf.constant(x), tf.constant(y)
    kernels, biases = [tf.Variable(w) for w in kernels], [tf.Variable(b) for b in biases]
    dense = tf.Variable(dense)
    variables = [*kernels, dense, *biases]

    def step():
        with tf.GradientTape() as tape:
            loss = cnn_loss(x, y, kernels, dense, biases)
        for variable, g in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(rate * g)
        return [loss, *variables]

    return step


def convolution(x, w, g):
    x, w, g = tf.constant(x), tf.Variable(w), tf.constant(g)

    def step():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.conv2d(x, w, 1, "SAME")
        return [y, *tape.gradient(y, [x, w], output_gradients=g)]

    return step


def depthwise(x, w, g):
    x, w, g = tf.constant(x), tf.Variable(w), tf.constant(g)

    def step():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.depthwise_conv2d(x, w, (1, 1, 1, 1), "SAME")
        return [y, *tape.gradient(y, [x, w], output_gradients=g)]

    return step


def residual(x, kernels, scales, offsets, g):
    x, g = tf.constant(x), tf.constant(g)
    kernels, scales, offsets = ([tf.Variable(v) for v in vs] for vs in (kernels, scales, offsets))
    sources = [x, *kernels, *scales, *offsets]

    def normalised(x, i):
        mean, variance = tf.nn.moments(x, (0, 1, 2))
        return tf.nn.batch_normalization(x, mean, variance, offsets[i], scales[i], 1e-3)

    def step():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.relu(normalised(tf.nn.conv2d(x, kernels[0], 1, "SAME"), 0))
            y = normalised(tf.nn.conv2d(y, kernels[1], 1, "SAME"), 1)
            y = tf.nn.relu(y + x)
        return [y, *tape.gradient(y, sources, output_gradients=g)]

    return step


def embedding(table, ids, g, rate):
    table, ids, g = tf.Variable(table), tf.constant(ids), tf.constant(g)

    def step():
        with tf.GradientTape() as tape:
            value = tf.reduce_sum(tf.gather(table, ids) * g)
        slices = tape.gradient(value, table)
        table.scatter_sub(tf.IndexedSlices(rate * slices.values, slices.indices))
        return [value, table]

    return step


def batch_norm(x, scale, offset, g):
    axes = tuple(range(x.ndim - 1))

    def normalised(x, scale, offset):
        mean, variance = tf.nn.moments(x, axes)
        return tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3)

    return pulled_back(normalised, g, x, scale, offset)


def layer_norm(x, scale, offset, g):
    def normalised(x, scale, offset):
        mean, variance = tf.nn.moments(x, -1, keepdims=True)
        return tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3)

    return pulled_back(normalised, g, x, scale, offset)


def softmax(x, g):
    return pulled_back(tf.nn.softmax, g, x)


def gelu(x, g):
    return pulled_back(tf.nn.gelu, g, x)


def pulled_back(function, g, x, *parameters):
    """A step that computes `function` and its gradients by everything."""
    x, g = tf.constant(x), tf.constant(g)
    parameters = [tf.Variable(p) for p in parameters]

    def step():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x, *parameters)
        return [y, *tape.gradient(y, [x, *parameters], output_gradients=g)]

    return step
