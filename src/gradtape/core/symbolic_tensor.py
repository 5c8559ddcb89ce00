"""Tensors of a trace. They carry the value of the run that is traced, but do not show it.

Their `_array` is a `Held`: shape and dtype are there for everybody; whoever looks at the value,
in the library or in the user's program, does so through the trace, which notes what was seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from gradtape.core.context import next_uid
from gradtape.core.errors import OperatorNotAllowedInGraphError, public
from gradtape.core.lazy_array import Reading
from gradtape.core.shapes import TensorShape
from gradtape.core.tensor import Tensor


class Held(Reading):
    """The array of a symbolic tensor: static facts, and a value that is seen through the trace.

    Attributes:
        value: the raw array of this run; None once the trace is closed.
        number: which value of the trace this is.
        trace: to whom it belongs.
    """

    __slots__ = ("__weakref__", "number", "trace", "value")

    def __init__(self, value: Any, number: int, trace: Any) -> None:
        """Hold `value`, the one with this number in `trace`."""
        self.value = value
        self.shape = value.shape
        self.dtype = value.dtype
        self.number = number
        self.trace = trace

    def seen(self) -> Any:
        """The raw value; the trace notes that it was looked at."""
        return self.trace.observe(self)


class SymbolicTensor(Tensor):
    """A tensor of a function that is being traced."""

    __slots__ = ()

    @property
    def graph(self) -> Any:
        """The trace this tensor belongs to."""
        return self._array.trace

    @property
    def name(self) -> str:
        """What the tensor is called in its graph."""
        return str(self._array.trace.name_of(self._array.number))

    @property
    def op(self) -> Any:
        """What computes the tensor."""
        return self._array.trace.operation_of(self._array.number)

    @property
    def value_index(self) -> int:
        """Which result of its op this is."""
        return int(self._array.trace.position_of(self._array.number))

    @property
    def device(self) -> str:
        """Nowhere yet."""
        return ""

    def set_shape(self, shape: Any) -> None:
        """Check the shape against `shape`."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(
                f"Tensor's shape {self.shape} is not compatible with supplied shape "
                f"{TensorShape(shape)}."
            )

    def _shape_tuple(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self._array.shape
        return shape

    def _rank(self) -> int:
        return self.ndim

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        """Refuse: NumPy would compute with the value of one call."""
        raise NotImplementedError(
            f"Cannot convert a symbolic tf.Tensor ({self.name}) to a numpy array. This error may "
            "indicate that you're trying to pass a Tensor to a NumPy call, which is not supported "
            "inside tf.function. Use the function of tf, or tf.numpy_function."
        )

    def __len__(self) -> int:
        """The size of the first axis."""
        if not self._array.shape:
            raise TypeError("Scalar tensor has no `len()`")
        return int(self._array.shape[0])

    @public
    def __iter__(self) -> Iterator[Tensor]:
        """Yield the slices along the first axis."""
        self._array.trace.allow("Iterating over a symbolic `tf.Tensor`")
        if not self._array.shape:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[i] for i in self._array.trace.turns(self._array.shape[0]))

    @public
    def __bool__(self) -> bool:
        """The truth of a single element; the trace notes which."""
        self._array.trace.allow("Using a symbolic `tf.Tensor` as a Python `bool`")
        if self._array.size > 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. "
                f"Received shape {self.shape}. Use tf.reduce_any() or tf.reduce_all()."
            )
        return bool(self._array.size) and bool(self._array.seen().item())

    @public
    def __int__(self) -> int:
        """A scalar integer; the trace notes which."""
        self._array.trace.allow("Using a symbolic `tf.Tensor` as a Python `int`")
        return int(self._scalar("int", "tf.int32").item())

    @public
    def __index__(self) -> int:
        """A scalar integer; the trace notes which."""
        self._array.trace.allow("Using a symbolic `tf.Tensor` as an index")
        if self._array.dtype.kind not in "iu":
            raise TypeError(
                f"only integer scalar tensors can be an index. Received {self.dtype.name} of "
                f"shape {self.shape}."
            )
        return int(self._scalar("int", "tf.int32").item())

    @public
    def __float__(self) -> float:
        """Refuse: a function that depends on a float's value would be traced for each."""
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
        return self._array.seen()

    def __copy__(self) -> SymbolicTensor:
        """This tensor: it never changes."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> SymbolicTensor:
        """This tensor: it never changes."""
        return self

    def __repr__(self) -> str:
        """As TensorFlow: name, shape and dtype."""
        return f"<tf.Tensor {self.name!r} shape={self.shape} dtype={self.dtype.name}>"

    def __str__(self) -> str:
        """As TensorFlow."""
        known = "" if self._array.ndim is None else f", shape={self.shape}"
        return f'Tensor("{self.name}"{known}, dtype={self.dtype.name})'

    def consumers(self) -> NoReturn:
        """Not kept."""
        raise NotImplementedError("Tensor.consumers: gradtape's graphs do not keep it.")

    def eval(self, feed_dict: Any = None, session: Any = None) -> NoReturn:
        """Refuse: there are no sessions."""
        raise NotImplementedError("Tensor.eval: there are no sessions. Return it from tf.function.")


def symbolic(held: Held) -> SymbolicTensor:
    """A tensor of a trace; recorders may know it."""
    tensor = SymbolicTensor()
    tensor._array = held
    tensor.uid = -next_uid()
    return tensor


def out_of_scope(tensor: Tensor) -> TypeError:
    """TensorFlow's complaint about a tensor of a trace that is over, or of another one."""
    return TypeError(
        f"{tensor!r} is out of scope and cannot be used here. Use return values, explicit Python "
        "locals or TensorFlow collections to access it."
    )


def refuse(what: str) -> OperatorNotAllowedInGraphError:
    """TensorFlow's complaint where Python asks for a value that is not there."""
    return OperatorNotAllowedInGraphError(
        f"{what} is not allowed: AutoGraph is disabled in this function. Use tf.cond or "
        "tf.while_loop, or leave autograph=False out."
    )


class Opaque:
    """A Python object that travels through a graph like a value; an iterator, for one."""

    __slots__ = ("item",)
    shape = ()
    dtype = np.dtype(object)

    def __init__(self, item: Any) -> None:
        """Carry `item`."""
        self.item = item
