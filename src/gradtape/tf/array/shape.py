"""Top-level functions that query, check and broadcast shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from gradtape.core import dtypes, nest
from gradtape.core.argument import as_sequence
from gradtape.core.convert import convert, to_shape_tuple
from gradtape.core.errors import InvalidArgumentError, public
from gradtape.core.open_shape import has_dims
from gradtape.core.shapes import TensorShape
from gradtape.core.shapes import broadcast_static_shape as static_broadcast
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.tensor import EagerTensor, Tensor, TensorLike, make_tensor
from gradtape.graph.outer_tensor import use_local_tensor
from gradtape.graph.size_tensor import make_scalar_size, make_shape_tensor
from gradtape.ops import shape as s
from gradtape.ops.elementwise import identity as identity_of
from gradtape.tape.indexed_slices import IndexedSlices
from gradtape.tf.math.cast import cast


@public
def shape(input: Any, out_type: Any = None, name: str | None = None) -> Tensor:
    """The shape of `input` as a vector of `out_type`, int32 by default.

    Args:
        input: a tensor.
        out_type: int32 or int64.
        name: has no effect here.

    Returns:
        A vector.

    Example:
        >>> tf.shape([[1, 2, 3]]).numpy()
        array([1, 3], dtype=int32)
    """
    kind = np.int32 if out_type is None else dtypes.as_dtype(out_type).as_numpy_dtype
    if isinstance(input, SparseTensor):
        return cast(input.dense_shape, kind)
    raw = input._array if type(input) is EagerTensor else use_local_tensor(convert(input))._array
    if has_dims(raw.shape):
        return make_shape_tensor(raw.shape, np.dtype(kind))
    return make_tensor(np.array(raw.shape, kind))


@public
def shape_n(
    input: Sequence[Any], out_type: Any = dtypes.int32, name: str | None = None
) -> list[Tensor]:
    """The shapes of several tensors.

    Args:
        input: a list of tensors.
        out_type: int32 or int64.
        name: has no effect here.

    Returns:
        A list of vectors.
    """
    return [shape(t, out_type) for t in as_sequence(input, "input")]


@public
def rank(input: Any, name: str | None = None) -> Tensor:
    """The number of axes of `input`, as an int32 scalar.

    Args:
        input: a tensor.
        name: has no effect here.

    Returns:
        An int32 scalar.

    Example:
        >>> tf.rank(tf.zeros([2, 3, 4])).numpy()
        np.int32(3)
    """
    if isinstance(input, SparseTensor):
        input = input.dense_shape
        return make_tensor(np.int32(input._array.shape[0]))
    return make_tensor(np.int32(convert(input)._array.ndim))


@public
def size(input: Any, out_type: Any = None, name: str | None = None) -> Tensor:
    """The number of elements of `input`, of dtype `out_type`, int32 by default.

    Args:
        input: a tensor.
        out_type: int32 or int64.
        name: has no effect here.

    Returns:
        An integer scalar.

    Example:
        >>> tf.size([[1, 2], [3, 4]]).numpy()
        np.int32(4)
    """
    kind = np.int32 if out_type is None else dtypes.as_dtype(out_type).as_numpy_dtype
    if isinstance(input, SparseTensor):
        from gradtape.tf.math.reduce import reduce_prod

        return reduce_prod(cast(input.dense_shape, kind))
    count = use_local_tensor(convert(input))._array.size
    if has_dims(count):
        return make_scalar_size(count, np.dtype(kind))
    return make_tensor(kind(count))


def is_tensor(x: Any) -> bool:
    """Whether `x` is a tensor, a variable or another value that acts as one.

    Args:
        x: any value.

    Returns:
        A bool.

    Example:
        >>> tf.is_tensor(tf.constant(1)), tf.is_tensor(1)
        (True, False)
    """
    return isinstance(x, TensorLike)


@public
def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Tensor:
    """`x`, after a check that its shape is compatible with `shape`.

    Args:
        x: a tensor.
        shape: a shape, in which None stands for any size.
        name: has no effect here.

    Returns:
        The tensor.
    """
    tensor = convert(x)
    wanted = TensorShape(shape)
    out: Any = identity_of(tensor)
    try:
        out.set_shape(wanted)
    except ValueError:
        raise InvalidArgumentError(
            f"ensure_shape: Shape of tensor {list(tensor.shape)} is not compatible with expected "
            f"shape {wanted}."
        ) from None
    checked: Tensor = out
    return checked


@overload
def identity(input: IndexedSlices, name: str | None = None) -> IndexedSlices: ...
@overload
def identity(input: Any, name: str | None = None) -> Tensor: ...
@public
def identity(input: Any, name: str | None = None) -> Any:
    """A new tensor with the value of `input`; IndexedSlices are rebuilt from new components.

    Args:
        input: a tensor.
        name: has no effect here.

    Returns:
        A tensor like `input`.

    Example:
        >>> tf.identity([1, 2]).numpy()
        array([1, 2], dtype=int32)
    """
    if isinstance(input, (IndexedSlices, SparseTensor)):
        return nest.map_structure(identity, input, expand_composites=True)
    return identity_of(convert(input))


@public
def identity_n(input: Sequence[Any], name: str | None = None) -> list[Tensor]:
    """New tensors with the values of `input`.

    Args:
        input: a list of tensors.
        name: has no effect here.

    Returns:
        A list of tensors.
    """
    return list(s.identity_n(*(convert(t) for t in as_sequence(input, "input"))))


@public
def broadcast_static_shape(shape_x: Any, shape_y: Any) -> TensorShape:
    """The shape that tensors of two known shapes broadcast to.

    Args:
        shape_x: a shape.
        shape_y: another shape.

    Returns:
        A TensorShape.
    """
    return static_broadcast(shape_x, shape_y)


@public
def broadcast_dynamic_shape(shape_x: Any, shape_y: Any) -> Tensor:
    """The shape, as a tensor, that two shapes given as tensors broadcast to.

    Args:
        shape_x: a shape.
        shape_y: another shape.

    Returns:
        An integer vector.
    """
    x, y = convert(shape_x), convert(shape_y)
    try:
        common = np.broadcast_shapes(to_shape_tuple(x), to_shape_tuple(y))
    except ValueError:
        raise InvalidArgumentError(
            f"broadcast_dynamic_shape: Incompatible shapes: {list(to_shape_tuple(x))} vs. "
            f"{list(to_shape_tuple(y))}."
        ) from None
    return make_tensor(np.array(common, x._array.dtype))
