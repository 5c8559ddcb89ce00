"""Band matrices agree with the dense matrices they represent."""

import numpy as np
import pytest

import gradtape as tf

RNG = np.random.default_rng(7)
BANDS = RNG.uniform(-0.5, 0.5, (3, 5)) + np.array([[0.0], [3.0], [0.0]])
B = RNG.standard_normal((5, 2))


def dense(bands, below):
    """The dense matrix of `bands`, its diagonals from the highest down, aligned by row."""
    k, n = bands.shape
    out = np.zeros((n, n))
    for row in range(k):
        offset = k - 1 - below - row
        for i in range(n):
            if 0 <= i + offset < n:
                out[i, i + offset] = bands[row, i]
    return out


def test_a_tridiagonal_product_and_solve_undo_each_other():
    product = tf.linalg.tridiagonal_matmul(BANDS, B)
    np.testing.assert_allclose(product, dense(BANDS, 1) @ B)
    np.testing.assert_allclose(tf.linalg.tridiagonal_solve(BANDS, product), B)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("adjoint", [True, False])
def test_a_banded_triangular_solve_agrees_with_the_dense_one(lower, adjoint):
    bands = np.abs(BANDS) + 1
    matrix = dense(bands, 2 if lower else 0)
    x = tf.linalg.banded_triangular_solve(bands, B, lower=lower, adjoint=adjoint)
    np.testing.assert_allclose(x, np.linalg.solve(matrix.T if adjoint else matrix, B))


def test_the_three_formats_of_diagonals_agree():
    matrix = dense(BANDS, 1)
    compact = tf.linalg.tridiagonal_solve(BANDS, B[:, 0])
    short = [BANDS[0, :-1], BANDS[1], BANDS[2, 1:]]
    assert compact.shape == (5,)
    np.testing.assert_allclose(
        tf.linalg.tridiagonal_solve(short, B[:, 0], diagonals_format="sequence"), compact
    )
    np.testing.assert_allclose(
        tf.linalg.tridiagonal_solve(matrix, B[:, 0], diagonals_format="matrix"), compact
    )


def test_eigenvalues_are_selected_by_index_and_by_interval():
    alpha, beta = RNG.standard_normal(4), RNG.standard_normal(3)
    every = np.linalg.eigvalsh(np.diag(alpha) + np.diag(beta, 1) + np.diag(beta, -1))
    some = tf.linalg.eigh_tridiagonal(alpha, beta, select="i", select_range=[1, 2])
    np.testing.assert_allclose(some, every[1:3])
    low = tf.linalg.eigh_tridiagonal(alpha, beta, select="v", select_range=[-9.0, every[1] + 1e-9])
    np.testing.assert_allclose(low, every[:2])


@pytest.mark.parametrize(
    ("diagonals", "rhs"), [(BANDS[:2], B), (BANDS, B[:4]), (BANDS[None], B), (BANDS, B[None])]
)
def test_mismatched_shapes_raise_a_value_error(diagonals, rhs):
    with pytest.raises(ValueError, match=r"Expected|Batch"):
        tf.linalg.tridiagonal_solve(diagonals, rhs)


def test_a_zero_on_the_diagonal_has_no_inverse():
    with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
        tf.linalg.banded_triangular_solve(np.zeros((1, 2)), np.ones((2, 1)))
