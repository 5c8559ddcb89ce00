"""Cotangents of several outputs: absent ones are zeros without memory, and rules share work."""

import numpy as np

import gradtape as tf
from gradtape.ops.cotangent import Cotangents, absent, is_absent, once

FLOAT32 = np.dtype("float32")


def test_absent_cotangents_are_zeros_without_memory_that_views_keep():
    zeros = absent((3, 4), FLOAT32)
    np.testing.assert_array_equal(zeros, np.zeros((3, 4), np.float32))
    assert is_absent(zeros)
    assert is_absent(zeros.swapaxes(0, 1))
    assert not zeros.flags.writeable
    assert absent((), FLOAT32) == 0


def test_zeros_of_somebody_else_are_not_absent():
    assert not is_absent(np.zeros((3, 4), np.float32))
    assert not is_absent(np.broadcast_to(np.float32(0), (3, 4)))
    assert not is_absent(tf.zeros((3, 4)))


def test_rules_compute_together_once_for_each_application():
    calls = []

    def total(g):
        calls.append(g)
        return sum(g)

    one, other = Cotangents((1, 2)), Cotangents((1, 2))
    assert [once(one, total), once(one, total), once(other, total)] == [3, 3, 3]
    assert len(calls) == 2


def test_pieces_nobody_used_have_zero_gradients():
    x = tf.constant(np.arange(6, dtype=np.float32))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        _, middle, _ = tf.split(x, 3)
        value = tf.reduce_sum(middle * middle)
    np.testing.assert_array_equal(tape.gradient(value, x), [0, 0, 4, 6, 0, 0])
    np.testing.assert_array_equal(tape.jacobian(middle, x), np.eye(6)[2:4])
