"""Linear operators agree with their dense matrices, and so do their gradients."""

import numpy as np
import pytest

import gradtape as tf

L = tf.linalg
FULL, DIAG = L.LinearOperatorFullMatrix, L.LinearOperatorDiag


def normal(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape)


def wave(*shape):
    return normal(*shape) + 1j * normal(*reversed(shape)).reshape(shape)


def regular(n, *batch):
    return normal(*batch, n, n) + n * np.eye(n)


def definite(n):
    return regular(n) @ regular(n).T


DEFINITE = {"is_self_adjoint": True, "is_positive_definite": True}
DIAGONALS = normal(3, 4) + np.array([[0], [4], [0]])

OPERATORS = {
    "full": lambda: FULL(regular(3, 2)),
    "definite": lambda: FULL(definite(3), **DEFINITE),
    "complex": lambda: FULL(wave(3, 3) + 3 * np.eye(3)),
    "diag": lambda: DIAG(normal(2, 3)),
    "complex diag": lambda: DIAG(wave(1, 3)[0]),
    "tril": lambda: L.LinearOperatorLowerTriangular(regular(3, 2)),
    "identity": lambda: L.LinearOperatorIdentity(3, [2], tf.float64),
    "scaled identity": lambda: L.LinearOperatorScaledIdentity(3, normal(2)),
    "tridiag": lambda: L.LinearOperatorTridiag(DIAGONALS),
    "tridiag sequence": lambda: L.LinearOperatorTridiag(list(DIAGONALS), "sequence"),
    "tridiag matrix": lambda: L.LinearOperatorTridiag(
        tf.linalg.band_part(regular(4, 2), 1, 1), "matrix"
    ),
    "householder": lambda: L.LinearOperatorHouseholder(wave(2, 3)),
    "permutation": lambda: L.LinearOperatorPermutation([[2, 0, 1], [0, 2, 1]], tf.float64),
    "composition": lambda: L.LinearOperatorComposition([FULL(regular(3)), DIAG(normal(2, 3))]),
    "kronecker": lambda: L.LinearOperatorKronecker(
        [FULL(regular(2)), DIAG(normal(2, 2)), FULL(regular(3, 2))]
    ),
    "block diag": lambda: L.LinearOperatorBlockDiag([FULL(regular(2)), FULL(regular(3, 2))]),
    "block triangle": lambda: L.LinearOperatorBlockLowerTriangular(
        [[FULL(regular(2))], [FULL(normal(3, 2)), FULL(regular(3, 2))]]
    ),
    "low rank update": lambda: L.LinearOperatorLowRankUpdate(
        FULL(wave(3, 3) + 5 * np.eye(3)), wave(3, 2), wave(1, 2)[0], wave(2, 3, 2)
    ),
    "symmetric update": lambda: L.LinearOperatorLowRankUpdate(
        DIAG([3.0, 4.0, 5.0], is_positive_definite=True), np.float32(normal(3, 1))
    ),
    "inversion": lambda: L.LinearOperatorInversion(FULL(regular(3))),
    "adjoint": lambda: L.LinearOperatorAdjoint(FULL(wave(3, 3) + 3 * np.eye(3))),
    "circulant": lambda: L.LinearOperatorCirculant(wave(2, 4), tf.complex128),
    "real circulant": lambda: L.LinearOperatorCirculant([4.0, 1.0, 2.0, 1.0], tf.float32),
    "circulant 2d": lambda: L.LinearOperatorCirculant2D(wave(2, 3), tf.complex128),
    "circulant 3d": lambda: L.LinearOperatorCirculant3D(wave(2, 2, 2), tf.complex128),
    "toeplitz": lambda: L.LinearOperatorToeplitz([5.0, 1.0, 2.0], [5.0, 3.0, 4.0]),
}
RECTANGULAR = {
    "full": lambda: FULL(normal(2, 3)),
    "adjoint": lambda: FULL(normal(2, 3)).adjoint(),
    "composition": lambda: FULL(normal(2, 3)) @ FULL(normal(3, 4)),
    "kronecker": lambda: L.LinearOperatorKronecker([FULL(normal(2, 3)), FULL(normal(3, 4))]),
    "block diag": lambda: L.LinearOperatorBlockDiag(
        [FULL(normal(2, 3)), FULL(normal(3, 4))], is_square=False
    ),
    "zeros": lambda: L.LinearOperatorZeros(2, 3, is_square=False, dtype=tf.float64),
}


def argument(op, rows, width=2):
    x = wave(2, rows, width) if op.dtype.is_complex else normal(2, rows, width)
    return x.astype(op.dtype.as_numpy_dtype)


def close(got, want, op):
    tolerance = 1e-4 if op.dtype in (tf.float32, tf.complex64) else 1e-9
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)
    assert np.asarray(got).dtype == np.asarray(want).dtype


@pytest.mark.parametrize("make", [*OPERATORS.values(), *RECTANGULAR.values()])
def test_products_agree_with_the_dense_matrix(make):
    op = make()
    dense = op.to_dense().numpy()
    turned = np.conj(np.swapaxes(dense, -1, -2))
    assert op.shape == dense.shape
    assert op.dtype == dense.dtype
    m, n = dense.shape[-2:]
    x, y = argument(op, n), argument(op, m)
    close(op.matmul(x), dense @ x, op)
    close(op @ x, dense @ x, op)
    close(op.matmul(y, adjoint=True), turned @ y, op)
    close(op.matmul(np.conj(np.swapaxes(x, -1, -2)), adjoint_arg=True), dense @ x, op)
    close(op.matvec(x[0, :, 0]), dense @ x[0, :, 0], op)
    close(op.adjoint().to_dense(), turned, op)
    close(op.H.matmul(op).to_dense(), turned @ dense, op)
    close(op.diag_part(), np.diagonal(dense, axis1=-2, axis2=-1), op)
    close(op.trace(), np.trace(dense, axis1=-2, axis2=-1), op)
    close(op.add_to_tensor(np.ones((m, n), dense.dtype)), dense + 1, op)
    assert (op.range_dimension, op.domain_dimension) == (m, n)
    assert op.is_square == (m == n)
    with pytest.raises(ValueError, match="compatible"):
        op.matmul(np.ones((9, 1), dense.dtype))


@pytest.mark.parametrize("make", OPERATORS.values(), ids=OPERATORS)
def test_solves_and_determinants_agree_with_the_dense_matrix(make):
    op = make()
    dense = op.to_dense().numpy()
    y = argument(op, dense.shape[-1])
    close(op.solve(y), np.linalg.solve(dense, y), op)
    turned = np.conj(np.swapaxes(dense, -1, -2))
    close(op.solve(y, adjoint=True), np.linalg.solve(turned, y), op)
    close(op.solvevec(y[0, :, 0]), np.linalg.solve(dense, y[0])[..., 0], op)
    close(op.inverse().to_dense(), np.linalg.inv(dense), op)
    close(op.inverse().matmul(y), np.linalg.solve(dense, y), op)
    close(op.determinant(), np.linalg.det(dense), op)
    sizes = np.linalg.slogdet(dense)[1].astype(dense.dtype)
    close(op.log_abs_determinant(), sizes, op)
    op.assert_non_singular()


@pytest.mark.parametrize("make", [OPERATORS["definite"], OPERATORS["symmetric update"]])
def test_definite_operators_have_factors_and_eigenvalues(make):
    op = make()
    factor = op.cholesky().to_dense()
    close(tf.matmul(factor, factor, adjoint_b=True), op.to_dense().numpy(), op)
    close(np.sort(op.eigvals()), np.linalg.eigvalsh(op.to_dense()), op)
    op.assert_positive_definite()


GRADIENTS = {
    "full": (FULL, regular(3)),
    "diag": (DIAG, normal(3)),
    "tril": (L.LinearOperatorLowerTriangular, regular(3)),
    "scaled": (lambda m: L.LinearOperatorScaledIdentity(3, m), normal(1)[0]),
    "tridiag": (L.LinearOperatorTridiag, DIAGONALS[:, :3]),
    "householder": (L.LinearOperatorHouseholder, normal(3)),
    "kronecker": (
        lambda a: L.LinearOperatorKronecker([FULL([[2.0]] * np.ones(1)), FULL(a)]),
        regular(3),
    ),
    "update": (lambda u: L.LinearOperatorLowRankUpdate(DIAG(np.arange(3.0) + 2), u), normal(3, 1)),
    "circulant": (lambda c: L.LinearOperatorCirculant(c, tf.float64), np.array([4.0, 1.0, 1.0])),
    "toeplitz": (lambda c: L.LinearOperatorToeplitz(c, c), np.array([4.0, 1.0, 0.5])),
}


@pytest.mark.parametrize("what", GRADIENTS)
def test_gradients_agree_with_the_dense_matrix(what):
    make, value = GRADIENTS[what]
    parameter = tf.Variable(value)
    x = normal(3, 2)

    def loss(op, dense):
        if dense:
            matrix = op.to_dense()
            parts = tf.matmul(matrix, x), tf.linalg.solve(matrix, x), tf.linalg.slogdet(matrix)[1]
        else:
            parts = op.matmul(x), op.solve(x), op.log_abs_determinant()
        return tf.add_n([tf.reduce_sum(tf.sin(part)) for part in parts])

    with tf.GradientTape(persistent=True) as tape:
        structured, dense = (loss(make(parameter), is_dense) for is_dense in (False, True))
    np.testing.assert_allclose(structured, dense, rtol=1e-9)
    np.testing.assert_allclose(
        tape.gradient(structured, parameter), tape.gradient(dense, parameter), rtol=1e-7, atol=1e-9
    )


def test_an_operator_reads_its_variable_when_it_is_used():
    v = tf.Variable([1.0, 2.0])
    op = DIAG(v)
    v.assign([3.0, 4.0])
    np.testing.assert_array_equal(op.matvec([1.0, 1.0]), [3, 4])
    assert op.trainable_variables == (v,)


INVALID = {
    "definite but singular": lambda: FULL(
        np.eye(2), is_positive_definite=True, is_non_singular=False
    ),
    "non-singular but not square": lambda: FULL(np.eye(2), is_non_singular=True, is_square=False),
    "a vector as a matrix": lambda: FULL([1.0]),
    "a scalar as a diagonal": lambda: DIAG(1.0),
    "products of incompatible sizes": lambda: L.LinearOperatorComposition([FULL([[1.0, 2.0]])] * 2),
    "no operators": lambda: L.LinearOperatorKronecker([]),
    "a Cholesky factor without hints": lambda: FULL(np.eye(2)).cholesky(),
    "not a permutation": lambda: L.LinearOperatorPermutation([0, 0]),
    "the inverse of zeros": lambda: L.LinearOperatorZeros(2).inverse(),
    "a block triangle with missing operators": lambda: L.LinearOperatorBlockLowerTriangular(
        [[], []]
    ),
}


@pytest.mark.parametrize("what", INVALID)
def test_invalid_operators_raise(what):
    with pytest.raises(ValueError, match=r"\w"):
        INVALID[what]()


def test_unsupported_operations_raise():
    for call in (
        lambda: FULL(normal(2, 3)).solve(np.ones((2, 1))),
        lambda: FULL(normal(2, 3)).determinant(),
        lambda: FULL(np.eye(2)).eigvals(),
        lambda: L.LinearOperatorZeros(2).solve(np.ones((2, 1), np.float32)),
    ):
        with pytest.raises(NotImplementedError):
            call()
    with pytest.raises(TypeError):
        DIAG([1, 2])


def test_conjugate_gradients_find_the_solution():
    op, b = FULL(definite(4), **DEFINITE), normal(4)
    state = L.experimental.conjugate_gradient(op, b, tol=1e-12)
    np.testing.assert_allclose(state.x, np.linalg.solve(definite(4), b), rtol=1e-8)
    near = DIAG(1 / np.diag(definite(4)))
    again = L.experimental.conjugate_gradient(op, b, near, tol=1e-12)
    np.testing.assert_allclose(again.x, state.x, rtol=1e-8)
    with pytest.raises(ValueError, match="positive definite"):
        L.experimental.conjugate_gradient(FULL(np.eye(2)), [1.0, 2.0])
