"""Tensor, an immutable handle on an array, and EagerTensor, a tensor with a value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.context import current_trace, local, next_uid
from gradtape.core.errors import ResourceExhaustedError, public
from gradtape.core.ledger import ledger, note_departure
from gradtape.core.missing_attribute import GraphOnlyAttributes, MissingAttribute
from gradtape.core.origin import note_birth
from gradtape.core.ports import DevicePort, devices, make_html
from gradtape.core.reference import Reference
from gradtape.core.shapes import TensorShape

OPERATORS = (
    "abs add and div eq floordiv ge getitem gt invert le lt matmul mod mul ne neg or pow radd rand "
    "rdiv rfloordiv rmatmul rmod rmul ror rpow rsub rtruediv rxor sub truediv xor"
)
CPU_NAME = "/job:localhost/replica:0/task:0/device:CPU:0"


class TensorLike:
    """Base class of all kinds of tensors (`tf.__internal__.types.Tensor`)."""

    __slots__ = ()


class Tensor(TensorLike):
    """An immutable multidimensional array of one dtype.

    Operators are declared here; `gradtape.tf.tensor_operator` defines them.
    """

    __slots__ = ("__dict__", "__weakref__", "_array", "uid")
    __array_priority__ = 100
    OVERLOADABLE_OPERATORS = frozenset(f"__{name}__" for name in OPERATORS.split())

    _array: Any
    uid: int

    if TYPE_CHECKING:

        def __add__(self, other: Any) -> Tensor: ...
        def __radd__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __rsub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __rmul__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __rtruediv__(self, other: Any) -> Tensor: ...
        def __floordiv__(self, other: Any) -> Tensor: ...
        def __rfloordiv__(self, other: Any) -> Tensor: ...
        def __mod__(self, other: Any) -> Tensor: ...
        def __rmod__(self, other: Any) -> Tensor: ...
        def __pow__(self, other: Any) -> Tensor: ...
        def __rpow__(self, other: Any) -> Tensor: ...
        def __matmul__(self, other: Any) -> Tensor: ...
        def __rmatmul__(self, other: Any) -> Tensor: ...
        def __and__(self, other: Any) -> Tensor: ...
        def __rand__(self, other: Any) -> Tensor: ...
        def __or__(self, other: Any) -> Tensor: ...
        def __ror__(self, other: Any) -> Tensor: ...
        def __xor__(self, other: Any) -> Tensor: ...
        def __rxor__(self, other: Any) -> Tensor: ...
        def __lt__(self, other: Any) -> Tensor: ...
        def __le__(self, other: Any) -> Tensor: ...
        def __gt__(self, other: Any) -> Tensor: ...
        def __ge__(self, other: Any) -> Tensor: ...
        def __eq__(self, other: Any) -> Any: ...
        def __ne__(self, other: Any) -> Any: ...
        def __neg__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...
        def __getitem__(self, key: Any) -> Tensor: ...
        def __iter__(self) -> Iterator[Tensor]: ...
        def __int__(self) -> int: ...
        def __float__(self) -> float: ...
        def __complex__(self) -> complex: ...

        def numpy(self) -> np.ndarray[Any, Any]:
            """The value; declared for type checkers, symbolic tensors do not have it."""

    @property
    def shape(self) -> TensorShape:
        """The shape; all dimensions are known."""
        return TensorShape.from_tuple(self._array.shape)

    @property
    def dtype(self) -> dtypes.DType:
        """The element type."""
        return dtypes.from_numpy_dtype(self._array.dtype)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return int(self._array.ndim)

    @property
    def device(self) -> str:
        """Where the array lives."""
        return CPU_NAME

    def get_shape(self) -> TensorShape:
        """The shape, as a method."""
        return self.shape

    def ref(self) -> Reference:
        """A hashable reference to this tensor."""
        return Reference(self)

    experimental_ref = ref

    def __hash__(self) -> int:
        """Raise TypeError: `==` compares elements."""
        raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")

    @classmethod
    def _overload_operator(cls, name: str, function: Callable[..., Any]) -> None:
        setattr(cls, name, function)

    def __bool__(self) -> bool:
        """Read the value as a bool; subclasses can."""
        raise TypeError(f"Using a {type(self).__name__} as a Python `bool` is not allowed.")

    __nonzero__ = __bool__  # Python 2's name, which packages copy


MISSING_ATTRIBUTES = ("T", "astype", "clip", "data", "ravel", "reshape", "size", "tolist")
for name in MISSING_ATTRIBUTES:
    setattr(Tensor, name, MissingAttribute(name))


class EagerTensor(Tensor, GraphOnlyAttributes):
    """A tensor that holds its value."""

    __slots__ = ()

    def numpy(self) -> Any:
        """The value as a writable NumPy array; a scalar as a NumPy scalar."""
        array = self._array
        if isinstance(array, np.ndarray):
            try:
                array = array.copy() if array.ndim else array[()]
            except MemoryError as error:
                raise ResourceExhaustedError(f"numpy: {error}.") from None
        if ledger.active:
            note_departure(self, "numpy", array)
        return array

    def _numpy(self) -> Any:
        return self._array

    @property
    def _id(self) -> int:
        return self.uid

    @property
    def backing_device(self) -> str:
        """Where the array lives."""
        return CPU_NAME

    def cpu(self) -> EagerTensor:
        """This tensor, which is on the CPU already."""
        return self

    def gpu(self, gpu_index: int = 0) -> EagerTensor:
        """The same value on a GPU."""
        import_module(DevicePort.supplier)
        return DevicePort.copy_to_gpu(self, gpu_index)

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

    def _num_elements(self) -> int:
        return int(self._array.size)

    @property
    def is_packed(self) -> bool:
        """Whether this packs tensors of several devices: never."""
        return False

    def _datatype_enum(self) -> int:
        return self.dtype.as_datatype_enum

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """A read-only view of the value; a copy if `dtype` differs or `copy` is true."""
        view = np.asarray(self._array).view()
        view.flags.writeable = False
        if dtype is not None or copy:
            view = np.array(view, dtype=dtype, copy=copy)
        if ledger.active:
            note_departure(self, "numpy", view)
        return view

    def __dlpack__(self, **options: Any) -> Any:
        """The value as a DLPack capsule that shares its memory; consumers must not write to it."""
        if ledger.active:
            note_departure(self, "numpy", None)
        array = np.asarray(self._array)
        try:
            return array.__dlpack__(**options)
        except BufferError:  # NumPy exports read-only arrays only to consumers that know of them
            return array.copy().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """The CPU as DLPack's device type and number."""
        return np.asarray(self._array).__dlpack_device__()

    def __buffer__(self, flags: int) -> memoryview:
        """The value as a read-only buffer (from Python 3.12 on)."""
        return memoryview(self.__array__())

    def __bytes__(self) -> bytes:
        """The bytes of the value."""
        if ledger.active:
            note_departure(self, "numpy", None)
        return bytes(self._array.tobytes())

    @public
    def __len__(self) -> int:
        """The size of the first dimension."""
        if not self._array.shape:
            raise TypeError("Scalar tensor has no `len()`")
        return int(self._array.shape[0])

    @public
    def __iter__(self) -> Iterator[Tensor]:
        """Yield the slices along the first dimension."""
        if not self._array.shape:
            raise TypeError("Cannot iterate over a scalar tensor.")
        count = self._array.shape[0]
        streams = next(iter(current_trace()), local.random_streams)
        return (self[i] for i in (range(count) if streams is None else streams.iterate_loop(count)))

    @public
    def __bool__(self) -> bool:
        """The truth value of a single element; False if there is none."""
        array = self._array
        if ledger.active:
            note_departure(self, "python", None)
        if array.size > 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. "
                f"Received shape {self.shape}. Use tf.reduce_any() or tf.reduce_all()."
            )
        return bool(array.size) and bool(array if not array.shape else array.item())

    @public
    def __int__(self) -> int:
        """A scalar as an int."""
        return int(self._scalar())

    @public
    def __float__(self) -> float:
        """A scalar as a float."""
        return float(self._scalar())

    @public
    def __complex__(self) -> complex:
        """A scalar as a complex number."""
        return complex(self._scalar())

    @public
    def __index__(self) -> int:
        """An integer scalar as an index."""
        array = self._array
        if ledger.active:
            note_departure(self, "python", None)
        if array.shape or array.dtype.kind not in "iu":
            raise TypeError(
                f"only integer scalar tensors can be an index. Received {self.dtype.name} of "
                f"shape {self.shape}."
            )
        return int(array)

    def _scalar(self) -> Any:
        if ledger.active:
            note_departure(self, "python", None)
        if self._array.shape:
            raise TypeError(
                "only 0-dimensional tensors can be converted to Python scalars. Received shape "
                f"{self.shape}."
            )
        return self._array[()]

    _repr_html_ = make_html

    def __format__(self, spec: str) -> str:
        """Format as NumPy does; a scalar as its Python number."""
        if ledger.active:
            note_departure(self, "python", None)
        return np.asarray(self._array).__format__(spec)

    def __copy__(self) -> EagerTensor:
        """This tensor, because it is immutable."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> EagerTensor:
        """This tensor, because it is immutable."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the value."""
        if ledger.active:
            note_departure(self, "python", None)
        return make_tensor, (self._array,)

    def __repr__(self) -> str:
        """Shape, dtype and value, as in TensorFlow."""
        text = format_value(self._array)
        if ledger.active:
            note_departure(self, "python", None)
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={text}>"

    def __str__(self) -> str:
        """Value, shape and dtype, as in TensorFlow."""
        text = start_on_new_line(str(self._array))
        if ledger.active:
            note_departure(self, "python", None)
        return f"tf.Tensor({text}, shape={self.shape}, dtype={self.dtype.name})"


def format_value(array: Any) -> str:
    """The value for a repr: a scalar as its Python number, an array as NumPy prints it."""
    if array.shape:
        return start_on_new_line(repr(array))
    kind = array.dtype.kind
    if kind == "c":
        return repr(complex(array))
    return repr(array.item() if kind in "biuO" else float(array))


def start_on_new_line(text: str) -> str:
    """`text`, preceded by a line break if it has several lines."""
    return f"\n{text}" if "\n" in text else text


def make_tensor(raw: Any) -> EagerTensor:
    """Make a tensor of a raw array, which must not be written to from now on."""
    if ledger.active:
        tensor = wrap_array(raw)
        note_birth(tensor)
        return tensor
    if devices.active:
        return DevicePort.make_tensor(raw)
    tensor = EagerTensor()
    tensor._array = raw
    tensor.uid = next_uid()
    return tensor


def wrap_array(raw: Any) -> EagerTensor:
    """`make_tensor` for the result of an op, which the ledger describes."""
    if devices.active:
        return DevicePort.make_tensor(raw)
    tensor = EagerTensor()
    tensor._array = raw
    tensor.uid = next_uid()
    return tensor


def mark_recorded(tensor: Tensor) -> int:
    """Mark a tensor as known to a recorder: make its uid negative, and return it."""
    if tensor.uid > 0:
        tensor.uid = -tensor.uid
    return tensor.uid


def unwrap(value: Any) -> Any:
    """The raw array of a tensor; any other value unchanged."""
    return value._array if isinstance(value, Tensor) else value
