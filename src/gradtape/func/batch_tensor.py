"""Batch tensors, which `vmap` passes to its function: they show one example and hold all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

from gradtape.core.context import next_uid
from gradtape.core.errors import OperatorNotAllowedInGraphError, public
from gradtape.core.lazy_array import LazyArray
from gradtape.core.shapes import TensorShape
from gradtape.core.tensor import Tensor


class VectorizeError(OperatorNotAllowedInGraphError):
    """A function cannot run once for all examples, for example because Python reads a value."""


class BatchArray(LazyArray):
    """The array of a batch tensor: the shape of one example, without a value.

    Attributes:
        held: the tensor or raw array of all examples; its first axis is the batch dimension.
        stage: the `BatchStage` that it belongs to.
    """

    __slots__ = ("held", "stage")

    def __init__(self, held: Any, stage: Any) -> None:
        """Hold the examples of `stage`."""
        raw = held._array if isinstance(held, Tensor) else held
        self.held = held
        self.shape = raw.shape[1:]
        self.dtype = raw.dtype
        self.stage = stage

    def value(self) -> NoReturn:
        """Raise: the value differs between the examples."""
        raise VectorizeError(
            "vmap: Python must not read a value that differs between examples. Received a tensor "
            f"of {self.dtype} and shape {list(self.shape)} per example. Use tf.where or tf.cond, "
            "or tf.map_fn, which calls the function once for each example."
        )


class BatchTensor(Tensor):
    """A tensor inside a function that `vmap` runs for all examples at once."""

    __slots__ = ()

    @property
    def device(self) -> str:
        """Empty: only the tensor of all examples has a device."""
        return ""

    def _shape_tuple(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self._array.shape
        return shape

    def _rank(self) -> int:
        return self.ndim

    def set_shape(self, shape: Any) -> None:
        """Check the shape of an example against `shape`."""
        if not self.shape.is_compatible_with(shape):
            raise ValueError(
                f"Tensor's shape {self.shape} is not compatible with supplied shape "
                f"{TensorShape(shape)}."
            )

    def numpy(self) -> Any:
        """Raise: the value differs between the examples."""
        return self._array.value()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """Raise: the value differs between the examples."""
        return self._array.value()

    def __len__(self) -> int:
        """The size of the first axis of an example."""
        if not self._array.shape:
            raise TypeError("Scalar tensor has no `len()`")
        return int(self._array.shape[0])

    @public
    def __iter__(self) -> Iterator[Tensor]:
        """Yield the slices of an example along its first axis."""
        if not self._array.shape:
            raise TypeError("Cannot iterate over a scalar tensor.")
        return (self[i] for i in range(self._array.shape[0]))

    def __bool__(self) -> bool:
        """Raise: the value differs between the examples."""
        return bool(self._array.value())

    __int__ = __index__ = __float__ = __complex__ = __bool__

    def __copy__(self) -> BatchTensor:
        """This tensor, because it is immutable."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> BatchTensor:
        """This tensor, because it is immutable."""
        return self

    def __repr__(self) -> str:
        """The shape and dtype of one example, and the number of examples."""
        return (
            f"<tf.Tensor of {self._array.stage.size} examples, shape={self.shape}, "
            f"dtype={self.dtype.name}>"
        )

    __str__ = __repr__


def make_batch_tensor(held: Any, stage: Any) -> BatchTensor:
    """Make a tensor of `stage` that holds all examples, marked as known to a recorder."""
    tensor = BatchTensor()
    tensor._array = BatchArray(held, stage)
    tensor.uid = -next_uid()
    return tensor
