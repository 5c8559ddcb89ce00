"""Reductions along axes: sums, means, products, extremes, norms, and argmax and argmin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.convert import convert
from gradtape.core.dtypes import as_dtype
from gradtape.core.errors import InvalidArgumentError, handle_error, public
from gradtape.core.shapes import normalize_axes, normalize_axis
from gradtape.core.size_constant import compute_constant, to_scalar
from gradtape.core.tensor import EagerTensor, Tensor
from gradtape.core.traceback_filter import hide_library_frames
from gradtape.ops import elementwise as e
from gradtape.ops import reduce
from gradtape.ops.shape import reshape, shape_of, slice_axis
from gradtape.tf.example.number import REDUCE
from gradtape.tf.math.cast import cast
from gradtape.tf.public_op import (
    ANY,
    BOOL,
    FLOATS,
    INEXACT,
    NUMBERS,
    REAL,
    STRING,
    add_examples,
    as_numpy_dtypes,
    check_dtype,
    convert_to_dtype,
    has_own_dtype,
    raise_unsupported_dtype,
)

if TYPE_CHECKING:
    from gradtape.tf.op_protocol import ReductionOp

FLOAT32 = np.dtype(np.float32)
ALL_AXES = [tuple(range(-rank, 0)) for rank in range(33)]


def reduction_axes(axis: Any, rank: int, op: str) -> tuple[int, ...]:
    """Negative axes from None (all of them), an integer, a list or a tensor."""
    if axis is None:
        return ALL_AXES[rank]
    if type(axis) is int and -rank <= axis < rank:
        return (axis - rank if axis >= 0 else axis,)
    if isinstance(axis, float):
        raise TypeError(f"{op}: axis must be an integer. Received {axis}.")
    if not isinstance(axis, (int, list, tuple)):
        axis = convert(axis)._array
        if axis.dtype.kind not in "iu":
            raise_unsupported_dtype(
                op, dtypes.from_numpy_dtype(axis.dtype), as_numpy_dtypes("int32", "int64"), "Tidx"
            )
        axis = axis.tolist()
    if isinstance(axis, (list, tuple)):
        axis = [int(a) for a in np.ravel(convert(axis, None if len(axis) else dtypes.int32)._array)]
    return normalize_axes(axis, rank, op)


def make_reduction(function: Any, allowed: frozenset[Any], label: str, what: str) -> ReductionOp:
    """Make a public reduction from a primitive."""
    common = FLOAT32 if FLOAT32 in allowed else None  # hashing a dtype is slow

    def reduce_tensor(
        input_tensor: Any, axis: Any = None, keepdims: Any = False, name: str | None = None
    ) -> Tensor:
        try:
            tensor = input_tensor
            if type(tensor) is not EagerTensor:
                as_bool = allowed is BOOL and not has_own_dtype(tensor)
                tensor = convert_to_dtype(tensor, dtypes.bool) if as_bool else convert(tensor)
            array = tensor._array
            if array.dtype is not common and array.dtype not in allowed:
                raise_unsupported_dtype(label, tensor.dtype, allowed)
            axes = ALL_AXES[array.ndim] if axis is None else reduction_axes(axis, array.ndim, label)
            return function(tensor, axis=axes, keepdims=bool(keepdims))
        except Exception as error:
            try:
                return handle_error(error, reduce_tensor, (input_tensor, axis, keepdims), {})
            except Exception as final:
                hide_library_frames(final)
                raise

    reduce_tensor.__name__ = reduce_tensor.__qualname__ = function.op.name
    reduce_tensor.__doc__ = f"""{what}

    Args:
        input_tensor: a tensor.
        axis: an axis, several, or None for all.
        keepdims: keep reduced axes with size 1.
        name: ignored.

    Returns:
        A tensor of the same dtype.
    """
    return reduce_tensor


reduce_sum = make_reduction(reduce.reduce_sum, NUMBERS, "Sum", "Sum along axes.")
reduce_mean = make_reduction(
    reduce.reduce_mean, NUMBERS, "Mean", "Mean along axes; integers are rounded towards zero."
)
reduce_prod = make_reduction(reduce.reduce_prod, NUMBERS, "Prod", "Product along axes.")
reduce_max = make_reduction(reduce.reduce_max, REAL, "Max", "Largest element along axes.")
reduce_min = make_reduction(reduce.reduce_min, REAL, "Min", "Smallest element along axes.")
reduce_all = make_reduction(
    reduce.reduce_all, BOOL, "All", "Whether all elements along axes are true."
)
reduce_any = make_reduction(
    reduce.reduce_any, BOOL, "Any", "Whether any element along axes is true."
)
reduce_logsumexp = make_reduction(
    reduce.reduce_logsumexp, FLOATS, "Logsumexp", "Logarithm of the sum of exponentials along axes."
)
reduce_euclidean_norm = make_reduction(
    reduce.reduce_euclidean_norm, NUMBERS, "EuclideanNorm", "Root of the sum of squares along axes."
)


@public
def reduce_variance(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Variance along axes: the mean of the squared distances to the mean.

    Args:
        input_tensor: a tensor of floats or complex numbers.
        axis: an axis, several, or None for all.
        keepdims: keep reduced axes with size 1.
        name: ignored.

    Returns:
        A tensor of floats.

    Raises:
        TypeError: for integers.

    Example:
        >>> tf.math.reduce_variance([1.0, 3.0]).numpy()
        np.float32(1.0)
    """
    tensor = convert(input_tensor)
    check_dtype("Mean", tensor, NUMBERS)
    if tensor._array.dtype not in INEXACT:
        raise TypeError(
            "reduce_variance: Input must be either real or complex. Received "
            f"{tensor.dtype.name}. Cast it first."
        )
    axes = reduction_axes(axis, tensor.ndim, "Mean")
    difference = tensor - reduce.reduce_mean(tensor, axis=axes, keepdims=True)
    if tensor.dtype.is_complex:
        squares = e.real(e.conj(difference) * difference)
    else:
        squares = e.square(difference)
    return reduce.reduce_mean(squares, axis=axes, keepdims=bool(keepdims))


@public
def reduce_std(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Standard deviation along axes: the root of the variance.

    Args:
        input_tensor: a tensor of floats or complex numbers.
        axis: an axis, several, or None for all.
        keepdims: keep reduced axes with size 1.
        name: ignored.

    Returns:
        A tensor of floats.

    Raises:
        TypeError: for integers.

    Example:
        >>> tf.math.reduce_std([1.0, 3.0]).numpy()
        np.float32(1.0)
    """
    return e.sqrt(reduce_variance(input_tensor, axis, keepdims))


@public
def count_nonzero(
    input: Any,
    axis: Any = None,
    keepdims: Any = None,
    dtype: Any = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """Number of elements along axes that are not zero, or not empty strings.

    Args:
        input: a tensor.
        axis: an axis, several, or None for all.
        keepdims: keep reduced axes with size 1.
        dtype: the dtype of the result.
        name: ignored.

    Returns:
        A tensor of `dtype`.

    Example:
        >>> tf.math.count_nonzero([[0, 1], [2, 0]]).numpy()
        np.int64(2)
    """
    tensor = check_dtype("NotEqual", convert(input), ANY)
    zero = (
        convert_to_dtype(b"" if tensor._array.dtype in STRING else 0, tensor.dtype)
        if tensor._array.dtype not in BOOL
        else convert_to_dtype(False, tensor.dtype)
    )
    nonzero = cast(e.not_equal(tensor, zero), dtypes.int64)
    axes = reduction_axes(axis, tensor.ndim, "Sum")
    return cast(reduce.reduce_sum(nonzero, axis=axes, keepdims=bool(keepdims)), dtype)


@public
def zero_fraction(value: Any, name: str | None = None) -> Tensor:
    """The fraction of elements that are zero.

    Args:
        value: a tensor of numbers or bools.
        name: ignored.

    Returns:
        A float32 scalar.

    Example:
        >>> tf.math.zero_fraction([0, 1, 0, 3]).numpy()
        np.float32(0.5)
    """
    tensor = convert(value)
    size = compute_constant(to_scalar, tensor._array.size, np.float32)
    return e.divide(size - cast(count_nonzero(tensor), dtypes.float32), size)


@public
def argmax(
    input: Any, axis: Any = None, output_type: Any = dtypes.int64, name: str | None = None
) -> Tensor:
    """Index of the largest element along an axis; the first one of ties.

    Args:
        input: a tensor of real numbers or bools.
        axis: the axis, 0 if None.
        output_type: int16, uint16, int32 or int64.
        name: ignored.

    Returns:
        A tensor of `output_type` without `axis`.

    Example:
        >>> tf.argmax([1.0, 3.0, 2.0])
        <tf.Tensor: shape=(), dtype=int64, numpy=1>
    """
    return call_arg_reduction(
        reduce.argmax, "ArgMax", input, axis, output_type, ("int16", "uint16", "int32", "int64")
    )


@public
def argmin(
    input: Any, axis: Any = None, output_type: Any = dtypes.int64, name: str | None = None
) -> Tensor:
    """Index of the smallest element along an axis; the first one of ties.

    Args:
        input: a tensor of real numbers or bools.
        axis: the axis, 0 if None.
        output_type: int32 or int64.
        name: ignored.

    Returns:
        A tensor of `output_type` without `axis`.

    Example:
        >>> tf.argmin([[3, 1, 2], [0, 5, 4]], axis=1).numpy()
        array([1, 0])
    """
    return call_arg_reduction(reduce.argmin, "ArgMin", input, axis, output_type, ("int32", "int64"))


def call_arg_reduction(
    function: Any, label: str, value: Any, axis: Any, output_type: Any, kinds: tuple[str, ...]
) -> Tensor:
    """Check the arguments of `argmax` or `argmin`, then call the primitive `function`."""
    tensor = check_dtype(label, convert(value), REAL | BOOL)
    dtype = as_dtype(output_type)
    if dtype.name not in kinds:
        raise_unsupported_dtype(label, dtype, as_numpy_dtypes(*kinds), "output_type")
    shape = shape_of(tensor)
    position = 0 if axis is None else convert(axis)._array
    position = normalize_axis(position, len(shape), label)
    if shape[position] == 0 and np.prod(shape[:position] + shape[len(shape) + position + 1 :]) > 0:
        raise InvalidArgumentError(
            f"{label}: Reduction axis {len(shape) + position} is empty in shape {list(shape)}. "
            "Check the size first."
        )
    return function(tensor, axis=position, dtype=np.dtype(dtype.as_numpy_dtype))


@public
def l2_normalize(
    x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None, dim: Any = None
) -> Tensor:
    """`x` divided by its Euclidean norm along axes, which is at least sqrt(`epsilon`).

    Args:
        x: a tensor of floats or complex numbers.
        axis: an axis, several, or None for all.
        epsilon: a lower bound of the squared norm.
        name: ignored.
        dim: the old name of `axis`.

    Returns:
        A tensor like `x`.

    Example:
        >>> tf.math.l2_normalize([3.0, 4.0]).numpy()
        array([0.6, 0.8], dtype=float32)
    """
    tensor = convert(x)
    axes = reduction_axes(dim if axis is None else axis, tensor.ndim, "Sum")
    is_complex = tensor.dtype.is_complex
    squares = e.real(tensor * e.conj(tensor)) if is_complex else e.square(tensor)
    total = reduce.reduce_sum(squares, axis=axes, keepdims=True)
    scale = e.rsqrt(e.maximum(total, convert_to_dtype(epsilon, total.dtype)))
    return tensor * cast(scale, tensor.dtype)


@public
def is_non_decreasing(x: Any, name: str | None = None) -> Tensor:
    """Whether no element is smaller than the one before it, in row-major order.

    Args:
        x: a tensor of real numbers.
        name: ignored.

    Returns:
        A bool scalar.

    Example:
        >>> bool(tf.math.is_non_decreasing([1, 1, 2]))
        True
    """
    before, after = adjacent_elements(x)
    return reduce.reduce_all(e.less_equal(before, after), axis=(-1,), keepdims=False)


@public
def is_strictly_increasing(x: Any, name: str | None = None) -> Tensor:
    """Whether every element is larger than the one before it, in row-major order.

    Args:
        x: a tensor of real numbers.
        name: ignored.

    Returns:
        A bool scalar.

    Example:
        >>> bool(tf.math.is_strictly_increasing([1, 1, 2]))
        False
    """
    before, after = adjacent_elements(x)
    return reduce.reduce_all(e.less(before, after), axis=(-1,), keepdims=False)


def adjacent_elements(x: Any) -> tuple[Tensor, Tensor]:
    """Flatten `x`; return all elements but the last, and all but the first."""
    tensor = check_dtype("LessEqual", convert(x), REAL)
    size = tensor._array.size
    flat = reshape(tensor, shape=(size,), rank=tensor.ndim)
    count = size - 1 if size else 0
    return slice_axis(flat, axis=-1, start=0, size=count), slice_axis(
        flat, axis=-1, start=size - count, size=count
    )


add_examples(globals(), REDUCE)
