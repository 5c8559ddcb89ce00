"""Matrix products: accumulation, and the shapes that become one product."""

import numpy as np
import pytest

from gradtape.ops.linalg.matmul import matmul


def test_half_precision_products_accumulate_in_float32():
    a = np.full((1, 4096), 1, np.float16)
    b = np.full((4096, 1), 0.001, np.float16)
    assert abs(float(matmul(a, b)[0, 0]) - 4.1) < 0.02


def test_integer_products_are_exact():
    a = np.array([[2**30, 1]], np.int64)
    np.testing.assert_array_equal(matmul(a, a.T), [[2**60 + 1]])


def test_a_stack_times_one_matrix_is_one_product():
    a, b = np.random.default_rng(0).normal(size=(2, 3, 4)), np.eye(4)
    np.testing.assert_array_equal(matmul(a, b), a)


@pytest.mark.parametrize("lead", [(5,), (2, 3), (0,)])
def test_one_matrix_times_a_stack_of_vectors_is_one_product(lead):
    draws = np.random.default_rng(0)
    a, b = draws.normal(size=(2, 4)), draws.normal(size=(*lead, 4, 1))
    np.testing.assert_allclose(matmul(a, b), np.matmul(a, b), rtol=1e-12)
