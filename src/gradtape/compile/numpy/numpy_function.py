"""Handlers for NumPy functions (not ufuncs) on stand-ins; only functions that cannot fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.compile.numpy.abstract_array import (
    FUNCTION_HANDLERS,
    PRODUCT_HANDLERS,
    AbstractArray,
    OpaqueError,
)
from gradtape.compile.numpy.call_recorder import CallRecorder
from gradtape.compile.numpy.program import ValueSpec, broadcast_shape


def record_where(recorder: CallRecorder, *args: Any) -> Any:
    """Record `np.where` with three operands; for scalars the result is a 0-d array."""
    if len(args) != 3:
        raise OpaqueError
    shape = broadcast_shape([a.shape for a in args if hasattr(a, "shape")])
    small = [np.ones(1, a.dtype) if hasattr(a, "dtype") else a for a in args]
    dtype = np.where(*small).dtype
    if dtype.char == "O":
        raise OpaqueError
    return recorder.emit("call", np.where, args, ValueSpec(shape, dtype, True))


def record_product(recorder: CallRecorder, a: Any, b: Any, fn: Any = np.dot) -> Any:
    """Record a matrix product."""
    if not isinstance(a, AbstractArray | np.ndarray) or not isinstance(
        b, AbstractArray | np.ndarray
    ):
        raise OpaqueError
    if "O" in (a.dtype.char, b.dtype.char) or not a.shape or not b.shape:
        raise OpaqueError
    if a.dtype != b.dtype or a.shape[-1] != b.shape[-2 if len(b.shape) > 1 else 0]:
        raise OpaqueError
    if fn is np.matmul and len(a.shape) > 1 and len(b.shape) > 1:
        front = broadcast_shape([a.shape[:-2], b.shape[:-2]])
        shape = (*front, a.shape[-2], b.shape[-1])
        fn = np.dot if len(shape) == 2 else fn
    elif fn is np.dot and len(a.shape) < 3 and len(b.shape) < 3:
        shape = a.shape[:-1] + b.shape[1:]
    else:
        raise OpaqueError
    return recorder.emit("product", fn, (a, b), ValueSpec(shape, a.dtype, shape != ()))


def make_view_handler(fn: Any) -> Callable[..., Any]:
    """Make a handler for a function that returns a view of its first operand."""

    def handler(recorder: CallRecorder, *args: Any, **kwargs: Any) -> Any:
        if kwargs or not isinstance(args[0], AbstractArray):
            raise OpaqueError
        return recorder.record_general_call("view", fn, args)

    return handler


def make_call_handler(fn: Any) -> Callable[..., Any]:
    """Make a handler for a function that returns a new array and cannot fail on values."""

    def handler(recorder: CallRecorder, *args: Any, **kwargs: Any) -> Any:
        if set(kwargs) - {"axis"}:
            raise OpaqueError
        return recorder.record_general_call("call", fn, (*args, *kwargs.values()), cheap=False)

    return handler


def record_concatenate(recorder: CallRecorder, xs: Any, axis: int = 0) -> Any:
    """Record `np.concatenate`."""
    return recorder.record_general_call("call", np.concatenate, (tuple(xs), axis))


def record_stack(recorder: CallRecorder, xs: Any, axis: int = 0) -> Any:
    """Record `np.stack`."""
    return recorder.record_general_call("call", np.stack, (tuple(xs), axis))


FUNCTION_HANDLERS |= {
    np.where: record_where,
    np.dot: record_product,
    np.concatenate: record_concatenate,
    np.stack: record_stack,
    np.transpose: lambda recorder, x, axes=(): x.transpose(axes),
    np.reshape: lambda recorder, x, shape: x.reshape(shape),
    np.ravel: lambda recorder, x: x.ravel(),
    np.swapaxes: lambda recorder, x, a, b: x.swapaxes(a, b),
    np.moveaxis: make_view_handler(np.moveaxis),
    np.squeeze: make_view_handler(np.squeeze),
    np.expand_dims: make_view_handler(np.expand_dims),
    np.flip: make_view_handler(np.flip),
    np.broadcast_to: make_view_handler(np.broadcast_to),
    np.real: lambda recorder, x: x.real,
    np.imag: lambda recorder, x: x.imag,
    np.cumsum: make_call_handler(np.cumsum),
    np.cumprod: make_call_handler(np.cumprod),
    np.argmax: make_call_handler(np.argmax),
    np.argmin: make_call_handler(np.argmin),
    np.sort: make_call_handler(np.sort),
    np.argsort: make_call_handler(np.argsort),
    np.zeros_like: lambda recorder, x: np.zeros(x.shape, x.dtype),
    np.ones_like: lambda recorder, x: np.ones(x.shape, x.dtype),
    np.shape: lambda recorder, x: x.shape,
    np.ndim: lambda recorder, x: x.ndim,
    np.size: lambda recorder, x: x.size,
}
PRODUCT_HANDLERS[np.matmul] = lambda recorder, a, b: record_product(recorder, a, b, np.matmul)
