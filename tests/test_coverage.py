"""docs/coverage.md is up to date."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def coverage():
    spec = importlib.util.spec_from_file_location("coverage_table", ROOT / "tools" / "coverage.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_lists_supported_and_missing_symbols(coverage):
    listed = coverage.parse_presence((ROOT / "docs" / "coverage.md").read_text(encoding="utf-8"))
    assert listed == coverage.find_presence(), "run: python tools/coverage.py"


def test_orders_are_found_by_differentiating(coverage):
    tf = coverage.tf

    @tf.custom_gradient
    def once(x):
        return x * x, lambda g: g * tf.stop_gradient(2 * x)

    x = {"x": coverage.X}
    coverage.tf = type("namespace", (), {"__getattr__": lambda _, name: getattr(tf, name)})()
    coverage.tf.once = once
    try:
        assert coverage.order_of("tf.floor(x)", x, "x") == 0
        assert coverage.order_of("tf.once(x)", x, "x") == 1
        assert coverage.order_of("tf.transpose(x)", x, "x") == coverage.HIGHEST
        assert coverage.order_of("tf.sin(x)", x, "x") == coverage.HIGHEST
    finally:
        coverage.tf = tf
