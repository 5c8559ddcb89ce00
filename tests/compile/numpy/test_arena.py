"""The arena: buffers that live at the same time never overlap, and little memory is wasted."""

from itertools import pairwise

import numpy as np
import pytest

import gradtape as tf
from gradtape.compile.numpy.arena import ALIGNMENT, Arena

rng = np.random.default_rng(3)


@pytest.mark.parametrize("seed", range(20))
def test_buffers_that_live_at_the_same_time_do_not_overlap(seed):
    chance = np.random.default_rng(seed)
    arena, buffers, spans = Arena(), {}, {}
    for number in range(40):
        begin, length = chance.integers(0, 50), chance.integers(0, 20)
        block = arena.begin(int(chance.integers(1, 5000)), begin)
        arena.end(block, begin + length)
        buffers[number] = block
        spans[number] = begin, begin + length
    moved = arena.move(buffers)
    assert arena.least <= arena.nbytes <= 1.5 * arena.least
    for a in moved:
        assert moved[a].ctypes.data % ALIGNMENT == 0
        for b in range(a):
            both = spans[a][0] <= spans[b][1] and spans[b][0] <= spans[a][1]
            assert not (both and np.may_share_memory(moved[a], moved[b]))


def test_views_keep_their_layout_and_equal_arrays_stay_one():
    arena = Arena()
    block = arena.begin(4 * 6 * 5, 0)
    whole = block.view("float32").reshape(6, 5)
    views = [whole, whole, whole.T, whole[::-1, 1::2], whole[2], np.broadcast_to(whole[0], (3, 5))]
    other = np.zeros(3)
    moved = arena.move(dict(enumerate([*views, other])))
    assert moved[0] is moved[1]
    assert moved[6] is other
    moved[0][...] = np.arange(30).reshape(6, 5)
    whole[...] = np.arange(30).reshape(6, 5)
    for number, view in enumerate(views):
        np.testing.assert_array_equal(moved[number], view)
        assert moved[number].strides == view.strides
        assert moved[number].flags.writeable == view.flags.writeable


def variable(*shape):
    return tf.Variable(rng.normal(scale=0.1, size=shape).astype("float32"))


def tensor(*shape):
    return tf.constant(rng.normal(size=shape).astype("float32"))


def make_dense():
    sizes = [64, 128, 128, 32]
    weights = [variable(m, n) for m, n in pairwise(sizes)]

    def forward(x):
        for w in weights:
            x = tf.nn.relu(x @ w)
        return tf.reduce_mean(tf.square(x))

    return weights, forward, tensor(256, 64)


def make_convolution():
    weights = [variable(3, 3, 3, 8), variable(3, 3, 8, 16), variable(16, 10)]

    def forward(x):
        for w in weights[:2]:
            x = tf.nn.conv2d(x, w, 1, "SAME")
            mean, variance = tf.nn.moments(x, [0, 1, 2])
            x = tf.nn.relu(tf.nn.batch_normalization(x, mean, variance, None, None, 1e-3))
            x = tf.nn.max_pool2d(x, 2, 2, "SAME")
        return tf.reduce_mean(tf.square(tf.reduce_mean(x, [1, 2]) @ weights[2]))

    return weights, forward, tensor(8, 24, 24, 3)


def make_attention():
    weights = [variable(48, 48) for _ in range(4)]

    def forward(x):
        q, k, v = (x @ w for w in weights[:3])
        share = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / 7.0)
        return tf.reduce_mean(tf.nn.gelu(tf.matmul(share, v) @ weights[3]))

    return weights, forward, tensor(8, 40, 48)


def make_recurrence():
    weights = [variable(24, 96), variable(96, 96)]

    def forward(x):
        h = tf.zeros([64, 96])
        for row in tf.unstack(x, axis=1):
            h = tf.tanh(row @ weights[0] + h @ weights[1])
        return tf.reduce_sum(h * h)

    return weights, forward, tensor(64, 12, 24)


@pytest.mark.parametrize("make", [make_dense, make_convolution, make_attention, make_recurrence])
def test_a_training_step_keeps_within_five_percent_of_the_least_memory(make):
    weights, forward, x = make()
    slots = [tf.Variable(tf.zeros_like(w)) for w in weights]
    copies = [w.numpy().copy() for w in weights]

    def step(x):
        with tf.GradientTape() as tape:
            loss = forward(x)
        for w, m, g in zip(weights, slots, tape.gradient(loss, weights), strict=True):
            m.assign(0.9 * m + g)
            w.assign_sub(0.01 * m)
        return loss

    eager = [step(x).numpy() for _ in range(4)]
    for w, m, copy in zip(weights, slots, copies, strict=True):
        w.assign(copy)
        m.assign(tf.zeros_like(m))
    compiled = tf.function(step)
    tf.debug.plan_memory(compiled)
    np.testing.assert_allclose([compiled(x).numpy() for _ in range(4)], eager, rtol=1e-4)
    for memory in tf.debug.plan_memory(compiled):
        assert memory.least <= memory.arena <= 1.05 * memory.least


def test_the_input_of_a_convolution_is_freed_while_its_result_lives():
    w, matrix = variable(3, 3, 8, 8), variable(256, 256)

    @tf.function(jit_compile=False)
    def apply(x, z):
        c = tf.nn.conv2d(x * 2.0, w, 1, "SAME")
        for _ in range(4):
            z = z @ matrix
        return tf.reduce_sum(z) + tf.reduce_sum(c)

    x, z = tensor(8, 32, 32, 8), tensor(256, 256)
    assert x.numpy().nbytes == z.numpy().nbytes
    want = apply(x, z)
    np.testing.assert_allclose(apply(x, z), want, rtol=1e-4)
    (memory,) = tf.debug.plan_memory(apply)
    assert memory.arena == 2 * x.numpy().nbytes
