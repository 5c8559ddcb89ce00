"""IndexedSlices: the sparse gradient of a lookup, one row for each index."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gradtape.core.composite_tensor import CompositeTensor
from gradtape.core.convert import convert, to_shape_tuple
from gradtape.core.dtypes import DType, as_dtype, float32, int64
from gradtape.core.errors import public
from gradtape.core.shapes import TensorShape
from gradtape.core.spec import TensorSpec, TypeSpec
from gradtape.core.symbolic_tensor import SymbolicTensor
from gradtape.core.tensor import Tensor, TensorLike, make_tensor
from gradtape.ops.elementwise import negative
from gradtape.ops.gather_scatter import scatter_add
from gradtape.ops.shape import concat, reshape, shape_of

# Keys of `grads` in a backward pass that are not uids: the requested uids, and the record.
SOURCES = 0
RECORD = -1


class SparseCotangent:
    """A sparse cotangent in a backward pass: `values[k]` is added to row `indices[k]`."""

    __slots__ = ("indices", "shape", "values")
    __array_ufunc__ = None

    def __init__(self, values: Any, indices: Any, shape: tuple[int, ...]) -> None:
        """`values` and `indices` are both raw arrays, or both Tensors."""
        self.values = values
        self.indices = indices
        self.shape = shape

    def __add__(self, other: Any) -> Any:
        """The sum: slices if both are sparse (duplicate indices stay), else a dense array."""
        if isinstance(other, SparseCotangent):
            return SparseCotangent(
                concat(self.values, other.values, axis=-len(self.shape)),
                concat(self.indices, other.indices, axis=-1),
                self.shape,
            )
        return densify_cotangent(self) + other

    __radd__ = __add__

    def __neg__(self) -> SparseCotangent:
        """The negated slices; with this, the rule of `negative` works on slices."""
        return SparseCotangent(-self.values, self.indices, self.shape)


def densify_cotangent(slices: SparseCotangent) -> Any:
    """The dense array of the slices."""
    return scatter_add(slices.values, slices.indices, axis=-len(slices.shape), size=slices.shape[0])


def make_lookup_step(step: Any) -> Any:
    """Wrap the step of `gather`: the gradient of a lookup along axis 0 stays sparse if it can."""

    def sparse(entry: tuple[Any, ...], g: Any, grads: dict[int, Any]) -> None:
        _, uid, params, indices, axis = entry
        whole, shape, rows = params.shape, shape_of(g), shape_of(indices)
        covers = axis == -len(whole) and len(shape) == len(rows) + len(whole) - 1
        if not (covers and can_stay_sparse(uid, grads)):
            step(entry, g, grads)
            return
        if isinstance(indices, Tensor) and not isinstance(g, Tensor):
            indices = indices._array
        elif isinstance(g, Tensor) and not isinstance(indices, Tensor):
            indices = make_tensor(indices)  # a constant of a graph
        count = math.prod(rows)
        flat = reshape(indices, shape=(count,), rank=len(rows))
        values = reshape(g, shape=(count, *whole[1:]), rank=len(shape))
        new = SparseCotangent(values, flat, whole)
        before = grads.get(uid)
        grads[uid] = new if before is None else before + new

    return sparse


def can_stay_sparse(uid: int, grads: dict[int, Any]) -> bool:
    """Whether slices may stay sparse: only ops that pass slices lie between a source and `uid`."""
    while uid not in grads[SOURCES]:
        entry = grads[RECORD].get(uid) if RECORD in grads else None
        if entry is None or not keeps_slices(entry[0]):
            return False
        uid = entry[1]
    return True


def keeps_slices(step: Any) -> bool:
    """Whether a step maps slices to slices, as in TensorFlow."""
    return step.op is not None and step.op.name in ("cast", "identity", "negative")


def make_cast_step(step: Any) -> Any:
    """Wrap the step of `cast`: it casts the values of slices."""

    def sparse(entry: tuple[Any, ...], g: Any, grads: dict[int, Any]) -> None:
        if type(g) is not SparseCotangent:
            step(entry, g, grads)
            return
        uid = entry[1]
        values: dict[int, Any] = {}
        step(entry, g.values, values)
        new = SparseCotangent(values[uid], g.indices, g.shape)
        before = grads.get(uid)
        grads[uid] = new if before is None else before + new

    return sparse


SPARSE_STEPS: dict[str, Callable[[Any], Any]] = {"cast": make_cast_step, "gather": make_lookup_step}


class IndexedSlices(TensorLike, CompositeTensor):
    """Rows of a larger tensor: `values[k]` is row `indices[k]`; rows of equal index are summed."""

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        """Keep the three parts unchanged."""
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def values(self) -> Any:
        """The rows."""
        return self._values

    @property
    def indices(self) -> Any:
        """The row numbers of `values` in the dense tensor."""
        return self._indices

    @property
    def dense_shape(self) -> Any:
        """Shape of the dense tensor, or None."""
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        """Static shape of the dense tensor."""
        if self._dense_shape is None:
            return TensorShape(None)
        if isinstance(self._dense_shape, SymbolicTensor):
            return TensorShape([None] * self._dense_shape._array.shape[0])  # also after the trace
        return TensorShape(to_shape_tuple(self._dense_shape))

    @property
    def dtype(self) -> DType:
        """Element type of the rows."""
        return self.values.dtype

    @property
    def _type_spec(self) -> IndexedSlicesSpec:
        shape = self.shape
        if self._dense_shape is None:
            shape = TensorShape([None]).concatenate(self.values.shape[1:])
        return IndexedSlicesSpec(
            shape,
            self.dtype,
            self.indices.dtype,
            getattr(self._dense_shape, "dtype", None),
            self.indices.shape,
        )

    @property
    def name(self) -> str:
        """Name of the values."""
        return self.values.name

    @property
    def device(self) -> str:
        """Device of the values."""
        return self.values.device

    @property
    def op(self) -> Any:
        """Undefined for eager tensors."""
        return self.values.op

    @property
    def graph(self) -> Any:
        """Undefined for eager tensors."""
        return self.values.graph

    def __tf_tensor__(self, dtype: DType | None = None, name: str | None = None) -> Tensor:
        """The dense tensor."""
        if dtype is not None and dtype is not self.dtype:
            raise ValueError(
                f"Incompatible tensor conversion requested to `dtype` {dtype.name} for {self} with "
                f"dtype {self.dtype.name}. Cast the values first."
            )
        if self._dense_shape is None:
            raise ValueError(
                f"Tensor conversion requested for IndexedSlices without dense_shape: {self}."
            )
        shape = to_shape_tuple(self._dense_shape)
        tensor: Tensor = scatter_add(
            convert(self.values), convert(self.indices), axis=-len(shape), size=shape[0]
        )
        return tensor

    def __neg__(self) -> IndexedSlices:
        """The slices with their values negated."""
        return IndexedSlices(negative(convert(self.values)), self.indices, self.dense_shape)

    def consumers(self) -> list[Any]:
        """The ops that use the slices: always an empty list."""
        return []

    def __str__(self) -> str:
        """Show the parts."""
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape!s}"
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{shape})"

    __repr__ = __str__


class IndexedSlicesSpec(TypeSpec):
    """Type of IndexedSlices: the shape of the dense tensor and the dtypes of the parts.

    Args:
        shape: static shape of the dense tensor.
        dtype: dtype of the values.
        indices_dtype: dtype of the indices, int32 or int64.
        dense_shape_dtype: dtype of `dense_shape`, or None if there is none.
        indices_shape: static shape of the indices.
    """

    __slots__ = ("_parts",)

    @public
    def __init__(
        self,
        shape: Any = None,
        dtype: Any = float32,
        indices_dtype: Any = int64,
        dense_shape_dtype: Any = None,
        indices_shape: Any = None,
    ) -> None:
        """Describe the parts of slices of a dense tensor of this shape and dtype."""
        self._parts = (
            TensorShape(shape),
            as_dtype(dtype),
            as_dtype(indices_dtype),
            None if dense_shape_dtype is None else as_dtype(dense_shape_dtype),
            TensorShape(indices_shape).with_rank(1),
        )

    @property
    def value_type(self) -> Any:
        """The class IndexedSlices."""
        return IndexedSlices

    def _serialize(self) -> tuple[Any, ...]:
        return self._parts

    @property
    def _component_specs(self) -> tuple[TensorSpec, ...]:
        shape, dtype, indices_dtype, dense_shape_dtype, rows = self._parts
        specs = (
            TensorSpec(rows.concatenate(shape[1:]), dtype),
            TensorSpec(rows, indices_dtype),
        )
        if dense_shape_dtype is None:
            return specs
        return (*specs, TensorSpec([shape.rank], dense_shape_dtype))

    def _to_components(self, value: IndexedSlices) -> tuple[Any, ...]:
        parts = (value.values, value.indices, value.dense_shape)
        return parts[:2] if value.dense_shape is None else parts

    def _from_components(self, components: tuple[Any, ...]) -> IndexedSlices:
        return IndexedSlices(*components)
