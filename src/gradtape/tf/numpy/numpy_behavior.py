"""NumPy behavior for tensors (opt-in): dtype promotion in operators, methods and indexing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core.dtypes import int64
from gradtape.core.errors import public
from gradtape.core.tensor import Tensor
from gradtape.tape.source import variable_of
from gradtape.tf import tensor_operator
from gradtape.tf.array.concat_split import stack, unstack
from gradtape.tf.array.gather import gather_nd
from gradtape.tf.array.mask import where
from gradtape.tf.array.reshape import (
    broadcast_to,
    transpose,
)
from gradtape.tf.math.cast import cast
from gradtape.tf.numpy import promotion
from gradtape.tf.numpy.array import flatten, ravel, reshape, size
from gradtape.tf.numpy.elementwise import around, clip, positive
from gradtape.tf.numpy.product import matmul
from gradtape.tf.numpy.reduce import max as largest
from gradtape.tf.numpy.reduce import mean
from gradtape.tf.numpy.reduce import min as smallest

UNARY_OPERATORS = ("__neg__", "__abs__", "__invert__")
DTYPE_CONVERSION_MODES = ("legacy", "off", "safe", "all")
ORIGINAL_ATTRIBUTES: dict[
    str, Any
] = {}  # attributes of Tensor before they were replaced; empty if disabled


@public
def experimental_enable_numpy_behavior(
    prefer_float32: bool = False, dtype_conversion_mode: str = "legacy"
) -> None:
    """Let operators promote dtypes, and give tensors NumPy's methods and indexing.

    The change affects the whole process.

    Args:
        prefer_float32: whether Python's floats become float32 in functions of this module.
        dtype_conversion_mode: must be "legacy"; "off", "safe" and "all" are not supported.

    Raises:
        ValueError: if the mode is not one of TensorFlow's.
        NotImplementedError: if the mode is not "legacy".
    """
    if dtype_conversion_mode not in DTYPE_CONVERSION_MODES:
        raise ValueError(
            f"experimental_enable_numpy_behavior: dtype_conversion_mode must be one of "
            f"{DTYPE_CONVERSION_MODES}. "
            f"Received {dtype_conversion_mode!r}."
        )
    if dtype_conversion_mode != "legacy":
        raise NotImplementedError(
            "experimental_enable_numpy_behavior: dtype_conversion_mode must be 'legacy'. Received "
            f"{dtype_conversion_mode!r}. Use 'legacy': the newer modes need to know whether a "
            "tensor was made from a Python number, which gradtape does not record."
        )
    promotion.PromotionSettings.prefer_float32 = bool(prefer_float32)
    if ORIGINAL_ATTRIBUTES:
        return
    promoting = {
        name: make_promoting_operator(function)
        for name, function in tensor_operator.TENSOR_OPERATORS.items()
        if name not in UNARY_OPERATORS
    }
    for name, value in {**promoting, **NUMPY_BEHAVIOR_METHODS, **MATMUL_OPERATORS}.items():
        ORIGINAL_ATTRIBUTES[name] = vars(Tensor).get(name)
        setattr(Tensor, name, value)


# Unlike TensorFlow's, NumPy's matrix product accepts vectors.
MATMUL_OPERATORS = {
    "__matmul__": matmul,
    "__rmatmul__": lambda self, other: matmul(other, self),
}


def disable_numpy_behavior() -> None:
    """Undo `experimental_enable_numpy_behavior`."""
    promotion.PromotionSettings.prefer_float32 = False
    for name, value in ORIGINAL_ATTRIBUTES.items():
        if value is None:
            delattr(Tensor, name)
        else:
            setattr(Tensor, name, value)
    ORIGINAL_ATTRIBUTES.clear()


def make_promoting_operator(operator: Callable[..., Any]) -> Callable[..., Any]:
    """Make an operator that first casts its operands to the dtype NumPy would choose."""

    def operate(x: Any, y: Any) -> Any:
        typed = isinstance(y, (Tensor, np.ndarray, np.generic)) or variable_of(y) is not None
        if not typed and not isinstance(y, (bool, int, float, complex)):
            return operator(x, y)  # a list takes the dtype of the tensor
        if isinstance(y, Tensor) and y.dtype is x.dtype:
            return operator(x, y)
        try:
            dtype = promotion.result_type(x, y)
        except (TypeError, OverflowError):  # strings and numbers out of range
            return operator(x, y)
        if dtype.is_bool:
            return operator(x, y)
        return operator(cast(x, dtype), cast(y, dtype) if typed else y)

    operate.__name__ = getattr(operator, "__name__", "operate")
    operate.__doc__ = operator.__doc__
    return operate


def is_advanced_index(part: Any) -> bool:
    """Whether an index is an array, as in NumPy's advanced indexing."""
    if isinstance(part, (list, np.ndarray, tuple)):
        return True
    return isinstance(part, Tensor) and (part.dtype.is_bool or part.shape.rank != 0)


def index_like_numpy(tensor: Tensor, key: Any) -> Tensor:
    """Index as NumPy does: by slices, integer arrays and boolean arrays."""
    basic = ORIGINAL_ATTRIBUTES["__getitem__"]
    parts = list(key) if isinstance(key, tuple) else [key]
    parts = [part if (v := variable_of(part)) is None else v.value() for part in parts]
    if not any(map(is_advanced_index, parts)):
        result: Tensor = basic(tensor, key)
        return result
    parts = [promotion.as_tnp_tensor(p) if is_advanced_index(p) else p for p in parts]
    axes = [
        0 if p is None or p is ... else len(p.shape) if is_boolean_mask(p) else 1 for p in parts
    ]
    missing = [slice(None)] * (len(tensor.shape) - sum(axes))
    at = next((i for i, p in enumerate(parts) if p is ...), len(parts))
    parts[at : at + 1] = missing
    return index_by_arrays(tensor, parts, basic)


def is_boolean_mask(part: Any) -> bool:
    """Whether an index is a boolean array."""
    return isinstance(part, Tensor) and part.dtype.is_bool


def index_by_arrays(tensor: Tensor, parts: list[Any], basic: Callable[..., Tensor]) -> Tensor:
    """Apply slices first, then integer and boolean arrays; single integers count as arrays."""
    ranges: list[Any] = []
    numbers: list[tuple[int, Any]] = []  # axis and indices
    for part in parts:
        if part is None or isinstance(part, slice):
            ranges.append(part)
        elif is_boolean_mask(part):
            for column in unstack(where(part), axis=1):
                numbers.append((len(ranges), column))
                ranges.append(slice(None))
        else:
            numbers.append((len(ranges), cast(part, int64)))
            ranges.append(slice(None))
    whole = basic(tensor, tuple(ranges))
    axes = [axis for axis, _ in numbers]
    sizes = whole.shape.as_list()
    indices = [where(i < 0, i + sizes[axis], i) for axis, i in numbers]
    together = np.broadcast_shapes(*[tuple(i.shape) for i in indices])
    stacked = stack([broadcast_to(i, together) for i in indices], axis=-1)
    rest = [axis for axis in range(len(sizes)) if axis not in axes]
    found = gather_nd(transpose(whole, [*axes, *rest]), stacked)
    if axes != list(range(axes[0], axes[0] + len(axes))):
        return found
    rank, first = len(together), axes[0]
    order = [*range(rank, rank + first), *range(rank), *range(rank + first, len(found.shape))]
    return transpose(found, order)


NUMPY_BEHAVIOR_METHODS: dict[str, Any] = {
    "T": property(lambda self: transpose(self)),
    "__getitem__": index_like_numpy,
    "__pos__": lambda self: positive(self),
    "__round__": lambda self, decimals=0: around(self, decimals),
    "astype": lambda self, dtype: promotion.as_tnp_tensor(self, dtype),
    "clip": lambda self, a_min, a_max: clip(self, a_min, a_max),
    "data": property(lambda self: self),
    "flatten": lambda self, order="C": flatten(self, order),
    "max": lambda self, axis=None, keepdims=None: largest(self, axis, keepdims),
    "mean": lambda self, axis=None, dtype=None, out=None, keepdims=None: mean(
        self, axis, dtype, out, keepdims
    ),
    "min": lambda self, axis=None, keepdims=None: smallest(self, axis, keepdims),
    "ravel": lambda self: ravel(self),
    "reshape": lambda self, *newshape, order="C": reshape(
        self, newshape[0] if len(newshape) == 1 else newshape, order
    ),
    "size": property(lambda self: size(self)),
    "tolist": lambda self: self.numpy().tolist(),
    "transpose": lambda self, axes=None: transpose(self, axes),
}
