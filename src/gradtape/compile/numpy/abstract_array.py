"""Which NumPy calls a kernel makes: it runs once on stand-ins that know only shape and dtype.

NumPy's own protocols tell a stand-in which ufunc or function it meets. A kernel that looks at
values, fills buffers or calls what is not known to be safe raises `OpaqueError`: it stays one call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.compile.numpy.program import OPERATORS, Call, Known, Operand, shape_of_all
from gradtape.graph.graph import Constant

MOST_CALLS = 48
PYTHON = (bool, int, float, complex)


class OpaqueError(Exception):
    """A kernel did something that cannot be seen through; it stays one call."""


class Recorder:
    """The calls of one kernel so far."""

    def __init__(self) -> None:
        """Nothing is recorded yet."""
        self.calls: list[Call] = []
        self.known: list[Known] = []
        self.frozen: dict[int, tuple[Any, Constant]] = {}

    def given(self, known: Known) -> StandIn:
        """A stand-in for an input."""
        self.known.append(known)
        return (StandIn if known.array else ScalarStandIn)(self, len(self.known) - 1, known, False)

    def emit(
        self,
        kind: str,
        fn: Any,
        args: tuple[Any, ...],
        known: Known,
        static: dict[str, Any] | None = None,
    ) -> StandIn:
        """Note a call and stand in for its result."""
        if len(self.calls) == MOST_CALLS:
            raise OpaqueError
        operands = tuple([self.operand(a) for a in args])
        out = self.given(known)
        out.fresh = kind != "view"
        if kind == "view":
            args[0].shared = out.shared = True
        self.calls.append(Call(kind, fn, operands, (out.number,), static))
        return out

    def operand(self, value: Any) -> Operand:
        """A value as an operand."""
        if isinstance(value, StandIn):
            if value.dead or value.recorder is not self:
                raise OpaqueError
            return value.number
        if type(value) in (tuple, list) and any(isinstance(v, StandIn) for v in value):
            return tuple([self.operand(v) for v in value])
        if isinstance(value, np.ndarray):
            if id(value) not in self.frozen:
                # A kernel that goes on to change the array raises, and stays opaque.
                writeable = value.flags.writeable
                kept = Constant(value.copy() if writeable else value)
                value.flags.writeable = False
                self.frozen[id(value)] = (value if writeable else None, kept)
            return self.frozen[id(value)][1]
        return Constant(value)

    def thaw(self) -> None:
        """Give back what was frozen."""
        for value, _ in self.frozen.values():
            if value is not None:
                value.flags.writeable = True

    def ufunc(self, ufunc: Any, args: tuple[Any, ...]) -> StandIn:
        """A ufunc of one result, called without keywords."""
        if ufunc.nout != 1 or ufunc.signature is not None or len(args) != ufunc.nin:
            raise OpaqueError
        if ufunc in MAY_FAIL and all(kind_of(a) in "iub" for a in args):
            raise OpaqueError
        shape = shape_of_all([a.shape for a in args if hasattr(a, "shape")])
        dtype = result_dtype(ufunc, args)
        if dtype.char == "O":
            raise OpaqueError
        return self.emit("ufunc", ufunc, args, Known(shape, dtype, shape != ()))

    def scalar(self, sign: str, args: tuple[Any, ...]) -> StandIn:
        """An operator on NumPy scalars and numbers."""
        if sign in ("**", "//", "%") and all(kind_of(a) in "iub" for a in args):
            raise OpaqueError
        with np.errstate(all="ignore"):
            found = OPERATORS[sign](*[probe(a) for a in args])
        return self.emit("operator", sign, args, known_of(found))

    def reduce(
        self, ufunc: Any, x: Any, axis: Any, dtype: Any, keepdims: bool, *initial: Any
    ) -> Any:
        """A reduction of an array."""
        if not isinstance(x, StandIn) or x.dtype.char == "O":
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
            dtype = None  # what NumPy takes by itself, without being told
        where = tuple(axes) if len(axes) != 1 else axes[0]
        args = (x, where, dtype, bool(keepdims), *initial)
        return self.emit("reduce", ufunc, args, Known(shape, result, shape != ()))

    def general(self, kind: str, fn: Any, args: tuple[Any, ...], cheap: bool = True) -> Any:
        """Any other call; what it gives is found by calling it on arrays of ones."""
        with np.errstate(all="ignore"):
            raws = [probe(a, cheap) for a in args]
            if type(fn) is not str:
                found = fn(*raws)
            elif fn == "[]":
                found = raws[0][raws[1]]
            else:
                found = getattr(raws[0], fn)
                found = found(*raws[1:]) if callable(found) else found
        if not isinstance(found, np.ndarray):
            kind = "call"
        return self.emit(kind, fn, args, known_of(found))


class StandIn:
    """Stands in for an array of known shape and dtype."""

    __hash__ = object.__hash__

    def __init__(self, recorder: Recorder, number: int, known: Known, fresh: bool) -> None:
        """Value `number` of `recorder`."""
        self.recorder = recorder
        self.number = number
        self.shape = known.shape
        self.dtype = known.dtype
        self.fresh = fresh  # made by the kernel itself, so that it may be overwritten
        self.shared = False  # there are views of it
        self.dead = False  # overwritten; the result goes by another number

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return Known(self.shape, self.dtype, True).size

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return int(self.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        """The number of bytes."""
        return self.size * self.itemsize

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **options: Any) -> Any:
        """NumPy asks here when a ufunc meets a stand-in."""
        if method == "reduce" and set(options) <= REDUCE:
            names = ("axis", "dtype", "out", "keepdims", "initial")
            given = dict(zip(names, args[1:], strict=False)) | options
            if given.get("out") not in (None, (None,)):
                raise OpaqueError
            initial = [given["initial"]] if "initial" in given else []
            return self.recorder.reduce(
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
            PRODUCTS[ufunc](self.recorder, *args)
            if ufunc in PRODUCTS
            else self.recorder.ufunc(ufunc, args)
        )

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """NumPy asks here when a function meets a stand-in."""
        handler = FUNCTIONS.get(func)
        if handler is None:
            raise OpaqueError
        return handler(self.recorder, *args, **kwargs)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        """There are no values."""
        raise OpaqueError

    __bool__ = __int__ = __float__ = __complex__ = __index__ = __contains__ = __array__
    __setitem__ = __array__

    def __len__(self) -> int:
        """The size of the first axis."""
        return int(self.shape[0])

    def __iter__(self) -> Any:
        """Over the first axis."""
        return iter([self[i] for i in range(len(self))])

    def __getattr__(self, name: str) -> Any:
        """Other attributes would show the value."""
        raise OpaqueError

    def __getitem__(self, key: Any) -> Any:
        """Elements; a view unless the key has arrays."""
        parts = key if type(key) is tuple else (key,)
        if any(isinstance(k, StandIn) for k in parts):
            raise OpaqueError
        fancy = any(isinstance(k, np.ndarray | list) for k in parts)
        return self.recorder.general("call" if fancy else "view", "[]", (self, key))

    def reshape(self, *shape: Any) -> Any:
        """Laid out as `shape`."""
        given = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return self.recorder.general("view", "reshape", (self, tuple(given)))

    def swapaxes(self, a: int, b: int) -> Any:
        """With two axes exchanged."""
        return self.recorder.general("view", "swapaxes", (self, a, b))

    def transpose(self, *axes: Any) -> Any:
        """With axes in another order."""
        given = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        given = tuple(range(self.ndim))[::-1] if not given else tuple(given)
        return self.recorder.general("view", "transpose", (self, given))

    T = property(transpose)

    def ravel(self) -> Any:
        """With one axis."""
        return self.reshape((self.size,))

    def view(self, dtype: Any) -> Any:
        """The same bytes as another dtype."""
        return self.recorder.general("view", "view", (self, dtype))

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        """In another dtype."""
        dtype = np.dtype(dtype)
        if dtype == self.dtype:
            return self
        if "O" in (dtype.char, self.dtype.char) or dtype.kind in "SU":
            raise OpaqueError
        if not self.shape:
            return self.recorder.general("call", "astype", (self, dtype))
        return self.recorder.emit("cast", "astype", (self, dtype), Known(self.shape, dtype, True))

    def dot(self, other: Any) -> Any:
        """A matrix product."""
        return np.dot(self, other)

    @property
    def flags(self) -> Any:
        """As of a contiguous array: kernels ask only to choose a quicker way, right for any."""
        return CONTIGUOUS

    @property
    def real(self) -> Any:
        """The real part."""
        if self.dtype.kind != "c":
            return self
        return self.recorder.general("view", "real", (self,))

    @property
    def imag(self) -> Any:
        """The imaginary part."""
        if self.dtype.kind != "c":
            raise OpaqueError
        return self.recorder.general("view", "imag", (self,))

    def overwritten(self, out: Any) -> Any:
        """`out`, which the kernel wrote over this array; nobody else may have seen that."""
        if not self.fresh or self.shared or out.shape != self.shape or out.dtype != self.dtype:
            raise OpaqueError
        self.dead = True
        return out


CONTIGUOUS = np.empty(1).flags


class ScalarStandIn(StandIn):
    """Stands in for a NumPy scalar."""

    def __setitem__(self, key: Any, value: Any) -> None:
        """NumPy refuses it as well."""
        raise OpaqueError


def binary(sign: str, ufunc: Any) -> tuple[Callable[..., Any], ...]:
    """An operator, its reflection, and the form that overwrites."""

    def apply(a: Any, b: Any) -> Any:
        recorder = a.recorder if isinstance(a, StandIn) else b.recorder
        if not isinstance(a, NUMBERS) or not isinstance(b, NUMBERS):
            return NotImplemented
        if sign == "**" and np_shape(a):
            if not isinstance(b, PYTHON) or b != 2:
                if np_shape(b):
                    return recorder.ufunc(np.power, (a, b))
                if kind_of(a) in "iub":
                    raise OpaqueError
                return recorder.general("call", pow, (a, b))
            return recorder.ufunc(np.square, (a,))
        if is_scalar(a) and is_scalar(b):
            return recorder.scalar(sign, (a, b))
        return recorder.ufunc(ufunc, (a, b))

    def reflected(a: Any, b: Any) -> Any:
        return apply(b, a)

    def inplace(a: Any, b: Any) -> Any:
        out = apply(a, b)
        return out if isinstance(a, ScalarStandIn) else a.overwritten(out)

    return apply, reflected, inplace


def unary(sign: str, ufunc: Any) -> Callable[..., Any]:
    """An operator of one operand."""

    def apply(a: Any) -> Any:
        return a.recorder.scalar(sign, (a,)) if is_scalar(a) else a.recorder.ufunc(ufunc, (a,))

    return apply


def is_scalar(a: Any) -> bool:
    """Whether an operand is a number, or stands in for one, rather than an array."""
    return not isinstance(a, np.ndarray) if not isinstance(a, StandIn) else type(a) is ScalarStandIn


NUMBERS = (StandIn, np.ndarray, np.generic, *PYTHON)

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
    forms = binary(sign, ufunc)
    for prefix, form in zip(("", "r", "i"), forms, strict=True):
        setattr(StandIn, f"__{prefix}{name}__", form)
for name, sign, ufunc in [
    ("eq", "==", np.equal),
    ("ne", "!=", np.not_equal),
    ("lt", "<", np.less),
    ("le", "<=", np.less_equal),
    ("gt", ">", np.greater),
    ("ge", ">=", np.greater_equal),
]:
    setattr(StandIn, f"__{name}__", binary(sign, ufunc)[0])
for name, sign, one in [
    ("neg", "neg", np.negative),
    ("abs", "abs", np.absolute),
    ("invert", "~", np.invert),
]:
    setattr(StandIn, f"__{name}__", unary(sign, one))

FUNCTIONS: dict[Any, Callable[..., Any]] = {}  # filled by `numpy_function`
PRODUCTS: dict[Any, Callable[..., Any]] = {}
MAY_FAIL = {np.power, np.float_power}
REDUCE = {"axis", "dtype", "out", "keepdims", "initial"}


def np_shape(a: Any) -> tuple[int, ...]:
    """The shape of an operand."""
    shape: tuple[int, ...] = a.shape if hasattr(a, "shape") else ()
    return shape


def kind_of(a: Any) -> str:
    """Kind of dtype of an operand."""
    return str(a.dtype.kind) if hasattr(a, "dtype") else np.asarray(a).dtype.kind


def known_of(found: Any) -> Known:
    """What is known of a result."""
    if not isinstance(found, np.ndarray | np.generic) or found.dtype.char == "O":
        raise OpaqueError
    return Known(found.shape, found.dtype, isinstance(found, np.ndarray))


def probe(a: Any, cheap: bool = True) -> Any:
    """An array or scalar of ones for a stand-in; of unknown values if that will do."""
    if type(a) in (tuple, list):
        return type(a)(probe(b, cheap) for b in a)
    if not isinstance(a, StandIn):
        return a
    if type(a) is ScalarStandIn:
        return np.ones((), a.dtype)[()]
    return np.empty(a.shape, a.dtype) if cheap else np.ones(a.shape, a.dtype)


DTYPES: dict[Any, Any] = {}
MOST_DTYPES = 4096


def result_dtype(ufunc: Any, args: tuple[Any, ...]) -> Any:
    """The dtype that a ufunc gives; Python's integers may not fit, so their value counts."""
    key = (ufunc, *[getattr(a, "dtype", a if type(a) is int else type(a)) for a in args])
    found = DTYPES.get(key)
    if found is None:
        small = [np.ones(1, a.dtype) if hasattr(a, "dtype") else a for a in args]
        with np.errstate(all="ignore"):
            found = ufunc(*small).dtype
        if len(DTYPES) >= MOST_DTYPES:
            DTYPES.clear()
        DTYPES[key] = found
    return found
