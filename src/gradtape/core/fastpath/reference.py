"""Readable functions that define what the generated ones do; GRADTAPE_REFERENCE=1 uses them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from gradtape.core.context import local
from gradtape.core.dispatch import bind
from gradtape.core.errors import REDISPATCH, redispatch
from gradtape.core.ports import DevicePort, devices
from gradtape.core.primitive import Primitive
from gradtape.core.tensor import EagerTensor, Tensor
from gradtape.core.traceback_filter import hide_library_frames


def make_reference_primitive(op: Primitive) -> Any:
    """Make the function of a primitive: `bind` if an argument is a Tensor, else the kernel."""

    def function(*args: Any, **static: Any) -> Any:
        if not op.variadic:
            args += tuple(static.pop(name) for name in op.inputs[len(args) :])
        if any(isinstance(a, Tensor) for a in args):
            return bind(op, args, static)
        if devices.active:
            return DevicePort.run_kernel_raw(op, args, static)
        return op.kernel(*args, **static)

    function.__name__ = function.__qualname__ = op.name
    return function


def make_reference_public(
    op: Primitive,
    allowed: frozenset[Any],
    weak: dict[type, frozenset[Any]],
    convert_and_call: Callable[..., Any],
    names: tuple[str, ...],
    numbers: tuple[bool, bool],
    signature: inspect.Signature,
) -> Any:
    """Make a public elementwise function: `bind` on operands of one allowed dtype, else convert."""

    def needs_conversion(operands: list[Any]) -> bool:
        arrays = [v._array for v in operands if type(v) is EagerTensor]
        if local.device is not None or len({a.dtype for a in arrays}) != 1:
            return True
        dtype = arrays[0].dtype
        if len(arrays) == len(operands):
            return dtype not in allowed
        number, is_accepted = next(
            (v, accepted)
            for v, accepted in zip(operands, numbers, strict=False)
            if type(v) is not EagerTensor
        )
        return not is_accepted or dtype not in weak.get(type(number), ())

    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            given = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{op.name}() {error}") from None
        try:
            operands = [
                v._read() if hasattr(v, "_read") else v
                for v in (given.arguments[name] for name in names)
            ]
            if needs_conversion(operands):
                return convert_and_call(*operands)
            return bind(op, tuple(operands), {})
        except REDISPATCH as error:
            return redispatch(error, function, given.args, {})
        except Exception as error:
            hide_library_frames(error)
            raise

    function.__name__ = function.__qualname__ = op.name
    return function
