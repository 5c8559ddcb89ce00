"""Decompositions of matrices that are indefinite, degenerate or empty."""

import numpy as np

import gradtape as tf
from gradtape.ops.linalg import decomposition


def test_only_the_matrix_that_is_not_definite_becomes_nan():
    good, bad = np.eye(2), np.array([[1.0, 2.0], [2.0, 1.0]])
    out = decomposition.cholesky(np.stack([good, bad]))
    np.testing.assert_array_equal(out[0], good)
    assert np.isnan(out[1][np.tril_indices(2)]).all()
    assert out[1][0, 1] == 0


def test_equal_eigenvalues_leave_no_infinity():
    assert np.isfinite(decomposition.gaps(np.array([1.0, 1.0, 2.0]))).all()


def test_factors_of_nothing_are_nothing(capfd):
    both, order = tf.linalg.lu(tf.zeros((2, 0, 0)))
    assert (both.shape, order.shape) == ((2, 0, 0), (2, 0))
    assert capfd.readouterr().out == ""
