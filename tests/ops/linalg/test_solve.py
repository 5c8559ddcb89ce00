"""Inverses and linear equations with singular matrices."""

import numpy as np
import pytest

from gradtape.core.errors import InvalidArgumentError
from gradtape.ops.linalg import solve


def test_singular_matrices_are_refused():
    with pytest.raises(InvalidArgumentError, match="not invertible"):
        solve.inverse(np.ones((2, 2)))
    with pytest.raises(InvalidArgumentError, match="not invertible"):
        solve.solve(np.ones((2, 2)), np.ones((2, 1)))
