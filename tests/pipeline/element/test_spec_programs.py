"""Element specs of many datasets, compared with those that TensorFlow infers."""

from __future__ import annotations

import json
from typing import Any

import pytest

import gradtape as tf
from tests.pipeline.element.spec_programs import PROGRAMS, RECORDED, show_spec

EXPECTED: dict[str, Any] = json.loads(RECORDED.read_text())
MORE_PRECISE = {
    "bincount": "a static maxlength is the size",
    "generator_of_sparse": "a sum of a sparse tensor of known rank has a known rank",
    "mutable_table_lookup": "values have the shape of the keys",
    "py_function_with_specs": "the user states the shape of the result",
    "set_operations": "the sets of a tensor of known rank have a known rank",
    "tensor_array": "a loop over a known range writes a known number of elements",
}
"""Programs whose specs are more precise than TensorFlow's, with the reason."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_element_spec_is_that_of_tensorflow(name: str) -> None:
    made = PROGRAMS[name](tf)
    made = made if isinstance(made, tuple) else (made,)
    found = [show_spec(tf, one.element_spec) for one in made]
    if name not in MORE_PRECISE:
        assert found == EXPECTED[name]
    else:
        assert found != EXPECTED[name]
        assert is_within(found, EXPECTED[name])


def is_within(found: Any, expected: Any) -> bool:
    """Whether a shown spec is as precise as another, or more."""
    if expected is None or found == expected:
        return True
    if isinstance(found, dict):
        return found.keys() == expected.keys() and all(
            is_within(found[key], expected[key]) for key in found
        )
    return (
        isinstance(found, list)
        and isinstance(expected, list)
        and len(found) == len(expected)
        and all(map(is_within, found, expected))
    )
