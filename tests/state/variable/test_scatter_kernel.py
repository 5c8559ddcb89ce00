"""Scatter updates with many updates of the same row."""

import numpy as np
import pytest

from gradtape.state.variable.scatter_kernel import ROWWISE_SIZE, UPDATE_UFUNCS, update_rows


@pytest.mark.parametrize("how", sorted(UPDATE_UFUNCS))
@pytest.mark.parametrize("kinds", [1, 3, 40, 4000])
def test_many_updates_of_a_row_are_applied_in_order(how, kinds):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(4000, 8)).astype(np.float32)
    ids = rng.integers(0, kinds, (10, ROWWISE_SIZE // 8)).astype(np.int32)
    updates = rng.uniform(0.9, 1.1, size=(*ids.shape, 8)).astype(np.float32)
    want, before = table.copy(), table.copy()
    for row, update in zip(ids.ravel(), updates.reshape(-1, 8), strict=True):
        want[row] = UPDATE_UFUNCS[how](want[row], update)
    np.testing.assert_array_equal(update_rows(table, False, how, ids, updates), want)
    np.testing.assert_array_equal(table, before)
    assert update_rows(table, True, how, ids, updates) is table
    np.testing.assert_array_equal(table, want)
