"""DType, the element types of tensors, and their NumPy types."""

import builtins
from collections.abc import Callable
from typing import Any, NoReturn

import ml_dtypes
import numpy as np


class NoNumpyTypeError(TypeError, KeyError):
    """A dtype has no NumPy type; TensorFlow raises KeyError, its functions TypeError."""

    __str__ = TypeError.__str__


class DType:
    """The type of a tensor's elements; there is one immutable object for each type."""

    as_datatype_enum: int
    name: str
    kind: str
    """One of float, int, uint, complex, bool, quantized, string and handle."""
    scalar: Any
    """NumPy's scalar type; a NumPy dtype for a quantized type; None for a handle."""

    def __init__(self, as_datatype_enum: int, name: str, kind: str, scalar: Any) -> None:
        keep = object.__setattr__
        keep(self, "as_datatype_enum", as_datatype_enum)
        keep(self, "name", name)
        keep(self, "kind", kind)
        keep(self, "scalar", scalar)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{self!r} is immutable: its {name!r} cannot be set.")

    @property
    def as_numpy_dtype(self) -> Any:
        """The NumPy type of the elements, such as `np.float32`; `object` for strings."""
        if self.scalar is None:
            raise NoNumpyTypeError(f"{self!r} has no NumPy type. Use another dtype.")
        return self.scalar

    @property
    def is_floating(self) -> builtins.bool:
        """Whether this is a real floating point type, bfloat16 and float8 included."""
        return self.kind == "float"

    @property
    def is_integer(self) -> builtins.bool:
        """Whether this is an integer type that is not quantized."""
        return self.kind in ("int", "uint")

    @property
    def is_unsigned(self) -> builtins.bool:
        """Whether this is an unsigned integer type."""
        return self.kind == "uint"

    @property
    def is_complex(self) -> builtins.bool:
        """Whether this is a complex type."""
        return self.kind == "complex"

    @property
    def is_bool(self) -> builtins.bool:
        """Whether this is the boolean type."""
        return self.kind == "bool"

    @property
    def is_quantized(self) -> builtins.bool:
        """Whether this is a quantized type."""
        return self.kind == "quantized"

    @property
    def is_numeric(self) -> builtins.bool:
        """Whether TensorFlow counts this as a number; float8 and int4 do not count."""
        return self.kind not in ("bool", "string", "handle") and self not in _NARROW

    @property
    def is_numpy_compatible(self) -> builtins.bool:
        """Whether NumPy arrays can hold the elements."""
        return self.kind != "handle"

    @property
    def size(self) -> int:
        """The number of bytes of an element; 0 if it varies."""
        return 0 if self.kind in ("string", "handle") else np.dtype(self.scalar).itemsize

    @property
    def min(self) -> Any:
        """The least finite value."""
        return self._range("minimum").min

    @property
    def max(self) -> Any:
        """The greatest finite value."""
        return self._range("maximum").max

    def _range(self, wanted: str) -> Any:
        if self.kind not in _RANGES:
            raise TypeError(f"Cannot find {wanted} value of {self}: it is not a real number type.")
        return _RANGES[self.kind](self.scalar)

    @property
    def limits(self) -> tuple[int, int]:
        """The intensity range of an image of this type: (0, 1) for floats, else (0, maximum)."""
        if self in (float32, float64):
            return 0, 1
        if self.is_bool:
            return 0, True
        if self.is_integer and self not in _NARROW:
            return 0, self.max
        raise ValueError(f"{self} does not have defined limits.")

    @property
    def base_dtype(self) -> "DType":
        """This type; TensorFlow 1 also had reference types."""
        return self

    @property
    def real_dtype(self) -> "DType":
        """The type of the real part."""
        return _REAL.get(self, self)

    def is_compatible_with(self, other: Any) -> builtins.bool:
        """Whether `other` names this type.

        Args:
            other: a `DType`, or a NumPy type, Python type or name that stands for one.

        Returns:
            True if both are the same type.
        """
        return as_dtype(other) is self

    def __eq__(self, other: object) -> builtins.bool:
        if self is other:
            return True
        try:
            return other is not None and as_dtype(other) is self
        except TypeError:
            return False

    def __hash__(self) -> int:
        return self.as_datatype_enum

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __reduce__(self) -> tuple[Callable[[str], "DType"], tuple[str]]:
        return as_dtype, (self.name,)


float32 = DType(1, "float32", "float", np.float32)
float64 = DType(2, "float64", "float", np.float64)
int32 = DType(3, "int32", "int", np.int32)
uint8 = DType(4, "uint8", "uint", np.uint8)
int16 = DType(5, "int16", "int", np.int16)
int8 = DType(6, "int8", "int", np.int8)
string = DType(7, "string", "string", object)
complex64 = DType(8, "complex64", "complex", np.complex64)
int64 = DType(9, "int64", "int", np.int64)
bool = DType(10, "bool", "bool", np.bool_)
qint8 = DType(11, "qint8", "quantized", np.dtype([("qint8", np.int8)]))
quint8 = DType(12, "quint8", "quantized", np.dtype([("quint8", np.uint8)]))
qint32 = DType(13, "qint32", "quantized", np.dtype([("qint32", np.int32)]))
bfloat16 = DType(14, "bfloat16", "float", ml_dtypes.bfloat16)
qint16 = DType(15, "qint16", "quantized", np.dtype([("qint16", np.int16)]))
quint16 = DType(16, "quint16", "quantized", np.dtype([("quint16", np.uint16)]))
uint16 = DType(17, "uint16", "uint", np.uint16)
complex128 = DType(18, "complex128", "complex", np.complex128)
float16 = DType(19, "float16", "float", np.float16)
resource = DType(20, "resource", "handle", None)
variant = DType(21, "variant", "handle", None)
uint32 = DType(22, "uint32", "uint", np.uint32)
uint64 = DType(23, "uint64", "uint", np.uint64)
float8_e5m2 = DType(24, "float8_e5m2", "float", ml_dtypes.float8_e5m2)
float8_e4m3fn = DType(25, "float8_e4m3fn", "float", ml_dtypes.float8_e4m3fn)
float8_e4m3fnuz = DType(26, "float8_e4m3fnuz", "float", ml_dtypes.float8_e4m3fnuz)
float8_e4m3b11fnuz = DType(27, "float8_e4m3b11fnuz", "float", ml_dtypes.float8_e4m3b11fnuz)
float8_e5m2fnuz = DType(28, "float8_e5m2fnuz", "float", ml_dtypes.float8_e5m2fnuz)
int4 = DType(29, "int4", "int", ml_dtypes.int4)
uint4 = DType(30, "uint4", "uint", ml_dtypes.uint4)
int2 = DType(31, "int2", "int", ml_dtypes.int2)
uint2 = DType(32, "uint2", "uint", ml_dtypes.uint2)
float4_e2m1fn = DType(33, "float4_e2m1fn", "float", ml_dtypes.float4_e2m1fn)
half = float16
double = float64

DTYPES = tuple(value for value in list(globals().values()) if isinstance(value, DType))
QUANTIZED_DTYPES = frozenset(dtype for dtype in DTYPES if dtype.is_quantized)
_NARROW = frozenset(dtype for dtype in DTYPES if 24 <= dtype.as_datatype_enum <= 33)
_RANGES: dict[str, Any] = {
    "float": ml_dtypes.finfo,
    "int": ml_dtypes.iinfo,
    "uint": ml_dtypes.iinfo,
}
_REAL = {complex64: float32, complex128: float64}

# Arguments of `as_dtype`: enum values, names, NumPy types and some Python types. `int` is not one,
# as in TensorFlow.
_BY_ALIAS: dict[Any, DType] = {
    **{dtype.as_datatype_enum: dtype for dtype in DTYPES},
    **{dtype.name: dtype for dtype in DTYPES},
    **{dtype.scalar: dtype for dtype in DTYPES if dtype.is_numpy_compatible},
    "half": float16,
    "float": float32,
    "double": float64,
    float: float32,
    builtins.bool: bool,
    np.object_: string,
    np.bytes_: string,
    np.str_: string,
    np.dtypes.StringDType(): string,
    np.intc: int32,
    np.uintc: uint32,
    np.longlong: int64,
    np.ulonglong: uint64,
}


def as_dtype(type_value: Any) -> DType:
    """Convert a name, a NumPy type, an enum value or an object with a dtype to a DType.

    Args:
        type_value: a name such as "float32", a NumPy type, an enum value, or an object with a
            dtype.

    Returns:
        A DType.

    Example:
        >>> tf.as_dtype("int8")
        tf.int8
    """
    if type(type_value) is DType:
        return type_value
    if isinstance(type_value, np.dtype) and type_value.type in _BY_ALIAS:
        return _BY_ALIAS[type_value.type]
    try:
        return _BY_ALIAS[type_value]
    except (KeyError, TypeError):  # TypeError: not hashable
        pass
    try:
        return _BY_ALIAS[np.dtype(type_value.dtype).type]
    except (AttributeError, KeyError, TypeError):
        from gradtape.core.argument import describe

        raise TypeError(
            f"Cannot convert the argument `type_value`: {describe(type_value)} to a TensorFlow "
            "DType. Pass a DType, its name or a NumPy dtype."
        ) from None


class _ByNumpyDType(dict[np.dtype[Any], DType]):
    """DTypes by NumPy dtype; rare ones (strings, foreign byte orders) are looked up on demand."""

    def __missing__(self, dtype: np.dtype[Any]) -> DType:
        return as_dtype(dtype)


from_numpy_dtype: Callable[[np.dtype[Any]], DType] = _ByNumpyDType(
    {np.dtype(dtype.scalar): dtype for dtype in DTYPES if dtype.is_numpy_compatible}
).__getitem__
"""The DType of arrays of this NumPy dtype."""

_ACCUMULATORS = {
    np.dtype(dtype.scalar): np.dtype(np.float32)
    for dtype in DTYPES
    if dtype.is_floating and dtype.size < 4
}
_DIFFERENTIABLE = frozenset(
    np.dtype(dtype.scalar) for dtype in (float16, bfloat16, float32, float64, complex64, complex128)
)


def accumulator(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype to accumulate elements of `dtype` in: float32 for narrower floats, else `dtype`."""
    return _ACCUMULATORS.get(dtype, dtype)


def is_differentiable(dtype: np.dtype[Any]) -> builtins.bool:
    """Whether gradients flow through arrays of `dtype`: floats of 16 bits and more, and complex."""
    return dtype in _DIFFERENTIABLE
