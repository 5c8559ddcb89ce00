"""The programs of `examples/` print the same on gradtape and on TensorFlow."""

import pytest

from tests.running import PLAIN, WITH_KERAS, assert_same, printed, recorded


@pytest.mark.parametrize("name", PLAIN + WITH_KERAS)
def test_a_program_prints_the_same_on_both(name):
    theirs = printed(name)
    assert_same(printed(name, "-m", "gradtape"), theirs)
    assert_same(recorded(name), theirs)
