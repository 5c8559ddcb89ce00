"""Images with infinities and NaN: XLA spreads them as far as NumPy does."""

import numpy as np
import pytest

pytest.importorskip("jax")
import gradtape as tf

IMAGE = np.arange(16.0, dtype=np.float32).reshape(1, 4, 4, 1)
IMAGE[0, 0, 2], IMAGE[0, 2, 0], IMAGE[0, 3, 3] = np.inf, -np.inf, np.nan
METHODS = ["bilinear", "nearest", "bicubic", "area", "lanczos3", "gaussian", "mitchellcubic"]


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_resize_leaves_out_weights_of_zero(method, antialias):
    for size in [(2, 2), (8, 8), (3, 5)]:

        def resize_finite(x, size=size):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.image.resize(x, size, method=method, antialias=antialias)
                finite = tf.where(tf.math.is_finite(y), y, 0)
            return y, tape.gradient(finite, x)

        compiled = tf.function(resize_finite, jit_compile=True)
        for ours, theirs in zip(
            compiled(tf.constant(IMAGE)), resize_finite(tf.constant(IMAGE)), strict=True
        ):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
