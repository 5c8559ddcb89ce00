"""tf.debugging: assertions about the values and dtypes of tensors; each raises or returns None."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.argument import as_sequence
from gradtape.core.convert import convert
from gradtape.core.errors import (
    InvalidArgumentError,
    public,
)
from gradtape.core.ragged.tensor import RaggedTensor
from gradtape.core.sparse_tensor import SparseTensor
from gradtape.core.tensor import Tensor, TensorLike
from gradtape.graph.side_effect import side_effect
from gradtape.tf.debugging.shape_assertion import (
    prefix_message,
)
from gradtape.tf.example.other import ASSERTION
from gradtape.tf.public_op import add_examples


def first_elements(tensor: Tensor, count: int | None) -> Any:
    """The first `count` elements of a tensor: three if None, all if negative."""
    flat = np.ravel(tensor._array)
    return flat[: 3 if count is None else count if count >= 0 else None]


@public
@side_effect(fails_only=True)
def Assert(  # noqa: N802  TensorFlow's name
    condition: Any, data: Any, summarize: int | None = None, name: str | None = None
) -> None:
    """Raise InvalidArgumentError unless `condition` holds everywhere.

    Args:
        condition: a tensor, or a value that converts to one.
        data: a list of tensors to show in the error.
        summarize: how many elements of each to show, 3 by default, all if negative.
        name: has no effect here.

    Returns:
        None.

    Raises:
        InvalidArgumentError: if an element of `condition` is false.
    """
    if not np.all(convert(condition)._array.astype(bool)):
        raise InvalidArgumentError(
            f"Expected '{condition}' to be true. Summarized data: "
            f"{format_first_elements(data, summarize)}"
        )


def format_first_elements(data: Any, count: int | None) -> str:
    """Format the first `count` elements of each value, one line per value."""
    lines = []
    for value in data:
        tensor = convert(value)
        items = [str(item) for item in first_elements(tensor, count)]
        lines.append(", ".join(items + (["..."] if len(items) < tensor._array.size else [])))
    return "\n".join(lines)


def make_comparison_assertion(
    name: str, sign: str, holds: Callable[[Any, Any], Any]
) -> Callable[..., None]:
    """Make an assertion that compares two tensors elementwise."""

    def check(
        x: Any,
        y: Any,
        message: str | None = None,
        summarize: int | None = None,
        name: str | None = None,
    ) -> None:
        a, b = convert(x), convert(y)
        if a.dtype is not b.dtype:
            raise InvalidArgumentError(
                f"{check.__name__}: x and y must have the same dtype. Received {a.dtype.name} and "
                f"{b.dtype.name}. Cast one of them first."
            )
        try:
            failed = ~np.asarray(holds(a._array, b._array), bool)
        except ValueError:
            raise InvalidArgumentError(
                f"{check.__name__}: Incompatible shapes: {list(a.shape)} vs. {list(b.shape)}."
            ) from None
        if failed.any():
            raise InvalidArgumentError(describe_mismatch(a, b, failed, sign, message, summarize))

    check.__name__ = check.__qualname__ = name
    check.__doc__ = f"""Raise unless `x {sign} y` holds for all elements; shapes broadcast.

    Args:
        x: a tensor.
        y: a tensor of the same dtype.
        message: prefix of the error message.
        summarize: how many elements to show, 3 by default.
        name: has no effect here.

    Returns:
        None in eager mode.

    Raises:
        InvalidArgumentError: if the condition does not hold.
    """
    return public(side_effect(fails_only=True)(check))


def describe_mismatch(
    x: Tensor, y: Tensor, failed: Any, sign: str, message: str | None, count: int | None
) -> str:
    """Describe two tensors where a comparison fails, for the error message."""
    lines = [message or "", f"Condition x {sign} y did not hold."]
    if failed.ndim and x.shape == y.shape:
        where = np.argwhere(failed)[: 3 if count is None else count]
        at = tuple(where.T)
        lines += [
            f"Indices of first {len(where)} different values:",
            str(where),
            "Corresponding x values:",
            str(x._array[at]),
            "Corresponding y values:",
            str(y._array[at]),
        ]
    for letter, tensor in (("x", x), ("y", y)):
        first = first_elements(tensor, count)
        lines += [f"First {len(first)} elements of {letter}:", str(first)]
    return "\n".join(lines)


assert_equal = make_comparison_assertion("assert_equal", "==", lambda a, b: a == b)
assert_less = make_comparison_assertion("assert_less", "<", lambda a, b: a < b)
assert_less_equal = make_comparison_assertion("assert_less_equal", "<=", lambda a, b: a <= b)
assert_greater = make_comparison_assertion("assert_greater", ">", lambda a, b: a > b)
assert_greater_equal = make_comparison_assertion("assert_greater_equal", ">=", lambda a, b: a >= b)
compare_none_equal = make_comparison_assertion("assert_none_equal", "!=", lambda a, b: a != b)


@public
def assert_none_equal(
    x: Any,
    y: Any,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> None:
    """Raise unless `x != y` holds for all elements; shapes broadcast.

    Args:
        x: a tensor.
        y: a tensor of the same dtype.
        summarize: how many elements to show, 3 by default.
        message: prefix of the error message.
        name: has no effect here.

    Returns:
        None in eager mode.

    Raises:
        InvalidArgumentError: if the condition does not hold.
    """
    compare_none_equal(x, y, message, summarize)


def make_sign_assertion(name: str, sign: str, holds: Callable[[Any], Any]) -> Callable[..., None]:
    """Make an assertion about the sign of all elements."""

    def check(
        x: Any, message: str | None = None, summarize: int | None = None, name: str | None = None
    ) -> None:
        tensor = convert(x)
        if not np.all(holds(tensor._array)):
            items = [str(item) for item in first_elements(tensor, summarize)]
            raise InvalidArgumentError(
                f"{message or ''}\nCondition x {sign} 0 did not hold element-wise:\n"
                f"x (shape={tensor.shape} dtype={tensor.dtype.name}) = "
                f"\n{items if tensor.ndim else items[0]}"
            )

    check.__name__ = check.__qualname__ = name
    check.__doc__ = f"""Raise unless `x {sign} 0` holds for all elements.

    Args:
        x: a tensor.
        message: prefix of the error message.
        summarize: how many elements to show, 3 by default.
        name: has no effect here.

    Returns:
        None in eager mode.

    Raises:
        InvalidArgumentError: if the condition does not hold.
    """
    return public(side_effect(fails_only=True)(check))


assert_positive = make_sign_assertion("assert_positive", ">", lambda a: a > 0)
assert_negative = make_sign_assertion("assert_negative", "<", lambda a: a < 0)
assert_non_negative = make_sign_assertion("assert_non_negative", ">=", lambda a: a >= 0)
assert_non_positive = make_sign_assertion("assert_non_positive", "<=", lambda a: a <= 0)


@public
@side_effect(fails_only=True)
def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    message: str | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> None:
    """Raise unless `|x - y| <= atol + rtol * |y|` holds for all elements.

    Args:
        x: a floating or complex tensor.
        y: another of the same dtype.
        rtol: relative tolerance, ten times the dtype's epsilon by default.
        atol: absolute tolerance, the same by default.
        message: prefix of the error message.
        summarize: how many elements to show, 3 by default.
        name: has no effect here.

    Returns:
        None in eager mode.

    Raises:
        InvalidArgumentError: if the condition does not hold.
        ValueError: if the tensors hold integers.

    Example:
        >>> tf.debugging.assert_near(1.0, 1.0 + 1e-7)
    """
    a = convert(x)
    b = convert(y, a.dtype)
    real = a.dtype.real_dtype
    if not real.is_floating:
        raise ValueError(f"assert_near: {a.dtype.name} is not a floating or complex dtype.")
    epsilon = 10 * float(machine_epsilon(real))
    rtol, atol = (epsilon if tol is None else float(convert(tol)) for tol in (rtol, atol))
    gap = np.abs(a._array - b._array)
    if not np.all(gap <= atol + rtol * np.abs(b._array)):
        raise InvalidArgumentError(
            prefix_message(
                message, f"x and y not equal to tolerance rtol = {rtol}, atol = {atol}\n"
            )
            + f"x (shape={a.shape} dtype={a.dtype.name}) = {first_elements(a, summarize)}\n"
            f"y (shape={b.shape} dtype={b.dtype.name}) = {first_elements(b, summarize)}"
        )


def machine_epsilon(dtype: dtypes.DType) -> Any:
    """The machine epsilon: the distance from 1 to the next larger number."""
    import ml_dtypes

    return ml_dtypes.finfo(dtype.as_numpy_dtype).eps  # type: ignore[no-untyped-call]


@public
def assert_scalar(tensor: Any, message: str | None = None, name: str | None = None) -> None:
    """Raise ValueError unless `tensor` is a scalar.

    Args:
        tensor: a tensor.
        message: text in front of the error's message.
        name: has no effect here.

    Returns:
        The tensor.
    """
    scalar = convert(tensor)
    if scalar.ndim:
        raise ValueError(
            prefix_message(message, f"Expected scalar shape, saw shape: {scalar.shape}.")
        )


@public
def assert_type(
    tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None
) -> None:
    """Raise TypeError unless `tensor` has the dtype `tf_type`.

    Args:
        tensor: a tensor, SparseTensor or RaggedTensor.
        tf_type: a dtype.
        message: text in front of the error's message.
        name: has no effect here.

    Returns:
        None.

    Example:
        >>> tf.debugging.assert_type(tf.constant(1.0), tf.float32)
    """
    is_composite = isinstance(tensor, (SparseTensor, RaggedTensor))
    have = tensor.dtype if is_composite else convert(tensor).dtype
    wanted = dtypes.as_dtype(tf_type)
    if have is not wanted:
        raise TypeError(prefix_message(message, f"tensor must be of type {wanted!r}; got {have!r}"))


@public
def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> None:
    """Raise TypeError unless `x` has an integer dtype.

    Args:
        x: a tensor.
        message: text in front of the error's message.
        name: has no effect here.

    Returns:
        None.
    """
    dtype = convert(x).dtype
    if not dtype.is_integer:
        raise TypeError(
            prefix_message(
                message, f'Expected "x" to be integer type.  Found: tensor of dtype {dtype}'
            )
        )


@public
def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> dtypes.DType:
    """The common floating dtype of `tensors`, which must be `dtype` if given.

    Args:
        tensors: tensors; entries that are None are skipped.
        dtype: the dtype they should have.

    Returns:
        The dtype; float32 if there are neither tensors nor `dtype`.

    Raises:
        ValueError: if the dtypes differ, or the dtype is not floating.
    """
    expected = None if dtype is None else dtypes.as_dtype(dtype)
    for tensor in () if tensors is None else as_sequence(tensors, "tensors"):
        if tensor is None:
            continue
        expected = expected or tensor.dtype
        if tensor.dtype is not expected:
            raise ValueError(
                f"{tensor}, type={tensor.dtype}, must be of the same type ({expected})."
            )
    expected = expected or dtypes.float32
    if not expected.is_floating:
        raise ValueError(f"Expected floating point type, got {expected}.")
    return expected


@public
def assert_proper_iterable(values: Any) -> None:
    """Raise TypeError unless `values` is iterable and not a tensor, array or string.

    Args:
        values: the value to check.

    Returns:
        None.
    """
    if isinstance(values, (TensorLike, np.ndarray, str, bytes)):
        raise TypeError(
            f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}'
        )
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


@public
def is_numeric_tensor(tensor: Any) -> bool:
    """Whether `tensor` is a tensor of numbers.

    Args:
        tensor: any value.

    Returns:
        A bool.

    Example:
        >>> tf.debugging.is_numeric_tensor(tf.constant("a"))
        False
    """
    return isinstance(tensor, Tensor) and tensor.dtype.is_numeric


add_examples(globals(), ASSERTION)
