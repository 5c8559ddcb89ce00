"""Layers and networks in TensorFlow."""

import tensorflow as tf

from workloads import Work
from workloads.in_tensorflow.basics import descend


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

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = cnn_loss(x, y, kernels, dense, biases)
        descend(variables, tape.gradient(loss, variables), rate)
        return [loss]

    return Work(step, [x, y], variables)


def convolution(x, w, g):
    x, w, g = tf.constant(x), tf.Variable(w), tf.constant(g)

    def step(x, g):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.conv2d(x, w, 1, "SAME")
        return [y, *tape.gradient(y, [x, w], output_gradients=g)]

    return Work(step, [x, g])


def depthwise(x, w, g):
    x, w, g = tf.constant(x), tf.Variable(w), tf.constant(g)

    def step(x, g):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.depthwise_conv2d(x, w, (1, 1, 1, 1), "SAME")
        return [y, *tape.gradient(y, [x, w], output_gradients=g)]

    return Work(step, [x, g])


def residual(x, kernels, scales, offsets, g):
    x, g = tf.constant(x), tf.constant(g)
    kernels, scales, offsets = ([tf.Variable(v) for v in vs] for vs in (kernels, scales, offsets))
    variables = [*kernels, *scales, *offsets]

    def normalise(x, i):
        mean, variance = tf.nn.moments(x, (0, 1, 2))
        return tf.nn.batch_normalization(x, mean, variance, offsets[i], scales[i], 1e-3)

    def step(x, g):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.relu(normalise(tf.nn.conv2d(x, kernels[0], 1, "SAME"), 0))
            y = normalise(tf.nn.conv2d(y, kernels[1], 1, "SAME"), 1)
            y = tf.nn.relu(y + x)
        return [y, *tape.gradient(y, [x, *variables], output_gradients=g)]

    return Work(step, [x, g])


def embedding(table, ids, g, rate):
    table, ids, g = tf.Variable(table), tf.constant(ids), tf.constant(g)

    def step(ids, g):
        with tf.GradientTape() as tape:
            value = tf.reduce_sum(tf.gather(table, ids) * g)
        slices = tape.gradient(value, table)
        table.scatter_sub(tf.IndexedSlices(rate * slices.values, slices.indices))
        return [value]

    return Work(step, [ids, g], [table])


def batch_norm(x, scale, offset, g):
    axes = tuple(range(x.ndim - 1))

    def normalise(x, scale, offset):
        mean, variance = tf.nn.moments(x, axes)
        return tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3)

    return make_pullback_step(normalise, g, x, scale, offset)


def layer_norm(x, scale, offset, g):
    def normalise(x, scale, offset):
        mean, variance = tf.nn.moments(x, -1, keepdims=True)
        return tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3)

    return make_pullback_step(normalise, g, x, scale, offset)


def softmax(x, g):
    return make_pullback_step(tf.nn.softmax, g, x)


def gelu(x, g):
    return make_pullback_step(tf.nn.gelu, g, x)


def make_pullback_step(function, g, x, *parameters):
    """Make a step that computes `function` and the gradients of all its inputs."""
    x, g = tf.constant(x), tf.constant(g)
    parameters = [tf.Variable(p) for p in parameters]

    def step(x, g):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x, *parameters)
        return [y, *tape.gradient(y, [x, *parameters], output_gradients=g)]

    return Work(step, [x, g])


def swap_gates(weights):
    """Reorder gate weights from i, f, c, o to BlockLSTM's i, c, f, o, or back."""
    i, f, c, o = tf.split(weights, 4, axis=-1)
    return tf.concat([i, c, f, o], axis=-1)


def lstm(x, c, h, w, b, g):
    # BlockLSTM, because the gradient of BlockLSTMV2 swaps two gates in TensorFlow 2.21.
    steps = tf.constant(len(x), tf.int64)
    x, c, h, g = tf.constant(x), tf.constant(c), tf.constant(h), tf.constant(g)
    w, b = tf.Variable(swap_gates(w)), tf.Variable(swap_gates(b))
    none = tf.zeros(h.shape[-1])
    peepholes = {"wci": none, "wcf": none, "wco": none}
    plain = {"forget_bias": 0.0, "cell_clip": -1.0}

    def step(x, g):
        with tf.GradientTape() as tape:
            tape.watch(x)
            states = {"cs_prev": c, "h_prev": h, **peepholes}
            y = tf.raw_ops.BlockLSTM(seq_len_max=steps, x=x, w=w, b=b, **states, **plain).h
        dx, dw, db = tape.gradient(y, [x, w, b], output_gradients=g)
        return [y, dx, swap_gates(dw), swap_gates(db)]

    return Work(step, [x, g])


def lstm_loop(x, c, h, w, b, g):
    n = x.shape[-1]
    x, c, h, g = tf.constant(x), tf.constant(c), tf.constant(h), tf.constant(g)
    inputs, recurrent, b = tf.Variable(w[:n]), tf.Variable(w[n:]), tf.Variable(b)

    def outputs(x):
        state, out = c, h
        for row in tf.unstack(x):
            gates = tf.matmul(row, inputs) + tf.matmul(out, recurrent) + b
            i, f, candidate, o = tf.split(gates, 4, axis=1)
            state = tf.sigmoid(f) * state + tf.sigmoid(i) * tf.tanh(candidate)
            out = tf.sigmoid(o) * tf.tanh(state)
            yield out

    def step(x, g):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.stack(list(outputs(x)))
        dx, d0, d1, db = tape.gradient(y, [x, inputs, recurrent, b], output_gradients=g)
        return [y, dx, tf.concat([d0, d1], axis=0), db]

    return Work(step, [x, g])


def attention(x, weights, heads, g):
    batch, steps, width = x.shape
    x, g = tf.constant(x), tf.constant(g)
    weights = [tf.Variable(w) for w in weights]
    scale = (width // heads) ** -0.5

    def split_heads(x):
        return tf.transpose(tf.reshape(x, (batch, steps, heads, width // heads)), (0, 2, 1, 3))

    def step(x, g):
        with tf.GradientTape() as tape:
            tape.watch(x)
            q, k, v = (split_heads(tf.matmul(x, w)) for w in weights[:3])
            p = tf.nn.softmax(tf.matmul(q * scale, k, transpose_b=True))
            y = tf.reshape(tf.transpose(tf.matmul(p, v), (0, 2, 1, 3)), (batch, steps, width))
            y = tf.matmul(y, weights[3])
        return [y, *tape.gradient(y, [x, *weights], output_gradients=g)]

    return Work(step, [x, g])


attention_fused = attention


def attention_einsum(x, weights, heads, g):
    width = x.shape[-1]
    x, g = tf.constant(x), tf.constant(g)
    weights = [tf.Variable(w) for w in weights]
    scale = (width // heads) ** -0.5

    def step(x, g):
        with tf.GradientTape() as tape:
            tape.watch(x)
            apart = [tf.reshape(w, (width, heads, -1)) for w in weights[:3]]
            q, k, v = (tf.einsum("abc,cde->abde", x, w) for w in apart)
            p = tf.nn.softmax(tf.einsum("aecd,abcd->acbe", k, q * scale))
            y = tf.einsum("acbe,aecd->abcd", p, v)
            y = tf.einsum("abcd,cde->abe", y, tf.reshape(weights[3], (heads, -1, width)))
        return [y, *tape.gradient(y, [x, *weights], output_gradients=g)]

    return Work(step, [x, g])


def pipeline(x, y, buffer, batch):
    dataset = tf.data.Dataset.from_tensor_slices((x, y))
    dataset = dataset.shuffle(buffer, seed=1, reshuffle_each_iteration=False)
    dataset = dataset.map(lambda a, b: (a * 2.0 - 1.0, b)).batch(batch).prefetch(2)

    def step():
        for batch in dataset:
            last = batch
        return list(last)

    return Work(step)
