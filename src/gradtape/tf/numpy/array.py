"""tf.experimental.numpy functions that create, reshape, join and split arrays."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from gradtape.core import dtypes
from gradtape.core.errors import public
from gradtape.core.shapes import TensorShape
from gradtape.core.tensor import Tensor
from gradtape.graph.raw_function import rawly
from gradtape.tf.array import concat_split
from gradtape.tf.array import shape as tf
from gradtape.tf.array.dynamic_index import is_held
from gradtape.tf.numpy.promotion import Preference, dtype_of, promoted, tensor_of
from gradtape.tf.public_op import is_typed


@public
def array(val: Any, dtype: Any = None, copy: bool = True, ndmin: int = 0) -> Tensor:
    """As `numpy.array`: a tensor of NumPy's dtype, with at least `ndmin` axes."""
    out = tensor_of(val, dtype)
    rank = out._array.ndim
    return out if rank >= ndmin else tf.reshape(out, (1,) * (ndmin - rank) + out._array.shape)


@public
def asarray(a: Any, dtype: Any = None) -> Tensor:
    """As `numpy.asarray`: a tensor of NumPy's dtype."""
    return tensor_of(a, dtype)


asanyarray = asarray
ascontiguousarray = asarray


@public
def copy(a: Any) -> Tensor:
    """As `numpy.copy`; returns the tensor itself, because tensors are immutable."""
    return tensor_of(a)


def made(name: str) -> Callable[..., Tensor]:
    """Make a public function from NumPy's creation function `name`."""
    maker = getattr(np, name)

    @public
    def make(*args: Any, dtype: Any = None, **kwargs: Any) -> Tensor:
        if dtype is not None:
            kwargs["dtype"] = dtype_of(dtype).as_numpy_dtype
        elif name == "arange" and Preference.float32 and any(isinstance(x, float) for x in args):
            kwargs["dtype"] = np.float32
        plain = [x.numpy() if hasattr(x, "numpy") and not is_held(x) else x for x in args]
        result: Tensor = rawly(called, maker, kwargs, *plain, dynamic=True)
        return result

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"As `numpy.{name}`, a tensor."
    return make


def called(maker: Any, options: dict[str, Any], *args: Any) -> Any:
    """Call a creation function of NumPy and return an array."""
    return np.asarray(maker(*args, **options))


zeros = made("zeros")
ones = made("ones")
empty = made("zeros")
eye = made("eye")
identity = made("identity")
arange = made("arange")
geomspace = made("geomspace")
logspace = made("logspace")
tri = made("tri")


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
    first, last = tensor_of(start, dtypes.float64), tensor_of(stop, dtypes.float64)
    if dtype is float and Preference.float32 and not any(map(is_typed, (start, stop))):
        dtype = dtypes.float32
    parts = builtins.max(num - 1 if endpoint else num, 1)
    step = (last - first) / parts
    out = concat_split.stack([first + step * float(i) for i in range(num)], axis)
    out = tensor_of(out, dtype)
    return (out, step) if retstep else out


@public
def full(shape: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    """As `numpy.full`, with gradients for `fill_value`."""
    return tf.broadcast_to(tensor_of(fill_value, dtype), shape)


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
    like = tensor_of(a)
    value = tensor_of(fill_value, like.dtype if dtype is None else dtype)
    return tf.broadcast_to(value, like._array.shape if shape is None else shape)


@public
def shape(a: Any) -> TensorShape:
    """As `numpy.shape`."""
    return tensor_of(a).shape


@public
def ndim(a: Any) -> int:
    """As `numpy.ndim`."""
    rank: int = tensor_of(a)._array.ndim
    return rank


@public
def size(x: Any, axis: int | None = None) -> Any:
    """As `numpy.size`."""
    raw = tensor_of(x)._array
    return np.int64(raw.size if axis is None else raw.shape[axis])


@public
def reshape(a: Any, newshape: Any, order: str = "C") -> Tensor:
    """As `numpy.reshape`, in the orders "C" and "F"."""
    x = tensor_of(a)
    if order == "F":
        transposed = tf.transpose(x)
        back = tuple(reversed(newshape if isinstance(newshape, (list, tuple)) else (newshape,)))
        return tf.transpose(tf.reshape(transposed, back))
    return tf.reshape(x, newshape)


@public
def ravel(a: Any) -> Tensor:
    """As `numpy.ravel`: the flattened array."""
    return tf.reshape(tensor_of(a), [-1])


@public
def flatten(a: Any, order: str = "C") -> Tensor:
    """As `numpy.ndarray.flatten`."""
    return reshape(a, -1, order)


@public
def transpose(a: Any, axes: Any = None) -> Tensor:
    """As `numpy.transpose`."""
    return tf.transpose(tensor_of(a), axes)


@public
def swapaxes(a: Any, axis1: int, axis2: int) -> Tensor:
    """As `numpy.swapaxes`."""
    x = tensor_of(a)
    order = list(range(x._array.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return tf.transpose(x, order)


@public
def moveaxis(a: Any, source: Any, destination: Any) -> Tensor:
    """As `numpy.moveaxis`."""
    x = tensor_of(a)
    n = x._array.ndim
    sources, places = ([k % n for k in np.atleast_1d(v).tolist()] for v in (source, destination))
    rest = [k for k in range(n) if k not in sources]
    for at, k in sorted(zip(places, sources, strict=True)):
        rest.insert(at, k)
    return tf.transpose(x, rest)


@public
def expand_dims(a: Any, axis: int) -> Tensor:
    """As `numpy.expand_dims`."""
    return tf.expand_dims(tensor_of(a), axis)


@public
def squeeze(a: Any, axis: Any = None) -> Tensor:
    """As `numpy.squeeze`."""
    return tf.squeeze(tensor_of(a), axis)


@public
def broadcast_to(array: Any, shape: Any) -> Tensor:
    """As `numpy.broadcast_to`."""
    return tf.broadcast_to(tensor_of(array), shape)


@public
def broadcast_arrays(*args: Any) -> list[Tensor]:
    """As `numpy.broadcast_arrays`."""
    tensors = [tensor_of(x) for x in args]
    common = np.broadcast_shapes(*(t._array.shape for t in tensors))
    return [tf.broadcast_to(t, common) for t in tensors]


def raised(rank: int, lay: Any) -> Callable[..., Any]:
    """Make `atleast_<rank>d`; `lay` reshapes arrays that have fewer axes."""

    @public
    def lift(*arys: Any) -> Any:
        out = [lay(tensor_of(a)) if tensor_of(a)._array.ndim < rank else tensor_of(a) for a in arys]
        return out[0] if len(out) == 1 else out

    lift.__name__ = lift.__qualname__ = f"atleast_{rank}d"
    lift.__doc__ = f"As `numpy.atleast_{rank}d`."
    return lift


def in_three(x: Tensor) -> Tensor:
    """Add axes of size 1 as `numpy.atleast_3d` does."""
    have = x._array.shape
    return tf.reshape(x, {0: (1, 1, 1), 1: (1, *have, 1), 2: (*have, 1)}[len(have)])


atleast_1d = raised(1, lambda x: tf.reshape(x, (1,)))
atleast_2d = raised(2, lambda x: tf.reshape(x, (1, -1)))
atleast_3d = raised(3, in_three)


@public
def concatenate(arys: Any, axis: Any = 0) -> Tensor:
    """As `numpy.concatenate`; joins the flattened arrays if `axis` is None."""
    parts = promoted(*arys)
    if axis is None:
        return concat_split.concat([tf.reshape(p, [-1]) for p in parts], 0)
    return concat_split.concat(parts, axis)


@public
def append(arr: Any, values: Any, axis: Any = None) -> Tensor:
    """As `numpy.append`."""
    return concatenate([tensor_of(arr), tensor_of(values)], axis)


@public
def stack(arrays: Any, axis: int = 0) -> Tensor:
    """As `numpy.stack`."""
    return concat_split.stack(promoted(*arrays), axis)


@public
def hstack(tup: Any) -> Tensor:
    """As `numpy.hstack`."""
    parts = [atleast_1d(a) for a in tup]
    return concatenate(parts, 0 if parts[0]._array.ndim == 1 else 1)


@public
def vstack(tup: Any) -> Tensor:
    """As `numpy.vstack`."""
    return concatenate([atleast_2d(a) for a in tup], 0)


@public
def dstack(tup: Any) -> Tensor:
    """As `numpy.dstack`."""
    return concatenate([atleast_3d(a) for a in tup], 2)


@public
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Tensor]:
    """As `numpy.split`: into equal parts, or at the given positions."""
    x = tensor_of(ary)
    if isinstance(indices_or_sections, int):
        return concat_split.split(x, indices_or_sections, axis)
    at = [0, *indices_or_sections, x._array.shape[axis]]
    return concat_split.split(x, [b - a for a, b in pairwise(at)], axis)


@public
def vsplit(ary: Any, indices_or_sections: Any) -> list[Tensor]:
    """As `numpy.vsplit`."""
    return split(ary, indices_or_sections, 0)


@public
def hsplit(ary: Any, indices_or_sections: Any) -> list[Tensor]:
    """As `numpy.hsplit`."""
    return split(ary, indices_or_sections, 1 if ndim(ary) > 1 else 0)


@public
def dsplit(ary: Any, indices_or_sections: Any) -> list[Tensor]:
    """As `numpy.dsplit`."""
    return split(ary, indices_or_sections, 2)


@public
def tile(a: Any, reps: Any) -> Tensor:
    """As `numpy.tile`; `a` or `reps` is padded in front to the same number of axes."""
    x = tensor_of(a)
    times = [int(k) for k in np.ravel(reps)]
    rank = builtins.max(len(times), x._array.ndim)
    x = tf.reshape(x, (1,) * (rank - x._array.ndim) + x._array.shape)
    return tf.tile(x, [1] * (rank - len(times)) + times)


@public
def repeat(a: Any, repeats: Any, axis: int | None = None) -> Tensor:
    """As `numpy.repeat`."""
    return tf.repeat(tensor_of(a), repeats, axis)


@public
def roll(a: Any, shift: Any, axis: Any = None) -> Tensor:
    """As `numpy.roll`; rolls the flattened array if `axis` is None."""
    x = tensor_of(a)
    if axis is None:
        return tf.reshape(tf.roll(tf.reshape(x, [-1]), shift, 0), x._array.shape)
    return tf.roll(x, shift, axis)


@public
def flip(m: Any, axis: Any = None) -> Tensor:
    """As `numpy.flip`."""
    x = tensor_of(m)
    along = range(x._array.ndim) if axis is None else np.atleast_1d(axis).tolist()
    return tf.reverse(x, list(along))


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
    x = tensor_of(m)
    first, second = axes
    for _ in range(k % 4):
        x = swapaxes(flip(x, second), first, second)
    return x


@public
def pad(array: Any, pad_width: Any, mode: str, **kwargs: Any) -> Tensor:
    """As `numpy.pad` in the modes "constant", "reflect" and "symmetric"."""
    x = tensor_of(array)
    widths = np.broadcast_to(np.asarray(pad_width), (x._array.ndim, 2)).tolist()
    return tf.pad(x, widths, mode, kwargs.get("constant_values", 0))
