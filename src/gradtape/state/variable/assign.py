"""Methods of variables that assign, add to or subtract from the value, or assign to a slice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from gradtape.core import dtypes
from gradtape.core.context import local, use_recorders
from gradtape.core.convert import convert
from gradtape.core.dispatch import run_kernel
from gradtape.core.errors import (
    REDISPATCH,
    InvalidArgumentError,
    OutOfRangeError,
    public,
    raise_call_error,
    redispatch,
)
from gradtape.core.open_shape import fits_shape, has_dims, hide_dims
from gradtape.core.shapes import TensorShape
from gradtape.core.tensor import EagerTensor, Tensor
from gradtape.core.traceback_filter import hide_library_frames
from gradtape.ops.elementwise import add, subtract
from gradtape.state.variable import scatter_kernel
from gradtape.state.variable.storage import active_trace


class AssignMethods:
    """The assign methods of a variable; they return an alias of the variable."""

    __slots__ = ()

    _dtype: dtypes.DType
    _raw_dtype: Any
    _shape: TensorShape
    _lock: Any
    _stored_version: Callable[[], Tensor]
    _current_version: Callable[[], Tensor]
    _install: Callable[[Any], None]
    _update: Callable[..., None]
    _assignment_result: Callable[..., Any]
    value: Callable[[], Tensor]
    name: Any

    def _as_raw_value(self, value: Any) -> Any:
        """The raw array of an assigned value, in the variable's dtype."""
        if type(value) is EagerTensor and value._array.dtype is self._raw_dtype:
            return value._array
        return convert(value, self._dtype)._array

    def assign(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Self:
        """Replace the value.

        Args:
            value: a tensor or convertible value, of this dtype and a compatible shape.
            use_locking: ignored; updates are always atomic.
            name: ignored.
            read_value: whether to return an alias of the variable.

        Returns:
            An alias of the variable, or None if `read_value` is False.

        Raises:
            ValueError: if the shape or dtype does not match; the variable is unchanged then.
        """
        try:
            return self._replace(value, read_value)
        except REDISPATCH as error:
            return redispatch(error, type(self)._replace, (self, value, read_value), {})
        except Exception as error:
            try:
                raise_call_error(error, type(self).assign, (self, value), {})
            except Exception as final:
                hide_library_frames(final)
                raise

    def _replace(self, value: Any, read_value: bool) -> Any:
        trace = active_trace()
        raw = (
            self._as_raw_value(value)
            if trace is None
            else (value := convert(value, self._dtype))._array
        )
        is_known = trace is None or not has_dims(raw.shape)
        is_as_before = is_known and raw.shape == self._stored_version()._array.shape
        if not is_as_before and not fits_shape(raw.shape, self._shape):
            raise ValueError(
                f"Cannot assign value to variable {self.name!r}: Shape mismatch. The variable "
                f"shape {self._shape}, and the assigned value shape {hide_dims(raw.shape)} are "
                "incompatible."
            )
        if trace is None:
            self._install(raw)
        else:
            trace.write_variable(self, value)
        return self._assignment_result(read_value)

    def assign_add(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Self:
        """Add `delta` of the variable's shape and dtype; see `assign` for the other arguments.

        Args:
            delta: what to add, of the variable's shape.
            use_locking: has no effect here.
            name: has no effect here.
            read_value: whether to return the variable.

        Returns:
            The variable, or None.

        Example:
            >>> v = tf.Variable([1.0, 2.0])
            >>> v.assign_add([10.0, 20.0]).numpy()
            array([11., 22.], dtype=float32)
        """
        try:
            return self._apply_delta(add, np.add, delta, read_value)
        except Exception as error:
            try:
                raise_call_error(error, type(self).assign_add, (self, delta), {})
            except Exception as final:
                hide_library_frames(final)
                raise

    def assign_sub(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Self:
        """Subtract `delta` of the variable's shape and dtype; see `assign` for other arguments.

        Args:
            delta: what to subtract, of the variable's shape.
            use_locking: has no effect here.
            name: has no effect here.
            read_value: whether to return the variable.

        Returns:
            The variable, or None.
        """
        try:
            return self._apply_delta(subtract, np.subtract, delta, read_value)
        except Exception as error:
            try:
                raise_call_error(error, type(self).assign_sub, (self, delta), {})
            except Exception as final:
                hide_library_frames(final)
                raise

    def _apply_delta(self, function: Any, operation: np.ufunc, delta: Any, read_value: bool) -> Any:
        recorders = local.recorders
        if not recorders or not recorders[0].is_trace:
            self._update(apply_delta, self, function.op, operation, self._as_raw_value(delta))
            return self._assignment_result(read_value)
        trace = recorders[0]
        delta = convert(delta, self._dtype)
        check_delta(self._current_version()._array, self, function.op, delta._array)
        with use_recorders((trace,)):
            trace.write_variable(self, function(trace.read_variable(self), delta))
        return self._assignment_result(read_value)

    def _assign_slice(self, key: Any, value: Any, name: str | None = None) -> Any:
        raw = convert(value, self._dtype)._array
        return self._apply_update(
            scatter_kernel.update_slice, scatter_kernel.as_static_index(key), raw
        )

    def _apply_update(self, function: Callable[..., Any], *args: Any) -> Any:
        """Install the result of `function(array, own, *args)`; see `_update`. Works in traces."""
        trace = active_trace()
        if trace is None:
            self._update(function, *args)
        else:
            trace.write_variable(
                self, trace.call_raw(function, (self._current_version()._array, False, *args))
            )
        return self._assignment_result()

    def load(self, value: Any, session: Any = None) -> None:
        """Replace the value; TensorFlow 1's name for `assign`.

        Args:
            value: the new value.
            session: has no effect here.

        Returns:
            None.
        """
        self.assign(value, read_value=False)

    @public
    def count_up_to(self, limit: int) -> Tensor:
        """Add one unless `limit` is reached.

        Args:
            limit: the largest value.

        Returns:
            The previous value.

        Raises:
            OutOfRangeError: if the value is `limit` or more.
        """
        if self._dtype not in (dtypes.int32, dtypes.int64):
            raise InvalidArgumentError(
                f"count_up_to: the variable must be int32 or int64. Received {self._dtype.name}."
            )
        if active_trace() is None:
            counted: list[Any] = []
            self._update(count_up, limit, counted)
            return convert(counted[0])
        before = self.value()
        if int(before) >= limit:
            raise OutOfRangeError(f"count_up_to: reached the limit of {limit}.")
        self.assign_add(1, read_value=False)
        return before


def count_up(array: Any, own: bool, limit: int, counted: list[Any]) -> Any:
    """`array` plus one, unless `limit` is reached; the old value is appended to `counted`."""
    if int(array) >= limit:
        raise OutOfRangeError(f"count_up_to: reached the limit of {limit}.")
    counted.append(array.copy())
    return run_kernel(add.op, (array, array.dtype.type(1)), {})


def apply_delta(
    array: Any, own: bool, variable: AssignMethods, op: Any, operation: np.ufunc, delta: Any
) -> Any:
    """Add `delta` to `array`, or subtract it; in place if `own`."""
    if array.shape != delta.shape or array.dtype.kind in "bO":
        check_delta(array, variable, op, delta)
    if not own:
        return run_kernel(op, (array, delta), {})
    try:
        return operation(array, delta, array)
    except (RuntimeWarning, FloatingPointError):
        return array  # raised after NumPy has computed all elements


def check_delta(array: Any, variable: AssignMethods, op: Any, delta: Any) -> None:
    """Raise unless `delta` can be added to `array`."""
    if array.shape != delta.shape:
        raise InvalidArgumentError(
            f"Cannot update variable with shape {list(array.shape)} using a Tensor with "
            f"shape {list(delta.shape)}, shapes must be equal. (Variable: {variable.name!r})"
        )
    if array.dtype.kind in "bO":
        raise InvalidArgumentError(f"assign_{op.name}: not defined for {variable._dtype.name}.")
