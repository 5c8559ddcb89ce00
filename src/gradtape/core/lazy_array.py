"""Values that are fetched on first access: lazy arrays, and tensors that hold a JAX array.

The shape and dtype of a `LazyArray` are known, and `value` fetches the rest. Its subclasses are
`TracedArray`, the array of a symbolic tensor, and `devices.array.DeviceArray`. A `LazyTensor` holds
a result of XLA as a JAX array, or as a part of one (`PackedArray`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from operator import neg
from typing import Any, NamedTuple

import numpy as np

from gradtape.core.context import next_uid
from gradtape.core.ports import XlaPort
from gradtape.core.tensor import EagerTensor, Tensor


class LazyArray(np.lib.mixins.NDArrayOperatorsMixin):
    """Takes the place of a raw array; any access to the value calls `value`."""

    __slots__ = ("dtype", "shape")

    shape: tuple[int, ...]
    dtype: Any

    def value(self) -> Any:
        """The raw value."""
        raise NotImplementedError

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        size = 1
        for n in self.shape:
            size *= n
        return size

    @property
    def nbytes(self) -> int:
        """The number of bytes."""
        return self.size * int(self.dtype.itemsize)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """The value as an array; a copy if `copy` is true."""
        return np.array(self.value(), dtype=dtype, copy=copy)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Apply a ufunc to the values."""
        return getattr(ufunc, method)(*map(materialize, inputs), **kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Apply a NumPy function to the values; `np.shape` and the like need no value."""
        fact = SHAPE_FUNCTIONS.get(func)
        if fact and len(args) == 1 and not kwargs:
            return getattr(self, fact)
        return func(*materialize(args), **materialize(kwargs))

    def __getattr__(self, name: str) -> Any:
        """Get any other attribute from the value, except those that would bypass `__array__`."""
        if name in ("__array_interface__", "__array_struct__"):  # they describe bfloat16 as bytes
            raise AttributeError(name)
        return getattr(self.value(), name)

    def __getitem__(self, key: Any) -> Any:
        """Elements of the value."""
        return self.value()[materialize(key)]

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the value."""
        return iter(self.value())

    def __len__(self) -> int:
        """The size of the first axis."""
        return self.shape[0]

    def __bool__(self) -> bool:
        """The truth of the value."""
        return bool(self.value())

    def __int__(self) -> int:
        """The value as an int."""
        return int(self.value())

    def __float__(self) -> float:
        """The value as a float."""
        return float(self.value())

    def __complex__(self) -> complex:
        """The value as a complex number."""
        return complex(self.value())

    def __index__(self) -> int:
        """The value as an index."""
        return int(self.value().__index__())


class TracedArray(LazyArray):
    """The array of a symbolic tensor: static shape and dtype, and a value guarded by the trace.

    Attributes:
        traced_value: the raw array of this run; None once the trace is closed.
        number: the number of the value in the trace.
        trace: the trace that the value belongs to.
        dims: of integers that follow from sizes, such as `tf.shape`, an array of these sizes.
    """

    __slots__ = ("__weakref__", "dims", "number", "trace", "traced_value")

    def __init__(self, value: Any, number: int, trace: Any, shape: Any = None) -> None:
        """Hold `value`, which has this number in `trace`; sizes in `shape` may be unknown."""
        self.traced_value = value
        self.shape = value.shape if shape is None else shape
        self.dtype = value.dtype
        self.dims: Any = None
        self.number = number
        self.trace = trace

    def value(self) -> Any:
        """The raw value; the trace guards it."""
        return self.trace.guard_value(self)


class UnknownRankError(Exception):
    """The shape of a tensor was needed whose rank is not known."""


class UnrankedArray(TracedArray):
    """The array of a symbolic tensor of unknown rank, in a trace without values."""

    __slots__ = ()

    def __init__(self, value: Any, number: int, trace: Any, shape: Any = None) -> None:
        """Hold the spec `value`, whose shape is None."""
        self.traced_value = value
        self.dtype = value.dtype
        self.dims = None
        self.number = number
        self.trace = trace

    @property
    def shape(self) -> Any:  # type: ignore[override]
        """Raise, because the rank is not known."""
        raise UnknownRankError("The rank of a tensor is not known here. Use set_shape.")


SHAPE_FUNCTIONS = {np.shape: "shape", np.ndim: "ndim", np.size: "size"}  # these need no value


def materialize(value: Any) -> Any:
    """Replace lazy arrays by their values, also in nested tuples, lists and dicts."""
    if isinstance(value, LazyArray):
        return value.value()
    if isinstance(value, (tuple, list)) and any(
        isinstance(v, (LazyArray, tuple, list)) for v in value
    ):
        return type(value)(materialize(v) for v in value)
    if isinstance(value, dict):
        return {key: materialize(v) for key, v in value.items()}
    return value


class PackedPlace(NamedTuple):
    """Where an array lies in a buffer of one axis, and its spec."""

    start: int
    stop: int
    shape: tuple[int, ...]
    dtype: Any


class PackedArray(tuple[Any, PackedPlace]):
    """A part of a JAX array, as (buffer, place). A tuple, because a call makes hundreds of them."""

    shape: tuple[int, ...] = property(lambda self: self[1].shape)  # type: ignore[assignment]
    dtype: Any = property(lambda self: self[1].dtype)

    def value(self) -> Any:
        """The raw value, always the same object."""
        raw = self.__dict__.get("raw")
        if raw is None:
            buffer, (start, stop, shape, _) = self
            raw = np.asarray(buffer)[start:stop].reshape(shape)
            raw = self.__dict__["raw"] = raw.copy() if shape else raw[()]
        return raw


get_held_array: Callable[[Tensor], Any] = Tensor.__dict__["_array"].__get__  # fetches nothing
set_held_array: Callable[[Tensor, Any], None] = Tensor.__dict__["_array"].__set__
set_uid: Callable[[Tensor, int], None] = Tensor.__dict__["uid"].__set__
LOOP_IN_C_MIN = 12  # number of tensors from which loops in C pay


def materialize_tensor(tensor: Tensor) -> Any:
    """Fetch the raw array of a lazy tensor and turn the tensor into an ordinary EagerTensor.

    The fast paths test `type(x) is EagerTensor`, so the class of the object changes, as importlib
    does with lazy modules. If several threads read at once, or after an interrupt, the array is
    fetched again.
    """
    raw = XlaPort.fetch(get_held_array(tensor))
    set_held_array(tensor, raw)
    tensor.__class__ = EagerTensor
    return raw


class LazyTensor(EagerTensor):
    """A result of XLA, which JAX may still compute; reading `_array` waits for it.

    A training loop therefore does not wait for variables that only its next step reads.
    """

    __slots__ = ()
    _array = property(materialize_tensor, set_held_array)


LazyTensor.__name__ = LazyTensor.__qualname__ = "EagerTensor"  # as TensorFlow calls it


def make_lazy_tensor(array: Any, sign: int = 1) -> EagerTensor:
    """Make a tensor of a JAX array; `sign` is that of its uid."""
    tensor = LazyTensor()
    set_held_array(tensor, array)
    tensor.uid = sign * next_uid()
    return tensor


def make_lazy_versions(arrays: Sequence[Any]) -> list[Any]:
    """Make versions of variables (see `state.variable.storage`) of JAX arrays."""
    if len(arrays) < LOOP_IN_C_MIN:
        return [make_lazy_tensor(array, -1) for array in arrays]
    tensors = list(map(LazyTensor.__new__, repeat(LazyTensor, len(arrays))))
    deque(map(set_held_array, tensors, arrays), 0)
    deque(map(set_uid, tensors, map(neg, iter(next_uid, None))), 0)
    return tensors
