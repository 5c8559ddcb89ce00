"""Two processes train on gradtape as on TensorFlow."""

import numpy as np
import pytest

from tests.tf.distribute.launching import launch, run_on_tensorflow
from tests.tf.distribute.test_multi_worker import CUSTOM_LOOP

pytest.importorskip("tensorflow")


def test_a_custom_loop_has_tensorflows_losses():
    for ours, theirs in zip(launch(2, CUSTOM_LOOP), run_on_tensorflow(2, CUSTOM_LOOP), strict=True):
        assert (ours["rows"], ours["replicas"]) == (theirs["rows"], theirs["replicas"])
        np.testing.assert_allclose(ours["losses"], theirs["losses"], rtol=1e-5)
        np.testing.assert_allclose(ours["weights"], theirs["weights"], rtol=1e-5, atol=1e-6)
