"""Unmodified programs with Keras run on gradtape and print what they print on TensorFlow."""

import pytest

from tests.running import WITH_KERAS, assert_same, printed, recorded


@pytest.mark.parametrize("name", WITH_KERAS)
def test_a_program_prints_what_it_prints_on_tensorflow(name):
    assert_same(printed(name, "-m", "gradtape"), recorded(name))
