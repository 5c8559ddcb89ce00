"""Functions of matrices: the lowered exponential, and square roots that are not real."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.ops.linalg import matrix_function


@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_the_lowered_exponential_agrees(scale):
    a = np.random.default_rng(1).normal(size=(2, 4, 4)) * scale / 4
    np.testing.assert_allclose(matrix_function.lower_expm(a), matrix_function.expm(a), rtol=1e-9)


def test_a_real_matrix_without_a_real_square_root_gives_nan():
    assert np.isnan(tf.linalg.sqrtm([[1.0, 2.0], [3.0, 4.0]])).all()
    np.testing.assert_allclose(tf.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]]), [[2, 0], [0, 3]])
