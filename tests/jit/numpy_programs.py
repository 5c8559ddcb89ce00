"""Programs of `tf.experimental.numpy`, in the format of `more_programs`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.jit.more_programs import HALF, ROWS, unit

UNARY = """
abs angle all any amax amin argmax argmin argsort around array atleast_1d atleast_2d
atleast_3d average cbrt ceil conj copy cos cosh count_nonzero cumprod cumsum deg2rad diag diagflat
diagonal diff exp exp2 expm1 empty_like fabs fix flatten flip fliplr flipud floor imag iscomplex
isfinite isinf isnan isneginf isposinf isreal log log10 log1p log2 logical_not max mean min nanmean
nanprod nansum negative nonzero ones_like positive prod ptp rad2deg ravel real reciprocal rot90
round shape sign signbit sin sinc sinh sort sqrt square squeeze std sum tan tanh trace transpose
tril triu var zeros_like arccos arcsin arcsinh arctan arctanh ascontiguousarray
"""
BINARY = """
add arctan2 divide divmod equal float_power floor_divide greater greater_equal heaviside
hypot less less_equal logaddexp logaddexp2 logical_and logical_or logical_xor maximum minimum mod
multiply nextafter not_equal power remainder subtract true_divide isclose allclose array_equal
append inner kron vdot outer
"""
VECTOR = np.array([3.0, -1.0, 2.5, 0.0])
WHOLE = np.array([6, 4, 9, 2], np.int64)
BACK = WHOLE[::-1].copy()

NUMPY: dict[str, Any] = {
    **{f"tnp.{name}(x)": {"x": unit(3, 4)} for name in UNARY.split()},
    **{f"tnp.{name}(x, y)": {"x": ROWS, "y": unit(3, 4)} for name in BINARY.split()},
    "tnp.gcd(x, y)": {"x": WHOLE, "y": BACK},
    "tnp.lcm(x, y)": {"x": WHOLE, "y": BACK},
    "tnp.bitwise_and(x, y)": {"x": WHOLE, "y": BACK},
    "tnp.bitwise_or(x, y)": {"x": WHOLE, "y": BACK},
    "tnp.bitwise_xor(x, y)": {"x": WHOLE, "y": BACK},
    "tnp.arccosh(x + 2)": {"x": unit(3)},
    "tnp.bitwise_not(x)": {"x": WHOLE},
    "tnp.clip(x, a, b)": {"x": VECTOR, "a": np.array(-0.5), "b": np.array(2.0)},
    "tnp.compress(c, x, axis=1)": {"x": ROWS, "c": np.array([True, False, True, True])},
    "tnp.concatenate([x, y])": {"x": ROWS, "y": unit(2, 4)},
    "tnp.cross(x, y)": {"x": unit(2, 3), "y": unit(2, 3)},
    "tnp.dot(x, y)": {"x": ROWS, "y": unit(4, 2)},
    "tnp.einsum('ij,jk->ik', x, y)": {"x": ROWS, "y": unit(4, 2)},
    "tnp.full([2, 3], v)": {"v": HALF},
    "tnp.full_like(x, v)": {"x": ROWS, "v": HALF},
    "tnp.geomspace(a, b, 4)": {"a": HALF, "b": HALF + 3},
    "tnp.linspace(a, b, 4)": {"a": HALF, "b": HALF + 3},
    "tnp.logspace(a, b, 4)": {"a": HALF, "b": HALF + 3},
    "tnp.arange(a, b)": {"a": HALF, "b": HALF + 3},
    "tnp.hstack([x, x])": {"x": ROWS},
    "tnp.ix_(x, y)": {"x": WHOLE, "y": WHOLE[:2].copy()},
    "tnp.matmul(x, y)": {"x": ROWS, "y": unit(4, 2)},
    "tnp.meshgrid(x, y)": {"x": unit(3), "y": unit(2)},
    "tnp.moveaxis(x, 0, 1)": {"x": ROWS},
    "tnp.pad(x, 1, 'constant')": {"x": ROWS},
    "tnp.polyval(x, y)": {"x": unit(3), "y": HALF},
    "tnp.repeat(x, r)": {"x": WHOLE, "r": np.array([1, 2, 0, 1])},
    "tnp.roll(x, 1)": {"x": ROWS},
    "tnp.select([c, d], [x, x * 2])": {"x": ROWS, "c": ROWS > 0.5, "d": ROWS > 0.3},
    "tnp.split(x, 2, axis=1)": {"x": ROWS},
    "tnp.stack([x, x])": {"x": ROWS},
    "tnp.take(x, i)": {"x": ROWS, "i": np.array([0, 5, -1])},
    "tnp.take(x, i, axis=1, mode='wrap')": {"x": ROWS, "i": np.array([0, 5, -1])},
    "tnp.take_along_axis(x, i, 1)": {"x": ROWS, "i": np.array([[0], [2], [-1]])},
    "tnp.tensordot(x, y, 1)": {"x": ROWS, "y": unit(4, 2)},
    "tnp.tile(x, 2)": {"x": ROWS},
    "tnp.vander(x)": {"x": unit(3)},
    "tnp.where(c, x, y)": {"x": ROWS, "y": ROWS + 1, "c": ROWS > 0.5},
    "tnp.where(c)": {"c": ROWS > 0.5},
}
