"""Methods of variables that assign, add to or subtract from the value, or assign to a slice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.context import listening, local
from gradtape.core.convert import convert
from gradtape.core.dispatch import evaluate
from gradtape.core.errors import (
    UNUSUAL,
    InvalidArgumentError,
    OutOfRangeError,
    another_way,
    hide_library,
    public,
)
from gradtape.core.shapes import TensorShape
from gradtape.core.tensor import EagerTensor, Tensor
from gradtape.ops.elementwise import add, subtract
from gradtape.state.variable import scatter_kernel
from gradtape.state.variable.storage import tracing


class Assigning:
    """The assign methods of a variable; they return an alias of the variable."""

    __slots__ = ()

    _dtype: dtypes.DType
    _raw_dtype: Any
    _shape: TensorShape
    _lock: Any
    _version: Callable[[], Tensor]
    _current: Callable[[], Tensor]
    _install: Callable[[Any], None]
    _update: Callable[..., None]
    _changed: Callable[..., Any]
    value: Callable[[], Tensor]
    name: Any

    def _taken(self, value: Any) -> Any:
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
    ) -> Any:
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
        except UNUSUAL as error:
            return another_way(error, type(self)._replace, (self, value, read_value), {})
        except Exception as error:
            hide_library(error)
            raise

    def _replace(self, value: Any, read_value: bool) -> Any:
        trace = tracing()
        raw = self._taken(value) if trace is None else (value := convert(value, self._dtype))._array
        before = self._version()._array.shape
        if raw.shape != before and not self._shape.is_compatible_with(raw.shape):
            raise ValueError(
                f"Cannot assign value to variable {self.name!r}: Shape mismatch. The variable "
                f"shape {self._shape}, and the assigned value shape {raw.shape} are incompatible."
            )
        if trace is None:
            self._install(raw)
        else:
            trace.write(self, value)
        return self._changed(read_value)

    def assign_add(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Add `delta` of the variable's shape and dtype; see `assign` for the other arguments."""
        try:
            return self._shift(add, np.add, delta, read_value)
        except Exception as error:
            hide_library(error)
            raise

    def assign_sub(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Subtract `delta` of the variable's shape and dtype; see `assign` for other arguments."""
        try:
            return self._shift(subtract, np.subtract, delta, read_value)
        except Exception as error:
            hide_library(error)
            raise

    def _shift(self, function: Any, operation: np.ufunc, delta: Any, read_value: bool) -> Any:
        recorders = local.recorders
        if not recorders or not recorders[0].stages:
            self._update(shifted, self, function.op, operation, self._taken(delta))
            return self._changed(read_value)
        trace = recorders[0]
        delta = convert(delta, self._dtype)
        check_shift(self._current()._array, self, function.op, delta._array)
        with listening((trace,)):
            trace.write(self, function(trace.read(self), delta))
        return self._changed(read_value)

    def _assign_slice(self, key: Any, value: Any, name: str | None = None) -> Any:
        raw = convert(value, self._dtype)._array
        return self._rewrite(scatter_kernel.sliced, scatter_kernel.plain_key(key), raw)

    def _rewrite(self, function: Callable[..., Any], *args: Any) -> Any:
        """Install the result of `function(array, own, *args)`; see `_update`. Works in traces."""
        trace = tracing()
        if trace is None:
            self._update(function, *args)
        else:
            trace.write(self, trace.call(function, (self._current()._array, False, *args)))
        return self._changed()

    def load(self, value: Any, session: Any = None) -> None:
        """Replace the value; TensorFlow 1's name for `assign`."""
        self.assign(value, read_value=False)

    @public
    def count_up_to(self, limit: int) -> Tensor:
        """Add one unless `limit` is reached.

        Returns:
            The previous value.

        Raises:
            OutOfRangeError: if the value is `limit` or more.
        """
        if self._dtype not in (dtypes.int32, dtypes.int64):
            raise InvalidArgumentError(
                f"count_up_to: the variable must be int32 or int64. Received {self._dtype.name}."
            )
        with self._lock:
            before = self.value()
            if int(before) >= limit:
                raise OutOfRangeError(f"count_up_to: reached the limit of {limit}.")
            self.assign_add(1, read_value=False)
        return before


def shifted(
    array: Any, own: bool, variable: Assigning, op: Any, operation: np.ufunc, delta: Any
) -> Any:
    """Add `delta` to `array`, or subtract it; in place if `own`."""
    if array.shape != delta.shape or array.dtype.kind in "bO":
        check_shift(array, variable, op, delta)
    if not own:
        return evaluate(op, (array, delta), {})
    try:
        return operation(array, delta, array)
    except (RuntimeWarning, FloatingPointError):
        return array  # raised after NumPy has computed all elements


def check_shift(array: Any, variable: Assigning, op: Any, delta: Any) -> None:
    """Raise unless `delta` can be added to `array`."""
    if array.shape != delta.shape:
        raise InvalidArgumentError(
            f"Cannot update variable with shape {list(array.shape)} using a Tensor with "
            f"shape {list(delta.shape)}, shapes must be equal. (Variable: {variable.name!r})"
        )
    if array.dtype.kind in "bO":
        raise InvalidArgumentError(f"assign_{op.name}: not defined for {variable._dtype.name}.")
