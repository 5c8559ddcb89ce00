"""Absent cotangents, work shared between rules, and sums in place."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.tensor import make_tensor
from gradtape.ops.cotangent import (
    Cotangents,
    accumulate,
    compute_once,
    is_absent_cotangent,
    make_absent_cotangent,
)

FLOAT32 = np.dtype("float32")


def test_absent_cotangents_are_zeros_without_memory_and_so_are_their_views():
    zeros = make_absent_cotangent((3, 4), FLOAT32)
    np.testing.assert_array_equal(zeros, np.zeros((3, 4), np.float32))
    assert is_absent_cotangent(zeros)
    assert is_absent_cotangent(zeros.swapaxes(0, 1))
    assert not zeros.flags.writeable
    assert make_absent_cotangent((), FLOAT32) == 0


def test_ordinary_zeros_are_not_absent():
    assert not is_absent_cotangent(np.zeros((3, 4), np.float32))
    assert not is_absent_cotangent(np.broadcast_to(np.float32(0), (3, 4)))
    assert not is_absent_cotangent(tf.zeros((3, 4)))


def test_rules_of_one_op_call_share_a_computation():
    calls = []

    def total(g):
        calls.append(g)
        return sum(g)

    one, other = Cotangents((1, 2)), Cotangents((1, 2))
    assert [compute_once(one, total), compute_once(one, total), compute_once(other, total)] == [
        3,
        3,
        3,
    ]
    assert len(calls) == 2


def test_unused_pieces_have_zero_gradients():
    x = tf.constant(np.arange(6, dtype=np.float32))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        _, middle, _ = tf.split(x, 3)
        value = tf.reduce_sum(middle * middle)
    np.testing.assert_array_equal(tape.gradient(value, x), [0, 0, 4, 6, 0, 0])
    np.testing.assert_array_equal(tape.jacobian(middle, x), np.eye(6)[2:4])


def many(value):
    return np.full((80, 80), value, np.float32)


def test_a_large_cotangent_without_other_references_is_added_to_in_place():
    grads = {0: many(1)}
    where = grads[0].ctypes.data
    before = grads.get(0)
    total = accumulate(before, many(2))
    assert total.ctypes.data == where
    np.testing.assert_array_equal(total, many(3))


@pytest.mark.parametrize(
    "hold", [lambda a: a, lambda a: a[1:], make_tensor], ids=["it", "view", "tensor"]
)
def test_a_cotangent_with_other_references_is_not_modified(hold):
    grads = {0: many(1)}
    held = hold(grads[0])
    before = grads.get(0)
    np.testing.assert_array_equal(accumulate(before, many(2)), many(3))
    np.testing.assert_array_equal(before, many(1))
    assert held is not None


def test_a_cotangent_that_is_a_view_is_not_modified():
    whole = many(1)
    grads = {0: whole[:79]}
    before = grads.get(0)
    accumulate(before, many(2)[:79])
    np.testing.assert_array_equal(whole, many(1))


def test_sums_in_place_do_not_change_weights_or_intermediate_gradients():
    x, weight = tf.Variable(many(2)), tf.constant(many(3))
    with tf.GradientTape(persistent=True) as tape:
        y = x + x
        z = y + x * x
    for _ in range(2):
        dy, dx = tape.gradient(z, [y, x], output_gradients=weight)
        np.testing.assert_array_equal(dy, many(3))
        np.testing.assert_array_equal(dx, many(18))
        np.testing.assert_array_equal(weight, many(3))
