"""Assertions about tensors and arrays, in the manner of unittest."""

# ruff: noqa: N802, PT009 - assertions follow unittest's naming, and call unittest's own

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from gradtape.core.errors import InvalidArgumentError, OpError
from gradtape.tf.config.device import parse_kind_and_number
from gradtape.tf.test.array_comparison import (
    as_comparable,
    describe_difference,
    is_structure,
    to_numpy_array,
)
from gradtape.tf.test.base_class import test_case_base


class TensorAssertions(test_case_base()):  # type: ignore[misc]
    """The assertions of tf.test.TestCase."""

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
