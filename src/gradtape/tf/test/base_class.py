"""The base class of tf.test.TestCase."""

from __future__ import annotations

import importlib
import importlib.util
import unittest
from typing import Any


def test_case_base() -> Any:
    """The base class: absl's TestCase, as in TensorFlow, if absl is installed, else unittest's."""
    if importlib.util.find_spec("absl") is None:
        return unittest.TestCase
    return importlib.import_module("absl.testing.absltest").TestCase
