"""Typical training steps as functions; the expected numbers are TensorFlow's."""

import numpy as np
import pytest

import gradtape as tf

RNG = np.random.default_rng(42)
X = RNG.normal(size=(64, 5)).astype(np.float32)
Y = (X @ np.array([1.0, -2.0, 0.5, 0.0, 3.0], np.float32) > 0).astype(np.int32)
NOISE = RNG.normal(size=(20, 64, 2)).astype(np.float32)
START = [RNG.normal(size=s).astype(np.float32) * 0.3 for s in ((5, 8), (8,), (8, 2), (2,))]


def layers(shapes, seed):
    """Variables of an MLP."""
    rng = np.random.default_rng(seed)
    return [tf.Variable(rng.normal(size=s).astype(np.float32) * 0.4) for s in shapes]


def mlp(weights, x):
    """A hidden layer of tanh."""
    a, b, c, d = weights
    return tf.tanh(x @ a + b) @ c + d


def cross_entropy(labels, logits):
    """The mean over the batch."""
    return tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    )


class Adam:
    """An optimizer that creates its variables when it is first called."""

    def __init__(self, rate):
        self.rate = rate
        self.steps = tf.Variable(0, dtype=tf.int64)
        self.slots = {}

    def rate_now(self):
        return self.rate(self.steps) if callable(self.rate) else self.rate

    def apply(self, pairs):
        self.steps.assign_add(1)
        t = tf.cast(self.steps, tf.float32)
        rate = self.rate_now() * tf.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        for slope, v in pairs:
            if v.ref() not in self.slots:
                with tf.init_scope():
                    zeros = np.zeros(v.shape, np.float32)
                    self.slots[v.ref()] = tf.Variable(zeros), tf.Variable(zeros)
            m, s = self.slots[v.ref()]
            m.assign_add((slope - m) * 0.1)
            s.assign_add((tf.square(slope) - s) * 0.001)
            v.assign_sub(rate * m / (tf.sqrt(s) + 1e-7))


class Mean:
    """A metric that accumulates in variables."""

    def __init__(self):
        self.total, self.count = tf.Variable(0.0), tf.Variable(0.0)

    def update(self, value):
        self.total.assign_add(tf.reduce_sum(value))
        self.count.assign_add(tf.cast(tf.size(value), tf.float32))

    def result(self):
        return self.total / self.count


def classifier():
    """A train_step with an optimizer, a schedule, metrics, and a dataset of uneven batches."""
    weights = [tf.Variable(w) for w in START]

    def schedule(step):
        if step < 4:
            return tf.cast(step, tf.float32) / 4.0 * 0.05
        return tf.constant(0.05) * 0.9 ** tf.cast(step - 4, tf.float32)

    optimizer, loss_of, right = Adam(schedule), Mean(), Mean()

    @tf.function
    def train_step(x, y):
        with tf.GradientTape() as tape:
            logits = mlp(weights, x)
            loss = cross_entropy(y, logits)
        optimizer.apply(zip(tape.gradient(loss, weights), weights, strict=True))
        loss_of.update(loss)
        right.update(tf.cast(tf.argmax(logits, 1, tf.int32) == y, tf.float32))
        return loss

    for _ in range(4):
        for at in range(0, 64, 24):
            train_step(tf.constant(X[at : at + 24]), tf.constant(Y[at : at + 24]))
    return [loss_of.result(), right.result(), *(tf.reduce_sum(w) for w in weights)]


def epoch_in_a_function():
    """The whole loop over a dataset inside a function."""
    weights = [tf.Variable(w) for w in START]
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(16)

    @tf.function
    def epoch(rate):
        total, count = 0.0, 0
        for x, y in data:
            with tf.GradientTape() as tape:
                loss = cross_entropy(y, mlp(weights, x))
            for w, g in zip(weights, tape.gradient(loss, weights), strict=True):
                w.assign_sub(rate * g)
            total += loss
            count += 1
        return total / tf.cast(count, tf.float32)

    losses = [epoch(tf.constant(r)) for r in (0.5, 0.5, 0.1)]
    return [*losses, *(tf.reduce_sum(w) for w in weights)]


def gan():
    """Two networks, two tapes, one step."""
    generator = layers([(2, 8), (8,), (8, 5), (5,)], 1)
    discriminator = layers([(5, 8), (8,), (8, 1), (1,)], 2)

    def entropy(logits, label):
        return tf.reduce_mean(
            tf.nn.sigmoid_cross_entropy_with_logits(tf.ones_like(logits) * label, logits)
        )

    @tf.function
    def step(real, noise):
        with tf.GradientTape() as g_tape, tf.GradientTape() as d_tape:
            fake = mlp(generator, noise)
            on_real, on_fake = mlp(discriminator, real), mlp(discriminator, fake)
            g_loss = entropy(on_fake, 1.0)
            d_loss = entropy(on_real, 1.0) + entropy(on_fake, 0.0)
        for tape, loss, weights in (
            (g_tape, g_loss, generator),
            (d_tape, d_loss, discriminator),
        ):
            for w, g in zip(weights, tape.gradient(loss, weights), strict=True):
                w.assign_sub(0.1 * g)
        return g_loss, d_loss

    for noise in NOISE[:8]:
        out = step(tf.constant(X), tf.constant(noise))
    return [*out, *(tf.reduce_sum(w) for w in generator + discriminator)]


def gradient_penalty():
    """A second derivative inside a step (WGAN-GP)."""
    critic = layers([(5, 8), (8,), (8, 1), (1,)], 3)

    @tf.function
    def step(real, fake, mix):
        with tf.GradientTape() as outer:
            between = mix * real + (1.0 - mix) * fake
            with tf.GradientTape() as inner:
                inner.watch(between)
                score = mlp(critic, between)
            slope = inner.gradient(score, between)
            norm = tf.sqrt(tf.reduce_sum(slope**2, 1) + 1e-12)
            loss = tf.reduce_mean(mlp(critic, fake)) - tf.reduce_mean(mlp(critic, real))
            loss += 10.0 * tf.reduce_mean((norm - 1.0) ** 2) + 0.0 * tf.reduce_sum(critic[3])
        for w, g in zip(critic, outer.gradient(loss, critic), strict=True):
            w.assign_sub(0.01 * g)
        return loss

    mix = np.linspace(0, 1, 64, dtype=np.float32)[:, None]
    for k in range(5):
        out = step(tf.constant(X), tf.constant(X[::-1] * 0.5 + k), tf.constant(mix))
    return [out, *(tf.reduce_sum(w) for w in critic)]


def batch_norm_and_average():
    """Moving statistics, a training flag, and an exponential moving average of the weights."""
    w = tf.Variable(START[0][:, :2])
    gamma, beta = tf.Variable(tf.ones(2)), tf.Variable(tf.zeros(2))
    mean, variance = tf.Variable(tf.zeros(2)), tf.Variable(tf.ones(2))
    shadow = tf.Variable(w)

    @tf.function
    def forward(x, training=False):
        h = x @ w
        if training:
            m, v = tf.nn.moments(h, [0])
            mean.assign(0.9 * mean + 0.1 * m)
            variance.assign(0.9 * variance + 0.1 * v)
        else:
            m, v = mean, variance
        return tf.nn.batch_normalization(h, m, v, beta, gamma, 1e-3)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = cross_entropy(y, forward(x, training=True))
        for v, g in zip([w, gamma, beta], tape.gradient(loss, [w, gamma, beta]), strict=True):
            v.assign_sub(0.2 * g)
        shadow.assign(0.9 * shadow + 0.1 * w)
        return loss

    for k in range(6):
        loss = step(tf.constant(X[k * 8 : k * 8 + 16]), tf.constant(Y[k * 8 : k * 8 + 16]))
    held = cross_entropy(tf.constant(Y), forward(tf.constant(X)))
    return [loss, held, *(tf.reduce_sum(v) for v in (w, gamma, beta, mean, variance, shadow))]


def accumulation():
    """Gradients of several batches, applied every third step, chosen by a variable."""
    weights = [tf.Variable(w) for w in START]
    sums = [tf.Variable(tf.zeros_like(w)) for w in weights]
    step_count = tf.Variable(0)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = cross_entropy(y, mlp(weights, x))
        for s, g in zip(sums, tape.gradient(loss, weights), strict=True):
            s.assign_add(g)
        step_count.assign_add(1)
        if step_count % 3 == 0:
            for w, s in zip(weights, sums, strict=True):
                w.assign_sub(0.2 * s / 3.0)
                s.assign(tf.zeros_like(s))
        return loss

    for k in range(7):
        loss = step(tf.constant(X[k * 8 : k * 8 + 8]), tf.constant(Y[k * 8 : k * 8 + 8]))
    return [loss, *(tf.reduce_sum(v) for v in weights + sums)]


def recurrent():
    """A recurrent network with a Python loop and a TensorArray, for two lengths."""
    cell = layers([(5, 4), (4, 4), (4,), (4, 2)], 5)

    @tf.function
    def run(x):
        a, b, c, d = cell
        steps = tf.TensorArray(tf.float32, size=tf.shape(x)[0])
        state = tf.zeros([1, 4])
        for t in tf.range(tf.shape(x)[0]):
            state = tf.tanh(x[t][None] @ a + state @ b + c)
            steps = steps.write(t, state[0])
        return steps.stack() @ d

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = cross_entropy(y, run(x))
        for w, g in zip(cell, tape.gradient(loss, cell), strict=True):
            w.assign_sub(0.3 * g)
        return loss

    for n in (6, 9, 6, 9, 6):
        loss = step(tf.constant(X[:n]), tf.constant(Y[:n]))
    return [loss, *(tf.reduce_sum(w) for w in cell)]


class Walk:
    """An environment: a walker that is to stay near zero."""

    def __init__(self):
        self.at, self.steps = 0.0, 0

    def reset(self):
        self.at, self.steps = 0.1, 0
        return np.array([self.at], np.float32)

    def step(self, action):
        self.steps += 1
        self.at = self.at * 1.5 + (0.3 if action else -0.3)
        over = abs(self.at) > 2.0 or self.steps >= 10
        return np.array([self.at], np.float32), np.float32(1.0), np.array(over)


def actor_critic():
    """An episode around a host environment inside a tape inside a function."""
    walk = Walk()
    body = layers([(1, 4), (4,), (4, 2), (2,)], 7)
    value = layers([(1, 4), (4,), (4, 1), (1,)], 8)

    def environment_step(action):
        state, reward, done = tf.numpy_function(
            walk.step, [action], [tf.float32, tf.float32, tf.bool]
        )
        return tf.ensure_shape(state, [1]), tf.ensure_shape(reward, []), tf.ensure_shape(done, [])

    @tf.function
    def episode(state):
        with tf.GradientTape() as tape:
            logs = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
            values = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
            rewards = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
            for t in tf.range(50):
                logits = mlp(body, state[None])[0]
                action = tf.argmax(logits, output_type=tf.int32)
                logs = logs.write(t, tf.nn.log_softmax(logits)[action])
                values = values.write(t, mlp(value, state[None])[0, 0])
                state, reward, done = environment_step(action)
                rewards = rewards.write(t, reward)
                if done:
                    break
            returns = tf.reverse(tf.cumsum(tf.reverse(rewards.stack(), [0])), [0])
            advantage = (returns - 5.0) / 5.0 - values.stack()
            loss = -tf.reduce_sum(logs.stack() * tf.stop_gradient(advantage))
            loss += tf.reduce_sum(advantage**2)
        for w, g in zip(body + value, tape.gradient(loss, body + value), strict=True):
            w.assign_sub(0.05 * g)
        return loss, tf.size(returns)

    found = []
    for _ in range(6):
        loss, length = episode(tf.constant(walk.reset()))
        found += [loss, length, walk.steps]
    return [*found, *(tf.reduce_sum(w) for w in body + value)]


def scaled_loss():
    """Dynamic loss scaling: a branch on whether all gradients are finite."""
    w = tf.Variable([1.0, 2.0])
    scale, good = tf.Variable(1024.0), tf.Variable(0)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w * x) * scale
        g = tape.gradient(loss, w) / scale
        if tf.reduce_all(tf.math.is_finite(g)):
            w.assign_sub(0.1 * g)
            good.assign_add(1)
            if good >= 2:
                scale.assign(scale * 2.0)
                good.assign(0)
        else:
            scale.assign(scale / 2.0)
            good.assign(0)
        return loss

    for x in (1.0, np.inf, 2.0, 1.0, np.nan, 1.0, 1.0):
        step(tf.constant([x, 1.0], tf.float32))
    return [*w.numpy(), scale, good]


EXPECTED = {
    classifier: [
        0.45503,
        0.8125,
        1.84896,
        0.26618,
        -0.49714,
        0.02852,
    ],
    epoch_in_a_function: [
        0.62811,
        0.37089,
        0.2716,
        2.30711,
        -0.1042,
        -0.49714,
        0.02852,
    ],
    gan: [
        0.64435,
        1.21543,
        0.78911,
        0.23165,
        -2.92946,
        -0.19425,
        0.23529,
        0.43531,
        0.80731,
        0.61791,
    ],
    gradient_penalty: [
        3.63136,
        -1.52435,
        0.52251,
        0.29289,
        0.09166,
    ],
    batch_norm_and_average: [
        0.48079,
        0.55824,
        -0.54661,
        1.86474,
        0.0,
        0.08099,
        1.417,
        -0.41415,
    ],
    accumulation: [
        0.66597,
        1.50893,
        -0.33662,
        -0.49714,
        0.02852,
        -0.31093,
        -0.17234,
        0.0,
        0.0,
    ],
    recurrent: [
        0.58587,
        -1.34855,
        -2.2977,
        -1.18908,
        -1.1409,
    ],
    actor_critic: [
        -0.10954,
        4.0,
        4.0,
        0.01324,
        4.0,
        4.0,
        -0.00089,
        4.0,
        4.0,
        0.00057,
        4.0,
        4.0,
        0.00041,
        4.0,
        4.0,
        0.00042,
        4.0,
        4.0,
        -0.34493,
        -0.01729,
        -0.16998,
        -0.72073,
        -1.92559,
        -1.04054,
        1.26853,
        0.32039,
    ],
    scaled_loss: [
        0.4,
        1.5,
        1024.0,
        0.0,
    ],
}


@pytest.mark.parametrize("style", EXPECTED)
def test_a_step_gives_tensorflows_numbers(style):
    got = [float(v) for v in style()]
    np.testing.assert_allclose(got, EXPECTED[style], rtol=2e-4, atol=2e-5)
