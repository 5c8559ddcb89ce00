"""Unusual arguments: calls for which TensorFlow raises, and calls that it accepts."""

import numpy as np
import pytest

import gradtape as tf

INVALID = tf.errors.InvalidArgumentError
X = np.arange(6, dtype=np.float32).reshape(2, 3)

C = np.array([1 + 1j, 2 - 1j, 0.5j])
LOGITS = np.zeros((2, 3), np.float32)

RAISES = [
    (lambda: tf.strided_slice(X, [0], [1, 2]), INVALID),
    (lambda: tf.gather_nd(X, [[[0]]], batch_dims=2), ValueError),
    (lambda: tf.unravel_index([], [3, 3]), INVALID),
    (lambda: tf.linspace([0.0, 1.0], [1.0, 2.0, 3.0], 3), INVALID),
    (lambda: tf.range(np.float32(np.nan), 3.0), INVALID),
    (lambda: tf.image.resize(X[..., None], [2, -3]), ValueError),
    (lambda: tf.image.resize(X[..., None], [2, 0]), INVALID),
    (lambda: tf.math.bincount([1], maxlength=-3), INVALID),
    (lambda: tf.math.bincount([1], axis=-7), ValueError),
    (lambda: tf.math.bincount([1], weights=C[:1]), INVALID),
    (lambda: tf.histogram_fixed_width([np.nan], [0.0, 1.0]), INVALID),
    (lambda: tf.sequence_mask([1], -5), INVALID),
    (lambda: tf.linalg.diag_part(X, k=()), INVALID),
    (lambda: tf.linalg.diag_part(X, k=(0, 1, 1)), INVALID),
    (lambda: tf.linalg.expm(np.eye(2, dtype=int)), ValueError),
    (lambda: tf.linalg.cross(C, C), INVALID),
    (lambda: tf.linalg.lu_solve(*tf.linalg.lu(np.eye(3)), np.zeros(3)), ValueError),
    (lambda: tf.linalg.lstsq(np.ones((3, 2)), np.ones(3)), INVALID),
    (lambda: tf.linalg.lstsq(np.ones((1, 3, 2)), np.ones((3, 1)), fast=False), INVALID),
    (lambda: tf.searchsorted(1.0, [2.0]), INVALID),
    (lambda: tf.searchsorted([1.0], 2.0), INVALID),
    (lambda: tf.einsum("ij,jk,kl->il", X, X.T, X[0]), ValueError),
    (lambda: tf.tensordot(X.astype(np.int8), X.T.astype(np.int8), 1), INVALID),
    (lambda: tf.math.confusion_matrix([0, 1], [0, 1, 1]), ValueError),
    (lambda: tf.math.confusion_matrix([0], [0], weights=[1, 2]), ValueError),
    (lambda: tf.math.in_top_k([0], tf.constant([[1.0]], tf.float64), 1), INVALID),
    (lambda: tf.strings.as_string([1], width=5, fill="x"), INVALID),
    (lambda: tf.strings.length(tf.constant(1.0)), INVALID),
    (lambda: tf.saturate_cast(tf.constant(True), tf.uint8), TypeError),
    (lambda: tf.nn.silu([1, 2]), INVALID),
    (lambda: tf.nn.crelu(C), INVALID),
    (lambda: tf.nn.softmax_cross_entropy_with_logits(LOGITS, LOGITS[0]), INVALID),
    (lambda: tf.nn.softmax_cross_entropy_with_logits(1.0, LOGITS), INVALID),
    (lambda: tf.nn.ctc_loss([[1]], np.zeros((2, 2, 3), np.float32), [1], [2]), INVALID),
    (lambda: tf.reshape(X, 6.0), TypeError),
    (lambda: tf.reshape(X, None), ValueError),
    (lambda: tf.expand_dims(X, None), ValueError),
    (lambda: tf.zeros(2.5), TypeError),
    (lambda: tf.zeros([2, None]), ValueError),
    (lambda: tf.fill([2.0], 1), INVALID),
    (lambda: tf.eye(-1), INVALID),
    (lambda: tf.eye(2.5), TypeError),
    (lambda: tf.range([1, 2]), INVALID),
    (lambda: tf.linspace(0.0, 1.0, 2.5), TypeError),
    (lambda: tf.repeat(X, -1), INVALID),
    (lambda: tf.repeat(X, 2, axis=5), ValueError),
    (lambda: tf.split(X, [1, 1], num=3), INVALID),
    (lambda: tf.gather(X[None], [[0]], axis=1, batch_dims=2), INVALID),
    (lambda: tf.gather_nd(X, 1), INVALID),
    (lambda: tf.where(True), INVALID),
    (lambda: tf.one_hot([0], -1), INVALID),
    (lambda: tf.one_hot([0], 2.0), TypeError),
    (lambda: tf.one_hot([0], 2, axis=-2), INVALID),
    (lambda: tf.saturate_cast(X, tf.bool), TypeError),
    (lambda: tf.bitcast(X, tf.bool), INVALID),
    (lambda: tf.sort([True, False]), INVALID),
    (lambda: tf.searchsorted([1, 2], [1.0]), INVALID),
    (lambda: tf.logical_not([1, 2]), TypeError),
    (lambda: tf.logical_and(X, 2), TypeError),
    (lambda: tf.reduce_any([1, 2]), TypeError),
    (lambda: tf.math.reduce_variance([True]), INVALID),
    (lambda: tf.math.unsorted_segment_sqrt_n([1, 2], [0, 0], 1), INVALID),
    (lambda: tf.truncatediv(1, 0), tf.errors.InternalError),
    (lambda: tf.space_to_batch(X[None, ..., None], [2, 2], [[0, 0]]), INVALID),
    (lambda: tf.nn.space_to_depth(X[None, ..., None], 1), INVALID),
    (lambda: tf.nn.depth_to_space(X, 2), INVALID),
    (lambda: tf.image.extract_patches(X[None, ..., None], [2, 2], 1, 1, "SAME"), INVALID),
    (lambda: tf.nn.lrn(X), INVALID),
    (lambda: tf.nn.compute_average_loss(1.0), ValueError),
    (lambda: tf.matmul(np.ones((2, 2), np.int8), np.ones((2, 2), np.int8)), INVALID),
    (lambda: tf.linalg.pinv(X[0]), ValueError),
    (lambda: tf.linalg.matrix_rank([[1, 2]]), TypeError),
    (lambda: tf.linalg.lu(np.zeros((2, 2))), INVALID),
    (lambda: tf.linalg.logm(np.eye(2)), INVALID),
    (lambda: tf.linalg.band_part(X, 5, 0), INVALID),
    (lambda: tf.linalg.tensor_diag(1.0), INVALID),
    (lambda: tf.linalg.diag(X[0], num_rows=2), INVALID),
    (lambda: tf.linalg.diag(np.ones((3, 3)), k=(0, 1)), INVALID),
    (lambda: tf.linalg.cross([1.0, 2.0], [1.0, 2.0]), tf.errors.FailedPreconditionError),
    (lambda: tf.norm(X, axis=[1]), ValueError),
    (lambda: tf.norm(X, axis=[0, 0]), ValueError),
    (lambda: tf.sparse.segment_sum(X, [0, 2], [0, 1]), INVALID),
    (lambda: tf.sparse.segment_sum(X, [0, 1], [0, 2], num_segments=2), INVALID),
]


@pytest.mark.parametrize("number", range(len(RAISES)))
def test_the_exception_class_is_tensorflows(number):
    call, kind = RAISES[number]
    with pytest.raises(kind) as caught:
        call()
    assert type(caught.value) is kind


RESULTS = [
    (lambda: tf.tensordot(np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(3, 2), 2), 55.0),
    (lambda: tf.nn.softmax_cross_entropy_with_logits(LOGITS[None] * 0, LOGITS), [0, 0]),
    (lambda: tf.nn.softmax_cross_entropy_with_logits(np.zeros((2, 0)), np.zeros((2, 0))), [0, 0]),
    (lambda: tf.reduce_sum(np.zeros((2, 3, 0)), [0, 1]), np.zeros(0)),
    (lambda: tf.reduce_mean(np.zeros(0, complex)), 0j),
    (lambda: tf.signal.fft(np.zeros((2, 0), complex)), np.zeros((2, 0))),
    (lambda: tf.searchsorted(np.zeros((2, 0)), np.zeros((2, 1))), [[0], [0]]),
    (lambda: tf.searchsorted([[1.0, 3.0]], [2.0, 4.0]), [1, 2]),
    (lambda: tf.math.bincount(np.zeros((0, 3), int), axis=-1), np.zeros((0, 0))),
    (lambda: tf.cast(C - C.real, tf.bool), [False, False, False]),
    (lambda: tf.linalg.diag_part(X > 2), [False, True]),
    (lambda: tf.strings.substr(["hello"], 1, -3), [b"ello"]),
    (lambda: tf.strings.as_string([True], width=9), [b"true"]),
    (lambda: tf.linspace(np.int8(0), np.int8(4), 3), np.float32([0, 2, 4])),
    (lambda: tf.nn.moments(np.array([1j, 3j]), [0])[1], 1),
    (lambda: tf.math.special.bessel_k0([-1.0]), [np.inf]),
    (lambda: tf.math.special.bessel_y1([-1.0]), [-np.inf]),
    (
        lambda: tf.nn.weighted_moments(np.float16([1, 3]), [0], np.float16([1, 1]))[1],
        np.float16(1),
    ),
    (lambda: tf.foldl(lambda a, r: a * 0.5 + r, np.array([1.0, 2.0]), initializer=1.0), 2.75),
    (lambda: tf.reshape(np.zeros((0, 3)), [0, -1]), np.zeros((0, 3))),
    (lambda: tf.pad([True], [[1, 0]]), [False, True]),
    (lambda: tf.pad(["a"], [[0, 1]]), [b"a", b""]),
    (lambda: tf.fill([2], [7]), [7, 7]),
    (lambda: tf.round(np.array([3], np.uint8)), [3]),
    (lambda: tf.nn.softmax(np.zeros((2, 0))), np.zeros((2, 0))),
    (lambda: tf.nn.log_softmax(np.zeros(0)), np.zeros(0)),
    (lambda: tf.linalg.diag([True, False]), [[True, False], [False, False]]),
    (lambda: tf.linalg.triangular_solve([[0.0]], [[1.0]]), [[np.inf]]),
    (lambda: tf.linalg.svd([[np.nan, 1.0]], compute_uv=False), [np.nan]),
    (lambda: tf.linalg.inv(np.array([[2.0]], np.float16)), [[0.5]]),
    (lambda: tf.linalg.lu(np.zeros((0, 0)))[0], np.zeros((0, 0))),
    (lambda: tf.linalg.matrix_rank(np.zeros((0, 0))), 0),
    (lambda: tf.cast([1 + 2j], tf.int32), [1]),
    (lambda: tf.nn.moments(X, None)[0], X.mean()),
    (lambda: tf.nn.embedding_lookup([X, X], [1, 2]), X[[1, 0]]),
    (lambda: tf.gather(X[None], [[1]], batch_dims=-1), X[None][:, :, [1]]),
    (lambda: tf.sparse.segment_mean(X, [0, 1, 1], [0, 0, 2]), [X.mean(0), [0, 0, 0], X[1]]),
    (lambda: tf.sparse.segment_sum(X, [0], [0], num_segments=2), [X[0], [0, 0, 0]]),
]


@pytest.mark.parametrize("number", range(len(RESULTS)))
def test_the_result_is_tensorflows(number):
    call, want = RESULTS[number]
    got = call().numpy()
    assert got.shape == np.shape(want)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (3, 3)])
def test_full_bases_have_first_and_second_order_gradients(shape):
    rng = np.random.default_rng(5)
    a, direction = tf.constant(rng.standard_normal(shape)), rng.standard_normal(shape)

    def f(x):
        # Vectors beyond the rank are determined only up to rotation, so they share one weight.
        bases = (*tf.linalg.svd(x, full_matrices=True)[1:], tf.linalg.qr(x, full_matrices=True)[0])
        weights = [np.minimum(np.arange(m.shape[1]), min(shape)) + 1.0 for m in bases]
        wholes = [
            tf.matmul(m, m * w, transpose_b=True) for m, w in zip(bases, weights, strict=True)
        ]
        return tf.add_n([tf.reduce_sum(tf.sin(m)) for m in wholes])

    with tf.GradientTape() as outer:
        outer.watch(a)
        with tf.GradientTape() as inner:
            inner.watch(a)
            y = f(a)
        slope = tf.reduce_sum(inner.gradient(y, a) * direction)
    first = (f(a + 1e-5 * direction) - f(a - 1e-5 * direction)) / 2e-5
    np.testing.assert_allclose(slope, first, rtol=1e-6)
    second = (f(a + 1e-4 * direction) - 2 * f(a) + f(a - 1e-4 * direction)) / 1e-8
    np.testing.assert_allclose(np.sum(outer.gradient(slope, a) * direction), second, rtol=1e-3)
