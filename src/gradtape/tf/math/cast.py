"""Conversions between dtypes, and complex numbers from their parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import ml_dtypes
import numpy as np

from gradtape.core import dtypes
from gradtape.core.composite_tensor import CompositeTensor
from gradtape.core.convert import convert
from gradtape.core.dtypes import DType, as_dtype, is_differentiable
from gradtape.core.errors import UnimplementedError, public
from gradtape.core.tensor import Tensor
from gradtape.ops import elementwise as e

if TYPE_CHECKING:
    from gradtape.tape.indexed_slices import IndexedSlices


@overload
def cast(x: IndexedSlices, dtype: Any, name: str | None = None) -> IndexedSlices: ...
@overload
def cast(x: Any, dtype: Any, name: str | None = None) -> Tensor: ...
@public
def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """`x` converted to another dtype.

    Floats are truncated to integers. Gradients flow between floating and complex dtypes only.

    Args:
        x: a tensor, IndexedSlices, or a value that converts to a tensor.
        dtype: the dtype to convert to.
        name: ignored.

    Returns:
        A tensor (or IndexedSlices) of `dtype`; `x` itself if it has that dtype.

    Example:
        >>> tf.cast([1.8, -1.8], tf.int32)
        <tf.Tensor: shape=(2,), dtype=int32, numpy=array([ 1, -1], dtype=int32)>
    """
    wanted = as_dtype(dtype)
    if isinstance(x, Tensor):
        return cast_tensor(x, wanted)
    if isinstance(x, CompositeTensor):
        from gradtape.core.sparse_tensor import SparseTensor
        from gradtape.tape.indexed_slices import IndexedSlices

        if isinstance(x, IndexedSlices):
            return IndexedSlices(cast_tensor(x.values, wanted), x.indices, x.dense_shape)
        if isinstance(x, SparseTensor):
            return SparseTensor(x.indices, cast_tensor(x.values, wanted), x.dense_shape)
    if hasattr(x, "__tf_tensor__") and x.dtype is wanted:
        return x
    return cast_tensor(convert(x), wanted)


def cast_tensor(tensor: Tensor, wanted: DType) -> Tensor:
    """Convert a tensor to the dtype `wanted`; no gradient flows to or from integers."""
    have = tensor.dtype
    if have is wanted:
        return tensor
    if dtypes.string in (have, wanted) or not wanted.is_numpy_compatible:
        raise UnimplementedError(
            f"cast: {have.name} to {wanted.name} is not supported. Use tf.strings.as_string or "
            "tf.strings.to_number for strings."
        )
    target = np.dtype(wanted.as_numpy_dtype)
    if is_differentiable(tensor._array.dtype) and is_differentiable(target):
        return e.cast(tensor, dtype=target)
    return e.discretize(tensor, dtype=target)


@public
def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Tensor:
    """`value` converted to another dtype, clipped to the range of that dtype.

    Args:
        value: a tensor.
        dtype: the dtype to convert to.
        name: ignored.

    Returns:
        A tensor of `dtype`.
    """
    tensor = convert(value)
    wanted = as_dtype(dtype)
    if tensor.dtype is wanted and not wanted.is_floating:
        return tensor
    if tensor.dtype.is_bool:
        raise TypeError("saturate_cast: value must not be bool, which has no minimum. Use tf.cast.")
    if tensor.dtype.is_complex and not wanted.is_complex:
        tensor = e.real(tensor)
    if wanted.is_bool or not (wanted.is_integer or wanted.is_floating or wanted.is_complex):
        raise TypeError(f"saturate_cast: Cannot find minimum value of {wanted!r}.")
    if tensor.dtype.is_complex:
        real, imag = (saturate_cast(p(tensor), wanted.real_dtype) for p in (e.real, e.imag))
        return complex(real, imag)
    have = tensor._array.dtype
    target = np.dtype(wanted.real_dtype.as_numpy_dtype)
    low, high = saturation_bounds(have, target)
    if low is not None:
        tensor = e.maximum(tensor, low)
    if high is not None:
        tensor = e.minimum(tensor, high)
    return cast_tensor(tensor, wanted)


def saturation_bounds(have: Any, target: Any) -> tuple[Any, Any]:
    """Bounds to clip numbers of `have` to, so that they fit `target`; None where all fit."""
    ours, theirs = finite_range(have), finite_range(target)
    all_finite = have.kind in "iu"
    low, high = max(ours[0], theirs[0]), min(ours[1], theirs[1])
    return (
        None if all_finite and low == ours[0] else round_toward_zero(low, have),
        None if all_finite and high == ours[1] else round_toward_zero(high, have),
    )


def finite_range(dtype: Any) -> tuple[Any, Any]:
    """Smallest and largest finite number of `dtype`, as Python numbers."""
    if dtype.kind in "iu":
        integers = np.iinfo(dtype)
        return int(integers.min), int(integers.max)
    reals = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    return float(reals.min), float(reals.max)


def round_toward_zero(bound: Any, dtype: Any) -> Any:
    """Convert `bound` to `dtype`, rounded toward zero."""
    number = dtype.type(bound)
    if abs(float(number)) > abs(bound):
        number = np.nextafter(number, dtype.type(0))
    return number


@public
def complex(real: Any, imag: Any, name: str | None = None) -> Tensor:
    """Complex numbers made from real and imaginary parts.

    Args:
        real: a tensor of float32 or float64.
        imag: a tensor of the same dtype.
        name: ignored.

    Returns:
        A tensor of complex64 or complex128.

    Raises:
        TypeError: unless both parts are float32 or both float64.
    """
    a, b = convert(real), convert(imag)
    if a.dtype is not b.dtype or a.dtype not in (dtypes.float32, dtypes.float64):
        raise TypeError(
            "complex: The `real` and `imag` components have incorrect types: "
            f"{a.dtype.name} {b.dtype.name}. Cast both to float32 or both to float64."
        )
    return e.make_complex(a, b)


@public
def conj(x: Any, name: str | None = None) -> Tensor:
    """Complex conjugate; a real tensor is returned unchanged.

    Args:
        x: a tensor of numbers.
        name: ignored.

    Returns:
        A tensor like `x`.
    """
    tensor = convert(x)
    if tensor.dtype.is_complex:
        return e.conj(tensor)
    if not (tensor.dtype.is_floating or tensor.dtype.is_integer):
        raise TypeError(f"conj: Expected numeric or variant tensor, got dtype {tensor.dtype!r}.")
    return tensor
