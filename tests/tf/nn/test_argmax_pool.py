"""Max pools that also return the positions of their elements."""

import numpy as np
import pytest

import gradtape as tf

RNG = np.random.default_rng(4)


X = RNG.standard_normal((2, 5, 4, 2))


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("whole", [True, False])
def test_positions_of_a_pool_point_at_its_values(padding, whole):
    values, places = tf.nn.max_pool_with_argmax(X, 2, 2, padding, include_batch_in_index=whole)
    np.testing.assert_array_equal(values, tf.nn.max_pool2d(X, 2, 2, padding))
    found = np.asarray(places)
    if not whole:
        found = found + (np.arange(2) * X[0].size)[:, None, None, None]
    np.testing.assert_array_equal(X.ravel()[found], values)


def test_other_data_formats_raise():
    with pytest.raises(ValueError, match="NHWC"):
        tf.nn.max_pool_with_argmax(X, 2, 2, "SAME", data_format="NCHW")
