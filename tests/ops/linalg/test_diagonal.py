"""Diagonals of matrices against NumPy's."""

import numpy as np
import pytest

from gradtape.ops.linalg.diagonal import diagonal


@pytest.mark.parametrize("offset", [-2, -1, 0, 1, 3])
def test_diagonals_agree_with_numpy(offset):
    x = np.arange(12.0).reshape(3, 4)
    np.testing.assert_array_equal(diagonal(x, offset=offset), np.diagonal(x, offset))
