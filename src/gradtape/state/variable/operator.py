"""Python's operators for variables: each reads the value and applies the tensor's operator.

Errors end at the user's line. The `try` blocks cost nothing while no error is raised.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

from gradtape.core.tensor import Tensor
from gradtape.core.traceback_filter import hide_library_frames


def make_augmented_assignment_error(operator: str, instead: str) -> RuntimeError:
    """The error of `variable += value`, which would silently rebind the name to a tensor."""
    return RuntimeError(
        f"`variable {operator}= value` is not supported for a tf.Variable. "
        f"Use `variable.{instead}` to change the variable, "
        f"or `out = variable {operator} value` for a new tensor."
    )


class OperatorMethods:
    """Arithmetic, comparison and conversion to Python numbers, all on `self._read()`."""

    __slots__ = ()
    __array_priority__ = 100

    def _read(self) -> Tensor:
        raise NotImplementedError

    def __add__(self, other: Any) -> Tensor:
        try:
            return self._read().__add__(other)
        except Exception as error:
            hide_library_frames(error)
            raise

    def __radd__(self, other: Any) -> Tensor:
        try:
            return self._read().__radd__(other)
        except Exception as error:
            hide_library_frames(error)
            raise

    def __sub__(self, other: Any) -> Tensor:
        try:
            return self._read().__sub__(other)
        except Exception as error:
            hide_library_frames(error)
            raise

    def __rsub__(self, other: Any) -> Tensor:
        try:
            return self._read().__rsub__(other)
        except Exception as error:
            hide_library_frames(error)
            raise

    def __mul__(self, other: Any) -> Tensor:
        try:
            return self._read().__mul__(other)
        except Exception as error:
            hide_library_frames(error)
            raise

    def __rmul__(self, other: Any) -> Tensor:
        try:
            return self._read().__rmul__(other)
        except Exception as error:
            hide_library_frames(error)
            raise

    def __truediv__(self, other: Any) -> Tensor:
        try:
            return self._read().__truediv__(other)
        except Exception as error:
            hide_library_frames(error)
            raise

    def __rtruediv__(self, other: Any) -> Tensor:
        try:
            return self._read().__rtruediv__(other)
        except Exception as error:
            hide_library_frames(error)
            raise

    def __floordiv__(self, other: Any) -> Tensor:
        try:
            return self._read().__floordiv__(other)
        except Exception as error:
            hide_library_frames(error)
            raise

    def __rfloordiv__(self, other: Any) -> Tensor:
        try:
            return self._read().__rfloordiv__(other)
        except Exception as error:
            hide_library_frames(error)
            raise

    def __mod__(self, other: Any) -> Tensor:
        try:
            return self._read().__mod__(other)
        except Exception as error:
            hide_library_frames(error)
            raise

    def __rmod__(self, other: Any) -> Tensor:
        try:
            return self._read().__rmod__(other)
        except Exception as error:
            hide_library_frames(error)
            raise

    def __pow__(self, other: Any) -> Tensor:
        try:
            return self._read().__pow__(other)
        except Exception as error:
            hide_library_frames(error)
            raise

    def __rpow__(self, other: Any) -> Tensor:
        try:
            return self._read().__rpow__(other)
        except Exception as error:
            hide_library_frames(error)
            raise

    def __matmul__(self, other: Any) -> Tensor:
        try:
            return self._read().__matmul__(other)
        except Exception as error:
            hide_library_frames(error)
            raise

    def __rmatmul__(self, other: Any) -> Tensor:
        try:
            return self._read().__rmatmul__(other)
        except Exception as error:
            hide_library_frames(error)
            raise

    def __and__(self, other: Any) -> Tensor:
        try:
            return self._read().__and__(other)
        except Exception as error:
            hide_library_frames(error)
            raise

    def __rand__(self, other: Any) -> Tensor:
        try:
            return self._read().__rand__(other)
        except Exception as error:
            hide_library_frames(error)
            raise

    def __or__(self, other: Any) -> Tensor:
        try:
            return self._read().__or__(other)
        except Exception as error:
            hide_library_frames(error)
            raise

    def __ror__(self, other: Any) -> Tensor:
        try:
            return self._read().__ror__(other)
        except Exception as error:
            hide_library_frames(error)
            raise

    def __xor__(self, other: Any) -> Tensor:
        try:
            return self._read().__xor__(other)
        except Exception as error:
            hide_library_frames(error)
            raise

    def __rxor__(self, other: Any) -> Tensor:
        try:
            return self._read().__rxor__(other)
        except Exception as error:
            hide_library_frames(error)
            raise

    def __lt__(self, other: Any) -> Tensor:
        try:
            return self._read().__lt__(other)
        except Exception as error:
            hide_library_frames(error)
            raise

    def __le__(self, other: Any) -> Tensor:
        try:
            return self._read().__le__(other)
        except Exception as error:
            hide_library_frames(error)
            raise

    def __gt__(self, other: Any) -> Tensor:
        try:
            return self._read().__gt__(other)
        except Exception as error:
            hide_library_frames(error)
            raise

    def __ge__(self, other: Any) -> Tensor:
        try:
            return self._read().__ge__(other)
        except Exception as error:
            hide_library_frames(error)
            raise

    def __eq__(self, other: object) -> Any:
        return self._read() == other

    def __ne__(self, other: object) -> Any:
        return self._read() != other

    def __neg__(self) -> Tensor:
        return -self._read()

    def __abs__(self) -> Tensor:
        return abs(self._read())

    def __invert__(self) -> Tensor:
        return ~self._read()

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self._read())

    def __bool__(self) -> bool:
        return bool(self._read())

    def __int__(self) -> int:
        return int(self._read())

    def __float__(self) -> float:
        return float(self._read())

    def __complex__(self) -> complex:
        return complex(self._read())

    def __iadd__(self, other: Any) -> NoReturn:
        raise make_augmented_assignment_error("+", "assign_add(value)")

    def __isub__(self, other: Any) -> NoReturn:
        raise make_augmented_assignment_error("-", "assign_sub(value)")

    def __imul__(self, other: Any) -> NoReturn:
        raise make_augmented_assignment_error("*", "assign(variable * value)")

    def __itruediv__(self, other: Any) -> NoReturn:
        raise make_augmented_assignment_error("/", "assign(variable / value)")

    def __ipow__(self, other: Any) -> NoReturn:
        raise make_augmented_assignment_error("**", "assign(variable ** value)")
