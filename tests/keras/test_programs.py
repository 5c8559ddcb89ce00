"""Unmodified programs with Keras print the same on gradtape as on TensorFlow."""

import pytest

from tests.running import WITH_KERAS, assert_same, printed, recorded


@pytest.mark.parametrize("name", WITH_KERAS)
def test_a_program_prints_the_same_as_on_tensorflow(name):
    assert_same(printed(name, "-m", "gradtape"), recorded(name))
