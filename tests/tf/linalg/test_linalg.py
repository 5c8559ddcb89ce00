"""tf.linalg: products, decompositions, solvers, diagonals, norms and their gradients."""

import numpy as np
import pytest

import gradtape as tf

RNG = np.random.default_rng(0)
A = RNG.normal(size=(3, 3)) + 3 * np.eye(3)


@pytest.mark.parametrize("flags", [{}, {"transpose_a": True}, {"adjoint_b": True}])
def test_matmul_transposes_and_conjugates_its_operands(flags):
    a, b = (RNG.normal(size=(2, 2)) + 1j * RNG.normal(size=(2, 2)) for _ in range(2))
    left = a.T if "transpose_a" in flags else a
    right = b.conj().T if "adjoint_b" in flags else b
    np.testing.assert_allclose(tf.matmul(a, b, **flags), left @ right, rtol=1e-12)


def test_incompatible_operands_raise():
    x = tf.ones((2, 3))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"size-incompatible.*\[2,3\]"):
        x @ x
    with pytest.raises(tf.errors.InvalidArgumentError, match="batch dimensions"):
        tf.matmul(tf.ones((2, 3, 4)), tf.ones((3, 4, 5)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="int32"):
        tf.matmul(x, tf.ones((3, 2), tf.int32))
    with pytest.raises(ValueError, match="only one"):
        tf.matmul(x, x, transpose_a=True, adjoint_a=True)


def test_decompositions_multiply_back():
    x = tf.constant(A)
    q, r = tf.linalg.qr(x)
    s, u, v = tf.linalg.svd(x)
    e, w = tf.linalg.eigh(A + A.T)
    np.testing.assert_allclose(q @ r, A, rtol=1e-10)
    np.testing.assert_allclose(u * s @ tf.transpose(v), A, rtol=1e-10)
    np.testing.assert_allclose(w * e @ tf.transpose(w), A + A.T, rtol=1e-10)
    np.testing.assert_allclose(tf.linalg.lu_reconstruct(*tf.linalg.lu(x)), A, rtol=1e-10)


def test_solvers_agree_with_numpy():
    b = RNG.normal(size=(3, 2))
    spd = A @ A.T
    want = np.linalg.solve(spd, b)
    np.testing.assert_allclose(tf.linalg.solve(spd, b), want, rtol=1e-8)
    factor = tf.linalg.cholesky(spd)
    np.testing.assert_allclose(tf.linalg.cholesky_solve(factor, b), want, rtol=1e-8)
    np.testing.assert_allclose(tf.linalg.lu_solve(*tf.linalg.lu(spd), b), want, rtol=1e-8)
    np.testing.assert_allclose(tf.linalg.lstsq(A[:, :2], b), np.linalg.lstsq(A[:, :2], b)[0])


def test_the_gradient_of_the_log_determinant_is_the_inverse():
    spd = tf.constant(A @ A.T)
    with tf.GradientTape() as tape:
        tape.watch(spd)
        y = tf.linalg.logdet(spd)
    np.testing.assert_allclose(tape.gradient(y, spd), np.linalg.inv(A @ A.T), rtol=1e-8)


def test_diagonals_of_a_band_are_aligned_as_in_tensorflow():
    band = tf.linalg.diag_part(tf.reshape(tf.range(1, 10), (3, 3)), k=(-1, 1))
    np.testing.assert_array_equal(band, [[0, 2, 6], [1, 5, 9], [4, 8, 0]])
    whole = tf.linalg.diag(band, k=(-1, 1))
    np.testing.assert_array_equal(whole, [[1, 2, 0], [4, 5, 6], [0, 8, 9]])


def test_norms():
    x = tf.constant([[3.0, -4.0], [0.0, 1.0]])
    assert float(tf.norm(x, ord=1, axis=(0, 1))) == 5
    assert float(tf.norm(x, ord=np.inf, axis=(0, 1))) == 7
    np.testing.assert_allclose(tf.norm(x, ord=2, axis=(0, 1)), np.linalg.norm(x, 2), rtol=1e-6)
    np.testing.assert_allclose(tf.norm(x, ord=3, axis=1), [91 ** (1 / 3), 1], rtol=1e-6)
    with pytest.raises(ValueError, match="vector norm"):
        tf.norm(x, ord="fro")


def test_tensordot_over_given_axes():
    a, b = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(4, 3, 5))
    got = tf.tensordot(a, b, [[2, 1], [0, 1]])
    np.testing.assert_allclose(got, np.tensordot(a, b, [[2, 1], [0, 1]]), rtol=1e-12)
    with pytest.raises(ValueError, match="Different number"):
        tf.tensordot(a, b, [[0], [0, 1]])


def test_the_spectral_norm_has_a_gradient_where_singular_values_coincide():
    x = tf.ones((3, 4), tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        length = tf.norm(x, 2, (0, 1))
    np.testing.assert_allclose(tape.gradient(length, x), np.full((3, 4), 12**-0.5))


def test_complex_tridiagonal_solve_has_the_gradient_of_tensorflow():
    # The gradient in TensorFlow solves with the transposed matrix, not with the adjoint.
    bands, b = tf.constant([[0j], [1 + 2j], [0j]]), tf.constant([[3 - 1j]])
    with tf.GradientTape() as tape:
        tape.watch([bands, b])
        x = tf.linalg.tridiagonal_solve(bands, b)
    wrt_bands, wrt_b = tape.gradient(x, [bands, b])
    np.testing.assert_allclose(wrt_b, [[1 / (1 + 2j)]])
    np.testing.assert_allclose(wrt_bands[1], [-(3 - 1j) / (1 + 2j) ** 2])


def test_tridiagonal_solve_perturbs_singular_matrices():
    zero = tf.linalg.tridiagonal_solve(tf.zeros([3, 3]), [1.0, 2.0, 3.0], perturb_singular=True)
    np.testing.assert_allclose(zero, [2.0**126, 2.0**126 * 2 / 3, 2.0**126], rtol=1e-6)
    bands = tf.constant([[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 0.0, 1.0]], tf.float64)

    def solve(rhs):
        return tf.linalg.tridiagonal_solve(bands, rhs, perturb_singular=True)

    rhs = tf.constant([[1.0, 0.0], [2.0, 1.0], [3.0, 1.0]], tf.float64)
    expected = [[2.0**52 - 1, -1], [2 - 2.0**52, 1], [2.0**52, 0]]
    compiled = tf.function(solve)
    for run in (solve, compiled, compiled):
        np.testing.assert_allclose(run(rhs), expected, rtol=1e-12)
    with pytest.raises(ValueError, match="partial_pivoting must be True"):
        tf.linalg.tridiagonal_solve(bands, rhs, partial_pivoting=False, perturb_singular=True)


def test_eigh_tridiagonal_selects_an_interval_of_one_matrix():
    alpha, beta = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), tf.constant([[0.5, 0.5]] * 2)
    select = {"select": "v", "select_range": (1.5, 4.5)}
    one = tf.linalg.eigh_tridiagonal(alpha[0], beta[0], **select)
    np.testing.assert_allclose(one, [2.0, 2 + 1.5**0.5], rtol=1e-5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="alpha must be a vector"):
        tf.linalg.eigh_tridiagonal(alpha, beta, **select)
