"""Decompositions of matrices that are indefinite, degenerate or empty."""

import numpy as np

import gradtape as tf
from gradtape.ops.linalg import decomposition, eigen


def test_cholesky_gives_nan_only_for_the_indefinite_matrix():
    good, bad = np.eye(2), np.array([[1.0, 2.0], [2.0, 1.0]])
    out = decomposition.cholesky(np.stack([good, bad]))
    np.testing.assert_array_equal(out[0], good)
    assert np.isnan(out[1][np.tril_indices(2)]).all()
    assert out[1][0, 1] == 0


def test_equal_eigenvalues_have_finite_gaps():
    assert np.isfinite(eigen.reciprocal_gaps_of(np.array([1.0, 1.0, 2.0]))).all()


def test_lu_of_empty_matrices_is_empty(capfd):
    both, order = tf.linalg.lu(tf.zeros((2, 0, 0)))
    assert (both.shape, order.shape) == ((2, 0, 0), (2, 0))
    assert capfd.readouterr().out == ""


def test_eigenvalues_of_matrices_of_one_element_need_no_iteration():
    values = [np.inf, -np.inf, np.nan, 2.0]
    e, v = tf.linalg.eig(tf.reshape(tf.constant(values, tf.float64), (4, 1, 1)))
    np.testing.assert_array_equal(e.numpy()[:, 0].real, values)
    np.testing.assert_array_equal(v, np.ones((4, 1, 1)))
