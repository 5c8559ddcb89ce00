"""tf.TensorArray, a list of tensors of one dtype."""

from __future__ import annotations

import copy
from typing import Any

from gradtape.core import dtypes
from gradtape.core.argument import as_index
from gradtape.core.context import current_trace
from gradtape.core.convert import convert
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.open_shape import assume_same_shape
from gradtape.core.shapes import TensorShape
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.core.tensor import Tensor
from gradtape.ops.shape import reshape
from gradtape.tf.array import concat_split, creation, gather, scatter
from gradtape.tf.array.tensor_array_elements import TensorArrayElements, find_open_size, read_size


class TensorArray(TensorArrayElements):
    """A list of tensors of one dtype, written and read by index.

    Args:
        dtype: the dtype of the elements.
        size: the number of elements; it grows if `dynamic_size`.
        dynamic_size: whether writing past the end extends the array.
        clear_after_read: drop an element after it is read (the default); functions keep elements.
        tensor_array_name: has no effect here.
        handle: has no effect here; must be None.
        flow: has no effect here.
        infer_shape: whether all elements must have the shape of the first.
        element_shape: the shape that every element must be compatible with.
        colocate_with_first_write_call: has no effect here.
        name: has no effect here.

    Raises:
        ValueError: if `size` is missing or a `handle` is given.
    """

    @public
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
        if handle is not None:
            raise ValueError("TensorArray: handles are not supported. Leave `handle` out.")
        if size is None:
            raise ValueError(
                "TensorArray: Size must be declared. Pass size=0 and dynamic_size=True if it "
                "must grow."
            )
        self._dtype = dtypes.as_dtype(dtype)
        self._dynamic_size = bool(dynamic_size)
        self._clear_after_read = True if clear_after_read is None else clear_after_read
        self._infer_shape = infer_shape
        self._element_shape = TensorShape(element_shape)
        self._element_sizes = None
        self._open_size = find_open_size(size)
        count = read_size(size) if self._open_size is None else 0
        self._items = [None] * count
        self._cleared: set[int] = set()
        self._stacked_tensor = None

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
        """The known part of the elements' shape."""
        return self._element_shape

    @property
    def handle(self) -> None:
        """None: arrays have no handle here."""
        return

    @property
    def flow(self) -> Tensor:
        """A placeholder scalar; the order of writes needs no flow tensor here."""
        return convert(0)

    def identity(self) -> TensorArray:
        """This array."""
        return self

    def grad(self, source: Any, flow: Any = None, name: str | None = None) -> Any:
        """Not supported: a tape differentiates through an array by itself.

        Args:
            source: ignored.
            flow: ignored.
            name: ignored.
        """
        raise NotImplementedError(
            "TensorArray.grad is not supported when eager execution is enabled; use a tape."
        )

    @public
    def size(self, name: str | None = None) -> Tensor:
        """The number of elements.

        Args:
            name: ignored.

        Returns:
            A scalar tensor of int32.
        """
        if self._stacked_tensor is not None:
            return convert(self._stacked_tensor._array.shape[0])
        return convert(self._count())

    @public
    def read(self, index: Any, name: str | None = None) -> Tensor:
        """The element at `index`; zeros if it was not written and the shape is known.

        Args:
            index: the position, a scalar integer.
            name: ignored.

        Returns:
            A tensor.

        Raises:
            OutOfRangeError: if `index` is out of range.
            InvalidArgumentError: if an earlier read cleared the element.
            ValueError: if the element was not written and its shape is not known.
        """
        if self._is_one_tensor() or isinstance(index, SymbolicTensor):
            return gather.gather(self._as_stacked_tensor(), index)
        i = self._check_index(index)
        if self._items[i] is None and i in self._cleared:
            raise InvalidArgumentError(
                f"TensorArray: could not read index {i} twice because it was cleared after a "
                "previous read. Set clear_after_read=False."
            )
        item = self._get_item(i)
        if self._clear_after_read and not current_trace():
            self._items[i] = None
            self._cleared.add(i)
        return item

    @public
    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """Write `value` at `index`.

        Args:
            index: the position, a scalar integer.
            value: the element.
            name: ignored.

        Returns:
            The array to use from now on.

        >>> squares = tf.TensorArray(tf.int32, size=3)
        >>> for i in range(3):
        ...     squares = squares.write(i, i * i)
        >>> print(squares.stack().numpy())
        [0 1 4]

        Raises:
            OutOfRangeError: if the index is out of range and the array does not grow.
            ValueError: if the shape does not fit.
            InvalidArgumentError: if the dtype does not fit.
        """
        if self._is_one_tensor() or (
            current_trace() and isinstance(convert(index), SymbolicTensor)
        ):
            return self._write_in_trace(convert(index), value)
        i = as_index(index, "index")
        trace = current_trace()
        if trace and trace[0].options.forbids_values:
            # The other branch, or the next iteration, must find the array as it was.
            unchanged, self = self, copy.copy(self)
            self._items, self._cleared = list(unchanged._items), set(unchanged._cleared)
        if self._dynamic_size and i >= len(self._items):
            self._items.extend([None] * (i + 1 - len(self._items)))
        i = self._check_index(i, "write to", "array is not resizeable and")
        self._items[i] = self._convert_item(value)
        self._cleared.discard(i)
        return self

    def _as_stacked_tensor(self) -> Tensor:
        """All elements as one tensor."""
        return self.stack() if self._stacked_tensor is None else self._stacked_tensor

    def _write_in_trace(self, index: Tensor, value: Any) -> TensorArray:
        """Make a copy of this array with one element replaced; traces never overwrite."""
        fitting = self._convert_item(value)
        if self._stacked_tensor is None and not any(item is not None for item in self._items):
            shape = (self._count(), *fitting._array.shape)
            self._stacked_tensor = creation.zeros(shape, self._dtype)
        changed = scatter.tensor_scatter_nd_update(
            self._as_stacked_tensor(), [[index]], fitting[None]
        )
        return self._with_stacked_tensor(changed)

    def _with_stacked_tensor(self, whole: Tensor) -> TensorArray:
        """Make a copy of this array whose elements are the rows of `whole`."""
        other = copy.copy(self)
        other._stacked_tensor, other._items, other._cleared = whole, [], set()
        other._open_size, other._element_sizes = None, tuple(whole._array.shape[1:])
        other._element_shape = self._element_shape.merge_with(whole.shape[1:])
        return other

    @public
    def stack(self, name: str | None = None) -> Tensor:
        """All elements, stacked along a new first dimension.

        Args:
            name: ignored.

        Returns:
            A tensor whose first dimension is the size of the array.
        """
        if self._stacked_tensor is not None:
            return self._stacked_tensor
        if self._open_size is not None or self._has_symbolic_elements():
            return self._make_unwritten()
        if not self._items:
            known = self._element_shape.is_fully_defined()
            return creation.zeros([0, *(self._element_shape if known else ())], self._dtype)
        return concat_split.stack([self._get_item(i) for i in range(len(self._items))])

    @public
    def gather(self, indices: Any, name: str | None = None) -> Tensor:
        """The elements at `indices`, along a new first dimension.

        Args:
            indices: a vector of integers.
            name: ignored.

        Returns:
            A tensor with one slice for each index.
        """
        if self._is_one_tensor() or isinstance(convert(indices), SymbolicTensor):
            return gather.gather(self._as_stacked_tensor(), indices)
        return concat_split.stack([self._get_item(self._check_index(i)) for i in convert(indices)])

    @public
    def concat(self, name: str | None = None) -> Tensor:
        """All elements, concatenated along their first dimension.

        Args:
            name: ignored.

        Returns:
            A tensor.
        """
        if self._stacked_tensor is not None and len(self._stacked_tensor._array.shape) > 1:
            count, rows, *rest = self._stacked_tensor._array.shape
            whole: Tensor = reshape(
                self._stacked_tensor, shape=(count * rows, *rest), rank=len(rest) + 2
            )
            return whole
        items = [self._get_item(i) for i in range(len(self._items))]
        for i, item in enumerate(items):
            if item.ndim == 0:
                raise InvalidArgumentError(
                    f"TensorArray: Concat saw a scalar shape at index {i} but requires at least "
                    "vectors. Stack them."
                )
        return concat_split.concat(items, 0)

    @public
    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """Fill the array with the slices of `value` along its first dimension.

        Args:
            value: the tensor to divide.
            name: ignored.

        Returns:
            The array to use from now on.
        """
        whole = convert(value, hint=self._dtype)
        shape = whole._array.shape
        if isinstance(whole, SymbolicTensor) and shape and self._takes_rows(shape[0]):
            self._check_element(whole.dtype, whole.shape[1:])
            same = reshape(whole, shape=shape, rank=len(shape))  # makes its gradient dense
            return self._with_stacked_tensor(same)
        items = concat_split.unstack(whole)
        if len(items) > len(self._items) and not self._dynamic_size:
            raise ValueError(
                f"Cannot unstack {len(items)} tensors into a TensorArray of static size "
                f"{len(self._items)}"
            )
        self._items = [self._convert_item(item) for item in items]
        self._cleared = set()
        return self

    def _takes_rows(self, count: Any) -> bool:
        """Whether the array can have `count` elements; unknown sizes are assumed to be equal."""
        own = self._count()
        if type(own) is int and own == 0:
            return True
        return assume_same_shape((own,), (count,))

    @public
    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """Fill the array with consecutive pieces of `value` of the given lengths.

        Args:
            value: the tensor to divide along its first dimension.
            lengths: a vector with the length of each piece.
            name: ignored.

        Returns:
            The array to use from now on.
        """
        whole, sizes = convert(value), convert(lengths)
        if sizes.ndim != 1:
            raise InvalidArgumentError(
                f"TensorArray: Expected lengths to be a vector, received shape: {list(sizes.shape)}"
            )
        if whole.ndim == 0:
            raise InvalidArgumentError(
                "TensorArray: Expected value to be at least a vector, but received shape: []"
            )
        count, total = sizes._array.size, int(sizes._array.sum())
        if total != whole._array.shape[0]:
            raise InvalidArgumentError(
                "TensorArray: Expected sum of lengths to be equal to values.shape[0], but sum of "
                f"lengths is {total} and value's shape is: {list(whole.shape)}"
            )
        if count != len(self._items) and not self._dynamic_size:
            raise InvalidArgumentError(
                f"TensorArray's size is not equal to the size of lengths ({len(self._items)} vs. "
                f"{count}), and the TensorArray is not marked as dynamically resizeable."
            )
        infer, self._infer_shape = self._infer_shape, False
        self._items = [self._convert_item(piece) for piece in concat_split.split(whole, sizes)]
        self._infer_shape = infer
        self._cleared = set()
        return self

    @public
    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """Write the slices of `value` at `indices`; the longer one's surplus is ignored.

        Args:
            indices: a vector of integers.
            value: a tensor with one slice for each index.
            name: ignored.

        Returns:
            The array to use from now on.
        """
        for i, item in zip(convert(indices), concat_split.unstack(convert(value)), strict=False):
            self.write(i, item)
        return self

    def close(self, name: str | None = None) -> None:
        """Drop all elements.

        Args:
            name: ignored.
        """
        self._items = []
