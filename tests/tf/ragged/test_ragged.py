"""Ragged tensors: every expression of `cases.py` gives the result recorded from TensorFlow."""

import json
from importlib import import_module
from pathlib import Path

import pytest

import gradtape as tf
from gradtape.tf.ragged import dispatch
from tests.tf.ragged import cases

RECORDED = [
    json.loads(line) for line in Path(__file__).with_name("recorded.jsonl").read_text().splitlines()
]


def test_every_expression_has_a_recorded_result():
    assert [expression for _, expression in cases.cases()] == [e for e, _ in RECORDED]


@pytest.mark.parametrize(
    ("setup", "expression", "recorded"),
    [(s, e, r) for (s, e), (_, r) in zip(cases.cases(), RECORDED, strict=True)],
    ids=[expression for expression, _ in RECORDED],
)
def test_result_equals_the_recorded_one(setup, expression, recorded):
    assert cases.outcome(tf, setup, expression) == recorded


def test_every_function_in_the_dispatch_tables_exists():
    for home, name in [*dispatch.FLAT_VALUES_KEYS, *dispatch.IMPLEMENTATION_MODULES]:
        function = getattr(import_module(f"gradtape.tf.{home}"), name)
        bare = getattr(function, "__wrapped__", function)
        assert (bare.__module__, bare.__name__) == (f"gradtape.tf.{home}", name)
        assert dispatch.find_ragged_implementation(bare) is not None


def test_a_function_without_ragged_implementation_raises():
    with pytest.raises(
        ValueError,
        match=r"RaggedTensor of shape \(2, None\) cannot be converted to a Tensor.*to_tensor",
    ):
        tf.transpose(tf.ragged.constant([[1], [2, 3]]))
