"""tf.linalg.lstsq without full rank."""

import numpy as np
import pytest

import gradtape as tf

GENERATOR = np.random.default_rng(5)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5)])
@pytest.mark.parametrize("kind", [np.float64, np.complex128])
def test_without_full_rank_the_solution_has_minimal_norm(shape, kind):
    a = GENERATOR.normal(size=shape).astype(kind)
    a[:, 2] = a[:, 0]
    a[2] = a[0]
    b = GENERATOR.normal(size=(shape[0], 2)).astype(kind)
    out = tf.linalg.lstsq(a, b, fast=False)
    np.testing.assert_allclose(out, np.linalg.lstsq(a, b, rcond=None)[0], rtol=1e-9, atol=1e-12)


def test_a_zero_matrix_has_the_solution_zero():
    out = tf.linalg.lstsq(tf.zeros([3, 2]), tf.ones([3, 1]), fast=False)
    np.testing.assert_array_equal(out, np.zeros((2, 1)))


def test_batches_and_nan():
    a = GENERATOR.normal(size=(2, 3, 2))
    a[1, 0, 0] = np.nan
    out = tf.linalg.lstsq(a, np.ones((2, 3, 1)), fast=False).numpy()
    np.testing.assert_allclose(out[0], np.linalg.lstsq(a[0], np.ones((3, 1)), rcond=None)[0])
    assert np.isnan(out[1]).all()
