"""Shape rules: the shapes and dtypes of a primitive's results, without its data.

A shape rule is a function of the specs of the inputs and of the static parameters, given to the
decorator as `shape=`. It returns a shape (the dtype is then that of the first input), a `Spec`, or
a list of these for several outputs. Sizes may be symbolic (`core/dims.py`). A size that only the
data determines is `FRESH`. An elementwise primitive needs no rule: its operands broadcast.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from gradtape.core.dims import Dim
from gradtape.core.dtypes import as_dtype
from gradtape.core.open_shape import Shape, broadcast_shapes, simplify_shape
from gradtape.core.primitive import Primitive, Spec

F = TypeVar("F", bound=Callable[..., Any])
ShapeRule = Callable[..., Any]

BOOL, INT32, INT64, UINT8, UINT64 = map(np.dtype, ("bool", "int32", "int64", "uint8", "uint64"))
FLOAT32, FLOAT64 = map(np.dtype, ("float32", "float64"))
OBJECT = np.dtype(object)


def numpy_dtype_of(dtype: Any) -> Any:
    """The NumPy dtype of arrays of a dtype of TensorFlow's."""
    return np.dtype(as_dtype(dtype).as_numpy_dtype)


class Fresh:
    """The type of `FRESH`, a size that only the data determines."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "FRESH"


FRESH = Fresh()


def infer_specs(op: Primitive, args: tuple[Any, ...], static: dict[str, Any]) -> list[Spec]:
    """The specs of the outputs of `op`; `args` have a shape and a dtype, or are numbers."""
    specs = [a if type(a) is Spec else spec_of_argument(a) for a in args]
    if op.shape_rule is None and op.core_ndim == 0:
        shape = broadcast_shapes(*[spec.shape for spec in specs])
        return [Spec((shape, infer_elementwise_dtype(op, args, specs, static)))]
    if op.shape_rule is None:
        raise NotImplementedError(f"primitive {op.name}: it has no shape rule. Give it `shape=`.")
    result = op.shape_rule(*specs, **static)
    if not op.outputs:
        return [as_spec(result, specs)]
    return [as_spec(part, specs) for part in result]


def as_spec(result: Any, specs: list[Spec]) -> Spec:
    """The spec that a rule returned; a shape alone has the dtype of the first input."""
    shape, dtype = result if type(result) is Spec else (tuple(result), specs[0].dtype)
    return Spec((simplify_shape(shape), dtype))


def spec_of_argument(value: Any) -> Spec:
    """The spec of an array, a tensor's array, a Python number or a symbolic size."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return Spec((tuple(value.shape), value.dtype))
    if type(value) is Dim:
        return Spec(((), INT64))
    raw = np.asarray(value)
    return Spec((raw.shape, raw.dtype))


_elementwise_dtypes: dict[Any, Any] = {}


def infer_elementwise_dtype(
    op: Primitive, args: tuple[Any, ...], specs: list[Spec], static: dict[str, Any]
) -> Any:
    """The dtype of an elementwise primitive, by its kernel on arrays of one element; cached.

    A Python number takes the dtype of the other operands, so the key has its type.
    """
    numbers = [_number_type(a) for a in args]
    kinds = [s.dtype if n is None else n for s, n in zip(specs, numbers, strict=True)]
    key = (op, *kinds, *static.values())
    dtype = _elementwise_dtypes.get(key)
    if dtype is None:
        ones = [
            np.full((1,), b"" if s.dtype.char == "O" else 1, s.dtype) if n is None else n(1)
            for s, n in zip(specs, numbers, strict=True)
        ]
        with np.errstate(all="ignore"):
            dtype = _elementwise_dtypes[key] = np.asarray(op.kernel(*ones, **static)).dtype
    return dtype


def _number_type(value: Any) -> type | None:
    """The type of a Python number; None for arrays and specs."""
    if type(value) is Dim:
        return int
    return type(value) if isinstance(value, (bool, int, float, complex)) else None


# Rules and parts of rules that several families of primitives use


def keep_shape(x: Any, *others: Any, **static: Any) -> Any:
    """The shape and dtype of the first input."""
    return x.shape


def broadcast_inputs(*xs: Any, **static: Any) -> Shape:
    """The shape that all inputs broadcast to."""
    return broadcast_shapes(*[x.shape for x in xs])


def fill_shape(*inputs: Any, shape: Shape, dtype: Any, **static: Any) -> Spec:
    """The static shape and dtype."""
    return Spec((shape, np.dtype(dtype)))


def lead_axes(x: Any, rank: int) -> Shape:
    """The axes of `x` in front of its last `rank` ones."""
    shape: Shape = x.shape[: len(x.shape) - rank]
    return shape


def replace_axis(shape: Shape, axis: int, *sizes: Any) -> Shape:
    """`shape` with other sizes in place of one axis, which is counted from the right."""
    at = len(shape) + axis
    return (*shape[:at], *sizes, *shape[at + 1 :])


def complex_dtype_of(dtype: Any) -> Any:
    """The complex dtype whose parts have the precision of `dtype`."""
    return np.result_type(dtype, np.complex64)


def real_dtype_of(dtype: Any) -> Any:
    """The dtype of the parts of a complex dtype; a real dtype itself."""
    return np.dtype({"F": "f4", "D": "f8"}.get(dtype.char, dtype))


def broadcast_pair(a: Any, b: Any, *_: Any) -> Spec:
    """Two inputs broadcast and promote as NumPy does."""
    return Spec((broadcast_shapes(a.shape, b.shape), np.result_type(a.dtype, b.dtype)))


def found_positions(*_: Any) -> Spec:
    """Positions, as many as the data has."""
    return Spec(((FRESH,), INT64))


# Functions of raw arrays that are not primitives


def with_shape(rule: ShapeRule) -> Callable[[F], F]:
    """Decorate a function of raw arrays with its shape rule.

    The rule has the parameters of the function. It gets the specs of arrays, and other arguments
    as they are.
    """

    def decorate(function: F) -> F:
        function.shape_rule = rule  # type: ignore[attr-defined]
        return function

    return decorate


NUMPY_RULES: dict[Any, ShapeRule] = {
    np.eye: lambda n, columns, k, dtype: Spec(((n, n), np.dtype(dtype))),
    np.flatnonzero: found_positions,
    np.gcd: broadcast_pair,
    np.iscomplex: lambda x: Spec((x.shape, BOOL)),
    np.isreal: lambda x: Spec((x.shape, BOOL)),
    np.lcm: broadcast_pair,
    np.signbit: lambda x: Spec((x.shape, BOOL)),
}
"""Shape rules of NumPy's functions."""


def raw_rule_of(function: Any, args: tuple[Any, ...], places: list[int]) -> ShapeRule | None:
    """The shape rule of a call of `function` whose inputs are the arguments at `places`."""
    rule = getattr(function, "shape_rule", None) or NUMPY_RULES.get(function)
    if isinstance(function, type) and issubclass(function, np.generic):
        return lambda *specs: Spec(((), np.dtype(function)))
    if rule is None:
        return None

    def infer(*specs: Any) -> Any:
        given = [spec_of_argument(a) if is_array(a) else a for a in args]
        for i, spec in zip(places, specs, strict=True):
            given[i] = spec
        return rule(*given)

    return infer


def is_array(value: Any) -> bool:
    """Whether a value has a shape and a dtype; a class such as `np.float32` has not."""
    return hasattr(value, "dtype") and hasattr(value, "shape") and not isinstance(value, type)
