"""Raw ops that compute parts of gradients."""

import numpy as np
import pytest

import gradtape as tf


@pytest.mark.parametrize(
    ("s0", "s1", "r0", "r1"),
    [
        ([2, 3], [3], [], [0]),
        ([2, 1], [2, 3], [1], []),
        ([], [2], [0], []),
        ([1, 1], [1, 1], [], []),
        ([1, 3], [2, 1], [0], [1]),
        ([1], [2, 1], [0, 1], [1]),
    ],
)
def test_broadcast_gradient_args(s0, s1, r0, r1):
    args = (tf.constant(s0, tf.int32), tf.constant(s1, tf.int32))
    for call in (tf.raw_ops.BroadcastGradientArgs, tf.function(tf.raw_ops.BroadcastGradientArgs)):
        found = call(s0=args[0], s1=args[1])
        assert [x.numpy().tolist() for x in found] == [r0, r1]


def test_slopes_of_gamma_functions():
    a, x = np.array([1.0, 2.0, 0.5]), np.array([0.5, 3.0, 1.0])
    step = 1e-6
    slope = (tf.math.igamma(a + step, x) - tf.math.igamma(a - step, x)) / (2 * step)
    found = tf.raw_ops.IgammaGradA(a=a, x=x)
    np.testing.assert_allclose(found, slope, rtol=1e-6)
    density = np.exp((a - 1) * np.log(x) - x - tf.math.lgamma(tf.constant(a)).numpy())
    np.testing.assert_allclose(
        tf.raw_ops.RandomGammaGrad(alpha=a, sample=x), -found.numpy() / density, rtol=1e-6
    )


def test_matrix_diag_part():
    diagonals = tf.raw_ops.MatrixDiagPartV2(
        input=[[1.0, 2, 3], [4, 5, 6]], k=[-1, 1], padding_value=0.0
    )
    assert diagonals.numpy().tolist() == [[2, 6], [1, 5], [4, 0]]
