"""tf.test.TestCase: unittest's TestCase with assertions about tensors and arrays."""

# ruff: noqa: N802, PT009 - assertions follow unittest's naming, and call unittest's own

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import random
import re
import tempfile
import threading
import unittest
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from gradtape.core import nest
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, OpError
from gradtape.tape.indexed_slices import IndexedSlices
from gradtape.tf.config.device import parse_kind_and_number
from gradtape.tf.random.stateful import set_seed

TEST_SEED = 87654321


def test_case_base() -> Any:
    """The base class: absl's TestCase, as in TensorFlow, if absl is installed, else unittest's."""
    if importlib.util.find_spec("absl") is None:
        return unittest.TestCase
    return importlib.import_module("absl.testing.absltest").TestCase


class TestCase(test_case_base()):  # type: ignore[misc]
    """A unittest.TestCase that compares tensors; each test starts with the same random seeds.

    Example:
        >>> class SquareTest(tf.test.TestCase):
        ...     def test_square(self):
        ...         self.assertAllClose(tf.square([1.0, 2.0]), [1.0, 4.0])
    """

    _directory: str | None = None

    def setUp(self) -> None:
        """Seed the random generators of Python, NumPy and gradtape.

        Returns:
            None.
        """
        super().setUp()
        random.seed(TEST_SEED)
        np.random.seed(TEST_SEED)  # noqa: NPY002 - the tests use the global generator
        set_seed(TEST_SEED)

    # -- values

    def evaluate(self, tensors: Any) -> Any:
        """NumPy values of a structure of tensors.

        Args:
            tensors: a structure of tensors.

        Returns:
            A structure of arrays.
        """
        return nest.map_structure(to_numpy_value, tensors, expand_composites=True)

    def evaluate_if_both_tensors(self, a: Any, b: Any) -> tuple[Any, Any]:
        """NumPy values of two tensors; other values unchanged.

        Args:
            a: a value that converts to an array.
            b: another one.

        Returns:
            A pair.
        """
        both = all(hasattr(t, "numpy") for t in (a, b))
        return (to_numpy_value(a), to_numpy_value(b)) if both else (a, b)

    def get_temp_dir(self) -> str:
        """A temporary directory that exists while the test runs; the same one for every call.

        Returns:
            A path.
        """
        if self._directory is None:
            directory = tempfile.TemporaryDirectory()
            self._directory = directory.name
            self.addCleanup(self._forget_directory, directory)
        return self._directory

    def _forget_directory(self, directory: tempfile.TemporaryDirectory[str]) -> None:
        """Delete the directory; the test gets a new one if it runs again."""
        self._directory = None
        directory.cleanup()

    @contextlib.contextmanager
    def session(
        self, graph: Any = None, config: Any = None, use_gpu: bool = True, force_gpu: bool = False
    ) -> Iterator[TestCase]:
        """Scope that does nothing: eager mode has no session.

        Args:
            graph: has no effect here.
            config: has no effect here.
            use_gpu: has no effect here.
            force_gpu: has no effect here.

        Returns:
            A context manager.
        """
        yield self

    cached_session = test_session = session

    def checkedThread(
        self, target: Callable[..., Any], args: Any = None, kwargs: Any = None
    ) -> CheckedThread:
        """A thread that fails the test when `target` raises; call `start` and `join`.

        Args:
            target: the function to run.
            args: its arguments.
            kwargs: its keyword arguments.

        Returns:
            A thread.
        """
        return CheckedThread(self, target, args or (), kwargs or {})

    # -- equality and closeness

    def assertAllEqual(self, a: Any, b: Any, msg: Any = None) -> None:
        """Assert that all elements are equal; NaNs count as equal.

        Args:
            a: a value that converts to an array.
            b: another one.
            msg: text that is shown if the assertion fails.

        Returns:
            None.
        """
        left, right = to_numpy_array(a), to_numpy_array(b)
        self._check_equal_shapes(left, right, msg)
        equal = left == right
        if left.dtype.kind in "fcV" and right.dtype.kind in "fcV":
            equal = equal | ((left != left) & (right != right))
        if not np.all(equal):
            self.fail(describe_difference("not equal", left, right, ~np.asarray(equal), msg))

    def assertNotAllEqual(self, a: Any, b: Any, msg: Any = None) -> None:
        """Assert that some elements differ.

        Args:
            a: a value that converts to an array.
            b: another one.
            msg: text that is shown if the assertion fails.

        Returns:
            None.
        """
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        self.fail(f"The two values are equal at all elements. {msg or ''}")

    def assertAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: Any = None
    ) -> None:
        """Assert that elements differ by at most `atol + rtol * abs(b)`; also in structures.

        Args:
            a: a value that converts to an array.
            b: another one.
            rtol: the relative tolerance.
            atol: the absolute tolerance.
            msg: text that is shown if the assertion fails.

        Returns:
            None.
        """
        if isinstance(a, Mapping) or isinstance(b, Mapping):
            self.assertEqual(set(a), set(b), msg)
            for key in a:
                self.assertAllClose(a[key], b[key], rtol, atol, f"at key {key!r}. {msg or ''}")
            return
        if is_structure(a) and is_structure(b):
            self.assertEqual(len(a), len(b), msg)
            for i, (x, y) in enumerate(zip(a, b, strict=True)):
                self.assertAllClose(x, y, rtol, atol, f"at position {i}. {msg or ''}")
            return
        left, right = as_comparable(to_numpy_array(a)), as_comparable(to_numpy_array(b))
        self._check_equal_shapes(left, right, msg)
        close = np.isclose(left, right, rtol=rtol, atol=atol, equal_nan=True)
        if not close.all():
            self.fail(describe_difference("not close", left, right, ~close, msg))

    def assertNotAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: Any = None
    ) -> None:
        """Assert that some elements differ by more than `atol + rtol * abs(b)`.

        Args:
            a: a value that converts to an array.
            b: another one.
            rtol: the relative tolerance.
            atol: the absolute tolerance.
            msg: text that is shown if the assertion fails.

        Returns:
            None.
        """
        try:
            self.assertAllClose(a, b, rtol, atol)
        except AssertionError:
            return
        self.fail(f"The two values are close at all elements. {msg or ''}")

    def assertAllCloseAccordingToType(
        self,
        a: Any,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: Any = None,
    ) -> None:
        """As `assertAllClose`, with a tolerance that suits the less precise dtype.

        Args:
            a: a value that converts to an array.
            b: another one.
            rtol: the relative tolerance.
            atol: the absolute tolerance.
            float_rtol: `rtol` of float32.
            float_atol: `atol` of float32.
            half_rtol: `rtol` of float16.
            half_atol: `atol` of float16.
            bfloat16_rtol: `rtol` of bfloat16.
            bfloat16_atol: `atol` of bfloat16.
            msg: text that is shown if the assertion fails.

        Returns:
            None.
        """
        kinds = {to_numpy_array(a).dtype.name, to_numpy_array(b).dtype.name}
        for names, r, t in (
            (("float32", "complex64"), float_rtol, float_atol),
            (("float16",), half_rtol, half_atol),
            (("bfloat16",), bfloat16_rtol, bfloat16_atol),
        ):
            if kinds.intersection(names):
                rtol, atol = max(rtol, r), max(atol, t)
        self.assertAllClose(a, b, rtol, atol, msg)

    def assertNear(self, f1: Any, f2: Any, err: float, msg: Any = None) -> None:
        """Assert that two numbers differ by at most `err`.

        Args:
            f1: a number.
            f2: another one.
            err: the largest difference that passes.
            msg: text that is shown if the assertion fails.

        Returns:
            None.
        """
        self.assertTrue(
            f1 == f2 or abs(f1 - f2) <= err, f"{f1!r} != {f2!r} +/- {err!r}. {msg or ''}"
        )

    def assertArrayNear(self, farray1: Any, farray2: Any, err: float, msg: Any = None) -> None:
        """Assert that two lists of numbers differ by at most `err`.

        Args:
            farray1: a list of numbers.
            farray2: another one.
            err: the largest difference that passes.
            msg: text that is shown if the assertion fails.

        Returns:
            None.
        """
        self.assertEqual(len(farray1), len(farray2), msg)
        for f1, f2 in zip(farray1, farray2, strict=True):
            self.assertNear(float(f1), float(f2), err, msg)

    def assertNDArrayNear(self, ndarray1: Any, ndarray2: Any, err: float, msg: Any = None) -> None:
        """Assert that the norm of the difference of two arrays is below `err`.

        Args:
            ndarray1: an array.
            ndarray2: another one.
            err: the largest difference that passes.
            msg: text that is shown if the assertion fails.

        Returns:
            None.
        """
        left, right = to_numpy_array(ndarray1), to_numpy_array(ndarray2)
        self.assertTrue(np.linalg.norm(left - right) < err, msg)

    # -- ranges and sets

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """Assert that all elements are greater.

        Args:
            a: a value that converts to an array.
            comparison_target: a number.

        Returns:
            None.
        """
        self.assertGreater(to_numpy_array(a).min(), comparison_target)

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """Assert that all elements are greater or equal.

        Args:
            a: a value that converts to an array.
            comparison_target: a number.

        Returns:
            None.
        """
        self.assertGreaterEqual(to_numpy_array(a).min(), comparison_target)

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """Assert that all elements are less.

        Args:
            a: a value that converts to an array.
            comparison_target: a number.

        Returns:
            None.
        """
        self.assertLess(to_numpy_array(a).max(), comparison_target)

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """Assert that all elements are less or equal.

        Args:
            a: a value that converts to an array.
            comparison_target: a number.

        Returns:
            None.
        """
        self.assertLessEqual(to_numpy_array(a).max(), comparison_target)

    def assertAllInRange(
        self,
        target: Any,
        lower_bound: Any,
        upper_bound: Any,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """Assert that all elements lie within bounds, inclusive unless a bound is open.

        Args:
            target: a value that converts to an array.
            lower_bound: the least value.
            upper_bound: the largest value.
            open_lower_bound: whether the least value itself fails.
            open_upper_bound: whether the largest value itself fails.

        Returns:
            None.
        """
        values = to_numpy_array(target)
        if values.dtype.kind not in "fiuV":
            raise AssertionError(f"The value of {target!r} is not numeric.")
        low = values <= lower_bound if open_lower_bound else values < lower_bound
        high = values >= upper_bound if open_upper_bound else values > upper_bound
        bad = low | high | (values != values)
        if bad.any():
            self.fail(
                f"Elements {values[bad]} are not in the range {lower_bound} to {upper_bound}."
            )

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """Assert that all elements belong to the set.

        Args:
            target: a value that converts to an array.
            expected_set: a set of values.

        Returns:
            None.
        """
        outside = set(np.unique(to_numpy_array(target)).tolist()) - set(expected_set)
        self.assertFalse(outside, f"Elements outside of the set {expected_set}: {outside}.")

    # -- types, shapes, devices, errors

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """Assert that the dtype is the expected one.

        Args:
            target: a value that converts to an array.
            expected_dtype: a NumPy dtype.

        Returns:
            None.
        """
        expected = getattr(expected_dtype, "as_numpy_dtype", expected_dtype)
        self.assertEqual(to_numpy_array(target).dtype, np.dtype(expected))

    def assertShapeEqual(self, input_a: Any, input_b: Any, msg: Any = None) -> None:
        """Assert that the shapes are equal.

        Args:
            input_a: a tensor or array.
            input_b: another one.
            msg: text that is shown if the assertion fails.

        Returns:
            None.
        """
        self.assertEqual(tuple(input_a.shape), tuple(input_b.shape), msg)

    def _check_equal_shapes(self, left: Any, right: Any, msg: Any) -> None:
        """Fail if the shapes differ."""
        if left.shape != right.shape:
            self.fail(
                f"Shape mismatch: expected {left.shape}, got {right.shape}. "
                f"Contents: {left!r:.300} and {right!r:.300}. {msg or ''}"
            )

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: Any = None) -> None:
        """Assert that both names mean the same device.

        Args:
            device1: the name of a device.
            device2: another one.
            msg: text that is shown if the assertion fails.

        Returns:
            None.
        """
        first, second = (d and parse_kind_and_number(d) for d in (device1, device2))
        self.assertEqual(first, second, msg)

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(
        self, exception_type: Any, expected_err_re_or_predicate: Any
    ) -> Iterator[None]:
        """Assert that the scope raises this type with a matching message.

        Args:
            exception_type: a class of exceptions.
            expected_err_re_or_predicate: a regular expression, or a function of the exception.

        Returns:
            A context manager.
        """
        try:
            yield
        except exception_type as error:
            matches = expected_err_re_or_predicate
            if not callable(matches):
                pattern = re.compile(matches)
                matches = lambda e: pattern.search(str(e))  # noqa: E731
            if not matches(error):
                raise AssertionError(f"Exception of type {type(error)}: {error}") from error
        else:
            self.fail(f"{exception_type} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        """Assert that the scope raises an OpError with a matching message.

        Args:
            expected_err_re_or_predicate: a regular expression, or a function of the exception.

        Returns:
            A context manager.
        """
        return self.assertRaisesWithPredicateMatch(OpError, expected_err_re_or_predicate)

    def assertRaisesIncompatibleShapesError(
        self, exception_type: Any = InvalidArgumentError
    ) -> Any:
        """Assert that the scope raises the error about shapes that do not broadcast.

        Args:
            exception_type: a class of exceptions.

        Returns:
            A context manager.
        """
        return self.assertRaisesWithPredicateMatch(
            exception_type, r"Incompatible shapes|incompatible"
        )


class CheckedThread:
    """A thread whose exception fails the test."""

    def __init__(self, case: TestCase, target: Any, args: Any, kwargs: Any) -> None:
        """Prepare a thread that calls `target`."""
        self._case = case
        self._error: BaseException | None = None

        def run() -> None:
            try:
                target(*args, **kwargs)
            except Exception as error:
                self._error = error

        self._thread = threading.Thread(target=run)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def join(self) -> None:
        """Wait for the thread, and fail the test if it raised."""
        self._thread.join()
        if self._error is not None:
            self._case.fail(f"Error in checkedThread: {self._error}")

    def is_alive(self) -> bool:
        """Whether the thread is running."""
        return self._thread.is_alive()


def to_numpy_value(thing: Any) -> Any:
    """The NumPy value of a tensor or variable; other values unchanged."""
    return thing.numpy() if hasattr(thing, "numpy") else thing


def to_numpy_array(thing: Any) -> Any:
    """Convert a tensor, or a nested structure of tensors, to one array."""
    if isinstance(thing, IndexedSlices):
        thing = convert(thing)
    array = np.array(
        nest.map_structure(to_numpy_value, thing)
        if nest.is_nested(thing)
        else to_numpy_value(thing)
    )
    return convert(array).numpy() if array.dtype.kind == "U" and array.ndim else array


def as_comparable(array: Any) -> Any:
    """Convert bfloat16 and other ml_dtypes arrays to float32, which NumPy can compare."""
    return array.astype(np.float32) if array.dtype.kind == "V" else array


def is_structure(thing: Any) -> bool:
    """Whether a list holds more than numbers, so that its items are compared one by one."""
    return isinstance(thing, (list, tuple)) and not all(isinstance(t, (int, float)) for t in thing)


def describe_difference(what: str, left: Any, right: Any, bad: Any, msg: Any) -> str:
    """Describe where two arrays differ."""
    where = np.nonzero(np.atleast_1d(bad))
    lhs, rhs = np.atleast_1d(left)[where], np.atleast_1d(right)[where]
    return (
        f"{what} where = {[w.tolist() for w in where]!s:.300}, "
        f"lhs = {lhs!s:.300}, rhs = {rhs!s:.300}, "
        f"dtype = {left.dtype}, shape = {left.shape}. {msg or ''}"
    )
