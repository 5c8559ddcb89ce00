"""tf.experimental.numpy functions that create, reshape, join and split arrays."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.argument import as_host_array, describe
from gradtape.core.errors import public
from gradtape.core.primitive import Spec
from gradtape.core.shape_rule import FRESH, with_shape
from gradtape.core.shapes import TensorShape, normalize_axes
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import apply_raw
from gradtape.tf.array import concat_split, repeat_roll
from gradtape.tf.array import reshape as tf
from gradtape.tf.array.dynamic_index import is_traced
from gradtape.tf.array.pad import pad as pad_tensor
from gradtape.tf.numpy.promotion import (
    PromotionSettings,
    as_tnp_dtype,
    as_tnp_tensor,
)
from gradtape.tf.public_op import has_own_dtype


@public
def array(val: Any, dtype: Any = None, copy: bool = True, ndmin: int = 0) -> Tensor:
    """As `numpy.array`: a tensor of NumPy's dtype, with at least `ndmin` axes."""
    out = as_tnp_tensor(val, dtype)
    rank = out._array.ndim
    return out if rank >= ndmin else tf.reshape(out, (1,) * (ndmin - rank) + out._array.shape)


@public
def asarray(a: Any, dtype: Any = None) -> Tensor:
    """As `numpy.asarray`: a tensor of NumPy's dtype."""
    return as_tnp_tensor(a, dtype)


asanyarray = asarray
ascontiguousarray = asarray


@public
def copy(a: Any) -> Tensor:
    """As `numpy.copy`; returns the tensor itself, because tensors are immutable."""
    return as_tnp_tensor(a)


def wrap_numpy_creator(name: str) -> Callable[..., Tensor]:
    """Make a public function from NumPy's creation function `name`."""
    maker = getattr(np, name)

    @public
    def make(*args: Any, dtype: Any = None, **kwargs: Any) -> Tensor:
        if dtype is not None:
            kwargs["dtype"] = as_tnp_dtype(dtype).as_numpy_dtype
        elif (
            name == "arange"
            and PromotionSettings.prefer_float32
            and any(isinstance(x, float) for x in args)
        ):
            kwargs["dtype"] = np.float32
        plain = [x.numpy() if hasattr(x, "numpy") and not is_traced(x) else x for x in args]
        result: Tensor = apply_raw(call_numpy_creator, maker, kwargs, *plain, dynamic=True)
        return result

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"As `numpy.{name}`, a tensor."
    return make


def infer_created_spec(maker: Any, options: dict[str, Any], *args: Any) -> Spec:
    """Rank and dtype of an array that NumPy creates; its sizes depend on values."""
    ones = [np.ones(a.shape, a.dtype)[()] if type(a) is Spec else a for a in args]
    like = np.asarray(maker(*ones, **options))
    return Spec(((FRESH,) * like.ndim, like.dtype))


@with_shape(infer_created_spec)
def call_numpy_creator(maker: Any, options: dict[str, Any], *args: Any) -> Any:
    """Call a creation function of NumPy and return an array."""
    scalars = [a[()] if isinstance(a, np.ndarray) else a for a in args]
    return np.asarray(maker(*scalars, **options))


zeros = wrap_numpy_creator("zeros")
ones = wrap_numpy_creator("ones")
empty = wrap_numpy_creator("zeros")
eye = wrap_numpy_creator("eye")
identity = wrap_numpy_creator("identity")
arange = wrap_numpy_creator("arange")
geomspace = wrap_numpy_creator("geomspace")
logspace = wrap_numpy_creator("logspace")
tri = wrap_numpy_creator("tri")


@public
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = float,
    axis: int = 0,
) -> Any:
    """As `numpy.linspace`, with gradients for `start` and `stop`."""
    first, last = as_tnp_tensor(start, dtypes.float64), as_tnp_tensor(stop, dtypes.float64)
    if (
        dtype is float
        and PromotionSettings.prefer_float32
        and not any(map(has_own_dtype, (start, stop)))
    ):
        dtype = dtypes.float32
    parts = builtins.max(num - 1 if endpoint else num, 1)
    step = (last - first) / parts
    out = concat_split.stack([first + step * float(i) for i in range(num)], axis)
    out = as_tnp_tensor(out, dtype)
    return (out, step) if retstep else out


@public
def full(shape: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    """As `numpy.full`, with gradients for `fill_value`."""
    return tf.broadcast_to(as_tnp_tensor(fill_value, dtype), shape)


@public
def zeros_like(a: Any, dtype: Any = None) -> Tensor:
    """As `numpy.zeros_like`."""
    return full_like(a, 0, dtype)


empty_like = zeros_like


@public
def ones_like(a: Any, dtype: Any = None) -> Tensor:
    """As `numpy.ones_like`."""
    return full_like(a, 1, dtype)


@public
def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
) -> Tensor:
    """As `numpy.full_like`."""
    like = as_tnp_tensor(a)
    value = as_tnp_tensor(fill_value, like.dtype if dtype is None else dtype)
    return tf.broadcast_to(value, like._array.shape if shape is None else shape)


@public
def shape(a: Any) -> TensorShape:
    """As `numpy.shape`."""
    return as_tnp_tensor(a).shape


@public
def ndim(a: Any) -> int:
    """As `numpy.ndim`."""
    rank: int = as_tnp_tensor(a)._array.ndim
    return rank


@public
def size(x: Any, axis: int | None = None) -> Any:
    """As `numpy.size`."""
    raw = as_tnp_tensor(x)._array
    return np.int64(raw.size if axis is None else raw.shape[axis])


@public
def reshape(a: Any, newshape: Any, order: str = "C") -> Tensor:
    """As `numpy.reshape`, in the orders "C" and "F"."""
    x = as_tnp_tensor(a)
    if order == "F":
        transposed = tf.transpose(x)
        back = tuple(reversed(newshape if isinstance(newshape, (list, tuple)) else (newshape,)))
        return tf.transpose(tf.reshape(transposed, back))
    return tf.reshape(x, newshape)


@public
def ravel(a: Any) -> Tensor:
    """As `numpy.ravel`: the flattened array."""
    return tf.reshape(as_tnp_tensor(a), [-1])


@public
def flatten(a: Any, order: str = "C") -> Tensor:
    """As `numpy.ndarray.flatten`."""
    return reshape(a, -1, order)


@public
def transpose(a: Any, axes: Any = None) -> Tensor:
    """As `numpy.transpose`."""
    return tf.transpose(as_tnp_tensor(a), axes)


@public
def swapaxes(a: Any, axis1: int, axis2: int) -> Tensor:
    """As `numpy.swapaxes`."""
    x = as_tnp_tensor(a)
    order = list(range(x._array.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return tf.transpose(x, order)


def as_axes(value: Any, name: str) -> list[int]:
    """One integer or several."""
    array = as_host_array(value, name)
    if array.dtype.kind not in "iu" or array.ndim > 1:
        raise TypeError(f"{name} must be integers. Received {describe(value)}.")
    return array.reshape(-1).tolist()


@public
def moveaxis(a: Any, source: Any, destination: Any) -> Tensor:
    """As `numpy.moveaxis`."""
    x = as_tnp_tensor(a)
    n = x._array.ndim
    sources = [k + n for k in normalize_axes(as_axes(source, "source"), n, "moveaxis")]
    places = [k + n for k in normalize_axes(as_axes(destination, "destination"), n, "moveaxis")]
    rest = [k for k in range(n) if k not in sources]
    for at, k in sorted(zip(places, sources, strict=True)):
        rest.insert(at, k)
    return tf.transpose(x, rest)


@public
def expand_dims(a: Any, axis: int) -> Tensor:
    """As `numpy.expand_dims`."""
    return tf.expand_dims(as_tnp_tensor(a), axis)


@public
def squeeze(a: Any, axis: Any = None) -> Tensor:
    """As `numpy.squeeze`."""
    return tf.squeeze(as_tnp_tensor(a), axis)


@public
def broadcast_to(array: Any, shape: Any) -> Tensor:
    """As `numpy.broadcast_to`."""
    return tf.broadcast_to(as_tnp_tensor(array), shape)


@public
def broadcast_arrays(*args: Any) -> list[Tensor]:
    """As `numpy.broadcast_arrays`."""
    tensors = [as_tnp_tensor(x) for x in args]
    common = np.broadcast_shapes(*(t._array.shape for t in tensors))
    return [tf.broadcast_to(t, common) for t in tensors]


def make_atleast(rank: int, lay: Any) -> Callable[..., Any]:
    """Make `atleast_<rank>d`; `lay` reshapes arrays that have fewer axes."""

    @public
    def lift(*arys: Any) -> Any:
        out = [
            lay(as_tnp_tensor(a)) if as_tnp_tensor(a)._array.ndim < rank else as_tnp_tensor(a)
            for a in arys
        ]
        return out[0] if len(out) == 1 else out

    lift.__name__ = lift.__qualname__ = f"atleast_{rank}d"
    lift.__doc__ = f"As `numpy.atleast_{rank}d`."
    return lift


def reshape_to_3d(x: Tensor) -> Tensor:
    """Add axes of size 1 as `numpy.atleast_3d` does."""
    have = x._array.shape
    return tf.reshape(x, {0: (1, 1, 1), 1: (1, *have, 1), 2: (*have, 1)}[len(have)])


atleast_1d = make_atleast(1, lambda x: tf.reshape(x, (1,)))
atleast_2d = make_atleast(2, lambda x: tf.reshape(x, (1, -1)))
atleast_3d = make_atleast(3, reshape_to_3d)


@public
def tile(a: Any, reps: Any) -> Tensor:
    """As `numpy.tile`; `a` or `reps` is padded in front to the same number of axes."""
    x = as_tnp_tensor(a)
    times = as_axes(reps, "reps")
    rank = builtins.max(len(times), x._array.ndim)
    x = tf.reshape(x, (1,) * (rank - x._array.ndim) + x._array.shape)
    return repeat_roll.tile(x, [1] * (rank - len(times)) + times)


@public
def repeat(a: Any, repeats: Any, axis: int | None = None) -> Tensor:
    """As `numpy.repeat`."""
    return repeat_roll.repeat(as_tnp_tensor(a), repeats, axis)


@public
def roll(a: Any, shift: Any, axis: Any = None) -> Tensor:
    """As `numpy.roll`; rolls the flattened array if `axis` is None."""
    x = as_tnp_tensor(a)
    if axis is None:
        return tf.reshape(repeat_roll.roll(tf.reshape(x, [-1]), shift, 0), x._array.shape)
    return repeat_roll.roll(x, shift, axis)


@public
def flip(m: Any, axis: Any = None) -> Tensor:
    """As `numpy.flip`."""
    x = as_tnp_tensor(m)
    along = range(x._array.ndim) if axis is None else as_axes(axis, "axis")
    return repeat_roll.reverse(x, list(along))


@public
def flipud(m: Any) -> Tensor:
    """As `numpy.flipud`."""
    return flip(m, 0)


@public
def fliplr(m: Any) -> Tensor:
    """As `numpy.fliplr`."""
    return flip(m, 1)


@public
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Tensor:
    """As `numpy.rot90`: `k` rotations by 90 degrees."""
    x = as_tnp_tensor(m)
    first, second = axes
    for _ in range(k % 4):
        x = swapaxes(flip(x, second), first, second)
    return x


@public
def pad(array: Any, pad_width: Any, mode: str, **kwargs: Any) -> Tensor:
    """As `numpy.pad` in the modes "constant", "reflect" and "symmetric"."""
    x = as_tnp_tensor(array)
    widths = np.broadcast_to(as_host_array(pad_width, "pad_width"), (x._array.ndim, 2)).tolist()
    return pad_tensor(x, widths, mode, kwargs.get("constant_values", 0))
