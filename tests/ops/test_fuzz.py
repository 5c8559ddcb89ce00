"""Random arguments: an op returns the documented shape and dtype, or raises a documented error.

The expected shapes and dtypes come from NumPy or from a separate formula, never from the op.
"""

from math import ceil

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gradtape as tf

EXPECTED = (tf.errors.OpError, TypeError, ValueError)
FLOATS = ("float16", "float32", "float64")
NUMBERS = (*FLOATS, "int8", "int32", "int64", "uint8", "complex64", "complex128")
EVERY = (*NUMBERS, "bool")

fuzz = settings(
    max_examples=40,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
sizes = st.integers(0, 4)
shapes = st.lists(sizes, max_size=4).map(tuple)
axes = st.integers(-5, 5)


def small_numbers(shape, dtype):
    """An array of small numbers, always the same for one shape and dtype."""
    return (np.arange(int(np.prod(shape))) % 5 + 1).reshape(shape).astype(dtype)


def arrays(dtypes=NUMBERS, shape=shapes):
    return st.builds(small_numbers, shape, st.sampled_from(dtypes))


def agrees(call, formula):
    """Assert that `call()` has the shape and dtype of `formula()`, or raises an expected error.

    If the formula raises, only the class of an error is checked: TensorFlow accepts some arguments
    that NumPy rejects.
    """
    try:
        with np.errstate(all="ignore"):
            wanted = formula()
    except (ValueError, TypeError, IndexError, ZeroDivisionError, np.exceptions.AxisError):
        wanted = None
    try:
        got = call()
    except EXPECTED:
        return
    if wanted is not None:
        assert tuple(got.shape) == wanted.shape
        assert got.dtype.as_numpy_dtype == wanted.dtype


def same_dtype(x, out):
    """`out` with the dtype of `x`."""
    return np.asarray(out).astype(x.dtype)


REDUCTIONS = (
    tf.reduce_sum,
    tf.reduce_mean,
    tf.reduce_prod,
    tf.reduce_max,
    tf.reduce_min,
    tf.reduce_logsumexp,
    tf.math.reduce_std,
    tf.math.reduce_euclidean_norm,
)


@pytest.mark.parametrize("op", REDUCTIONS, ids=lambda op: op.__name__)
@fuzz
@given(arrays(), st.none() | axes | st.lists(axes, max_size=3), st.booleans())
def test_reductions(op, x, axis, keepdims):
    along = tuple(axis) if isinstance(axis, list) else axis
    agrees(
        lambda: op(x, axis=axis, keepdims=keepdims),
        lambda: same_dtype(
            abs(x) if op is tf.math.reduce_std else x, np.sum(abs(x), axis=along, keepdims=keepdims)
        ),
    )


@pytest.mark.parametrize("op", [tf.reduce_any, tf.reduce_all], ids=lambda op: op.__name__)
@fuzz
@given(arrays(("bool",)), st.none() | axes, st.booleans())
def test_logical_reductions(op, x, axis, keepdims):
    agrees(lambda: op(x, axis, keepdims), lambda: np.asarray(np.any(x, axis, keepdims=keepdims)))


@pytest.mark.parametrize(
    "op", [tf.cumsum, tf.math.cumprod, tf.sort, tf.nn.softmax, tf.nn.log_softmax, tf.nn.relu]
)
@fuzz
@given(arrays(), axes)
def test_ops_that_keep_the_shape(op, x, axis):
    agrees(lambda: op(x, axis) if op is not tf.nn.relu else op(x), lambda: x)


@pytest.mark.parametrize("op", [tf.argmax, tf.argmin], ids=lambda op: op.__name__)
@fuzz
@given(arrays(EVERY), axes)
def test_positions_of_extremes(op, x, axis):
    agrees(lambda: op(x, axis), lambda: np.asarray(np.argmax(x, axis)).astype(np.int64))


BINARY = (tf.add, tf.subtract, tf.multiply, tf.maximum, tf.pow, tf.math.squared_difference)


@pytest.mark.parametrize("op", BINARY, ids=lambda op: op.__name__)
@fuzz
@given(arrays(), shapes, st.sampled_from(NUMBERS))
def test_operands_broadcast(op, x, shape, dtype):
    y = small_numbers(shape, dtype)
    if x.dtype != dtype:
        with pytest.raises(EXPECTED):
            op(tf.constant(x), tf.constant(y))
    agrees(lambda: op(tf.constant(x), tf.constant(y)), lambda: x + y)


@pytest.mark.parametrize("op", [tf.equal, tf.less, tf.logical_and], ids=lambda op: op.__name__)
@fuzz
@given(arrays(EVERY), shapes)
def test_comparisons_give_booleans(op, x, shape):
    y = small_numbers(shape, x.dtype)
    agrees(lambda: op(x, y), lambda: np.equal(x, y))


@fuzz
@given(arrays(), shapes, st.booleans(), st.booleans())
def test_matmul(x, shape, turn_a, turn_b):
    y = small_numbers(shape, x.dtype)

    def formula():
        a = np.swapaxes(x, -1, -2) if turn_a else x
        b = np.swapaxes(y, -1, -2) if turn_b else y
        return np.matmul(a, b)

    agrees(lambda: tf.matmul(x, y, transpose_a=turn_a, transpose_b=turn_b), formula)


@fuzz
@given(
    st.text("ijk.,-> ", max_size=12) | st.sampled_from(["ij,jk->ik", "...i,i->...", "ii->i", "ij"]),
    st.lists(arrays(("float32",), st.lists(st.integers(0, 3), max_size=3).map(tuple)), max_size=3),
)
def test_einsum(equation, operands):
    agrees(
        lambda: tf.einsum(equation, *operands),
        lambda: np.asarray(np.einsum(equation, *operands)),
    )


@fuzz
@given(arrays(), shapes, st.integers(-1, 3) | st.lists(st.lists(axes, max_size=2), max_size=3))
def test_tensordot(x, shape, axis):
    y = small_numbers(shape, x.dtype)
    agrees(lambda: tf.tensordot(x, y, axis), lambda: np.tensordot(x, y, axis))


@fuzz
@given(arrays(EVERY), st.lists(st.integers(-2, 6), max_size=4))
def test_reshape(x, shape):
    agrees(lambda: tf.reshape(x, shape), lambda: np.reshape(x, shape) if x.size else np.add("", 0))


@fuzz
@given(arrays(EVERY), st.none() | st.lists(axes, max_size=4))
def test_transpose(x, perm):
    agrees(lambda: tf.transpose(x, perm), lambda: np.transpose(x, perm))


@fuzz
@given(arrays(EVERY), axes)
def test_axes_of_length_one(x, axis):
    agrees(lambda: tf.expand_dims(x, axis), lambda: np.expand_dims(x, axis))
    agrees(lambda: tf.squeeze(x, axis), lambda: np.squeeze(x, axis))


@fuzz
@given(st.lists(arrays(("float32", "int32")), max_size=3), axes)
def test_concat_and_stack(xs, axis):
    xs = [tf.constant(x) for x in xs]
    agrees(lambda: tf.concat(xs, axis), lambda: np.concatenate(xs, axis))
    agrees(lambda: tf.stack(xs, axis), lambda: np.stack(xs, axis))


@fuzz
@given(arrays(EVERY), st.integers(-1, 4) | st.lists(st.integers(-1, 4), max_size=3), axes)
def test_split(x, pieces, axis):
    try:
        parts = tf.split(x, pieces, axis)
    except EXPECTED:
        return
    joined = np.concatenate([p.numpy() for p in parts], axis)
    np.testing.assert_array_equal(joined, x)


@fuzz
@given(arrays(EVERY), st.lists(st.integers(-1, 3), max_size=4))
def test_tile(x, multiples):
    agrees(
        lambda: tf.tile(x, multiples),
        lambda: np.tile(x, multiples) if len(multiples) == x.ndim else np.add("", 0),
    )


@fuzz
@given(arrays(EVERY), st.integers(-1, 3) | st.lists(st.integers(0, 3), max_size=3), axes)
def test_repeat(x, repeats, axis):
    agrees(lambda: tf.repeat(x, repeats, axis), lambda: np.repeat(x, repeats, axis))


@fuzz
@given(arrays(EVERY), st.integers(-7, 7), axes)
def test_roll_and_reverse(x, shift, axis):
    agrees(lambda: tf.roll(x, shift, axis), lambda: np.roll(x, shift, axis))
    agrees(lambda: tf.reverse(x, [axis]), lambda: np.flip(x, axis))


@fuzz
@given(arrays(EVERY), st.lists(st.integers(-1, 4), max_size=4))
def test_broadcast_to(x, shape):
    agrees(lambda: tf.broadcast_to(x, shape), lambda: np.broadcast_to(x, shape))


@fuzz
@given(
    arrays(EVERY),
    st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 3)), max_size=4),
    st.sampled_from(["CONSTANT", "REFLECT", "SYMMETRIC", "edge"]),
)
def test_pad(x, paddings, mode):
    def formula():
        if len(paddings) != x.ndim:
            raise ValueError
        return np.pad(x, paddings)

    agrees(lambda: tf.pad(x, paddings, mode), formula)


indices = st.integers(-5, 5)
keys = st.lists(
    indices
    | st.builds(slice, st.none() | indices, st.none() | indices, st.none() | st.integers(-2, 2))
    | st.sampled_from([None, Ellipsis]),
    max_size=4,
).map(tuple)


@fuzz
@given(arrays(EVERY), keys)
def test_indexing(x, key):
    agrees(lambda: tf.constant(x)[key], lambda: np.asarray(x[key]))


@fuzz
@given(arrays(), st.lists(st.integers(-2, 4), max_size=3), axes, st.integers(-1, 2))
def test_gather(x, rows, axis, batch_dims):
    formula = (lambda: np.take(x, rows, axis)) if not batch_dims else (lambda: np.add("", 0))
    agrees(lambda: tf.gather(x, rows, axis=axis, batch_dims=batch_dims), formula)


@fuzz
@given(arrays(), st.lists(st.lists(st.integers(-1, 4), min_size=1, max_size=2), max_size=3))
def test_gather_nd_and_scatter_nd(x, rows):
    def formula():
        depth = np.shape(rows)[1]
        return np.zeros((len(rows), *x.shape[depth:]), x.dtype)

    agrees(lambda: tf.gather_nd(x, rows), formula)
    agrees(lambda: tf.scatter_nd(rows, x, [4, 4]), lambda: np.zeros((4, 4), x.dtype))


@fuzz
@given(arrays(), st.lists(st.integers(-2, 4), max_size=4), st.integers(-1, 4))
def test_segments(x, ids, count):
    agrees(
        lambda: tf.math.unsorted_segment_sum(x, ids, count),
        lambda: np.zeros((count, *x.shape[1:]), x.dtype),
    )
    agrees(
        lambda: tf.math.segment_max(x, ids),
        lambda: np.zeros(((ids[-1] + 1) if ids else 0, *x.shape[1:]), x.dtype),
    )


@fuzz
@given(arrays(("int32", "int64", "uint8", "float32")), st.integers(-1, 4), st.integers(-3, 4))
def test_one_hot(x, depth, axis):
    def formula():
        out = np.zeros((*x.shape, depth), np.float32)
        return np.moveaxis(out, -1, axis)

    agrees(lambda: tf.one_hot(x, depth, axis=axis), formula)


@fuzz
@given(arrays(EVERY), st.sampled_from(EVERY))
def test_cast(x, dtype):
    agrees(lambda: tf.cast(x, dtype), lambda: np.zeros(x.shape, dtype))


@fuzz
@given(arrays(), st.integers(-1, 5))
def test_top_k(x, k):
    def formula():
        if not 0 <= k <= x.shape[-1]:
            raise ValueError
        return x[..., :k]

    agrees(lambda: tf.math.top_k(x, k)[0], formula)


@fuzz
@given(arrays(), st.sampled_from(["euclidean", "fro", 1, 2, np.inf, 0, "x"]), st.none() | axes)
def test_norm(x, order, axis):
    agrees(
        lambda: tf.norm(x, order, axis),
        lambda: (
            same_dtype(abs(x), np.sum(abs(x), axis=axis)) if x.dtype.kind != "c" else np.add("", 0)
        ),
    )


@pytest.mark.parametrize("op", [tf.linalg.inv, tf.linalg.cholesky, tf.linalg.expm, tf.linalg.qr])
@fuzz
@given(arrays())
def test_decompositions(op, x):
    def call():
        out = op(x)
        return out if isinstance(out, tf.Tensor) else out[1]

    def formula():
        rows, columns = x.shape[-2:]
        return x[..., : min(rows, columns), :]

    agrees(call, formula)


@fuzz
@given(arrays(), st.integers(-5, 5), st.integers(-5, 5))
def test_band_part_and_diagonals(x, low, high):
    agrees(lambda: tf.linalg.band_part(x, low, high), lambda: x)
    agrees(
        lambda: tf.linalg.diag_part(x, k=low),
        lambda: np.diagonal(x, low, -2, -1) if abs(low) < max(x.shape[-2:]) else np.add("", 0),
    )


windows = st.tuples(
    st.lists(st.integers(0, 5), min_size=3, max_size=5).map(tuple),
    st.integers(1, 3),
    st.integers(0, 3),
    st.sampled_from(["SAME", "VALID", "same", "FULL"]),
)


@fuzz
@given(windows, st.integers(1, 2), st.sampled_from(("float32", "float64", "int32")))
def test_convolution(drawn, dilation, dtype):
    shape, size, stride, padding = drawn
    x = small_numbers(shape, dtype)
    w = small_numbers((size, size, shape[-1], 2), dtype)

    def formula():
        *batch, height, width, _ = shape
        spatial = height, width
        reach = (size - 1) * dilation + 1
        lengths = [
            ceil(n / stride) if padding.upper() == "SAME" else ceil((n - reach + 1) / stride)
            for n in spatial
        ]
        return np.zeros((*batch, *lengths, 2), dtype)

    agrees(lambda: tf.nn.conv2d(x, w, stride, padding, dilations=dilation), formula)


@pytest.mark.parametrize("op", [tf.nn.max_pool2d, tf.nn.avg_pool2d], ids=lambda op: op.__name__)
@fuzz
@given(windows, st.sampled_from(("float32", "float64", "int32")))
def test_pools(op, drawn, dtype):
    shape, size, stride, padding = drawn

    def formula():
        batch, *spatial, channels = shape
        lengths = [
            ceil(n / stride) if padding.upper() == "SAME" else ceil((n - size + 1) / stride)
            for n in spatial
        ]
        return np.zeros((batch, *lengths, channels), dtype)

    agrees(lambda: op(small_numbers(shape, dtype), size, stride, padding), formula)


@fuzz
@given(arrays(), shapes, axes)
def test_cross_entropy(x, shape, axis):
    y = small_numbers(shape, x.dtype)

    def formula():
        return np.sum(np.broadcast_arrays(x, y)[0], axis=axis, dtype=x.dtype)

    agrees(lambda: tf.nn.softmax_cross_entropy_with_logits(y, x, axis), formula)


@fuzz
@given(st.integers(-5, 9), st.integers(-5, 9), st.integers(-3, 3))
def test_range_and_linspace(start, stop, step):
    agrees(lambda: tf.range(start, stop, step), lambda: np.arange(start, stop, step, np.int32))
    agrees(
        lambda: tf.linspace(float(start), float(stop), step),
        lambda: np.linspace(start, stop, step, dtype=np.float32),
    )


@fuzz
@given(arrays(EVERY), shapes, shapes)
def test_where(x, shape, other):
    holds, y = np.ones(shape, bool), small_numbers(other, x.dtype)
    agrees(lambda: tf.where(holds, x, y), lambda: np.where(holds, x, y))


@fuzz
@given(arrays(), st.integers(-1, 4), st.lists(st.tuples(sizes, sizes), max_size=3))
def test_space_to_batch(x, block, paddings):
    def formula():
        if len(paddings) >= x.ndim or block < 1:
            raise ValueError
        widths = [(0, 0), *paddings, *[(0, 0)] * (x.ndim - 1 - len(paddings))]
        batch, *spatial = np.pad(x, widths).shape
        n = len(paddings)
        if any(size % block for size in spatial[:n]):
            raise ValueError
        inner = [size // block for size in spatial[:n]]
        return np.zeros((batch * block**n, *inner, *spatial[n:]), x.dtype)

    agrees(lambda: tf.space_to_batch(x, [block] * len(paddings), paddings), formula)


@fuzz
@given(arrays(), st.integers(-1, 6), st.integers(-1, 4), axes, st.booleans())
def test_frames(x, length, step, axis, pad_end):
    if x.ndim and not -x.ndim <= axis < x.ndim:
        with pytest.raises(IndexError):  # TensorFlow's class here
            tf.signal.frame(x, 1, 1, axis=axis)
        return

    def formula():
        if length < 1 or step < 1:
            raise ValueError
        moved = np.moveaxis(x, axis, 0)
        count = ceil(len(moved) / step) if pad_end else max(0, (len(moved) - length) // step + 1)
        at = axis % x.ndim
        return np.zeros((*x.shape[:at], count, length, *x.shape[at + 1 :]), x.dtype)

    agrees(lambda: tf.signal.frame(x, length, step, pad_end, axis=axis), formula)


@fuzz
@given(arrays(("float32", "float64", "complex64", "complex128")), st.none() | st.integers(-1, 6))
def test_fourier_transforms(x, length):
    def formula():
        size = x.shape[-1] if length is None else length
        if x.dtype.kind == "c" or size < 1:
            raise ValueError
        kind = np.complex64 if x.dtype == np.float32 else np.complex128
        return np.zeros((*x.shape[:-1], size // 2 + 1), kind)

    wanted = None if length is None else [length]
    agrees(lambda: tf.signal.rfft(tf.constant(x), wanted), formula)
    agrees(
        lambda: tf.signal.fft(tf.constant(x)), lambda: x if x.dtype.kind == "c" else np.add("", 0)
    )
