"""Handlers for NumPy functions (not ufuncs) on stand-ins; only functions that cannot fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.compile.numpy.abstract_array import FUNCTIONS, PRODUCTS, OpaqueError, StandIn
from gradtape.compile.numpy.call_recorder import Recorder
from gradtape.compile.numpy.program import Known, shape_of_all


def where(recorder: Recorder, *args: Any) -> Any:
    """Record `np.where` with three operands; for scalars the result is a 0-d array."""
    if len(args) != 3:
        raise OpaqueError
    shape = shape_of_all([a.shape for a in args if hasattr(a, "shape")])
    small = [np.ones(1, a.dtype) if hasattr(a, "dtype") else a for a in args]
    dtype = np.where(*small).dtype
    if dtype.char == "O":
        raise OpaqueError
    return recorder.emit("call", np.where, args, Known(shape, dtype, True))


def product(recorder: Recorder, a: Any, b: Any, fn: Any = np.dot) -> Any:
    """Record a matrix product."""
    if not isinstance(a, StandIn | np.ndarray) or not isinstance(b, StandIn | np.ndarray):
        raise OpaqueError
    if "O" in (a.dtype.char, b.dtype.char) or not a.shape or not b.shape:
        raise OpaqueError
    if a.dtype != b.dtype or a.shape[-1] != b.shape[-2 if len(b.shape) > 1 else 0]:
        raise OpaqueError
    if fn is np.matmul and len(a.shape) > 1 and len(b.shape) > 1:
        front = shape_of_all([a.shape[:-2], b.shape[:-2]])
        shape = (*front, a.shape[-2], b.shape[-1])
        fn = np.dot if len(shape) == 2 else fn
    elif fn is np.dot and len(a.shape) < 3 and len(b.shape) < 3:
        shape = a.shape[:-1] + b.shape[1:]
    else:
        raise OpaqueError
    return recorder.emit("product", fn, (a, b), Known(shape, a.dtype, shape != ()))


def viewing(fn: Any) -> Callable[..., Any]:
    """Make a handler for a function that returns a view of its first operand."""

    def handler(recorder: Recorder, *args: Any, **kwargs: Any) -> Any:
        if kwargs or not isinstance(args[0], StandIn):
            raise OpaqueError
        return recorder.general("view", fn, args)

    return handler


def calling(fn: Any) -> Callable[..., Any]:
    """Make a handler for a function that returns a new array and cannot fail on values."""

    def handler(recorder: Recorder, *args: Any, **kwargs: Any) -> Any:
        if set(kwargs) - {"axis"}:
            raise OpaqueError
        return recorder.general("call", fn, (*args, *kwargs.values()), cheap=False)

    return handler


def concatenate(recorder: Recorder, xs: Any, axis: int = 0) -> Any:
    """Record `np.concatenate`."""
    return recorder.general("call", np.concatenate, (tuple(xs), axis))


def stack(recorder: Recorder, xs: Any, axis: int = 0) -> Any:
    """Record `np.stack`."""
    return recorder.general("call", np.stack, (tuple(xs), axis))


FUNCTIONS |= {
    np.where: where,
    np.dot: product,
    np.concatenate: concatenate,
    np.stack: stack,
    np.transpose: lambda recorder, x, axes=(): x.transpose(axes),
    np.reshape: lambda recorder, x, shape: x.reshape(shape),
    np.ravel: lambda recorder, x: x.ravel(),
    np.swapaxes: lambda recorder, x, a, b: x.swapaxes(a, b),
    np.moveaxis: viewing(np.moveaxis),
    np.squeeze: viewing(np.squeeze),
    np.expand_dims: viewing(np.expand_dims),
    np.flip: viewing(np.flip),
    np.broadcast_to: viewing(np.broadcast_to),
    np.real: lambda recorder, x: x.real,
    np.imag: lambda recorder, x: x.imag,
    np.cumsum: calling(np.cumsum),
    np.cumprod: calling(np.cumprod),
    np.argmax: calling(np.argmax),
    np.argmin: calling(np.argmin),
    np.sort: calling(np.sort),
    np.argsort: calling(np.argsort),
    np.zeros_like: lambda recorder, x: np.zeros(x.shape, x.dtype),
    np.ones_like: lambda recorder, x: np.ones(x.shape, x.dtype),
    np.shape: lambda recorder, x: x.shape,
    np.ndim: lambda recorder, x: x.ndim,
    np.size: lambda recorder, x: x.size,
}
PRODUCTS[np.matmul] = lambda recorder, a, b: product(recorder, a, b, np.matmul)
