"""Matrix products and decompositions, beyond what the sweep holds for every rule."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.core.errors import InvalidArgumentError
from gradtape.ops.linalg import matrix


def test_half_precision_products_accumulate_in_float32():
    a = np.full((1, 4096), 1, np.float16)
    b = np.full((4096, 1), 0.001, np.float16)
    assert abs(float(matrix.matmul(a, b)[0, 0]) - 4.1) < 0.02


def test_integer_products_are_exact():
    a = np.array([[2**30, 1]], np.int64)
    np.testing.assert_array_equal(matrix.matmul(a, a.T), [[2**60 + 1]])


def test_a_stack_times_one_matrix_is_one_product():
    a, b = np.random.default_rng(0).normal(size=(2, 3, 4)), np.eye(4)
    np.testing.assert_array_equal(matrix.matmul(a, b), a)


@pytest.mark.parametrize("lead", [(5,), (2, 3), (0,)])
def test_one_matrix_times_a_stack_of_vectors_is_one_product(lead):
    draws = np.random.default_rng(0)
    a, b = draws.normal(size=(2, 4)), draws.normal(size=(*lead, 4, 1))
    np.testing.assert_allclose(matrix.matmul(a, b), np.matmul(a, b), rtol=1e-12)


def test_only_the_matrix_that_is_not_definite_becomes_nan():
    good, bad = np.eye(2), np.array([[1.0, 2.0], [2.0, 1.0]])
    out = matrix.cholesky(np.stack([good, bad]))
    np.testing.assert_array_equal(out[0], good)
    assert np.isnan(out[1][np.tril_indices(2)]).all()
    assert out[1][0, 1] == 0


def test_singular_matrices_are_refused():
    with pytest.raises(InvalidArgumentError, match="not invertible"):
        matrix.inverse(np.ones((2, 2)))
    with pytest.raises(InvalidArgumentError, match="not invertible"):
        matrix.solve(np.ones((2, 2)), np.ones((2, 1)))


@pytest.mark.parametrize("offset", [-2, -1, 0, 1, 3])
def test_diagonals_are_those_of_numpy(offset):
    x = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(matrix.diagonal(x, offset=offset), np.diagonal(x, offset))


def test_equal_eigenvalues_leave_no_infinity():
    assert np.isfinite(matrix.gaps(np.array([1.0, 1.0, 2.0]))).all()


@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_the_lowered_exponential_agrees(scale):
    a = np.random.default_rng(1).normal(size=(2, 4, 4)) * scale / 4
    np.testing.assert_allclose(matrix.expm_lowered(a), matrix.expm(a), rtol=1e-9)


def test_a_real_matrix_without_a_real_root_has_nan_for_a_root():
    assert np.isnan(tf.linalg.sqrtm([[1.0, 2.0], [3.0, 4.0]])).all()
    np.testing.assert_allclose(tf.linalg.sqrtm([[4.0, 0.0], [0.0, 9.0]]), [[2, 0], [0, 3]])


def test_factors_of_nothing_are_nothing(capfd):
    both, order = tf.linalg.lu(tf.zeros((2, 0, 0)))
    assert (both.shape, order.shape) == ((2, 0, 0), (2, 0))
    assert capfd.readouterr().out == ""
