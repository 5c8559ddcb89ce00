"""Integer division and powers, which may raise, and bit operations; all without gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtape.core.errors import InternalError, InvalidArgumentError, OpError
from gradtape.core.primitive import Spec, elementwise, primitive

lax: Any = None  # `jax.lax` in the copy of this module that runs on JAX


def check_divisor(op: str, b: Any, kind: type[OpError] = InvalidArgumentError) -> None:
    """Raise if a divisor is zero."""
    if not np.all(b):
        raise kind(f"{op}: Integer division by zero. Mask the zeros of the divisor first.")


@elementwise(a=None, b=None)
def floordiv_integers(a, b):
    """Quotient rounded towards minus infinity."""
    check_divisor("floordiv", b)
    return a // b


@floordiv_integers.lower
def lower_floordiv_integers(a, b):
    return a // b


@elementwise(a=None, b=None)
def floormod_integers(a, b):
    """Remainder with the sign of `b`."""
    check_divisor("floormod", b)
    return a % b


@floormod_integers.lower
def lower_floormod_integers(a, b):
    return a % b


@elementwise(a=None, b=None)
def truncatediv_integers(a, b):
    """Quotient rounded towards zero."""
    check_divisor("truncatediv", b, InternalError)
    return (a - np.fmod(a, b)) // b


@truncatediv_integers.lower
def lower_truncatediv_integers(a, b):
    return (a - np.fmod(a, b)) // b


@elementwise(a=None, b=None)
def truncatemod_integers(a, b):
    """Remainder with the sign of `a`."""
    check_divisor("truncatemod", b, InternalError)
    return np.fmod(a, b)


@truncatemod_integers.lower
def lower_truncatemod_integers(a, b):
    return np.fmod(a, b)


@elementwise(x=None, y=None)
def power_integers(x, y):
    """`x` to the power `y`; `y` must not be negative."""
    if np.any(np.less(y, 0)):
        raise InvalidArgumentError(
            "pow: Integers to negative integer powers are not allowed. Cast the base to a float "
            "first."
        )
    return x**y


@power_integers.lower
def lower_power_integers(x, y):
    return x**y


@elementwise(ufunc=np.bitwise_and, a=None, b=None)
def bitwise_and(a, b):
    """Bits set in both `a` and `b`."""
    return a & b


@elementwise(ufunc=np.bitwise_or, a=None, b=None)
def bitwise_or(a, b):
    """Bits set in `a` or `b`."""
    return a | b


@elementwise(ufunc=np.bitwise_xor, a=None, b=None)
def bitwise_xor(a, b):
    """Bits set in exactly one of `a` and `b`."""
    return a ^ b


@elementwise(ufunc=np.invert, x=None)
def invert(x):
    """All bits of `x` flipped."""
    return ~x


def bitcast_to_shape(x, dtype):
    before, after = x.dtype.itemsize, dtype.itemsize
    if after == before:
        return Spec((x.shape, dtype))
    return Spec(((*x.shape, before // after) if after < before else x.shape[:-1], dtype))


@primitive(x=None, shape=bitcast_to_shape)
def bitcast_to(x, *, dtype: Any):
    """The bits of `x` as another dtype; a last axis is added or removed where itemsizes differ."""
    shape = x.shape
    whole = x if x.ndim and x.flags.c_contiguous else np.ascontiguousarray(x).reshape(shape)
    if dtype.itemsize == x.dtype.itemsize:
        return whole.view(dtype) if shape else whole.view(dtype)[()]
    if dtype.itemsize < x.dtype.itemsize:
        return whole.reshape(*shape, 1).view(dtype)
    out = whole.view(dtype).reshape(shape[:-1])
    return out if out.ndim else out[()]


@bitcast_to.lower
def lower_bitcast_to(x, *, dtype):
    return lax.bitcast_convert_type(x, dtype)


def clip_shift(a: Any, b: Any) -> Any:
    """Clip shift counts to the bit width of `a`, as TensorFlow does."""
    return np.clip(b, 0, a.dtype.itemsize * 8 - 1).astype(a.dtype)


@elementwise(a=None, b=None)
def left_shift(a, b):
    """`a` with its bits moved up by `b` places."""
    return a << clip_shift(a, b)


@elementwise(a=None, b=None)
def right_shift(a, b):
    """`a` with its bits moved down by `b` places; negative numbers stay negative."""
    return a >> clip_shift(a, b)
