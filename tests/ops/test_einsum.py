"""Einstein sums against NumPy's."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.errors import InvalidArgumentError

SIZES = dict(zip("abcdefgh", (2, 3, 4, 2, 3, 2, 1, 2), strict=True))


@pytest.mark.parametrize(
    "equation",
    [
        "ab,bc->ac",
        "ab,bc",
        "ab,ab->",
        "a,b->ba",
        "abc,acd->bda",
        "ab,c->c",
        "ad,da->d",
        "ab,bc,ce->ae",
        "a,ab,b->",
        "ab,bc,cd,de->ea",
        "abc->ca",
        "ac,ac,ac->a",
        "add->a",
        "dad,b->ab",
        "...ab,...bc->...ac",
        "a...,...->a...",
    ],
)
def test_sums_agree_with_numpy(equation):
    rng = np.random.default_rng(0)
    inputs = equation.partition("->")[0].replace("...", "gh").split(",")
    xs = [rng.normal(size=[SIZES[label] for label in labels]) for labels in inputs]
    want = np.einsum(equation, *xs)
    got = tf.einsum(equation, *(tf.constant(x) for x in xs))
    np.testing.assert_allclose(got, want, rtol=1e-12)


def test_axes_of_length_one_under_an_ellipsis_broadcast():
    a, b = np.ones((2, 1, 3)), np.ones((4, 3))
    x, y = tf.constant(a), tf.constant(b)
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        out = tf.einsum("...i,...i->...", x, y)
    np.testing.assert_array_equal(out, np.einsum("...i,...i->...", a, b))
    gx, gy = tape.gradient(out, [x, y])
    np.testing.assert_array_equal(gx, 4 * a)
    np.testing.assert_array_equal(gy, 2 * b)


def test_invalid_equations_raise():
    x = tf.ones((2, 3))
    with pytest.raises(ValueError, match="which no input has"):
        tf.einsum("ij->iz", x)
    with pytest.raises(ValueError, match="once in the result"):
        tf.einsum("ij->ii", x)
    with pytest.raises(ValueError, match="expecting 2"):
        tf.einsum("ij,jk", x)
    with pytest.raises(InvalidArgumentError, match="rank 3"):
        tf.einsum("ijk->i", x)
    with pytest.raises(InvalidArgumentError, match="dimension 3"):
        tf.einsum("ij,kj->ik", x, tf.ones((2, 2)))
