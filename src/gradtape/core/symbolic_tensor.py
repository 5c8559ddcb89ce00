"""Symbolic tensors, which `tf.function` passes to the function it traces.

They hold the value of the traced run but hide it: their `_array` is a `TracedArray`. Its shape and
dtype are public. The library and the user's program read its value through the trace, which guards
it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from gradtape.core.context import next_uid
from gradtape.core.dims import Dim
from gradtape.core.errors import OperatorNotAllowedInGraphError, public
from gradtape.core.lazy_array import TracedArray, UnrankedArray
from gradtape.core.open_shape import hide_dims
from gradtape.core.outer_scope import is_known_outer
from gradtape.core.shapes import TensorShape
from gradtape.core.tensor import Tensor


class SymbolicTensor(Tensor):
    """A tensor inside a function that is being traced."""

    __slots__ = ()

    @property
    def shape(self) -> TensorShape:
        """The shape; sizes that the trace does not know are None."""
        if type(self._array) is UnrankedArray:
            return TensorShape(None)
        shape = self._array.shape
        if Dim in map(type, shape):
            pins = self._array.trace.pins_sizes
            shape = tuple([int(n) for n in shape]) if pins else hide_dims(shape)
        elif 0 in shape and getattr(self._array.trace, "hides_empty_sizes", False):
            shape = tuple([n or None for n in shape])
        return TensorShape.from_tuple(shape)

    @property
    def graph(self) -> Any:
        """The trace this tensor belongs to."""
        return self._array.trace

    @property
    def name(self) -> str:
        """The name of the tensor in its graph."""
        return str(self._array.trace.builder.name_of(self._array.number))

    @property
    def op(self) -> Any:
        """The op that computes the tensor."""
        return self._array.trace.builder.operation_of(self._array.number)

    @property
    def value_index(self) -> int:
        """The position of the tensor among the outputs of its op."""
        return int(self._array.trace.builder.position_of(self._array.number))

    @property
    def device(self) -> str:
        """Empty: the tensor has no device yet."""
        return ""

    def set_shape(self, shape: Any) -> None:
        """Check the shape against `shape`."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(
                f"Tensor's shape {self.shape} is not compatible with supplied shape "
                f"{TensorShape(shape)}."
            )
        if type(self._array) is UnrankedArray:
            self._array = self._array.trace.make_ranked(self._array, TensorShape(shape))
        elif Dim in map(type, self._array.shape):
            self._array.trace.narrow_shape(self._array, TensorShape(shape))

    def _shape_tuple(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self._array.shape
        return shape

    def _rank(self) -> int:
        return self.ndim

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        """Raise: NumPy would compute with the value of this call only."""
        raise NotImplementedError(
            f"Cannot convert a symbolic tf.Tensor ({self.name}) to a numpy array. This error may "
            "indicate that you're trying to pass a Tensor to a NumPy call, which is not supported "
            "inside tf.function. Use the function of tf, or tf.numpy_function."
        )

    def __len__(self) -> int:
        """The size of the first axis."""
        check_scope(self)
        if not self._array.shape:
            raise TypeError("Scalar tensor has no `len()`")
        return int(self._array.shape[0])

    @public
    def __iter__(self) -> Iterator[Tensor]:
        """Yield the slices along the first axis."""
        self._array.trace.check_autograph("Iterating over a symbolic `tf.Tensor`")
        if not self._array.shape:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[i] for i in self._array.trace.iterate_loop(self._array.shape[0]))

    @public
    def __bool__(self) -> bool:
        """The truth value of a single element; the trace guards it."""
        self._array.trace.check_autograph("Using a symbolic `tf.Tensor` as a Python `bool`")
        if self._array.size > 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. "
                f"Received shape {self.shape}. Use tf.reduce_any() or tf.reduce_all()."
            )
        return bool(self._array.trace.read_truth(self._array))

    @public
    def __int__(self) -> int:
        """A scalar integer; the trace guards it."""
        self._array.trace.check_autograph("Using a symbolic `tf.Tensor` as a Python `int`")
        return int(self._scalar("int", "tf.int32").item())

    @public
    def __index__(self) -> int:
        """A scalar integer; the trace guards it."""
        self._array.trace.check_autograph("Using a symbolic `tf.Tensor` as an index")
        if self._array.dtype.kind not in "iu":
            raise TypeError(
                f"only integer scalar tensors can be an index. Received {self.dtype.name} of "
                f"shape {self.shape}."
            )
        return int(self._scalar("int", "tf.int32").item())

    @public
    def __float__(self) -> float:
        """Raise: a function that depends on a float would be retraced for every value."""
        check_scope(self)
        raise TypeError(
            "float() of a symbolic tf.Tensor: its value is not known while tf.function traces. "
            f"Use tf.cast({self.name}, tf.float32) instead."
        )

    def _scalar(self, kind: str, dtype: str) -> Any:
        if self._array.shape:
            raise TypeError(
                "only 0-dimensional tensors can be converted to Python scalars. Received shape "
                f"{self.shape}."
            )
        if self._array.dtype.kind not in "iub":
            raise TypeError(
                f"{kind}() of a symbolic tf.Tensor of {self.dtype.name}: use tf.cast(…, {dtype})."
            )
        return self._array.value()

    def __copy__(self) -> SymbolicTensor:
        """This tensor, because it is immutable."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> SymbolicTensor:
        """This tensor, because it is immutable."""
        return self

    def __repr__(self) -> str:
        """Name, shape and dtype, as in TensorFlow."""
        return f"<tf.Tensor {self.name!r} shape={self.shape} dtype={self.dtype.name}>"

    def __str__(self) -> str:
        """Name, shape and dtype, as TensorFlow prints them."""
        known = "" if self._array.ndim is None else f", shape={self.shape}"
        return f'Tensor("{self.name}"{known}, dtype={self.dtype.name})'

    def consumers(self) -> NoReturn:
        """Raise: graphs do not store the consumers of a tensor."""
        raise NotImplementedError("Tensor.consumers: gradtape's graphs do not store consumers.")

    def eval(self, feed_dict: Any = None, session: Any = None) -> NoReturn:
        """Raise: there are no sessions."""
        raise NotImplementedError("Tensor.eval: there are no sessions. Return it from tf.function.")


def make_symbolic(held: TracedArray) -> SymbolicTensor:
    """Make a symbolic tensor, marked as known to a recorder."""
    tensor = SymbolicTensor()
    tensor._array = held
    tensor.uid = -next_uid()
    return tensor


def is_leaked(value: Any) -> bool:
    """Whether `value` is a tensor of a function whose trace has ended, and has no stand-in."""
    if not isinstance(value, SymbolicTensor):
        return False
    return getattr(value._array.trace, "closed", False) and not is_known_outer(value._array)


def check_scope(value: Any) -> None:
    """Raise TypeError if `value` is a tensor of a function whose trace has ended."""
    if is_leaked(value):
        raise out_of_scope_error(value)


def out_of_scope_error(tensor: Tensor) -> TypeError:
    """TensorFlow's error for a tensor of another trace, or of one that is closed."""
    options = getattr(tensor._array.trace, "options", None)
    owner = f" It was computed while {options.name} was traced." if options is not None else ""
    return TypeError(
        f"{tensor!r} is out of scope and cannot be used here.{owner} Use return values, explicit "
        "Python locals or TensorFlow collections to access it."
    )


def value_not_allowed_error(what: str) -> OperatorNotAllowedInGraphError:
    """TensorFlow's error where Python asks for the value of a symbolic tensor."""
    return OperatorNotAllowedInGraphError(
        f"{what} is not allowed: AutoGraph is disabled in this function. Use tf.cond or "
        "tf.while_loop, or remove autograph=False."
    )


class Opaque:
    """A Python object that a graph passes on like a value, such as an iterator."""

    __slots__ = ("item",)
    shape = ()
    dtype = np.dtype(object)

    def __init__(self, item: Any) -> None:
        """Carry `item`."""
        self.item = item
