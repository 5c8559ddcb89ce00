"""The elements of a TensorArray: a list of tensors, or one stacked tensor."""

from __future__ import annotations

from typing import Any

from gradtape.core import dtypes
from gradtape.core.argument import as_index
from gradtape.core.context import current_trace
from gradtape.core.convert import convert, to_dimension_size
from gradtape.core.dims import Dim
from gradtape.core.errors import InvalidArgumentError, OutOfRangeError
from gradtape.core.lazy_array import TracedArray
from gradtape.core.open_shape import has_dims
from gradtape.core.shapes import TensorShape
from gradtape.core.tensor import Tensor
from gradtape.tf.array import creation


def read_size(size: Any) -> int:
    """The number of elements; a trace reads it without autograph, too."""
    traces = current_trace()
    if not traces:
        return as_index(size, "size")
    with traces[0].use_options(autograph=True):
        return as_index(size, "size")


def find_open_size(size: Any) -> Any:
    """A symbolic size, given as itself or as a tensor; None if the size is a number."""
    held = getattr(size, "_array", None)
    if type(held) is TracedArray and (held.dims is not None or held.trace.is_abstract):
        size = to_dimension_size(size)
    return size if type(size) is Dim else None


class TensorArrayElements:
    """Elements of one dtype and of compatible shapes."""

    _dtype: dtypes.DType
    _infer_shape: bool
    _element_shape: TensorShape
    _element_sizes: tuple[Any, ...] | None  # of a written element; may be symbolic
    _open_size: Any  # a symbolic size; None if the size is a number
    _items: list[Tensor | None]
    _stacked_tensor: Tensor | None  # all elements stacked; used in traces

    def _count(self) -> Any:
        """The number of elements, which may be symbolic."""
        return len(self._items) if self._open_size is None else self._open_size

    def _check_index(self, index: Any, action: str = "read from", why: str = "array") -> int:
        i, n = as_index(index, "index"), len(self._items)
        if i < 0:
            raise OutOfRangeError(f"TensorArray: Tried to {action} negative indices (index {i}).")
        if i >= n:
            raise OutOfRangeError(
                f"TensorArray: Tried to {action} index {i} but {why} size is: {n}"
            )
        return i

    def _get_item(self, i: int) -> Tensor:
        item = self._items[i]
        if item is None:
            if not self._element_shape.is_fully_defined():
                raise ValueError(
                    f"TensorArray: element {i} was not written, and element_shape "
                    f"{self._element_shape} is not fully known. Write it first."
                )
            item = self._items[i] = creation.zeros(self._element_shape, self._dtype)
        return item

    def _is_one_tensor(self) -> bool:
        """Whether the elements are one tensor: in loops, and if their number is not known."""
        return self._stacked_tensor is not None or self._open_size is not None

    def _convert_item(self, value: Any) -> Tensor:
        tensor = convert(value, hint=self._dtype)
        self._check_element(tensor.dtype, tensor.shape)
        self._element_sizes = tuple(tensor._array.shape)
        return tensor

    def _check_element(self, dtype: dtypes.DType, shape: TensorShape) -> None:
        """Check dtype and shape of an element, and learn its shape."""
        if dtype != self._dtype:
            raise InvalidArgumentError(
                f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype "
                f"{dtype.name}. Cast it."
            )
        if not self._element_shape.is_compatible_with(shape):
            raise ValueError(
                f"Incompatible shape for value ({shape}), expected ({self._element_shape})"
            )
        if self._infer_shape:
            self._element_shape = self._element_shape.merge_with(shape)

    def _has_symbolic_elements(self) -> bool:
        """Whether no element is written, and the sizes of elements are symbolic."""
        is_unwritten = not any(item is not None for item in self._items)
        return is_unwritten and self._element_sizes is not None and has_dims(self._element_sizes)

    def _make_unwritten(self) -> Tensor:
        """Zeros for all elements.

        Raises:
            ValueError: if the shape of the elements is not known.
        """
        sizes = self._element_sizes
        if sizes is None:
            if not self._element_shape.is_fully_defined():
                raise ValueError(
                    f"TensorArray: no element was written, and element_shape {self._element_shape} "
                    "is not fully known. Write one first."
                )
            sizes = tuple(self._element_shape.as_list())
        return creation.zeros((self._count(), *sizes), self._dtype)
