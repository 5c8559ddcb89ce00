"""Source expressions that apply a kernel; simple kernels are inlined instead of called."""

from __future__ import annotations

from types import CodeType
from typing import Any

import numpy as np

from gradtape.core.primitive import Primitive

FLOAT32 = np.dtype("float32")


class ScalarCache(dict[Any, Any]):
    """Cache of Python numbers as 0-d float32 arrays, which ufuncs handle twice as fast."""

    def __missing__(self, number: Any) -> Any:
        """Make an array; cache it unless it is zero (0.0 == -0.0) or NaN (never equal)."""
        if abs(number) > (1 << 24 if type(number) is int else 1e38):
            return number  # the conversion could round or overflow
        made = np.array(number, np.float32)
        made.flags.writeable = False
        if number and number == number:
            if len(self) > 1024:
                self.clear()
            self[number] = made
        return made


SCALAR_CACHE = ScalarCache()


def as_operand(number: str, raw: str, single: bool) -> str:
    """Expression for a Python number as the kernel takes it next to `raw`."""
    if not single:
        return number
    return (
        f"SCALAR_CACHE[{number}] if type({raw}) is ndarray and {raw}.dtype is FLOAT32 else {number}"
    )


# Kernels of one expression, recognised by their bytecode. Inlining them saves a Python call.
INLINE_EXPRESSIONS: dict[bytes, str] = {
    function.__code__.co_code: text
    for function, text in (
        (lambda a, b: a + b, "{} + {}"),
        (lambda a, b: a - b, "{} - {}"),
        (lambda a, b: a * b, "{} * {}"),
        (lambda a, b: a / b, "{} / {}"),
        (lambda x: x * x, "{0} * {0}"),
        (lambda x: -x, "-{}"),
    )
}
UFUNC_KERNELS = frozenset(
    function.__code__.co_code for function in (lambda x: np.exp(x), lambda a, b: np.maximum(a, b))
)


def kernel_expression(op: Primitive, values: tuple[str, ...]) -> str:
    """Expression that applies the kernel to these values."""
    text = None if op.statics else INLINE_EXPRESSIONS.get(code_of(op.kernel).co_code)
    return f"kernel({kernel_arguments(op, values)})" if text is None else text.format(*values)


def code_of(kernel: Any) -> CodeType:
    """The code of a kernel; for a kernel that is no function, code that matches no pattern."""
    code: CodeType = getattr(kernel, "__code__", code_of.__code__)
    return code


def ufunc_or_kernel(kernel: Any) -> Any:
    """The ufunc, if the kernel only calls one; else the kernel."""
    code = code_of(kernel)
    if code.co_code in UFUNC_KERNELS and code.co_names[0] == "np":
        function = getattr(np, code.co_names[1], None)
        if isinstance(function, np.ufunc):
            return function
    return kernel


def kernel_arguments(op: Primitive, values: tuple[str, ...]) -> str:
    """Source of the arguments of a call of the kernel."""
    return ", ".join([*values, *(f"{name}={name}" for name in op.statics)])
