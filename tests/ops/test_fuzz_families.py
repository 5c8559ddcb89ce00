"""Random arguments for families of functions: a result or a documented error.

The gradient of a result must have the shape of its source, or be None.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradtape as tf
from tests.ops.test_fuzz import EVERY, EXPECTED, FLOATS, NUMBERS, arrays, axes, fuzz, shapes, sizes

small = st.integers(-2, 5)
paddings = st.sampled_from(["SAME", "VALID", "same", "EXPLICIT", ""])
images = arrays((*FLOATS, "uint8", "int32"), st.lists(sizes, min_size=2, max_size=5).map(tuple))


def alike(y, x):
    """Convert `y` to the dtype of `x`."""
    return (y if x.dtype.kind == "c" else np.real(y)).astype(x.dtype)


def answers(call, *sources):
    """Call and differentiate; only the expected exceptions may be raised."""
    tensors = [tf.constant(x) for x in sources]
    try:
        with tf.GradientTape() as tape:
            tape.watch([t for t in tensors if t.dtype.is_floating or t.dtype.is_complex])
            out = call(*tensors)
    except (*EXPECTED, IndexError, NotImplementedError):
        return
    found = [t for t in tf.nest.flatten(out) if isinstance(t, tf.Tensor)]
    smooth = [t for t in found if t.dtype.is_floating or t.dtype.is_complex]
    for tensor, g in zip(tensors, tape.gradient(smooth, tensors), strict=True):
        assert g is None or tuple(g.shape) == tuple(tensor.shape)


UNARY = [
    getattr(tf.math, name)
    for name in (
        "abs",
        "acos",
        "acosh",
        "angle",
        "asin",
        "asinh",
        "atan",
        "atanh",
        "bessel_i0",
        "bessel_i1e",
        "ceil",
        "conj",
        "cos",
        "cosh",
        "digamma",
        "erf",
        "erfc",
        "erfcinv",
        "erfinv",
        "exp",
        "expm1",
        "floor",
        "imag",
        "is_finite",
        "is_inf",
        "is_nan",
        "lgamma",
        "log",
        "log1p",
        "log_sigmoid",
        "logical_not",
        "ndtri",
        "negative",
        "real",
        "reciprocal",
        "reciprocal_no_nan",
        "rint",
        "round",
        "rsqrt",
        "sigmoid",
        "sign",
        "sin",
        "sinh",
        "softplus",
        "softsign",
        "sqrt",
        "square",
        "tan",
        "tanh",
    )
]


@pytest.mark.parametrize("op", UNARY, ids=lambda op: op.__name__)
@fuzz
@given(arrays(EVERY))
def test_functions_of_one_tensor(op, x):
    answers(op, x)


BINARY = [
    getattr(tf.math, name)
    for name in (
        "atan2",
        "divide",
        "divide_no_nan",
        "floordiv",
        "floormod",
        "igamma",
        "igammac",
        "minimum",
        "multiply_no_nan",
        "nextafter",
        "polygamma",
        "truediv",
        "xdivy",
        "xlog1py",
        "xlogy",
        "zeta",
    )
]


@pytest.mark.parametrize("op", BINARY, ids=lambda op: op.__name__)
@fuzz
@given(arrays(), arrays(), st.booleans())
def test_functions_of_two_tensors(op, x, y, same):
    answers(op, x, alike(y, x) if same else y)


@fuzz
@given(images, arrays(FLOATS, st.lists(sizes, min_size=3, max_size=5).map(tuple)), small, paddings)
def test_convolutions_of_any_shape(x, w, stride, padding):
    w = alike(w, x)
    for op in (tf.nn.conv1d, tf.nn.conv2d, tf.nn.conv3d):
        answers(lambda x, w, op=op: op(x, w, stride, padding), x, w)
    answers(lambda x, w: tf.nn.convolution(x, w, strides=stride, padding=padding), x, w)
    answers(lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, stride, stride, 1], padding), x, w)
    answers(lambda x, w: tf.nn.conv2d_transpose(x, w, [1, 4, 4, stride], stride, padding), x, w)


@fuzz
@given(images, small, small, paddings, st.integers(0, 3))
def test_pools_of_any_shape(x, size, stride, padding, dilation):
    for op in (tf.nn.max_pool1d, tf.nn.avg_pool2d, tf.nn.max_pool3d, tf.nn.avg_pool):
        answers(lambda x, op=op: op(x, size, stride, padding), x)
    answers(lambda x: tf.nn.pool(x, [size] * 2, "MAX", [stride] * 2, padding, None, dilation), x)
    answers(lambda x: tf.nn.fractional_max_pool(x, size / 2, seed=1), x)
    answers(lambda x: tf.nn.max_pool_with_argmax(x, size, stride, padding), x)
    answers(
        lambda x: tf.image.extract_patches(
            x, [1, size, size, 1], [1, stride, stride, 1], [1, dilation, dilation, 1], padding
        ),
        x,
    )


@fuzz
@given(images, small, small, st.sampled_from(["bilinear", "nearest", "bicubic", "area", "x"]))
def test_images_of_any_shape(x, a, b, method):
    image = tf.image
    for call in (
        lambda x: image.resize(x, [a, b], method),
        lambda x: image.resize_with_pad(x, a, b),
        lambda x: image.resize_with_crop_or_pad(x, a, b),
        lambda x: image.crop_to_bounding_box(x, a, b, 1, 1),
        lambda x: image.pad_to_bounding_box(x, a, b, 6, 6),
        lambda x: image.central_crop(x, abs(a) / 5 + 0.01),
        lambda x: image.rot90(x, a),
        lambda x: image.crop_and_resize(x, [[0.1, 0.2, 0.9, 1.1]], [a], [b, b]),
        lambda x: image.extract_glimpse(x, [a, b], [[0.0, 0.0]]),
        lambda x: tf.nn.space_to_depth(x, a),
        lambda x: tf.nn.depth_to_space(x, a),
        image.rgb_to_hsv,
        image.rgb_to_grayscale,
        image.total_variation,
        image.sobel_edges,
        image.per_image_standardization,
        lambda x: tf.stop_gradient(image.adjust_hue(x, a / 5)),
        lambda x: tf.stop_gradient(image.adjust_contrast(x, b / 2)),
        lambda x: image.psnr(x, x, 1.0),
    ):
        answers(call, x)


@fuzz
@given(arrays(), arrays(), axes, small, st.booleans())
def test_linear_algebra_of_any_shape(x, y, axis, k, flag):
    y = alike(y, x)
    linalg = tf.linalg
    for call in (
        lambda x, y: linalg.solve(x, y, adjoint=flag),
        lambda x, y: linalg.triangular_solve(x, y, lower=flag),
        lambda x, y: linalg.lstsq(x, y, fast=flag),
        lambda x, y: linalg.matvec(x, y, transpose_a=flag),
        lambda x, y: linalg.set_diag(x, y, k=k),
        linalg.cross,
        linalg.tridiagonal_solve,
        linalg.cholesky_solve,
        lambda x, y: linalg.LinearOperatorFullMatrix(x).matmul(y),
        lambda x, y: linalg.LinearOperatorDiag(x).solve(y),
    ):
        answers(call, x, y)
    for call in (
        linalg.det,
        linalg.slogdet,
        linalg.eigh,
        linalg.svd,
        linalg.pinv,
        linalg.sqrtm,
        lambda x: linalg.lu(tf.stop_gradient(x)),  # it has no gradient, in TensorFlow either
        linalg.trace,
        lambda x: linalg.diag(x, k=k),
        lambda x: linalg.normalize(x, axis=axis),
        lambda x: linalg.l2_normalize(x, axis),
    ):
        answers(call, x)


@fuzz
@given(arrays(NUMBERS), st.lists(small, max_size=4), small, axes)
def test_segments_and_counts_of_any_shape(x, ids, count, axis):
    for call in (
        lambda x: tf.math.segment_sum(x, ids),
        lambda x: tf.math.segment_prod(x, ids),
        lambda x: tf.math.unsorted_segment_mean(x, ids, count),
        lambda x: tf.math.unsorted_segment_max(x, ids, count),
        lambda x: tf.dynamic_partition(x, ids, count),
        lambda x: tf.dynamic_stitch([ids], [x]),
        lambda x: tf.math.bincount(x, minlength=count),
        lambda x: tf.math.confusion_matrix(x, ids, count),
        lambda x: tf.histogram_fixed_width(x, [0, count], 3),
        lambda x: tf.math.in_top_k(ids, x, count),
        lambda x: tf.nn.embedding_lookup(x, ids),
        lambda x: tf.sequence_mask(x, count),
        lambda x: tf.reverse_sequence(x, ids, axis, 0),
        lambda x: tf.unique(x),
        lambda x: tf.searchsorted(x, x),
        lambda x: tf.boolean_mask(x, [i > 0 for i in ids]),
        lambda x: tf.tensor_scatter_nd_add(x, [[i] for i in ids], x),
        lambda x: tf.math.top_k(x, count),
        lambda x: tf.argsort(x, axis),
        lambda x: tf.unstack(x, count, axis),
        lambda x: tf.linspace(x, x, count, axis=axis),
        lambda x: tf.space_to_batch(x, [max(i, 0) for i in ids], [[0, 1]] * len(ids)),
    ):
        answers(call, x)


@fuzz
@given(arrays(("float32", "float64", "complex64", "int32")), small, small, axes, st.booleans())
def test_signals_of_any_shape(x, a, b, axis, flag):
    signal = tf.signal
    for call in (
        lambda x: signal.stft(x, a, b, pad_end=flag),
        lambda x: signal.inverse_stft(x, a, b),
        lambda x: signal.overlap_and_add(x, a),
        lambda x: signal.dct(x, type=a, n=b),
        lambda x: signal.idct(x, type=a),
        lambda x: signal.mdct(x, a),
        lambda x: signal.fftshift(x, axis),
        lambda x: signal.irfft(x, [a]),
        lambda x: signal.rfft2d(x, [a, b]),
        signal.fft2d,
        signal.ifft3d,
    ):
        answers(call, x)


@fuzz
@given(arrays(), shapes, small, axes)
def test_losses_and_norms_of_any_shape(x, shape, count, axis):
    y = np.ones(shape, x.dtype)
    nn = tf.nn
    for call in (
        lambda x, y: nn.sigmoid_cross_entropy_with_logits(y, x),
        lambda x, y: nn.weighted_cross_entropy_with_logits(y, x, 2.0),
        lambda x, y: nn.log_poisson_loss(y, x, True),
        lambda x, y: nn.sparse_softmax_cross_entropy_with_logits(tf.cast(y, tf.int32), x),
        lambda x, y: nn.batch_normalization(x, y, y, y, y, 1e-3),
        lambda x, y: nn.weighted_moments(x, axis, y),
        lambda x, y: nn.bias_add(x, y),
        lambda x, y: nn.nce_loss(x, y, [[0]], x, 1, 3),
        lambda x, y: nn.ctc_loss(tf.cast(y, tf.int32), x, [1], [1]),
        lambda x, y: tf.clip_by_value(x, y, y),
    ):
        answers(call, x, y)
    for call in (
        lambda x: nn.moments(x, axis),
        lambda x: nn.local_response_normalization(x, count),
        lambda x: nn.crelu(x, axis),
        lambda x: nn.dropout(x, count / 4),
        lambda x: nn.isotonic_regression(x),
        lambda x: tf.clip_by_norm(x, count, axis),
        lambda x: tf.math.cumulative_logsumexp(x, axis),
        lambda x: tf.math.reduce_variance(x, axis),
        lambda x: tf.math.count_nonzero(x, axis),
    ):
        answers(call, x)
