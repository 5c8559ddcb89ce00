"""Unmodified TensorFlow programs run on gradtape and print what they print on TensorFlow."""

import pytest

from tests.running import PLAIN, ROOT, WITH_KERAS, assert_same, printed, recorded


@pytest.mark.parametrize("name", PLAIN)
def test_a_program_prints_what_it_prints_on_tensorflow(name):
    assert_same(printed(name, "-m", "gradtape"), recorded(name))


def test_every_program_is_listed():
    programs = {p.stem for p in (ROOT / "examples").glob("*.py") if "tensorflow" in p.read_text()}
    assert programs == {*PLAIN, *WITH_KERAS, "train_digits"}
