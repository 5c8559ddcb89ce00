"""Recording of the NumPy calls that a kernel makes on stand-ins."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.compile.numpy.abstract_array import (
    AbstractArray,
    AbstractScalar,
    OpaqueError,
    dtype_kind_of,
)
from gradtape.compile.numpy.program import OPERATORS, NumpyCall, Operand, ValueSpec, broadcast_shape
from gradtape.graph.graph import Constant

MAX_CALLS_PER_KERNEL = 48  # of one kernel; beyond it stays opaque
FAILS_ON_INTEGERS = {np.power, np.float_power}  # they raise for negative integer exponents


class CallRecorder:
    """Records the calls of one kernel.

    Attributes:
        calls: the calls so far.
        specs: shape and dtype of each value.
        frozen: arrays that were made read-only, by id, each with the constant that holds a copy.
    """

    def __init__(self) -> None:
        """Start without calls."""
        self.calls: list[NumpyCall] = []
        self.specs: list[ValueSpec] = []
        self.frozen: dict[int, tuple[Any, Constant]] = {}

    def add_value(self, known: ValueSpec) -> AbstractArray:
        """Add a value and return a stand-in for it."""
        self.specs.append(known)
        return (AbstractArray if known.is_array else AbstractScalar)(
            self, len(self.specs) - 1, known, False
        )

    def emit(
        self,
        kind: str,
        fn: Any,
        args: tuple[Any, ...],
        known: ValueSpec,
        static: dict[str, Any] | None = None,
    ) -> AbstractArray:
        """Record a call and return a stand-in for its result."""
        if len(self.calls) == MAX_CALLS_PER_KERNEL:
            raise OpaqueError
        operands = tuple([self.to_operand(a) for a in args])
        out = self.add_value(known)
        out.is_fresh = kind != "view"
        if kind == "view":
            args[0].has_views = out.has_views = True
        self.calls.append(NumpyCall(kind, fn, operands, (out.number,), static))
        return out

    def to_operand(self, value: Any) -> Operand:
        """A value as an operand."""
        if isinstance(value, AbstractArray):
            if value.is_overwritten or value.recorder is not self:
                raise OpaqueError
            return value.number
        if type(value) in (tuple, list) and any(isinstance(v, AbstractArray) for v in value):
            return tuple([self.to_operand(v) for v in value])
        if isinstance(value, np.ndarray):
            if id(value) not in self.frozen:
                # If the kernel writes to it later, NumPy raises, and the kernel stays opaque.
                writeable = value.flags.writeable
                kept = Constant(value.copy() if writeable else value)
                value.flags.writeable = False
                self.frozen[id(value)] = (value if writeable else None, kept)
            return self.frozen[id(value)][1]
        return Constant(value)

    def unfreeze_arrays(self) -> None:
        """Make the frozen arrays writeable again."""
        for value, _ in self.frozen.values():
            if value is not None:
                value.flags.writeable = True

    def record_ufunc(self, ufunc: Any, args: tuple[Any, ...]) -> AbstractArray:
        """Record a ufunc with one result, called without keywords."""
        if ufunc.nout != 1 or ufunc.signature is not None or len(args) != ufunc.nin:
            raise OpaqueError
        if ufunc in FAILS_ON_INTEGERS and all(dtype_kind_of(a) in "iub" for a in args):
            raise OpaqueError
        shape = broadcast_shape([a.shape for a in args if hasattr(a, "shape")])
        dtype = infer_result_dtype(ufunc, args)
        if dtype.char == "O":
            raise OpaqueError
        return self.emit("ufunc", ufunc, args, ValueSpec(shape, dtype, shape != ()))

    def record_operator(self, sign: str, args: tuple[Any, ...]) -> AbstractArray:
        """Record an operator on NumPy scalars and Python numbers."""
        if sign in ("**", "//", "%") and all(dtype_kind_of(a) in "iub" for a in args):
            raise OpaqueError
        with np.errstate(all="ignore"):
            found = OPERATORS[sign](*[make_probe_value(a) for a in args])
        return self.emit("operator", sign, args, spec_of_result(found))

    def record_reduction(
        self, ufunc: Any, x: Any, axis: Any, dtype: Any, keepdims: bool, *initial: Any
    ) -> Any:
        """Record a reduction of an array."""
        if not isinstance(x, AbstractArray) or x.dtype.char == "O":
            raise OpaqueError
        n = len(x.shape)
        axes = range(n) if axis is None else (axis,) if isinstance(axis, int) else axis
        axes = sorted(a % n for a in axes) if n else []
        if keepdims:
            shape = tuple([1 if i in axes else size for i, size in enumerate(x.shape)])
        else:
            shape = tuple([size for i, size in enumerate(x.shape) if i not in axes])
        if not initial and ufunc.identity is None and any(x.shape[a] == 0 for a in axes):
            raise OpaqueError
        small = np.ones((1,) * n, x.dtype)
        result = ufunc.reduce(small, axis, dtype, None, keepdims, *initial).dtype
        if dtype is not None and np.dtype(dtype) == x.dtype and x.dtype.char in "fdFDlq":
            dtype = None  # NumPy's default for these dtypes
        where = tuple(axes) if len(axes) != 1 else axes[0]
        args = (x, where, dtype, bool(keepdims), *initial)
        return self.emit("reduce", ufunc, args, ValueSpec(shape, result, shape != ()))

    def record_general_call(
        self, kind: str, fn: Any, args: tuple[Any, ...], cheap: bool = True
    ) -> Any:
        """Record any other call; a call on sample arrays gives the result's shape and dtype."""
        with np.errstate(all="ignore"):
            raws = [make_probe_value(a, cheap) for a in args]
            if type(fn) is not str:
                found = fn(*raws)
            elif fn == "[]":
                found = raws[0][raws[1]]
            else:
                found = getattr(raws[0], fn)
                found = found(*raws[1:]) if callable(found) else found
        if not isinstance(found, np.ndarray):
            kind = "call"
        return self.emit(kind, fn, args, spec_of_result(found))


def spec_of_result(found: Any) -> ValueSpec:
    """Shape, dtype and kind of a result."""
    if not isinstance(found, np.ndarray | np.generic) or found.dtype.char == "O":
        raise OpaqueError
    return ValueSpec(found.shape, found.dtype, isinstance(found, np.ndarray))


def make_probe_value(a: Any, cheap: bool = True) -> Any:
    """A sample array for a stand-in: ones, or uninitialised memory if `cheap`."""
    if type(a) in (tuple, list):
        return type(a)(make_probe_value(b, cheap) for b in a)
    if not isinstance(a, AbstractArray):
        return a
    if type(a) is AbstractScalar:
        return np.ones((), a.dtype)[()]
    return np.empty(a.shape, a.dtype) if cheap else np.ones(a.shape, a.dtype)


RESULT_DTYPES: dict[Any, Any] = {}
MAX_RESULT_DTYPES = 4096


def infer_result_dtype(ufunc: Any, args: tuple[Any, ...]) -> Any:
    """The dtype of a ufunc's result; Python integers count by value, as they may not fit."""
    key = (ufunc, *[getattr(a, "dtype", a if type(a) is int else type(a)) for a in args])
    found = RESULT_DTYPES.get(key)
    if found is None:
        small = [np.ones(1, a.dtype) if hasattr(a, "dtype") else a for a in args]
        with np.errstate(all="ignore"):
            found = ufunc(*small).dtype
        if len(RESULT_DTYPES) >= MAX_RESULT_DTYPES:
            RESULT_DTYPES.clear()
        RESULT_DTYPES[key] = found
    return found
