"""tf.TensorArray: a list of tensors that is written once and read."""

from __future__ import annotations

from builtins import range as indices
from typing import Any

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, OutOfRangeError, public
from gradtape.core.shapes import TensorShape
from gradtape.core.tensor import Tensor, eager
from gradtape.tf import creation, joining


class TensorArray:
    """A list of tensors of one dtype.

    Args:
        dtype: of the elements.
        size: how many there are; grows if `dynamic_size`.
        dynamic_size: whether writing past the end extends the array.
        clear_after_read: forget an element once it was read (the default).
        tensor_array_name: accepted for TensorFlow's sake.
        handle: accepted for TensorFlow's sake; must be None.
        flow: accepted for TensorFlow's sake.
        infer_shape: whether all elements must have the shape of the first.
        element_shape: shape every element must be compatible with.
        colocate_with_first_write_call: accepted for TensorFlow's sake.
        name: accepted for TensorFlow's sake.
    """

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        """Make an array of `size` unwritten elements."""
        self._dtype = dtypes.as_dtype(dtype)
        self._dynamic_size = bool(dynamic_size)
        self._clear_after_read = True if clear_after_read is None else clear_after_read
        self._infer_shape = infer_shape
        self._element_shape = TensorShape(element_shape)
        self._items: list[Tensor | None] = [None] * (0 if size is None else int(convert(size)))
        self._cleared: set[int] = set()

    @property
    def dtype(self) -> dtypes.DType:
        """Element type."""
        return self._dtype

    @property
    def dynamic_size(self) -> bool:
        """Whether the array grows."""
        return self._dynamic_size

    @property
    def element_shape(self) -> TensorShape:
        """What is known of the elements' shape."""
        return self._element_shape

    @property
    def handle(self) -> None:
        """There is none."""
        return

    @property
    def flow(self) -> Any:
        """A scalar that stands for the order of writes."""
        return convert(0.0)

    def identity(self) -> TensorArray:
        """This array."""
        return self

    def grad(self, source: Any, flow: Any = None, name: str | None = None) -> Any:
        """Refuse: a tape differentiates through an array by itself."""
        raise NotImplementedError(
            "TensorArray.grad is not supported when eager execution is enabled; use a tape."
        )

    @public
    def size(self, name: str | None = None) -> Tensor:
        """How many elements there are."""
        return convert(len(self._items))

    @public
    def read(self, index: Any, name: str | None = None) -> Tensor:
        """The element at `index`.

        Raises:
            OutOfRangeError: if there is no such element.
            InvalidArgumentError: if it was not written, or read before and cleared.
        """
        i = self._position(index)
        item = self._items[i]
        if item is None:
            if i in self._cleared:
                raise InvalidArgumentError(
                    f"TensorArray: could not read index {i} twice because it was cleared after a previous read. "
                    "Set clear_after_read=False."
                )
            if not self._element_shape.is_fully_defined():
                raise InvalidArgumentError(
                    f"TensorArray: could not read index {i}: it was not written yet."
                )
            item = eager(creation.zeros(self._element_shape, self._dtype)._array)
        if self._clear_after_read:
            self._items[i] = None
            self._cleared.add(i)
        return item

    def _position(self, index: Any) -> int:
        i = int(convert(index))
        if not 0 <= i < len(self._items):
            raise OutOfRangeError(f"TensorArray: index {i} is not in [0, {len(self._items)}).")
        return i

    @public
    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """Put `value` at `index`.

        Raises:
            OutOfRangeError: if the index lies outside and the array does not grow.
            ValueError: if the shape does not fit.
            InvalidArgumentError: if the dtype does not fit.
        """
        i = int(convert(index))
        if self._dynamic_size and i >= len(self._items):
            self._items.extend([None] * (i + 1 - len(self._items)))
        i = self._position(i)
        self._items[i] = self._fitting(value)
        self._cleared.discard(i)
        return self

    def _fitting(self, value: Any) -> Tensor:
        tensor = convert(value, hint=self._dtype)
        if tensor.dtype != self._dtype:
            raise InvalidArgumentError(
                f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype {tensor.dtype.name}. Cast it."
            )
        if not self._element_shape.is_compatible_with(tensor.shape):
            raise ValueError(
                f"Incompatible shape for value ({tensor.shape}), expected ({self._element_shape})"
            )
        if self._infer_shape:
            self._element_shape = self._element_shape.merge_with(tensor.shape)
        return tensor

    def _all(self) -> list[Tensor]:
        return [self.read(i) for i in indices(len(self._items))]

    @public
    def stack(self, name: str | None = None) -> Tensor:
        """All elements along a new first dimension."""
        for i, item in enumerate(self._items):
            if item is None and i not in self._cleared and self._element_shape.is_fully_defined():
                self._items[i] = creation.zeros(self._element_shape, self._dtype)
        if not self._items:
            shape = self._element_shape.as_list() if self._element_shape.rank is not None else []
            return creation.zeros([0, *shape], self._dtype)
        return joining.stack(self._all())

    @public
    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        """Some elements along a new first dimension."""
        return joining.stack([self.read(int(i)) for i in convert(indices)])

    @public
    def concat(self, name: str | None = None) -> Tensor:
        """All elements one after another along their first dimension."""
        return joining.concat(self._all(), 0)

    @public
    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """Fill the array with the slices of `value` along its first dimension."""
        items = joining.unstack(convert(value, hint=self._dtype))
        if len(items) > len(self._items) and not self._dynamic_size:
            raise ValueError(
                f"Cannot unstack {len(items)} values into a TensorArray of static size {len(self._items)}"
            )
        self._items = [self._fitting(item) for item in items]
        self._cleared = set()
        return self

    @public
    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """Fill the array with consecutive pieces of `value` of the given lengths."""
        sizes = [int(n) for n in convert(lengths)]
        infer, self._infer_shape = self._infer_shape, False
        self._items = [self._fitting(piece) for piece in joining.split(convert(value), sizes)]
        self._infer_shape = infer
        self._cleared = set()
        return self

    @public
    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """Write the slices of `value` at `indices`."""
        for i, item in zip(convert(indices), joining.unstack(convert(value)), strict=True):
            self.write(int(i), item)
        return self

    def close(self, name: str | None = None) -> None:
        """Forget all elements."""
        self._items = []

    def __len__(self) -> int:
        """How many elements there are."""
        return len(self._items)
