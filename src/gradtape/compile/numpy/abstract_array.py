"""Abstract arrays: stand-ins with a shape and a dtype but no values, to record a kernel's calls.

A kernel runs once on stand-ins. NumPy's protocols (`__array_ufunc__`, `__array_function__`) tell
them which NumPy functions are called. A kernel that reads values, fills buffers or calls a function
without a handler raises `OpaqueError`; the plan then calls the kernel as a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.compile.numpy.program import ValueSpec

if TYPE_CHECKING:
    from gradtape.compile.numpy.call_recorder import CallRecorder

PYTHON_NUMBER_TYPES = (bool, int, float, complex)


class OpaqueError(Exception):
    """A kernel did something that cannot be recorded; the plan calls it as a whole."""


class AbstractArray:
    """Stands in for an array of known shape and dtype.

    Attributes:
        recorder: records the calls.
        number: which value of the recorder this is.
        is_fresh: whether the kernel made it, so that it may be overwritten.
        has_views: whether there are views of it.
        is_overwritten: whether it was overwritten; the result has another number.
    """

    __hash__ = object.__hash__

    def __init__(self, recorder: CallRecorder, number: int, known: ValueSpec, fresh: bool) -> None:
        """Value `number` of `recorder`."""
        self.recorder = recorder
        self.number = number
        self.shape = known.shape
        self.dtype = known.dtype
        self.is_fresh = fresh
        self.has_views = False
        self.is_overwritten = False

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return ValueSpec(self.shape, self.dtype, True).size

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return int(self.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        """The number of bytes."""
        return self.size * self.itemsize

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **options: Any) -> Any:
        """Record a ufunc call; NumPy calls this for a ufunc on a stand-in."""
        if method == "reduce" and set(options) <= REDUCE_ARGUMENTS:
            names = ("axis", "dtype", "out", "keepdims", "initial")
            given = dict(zip(names, args[1:], strict=False)) | options
            if given.get("out") not in (None, (None,)):
                raise OpaqueError
            initial = [given["initial"]] if "initial" in given else []
            return self.recorder.record_reduction(
                ufunc,
                args[0],
                given.get("axis", 0),
                given.get("dtype"),
                given.get("keepdims", False),
                *initial,
            )
        if method != "__call__" or options:
            raise OpaqueError
        return (
            PRODUCT_HANDLERS[ufunc](self.recorder, *args)
            if ufunc in PRODUCT_HANDLERS
            else self.recorder.record_ufunc(ufunc, args)
        )

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Record a function call; NumPy calls this for a function on a stand-in."""
        handler = FUNCTION_HANDLERS.get(func)
        if handler is None:
            raise OpaqueError
        return handler(self.recorder, *args, **kwargs)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse: a stand-in has no values."""
        raise OpaqueError

    __bool__ = __int__ = __float__ = __complex__ = __index__ = __contains__ = __array__
    __setitem__ = __array__

    def __len__(self) -> int:
        """The size of the first axis."""
        return int(self.shape[0])

    def __iter__(self) -> Any:
        """Iterate over the first axis."""
        return iter([self[i] for i in range(len(self))])

    def __getattr__(self, name: str) -> Any:
        """Refuse: other attributes would depend on values."""
        raise OpaqueError

    def __getitem__(self, key: Any) -> Any:
        """Record an index expression: a view unless the key contains arrays."""
        parts = key if type(key) is tuple else (key,)
        if any(isinstance(k, AbstractArray) for k in parts):
            raise OpaqueError
        fancy = any(isinstance(k, np.ndarray | list) for k in parts)
        return self.recorder.record_general_call("call" if fancy else "view", "[]", (self, key))

    def reshape(self, *shape: Any) -> Any:
        """The array with another shape."""
        given = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return self.recorder.record_general_call("view", "reshape", (self, tuple(given)))

    def swapaxes(self, a: int, b: int) -> Any:
        """The array with two axes exchanged."""
        return self.recorder.record_general_call("view", "swapaxes", (self, a, b))

    def transpose(self, *axes: Any) -> Any:
        """The array with permuted axes."""
        given = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        given = tuple(range(self.ndim))[::-1] if not given else tuple(given)
        return self.recorder.record_general_call("view", "transpose", (self, given))

    T = property(transpose)

    def ravel(self) -> Any:
        """The array with a single axis."""
        return self.reshape((self.size,))

    def view(self, dtype: Any) -> Any:
        """The same bytes as another dtype."""
        return self.recorder.record_general_call("view", "view", (self, dtype))

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        """The array converted to another dtype."""
        dtype = np.dtype(dtype)
        if dtype == self.dtype:
            return self
        if "O" in (dtype.char, self.dtype.char) or dtype.kind in "SU":
            raise OpaqueError
        if not self.shape:
            return self.recorder.record_general_call("call", "astype", (self, dtype))
        return self.recorder.emit(
            "cast", "astype", (self, dtype), ValueSpec(self.shape, dtype, True)
        )

    def dot(self, other: Any) -> Any:
        """A matrix product."""
        return np.dot(self, other)

    @property
    def flags(self) -> Any:
        """Those of a contiguous array: kernels read them only to choose among equivalent ways."""
        return CONTIGUOUS_FLAGS

    @property
    def real(self) -> Any:
        """The real part."""
        if self.dtype.kind != "c":
            return self
        return self.recorder.record_general_call("view", "real", (self,))

    @property
    def imag(self) -> Any:
        """The imaginary part."""
        if self.dtype.kind != "c":
            raise OpaqueError
        return self.recorder.record_general_call("view", "imag", (self,))

    def overwrite_with(self, out: Any) -> Any:
        """Mark this array as overwritten by `out`; it must be fresh and have no views."""
        if (
            not self.is_fresh
            or self.has_views
            or out.shape != self.shape
            or out.dtype != self.dtype
        ):
            raise OpaqueError
        self.is_overwritten = True
        return out


CONTIGUOUS_FLAGS = np.empty(1).flags


class AbstractScalar(AbstractArray):
    """Stands in for a NumPy scalar."""

    def __setitem__(self, key: Any, value: Any) -> None:
        """Refuse, as NumPy scalars do."""
        raise OpaqueError


def make_binary_operator(sign: str, ufunc: Any) -> tuple[Callable[..., Any], ...]:
    """Make a binary operator, its reflected form and its in-place form."""

    def apply(a: Any, b: Any) -> Any:
        recorder = a.recorder if isinstance(a, AbstractArray) else b.recorder
        if not isinstance(a, OPERAND_TYPES) or not isinstance(b, OPERAND_TYPES):
            return NotImplemented
        if sign == "**" and shape_of_operand(a):
            if not isinstance(b, PYTHON_NUMBER_TYPES) or b != 2:
                if shape_of_operand(b):
                    return recorder.record_ufunc(np.power, (a, b))
                if dtype_kind_of(a) in "iub":
                    raise OpaqueError
                return recorder.record_general_call("call", pow, (a, b))
            return recorder.record_ufunc(np.square, (a,))
        if is_scalar(a) and is_scalar(b):
            return recorder.record_operator(sign, (a, b))
        return recorder.record_ufunc(ufunc, (a, b))

    def apply_reflected(a: Any, b: Any) -> Any:
        return apply(b, a)

    def apply_in_place(a: Any, b: Any) -> Any:
        out = apply(a, b)
        return out if isinstance(a, AbstractScalar) else a.overwrite_with(out)

    return apply, apply_reflected, apply_in_place


def make_unary_operator(sign: str, ufunc: Any) -> Callable[..., Any]:
    """Make a unary operator."""

    def apply(a: Any) -> Any:
        return (
            a.recorder.record_operator(sign, (a,))
            if is_scalar(a)
            else a.recorder.record_ufunc(ufunc, (a,))
        )

    return apply


def is_scalar(a: Any) -> bool:
    """Whether an operand is a number or a scalar stand-in rather than an array."""
    return (
        not isinstance(a, np.ndarray)
        if not isinstance(a, AbstractArray)
        else type(a) is AbstractScalar
    )


OPERAND_TYPES = (AbstractArray, np.ndarray, np.generic, *PYTHON_NUMBER_TYPES)

for name, sign, ufunc in [
    ("add", "+", np.add),
    ("sub", "-", np.subtract),
    ("mul", "*", np.multiply),
    ("truediv", "/", np.divide),
    ("floordiv", "//", np.floor_divide),
    ("mod", "%", np.remainder),
    ("pow", "**", np.power),
    ("and", "&", np.bitwise_and),
    ("or", "|", np.bitwise_or),
    ("xor", "^", np.bitwise_xor),
]:
    forms = make_binary_operator(sign, ufunc)
    for prefix, form in zip(("", "r", "i"), forms, strict=True):
        setattr(AbstractArray, f"__{prefix}{name}__", form)
for name, sign, ufunc in [
    ("eq", "==", np.equal),
    ("ne", "!=", np.not_equal),
    ("lt", "<", np.less),
    ("le", "<=", np.less_equal),
    ("gt", ">", np.greater),
    ("ge", ">=", np.greater_equal),
]:
    setattr(AbstractArray, f"__{name}__", make_binary_operator(sign, ufunc)[0])
for name, sign, one in [
    ("neg", "neg", np.negative),
    ("abs", "abs", np.absolute),
    ("invert", "~", np.invert),
]:
    setattr(AbstractArray, f"__{name}__", make_unary_operator(sign, one))

FUNCTION_HANDLERS: dict[Any, Callable[..., Any]] = {}  # filled by `numpy_function`
PRODUCT_HANDLERS: dict[Any, Callable[..., Any]] = {}
REDUCE_ARGUMENTS = {"axis", "dtype", "out", "keepdims", "initial"}


def shape_of_operand(a: Any) -> tuple[int, ...]:
    """The shape of an operand."""
    shape: tuple[int, ...] = a.shape if hasattr(a, "shape") else ()
    return shape


def dtype_kind_of(a: Any) -> str:
    """The dtype kind of an operand."""
    return str(a.dtype.kind) if hasattr(a, "dtype") else np.asarray(a).dtype.kind
