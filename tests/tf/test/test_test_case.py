"""tf.test.TestCase: values that its assertions accept, and values that they reject."""

import os
import random

import numpy as np
import pytest

import gradtape as tf

case = tf.test.TestCase()
slices = tf.IndexedSlices(tf.constant([1.0]), tf.constant([1]), tf.constant([2]))
nan = float("nan")

PASSING = [
    lambda: case.assertAllEqual(tf.constant([1, 2]), [1, 2]),
    lambda: case.assertAllEqual(tf.constant(["a"]), [b"a"]),
    lambda: case.assertAllEqual([nan, 1.0], tf.constant([nan, 1.0])),
    lambda: case.assertAllEqual(slices, [0.0, 1.0]),
    lambda: case.assertAllEqual([tf.constant(1), tf.Variable(2)], [1, 2]),
    lambda: case.assertNotAllEqual([1, 2], [1, 3]),
    lambda: case.assertAllClose({"a": tf.ones(2), "b": [1.0]}, {"a": [1.0, 1.0], "b": (1.0,)}),
    lambda: case.assertAllClose([tf.ones(2), 1.0], [np.ones(2), 1.0 + 1e-7]),
    lambda: case.assertAllClose(tf.constant(1.0, tf.bfloat16), 1.0),
    lambda: case.assertNotAllClose([1.0], [1.1]),
    lambda: case.assertAllCloseAccordingToType(tf.constant(1.0, tf.float16), 1.0009),
    lambda: case.assertAllGreater([2, 3], 1),
    lambda: case.assertAllGreaterEqual([1, 3], 1),
    lambda: case.assertAllLess([0, -1], 1),
    lambda: case.assertAllLessEqual([1, -1], 1),
    lambda: case.assertAllInRange([1.0, 2.0], 1.0, 2.0),
    lambda: case.assertAllInSet([1, 1, 2], {1, 2}),
    lambda: case.assertDTypeEqual(tf.ones(1), tf.float32),
    lambda: case.assertShapeEqual(np.ones((2, 3)), tf.ones((2, 3))),
    lambda: case.assertNear(1.0, 1.05, 0.1),
    lambda: case.assertArrayNear([1.0, 2.0], [1.05, 2.0], 0.1),
    lambda: case.assertNDArrayNear(np.ones(2), np.ones(2), 0.1),
    lambda: case.assertDeviceEqual("/device:CPU:0", "/cpu:0"),
]
FAILING = [
    lambda: case.assertAllEqual(tf.constant([1, 2]), [1, 3]),
    lambda: case.assertAllEqual(tf.constant([1]), 1),
    lambda: case.assertNotAllEqual([1, 2], [1, 2]),
    lambda: case.assertAllClose({"a": 1.0}, {"b": 1.0}),
    lambda: case.assertAllClose([tf.ones(2)], [tf.ones(2), tf.ones(2)]),
    lambda: case.assertAllClose(1.0, 1.1),
    lambda: case.assertNotAllClose([1.0], [1.0]),
    lambda: case.assertAllGreater([1, 3], 1),
    lambda: case.assertAllLess([1, 0], 1),
    lambda: case.assertAllInRange([1.0, 2.0], 1.0, 2.0, open_upper_bound=True),
    lambda: case.assertAllInRange([nan], 1.0, 2.0),
    lambda: case.assertAllInSet([1, 3], {1, 2}),
    lambda: case.assertDTypeEqual(tf.ones(1), tf.float64),
    lambda: case.assertShapeEqual(np.ones(2), tf.ones(3)),
    lambda: case.assertNear(1.0, 1.2, 0.1),
]


@pytest.mark.parametrize("assertion", PASSING)
def test_passing_assertions(assertion):
    assertion()


@pytest.mark.parametrize("assertion", FAILING)
def test_failing_assertions(assertion):
    with pytest.raises(AssertionError):
        assertion()


def test_errors_are_matched_by_pattern_or_predicate():
    with case.assertRaisesOpError("Incompatible shapes"):
        tf.ones(2) + tf.ones(3)
    with case.assertRaisesWithPredicateMatch(ValueError, lambda e: "b" in str(e)):
        raise ValueError("abc")
    with pytest.raises(AssertionError), case.assertRaisesOpError("something else"):
        tf.ones(2) + tf.ones(3)
    with pytest.raises(AssertionError, match="not raised"), case.assertRaisesOpError(""):
        pass


def test_evaluate_returns_arrays_in_the_same_structure():
    values = case.evaluate({"a": tf.ones(2), "b": [tf.Variable(3), None]})
    assert isinstance(values["a"], np.ndarray)
    assert values["b"] == [3, None]
    assert isinstance(case.evaluate(slices).values, np.ndarray)


def test_each_test_starts_with_the_same_seeds():
    draws = []
    for _ in range(2):
        case.setUp()
        draws.append((float(tf.random.normal(())), random.random()))
    assert draws[0] == draws[1]


def test_an_error_in_a_thread_fails_the_test():
    thread = case.checkedThread(lambda: 1 / 0)
    thread.start()
    with pytest.raises(AssertionError, match="division"):
        thread.join()


def test_a_test_has_one_temporary_directory():
    case = tf.test.TestCase()
    first = case.get_temp_dir()
    assert case.get_temp_dir() == first
    case.doCleanups()
    assert not os.path.exists(first)
    assert case.get_temp_dir() != first
    case.doCleanups()


def test_strings_equal_their_bytes():
    case = tf.test.TestCase()
    case.assertAllEqual(tf.constant(["ab", "ü"]), ["ab", "ü"])
    case.assertAllEqual([["ab"]], tf.constant([[b"ab"]]))
    with pytest.raises(AssertionError):
        case.assertAllEqual(tf.constant(["ab"]), ["ac"])
