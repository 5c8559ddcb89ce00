"""Programs that the corpus lacks, or has without a tensor where an argument may be one."""

from __future__ import annotations

from typing import Any

import numpy as np

draw = np.random.default_rng(7)


def unit(*shape: int) -> Any:
    """Numbers in [0.1, 0.9)."""
    return draw.uniform(0.1, 0.9, shape).astype(np.float32)


def spd(n: int) -> Any:
    """A positive definite matrix."""
    a = draw.standard_normal((n, n))
    return a @ a.T + n * np.eye(n)


def words(*texts: str) -> Any:
    """A row of strings."""
    out = np.empty(len(texts), object)
    out[:] = [t.encode() for t in texts]
    return out


def ints(*values: Any) -> Any:
    """int32."""
    return np.array(values, np.int32)


SEED = ints(3, 4)
ROWS = unit(3, 4)
IMAGE = unit(6, 5, 3)
BATCH = unit(2, 6, 5, 3)
BOXES = np.array(
    [[0, 0, 1, 1], [0, 0.1, 1, 0.9], [0.4, 0.4, 0.5, 0.6], [0.5, 0.5, 1, 1]], np.float32
)
SCORES = np.array([0.9, 0.75, 0.6, 0.3], np.float32)
HALF = np.array(0.5, np.float32)
ONE = np.array(1, np.int32)

MATH: dict[str, Any] = {
    "tf.add_n([x, y])": {"x": ROWS, "y": unit(3, 4)},
    "tf.math.approx_max_k(x, 2)": {"x": ROWS},
    "tf.math.approx_min_k(x, 2)": {"x": ROWS},
    "tf.math.erfcinv(x)": {"x": ROWS},
    "tf.math.lbeta(x)": {"x": ROWS},
    "tf.math.rint(x)": {"x": ROWS * 9},
    "tf.logical_not(x)": {"x": ROWS > 0.5},
    "tf.logical_or(x, y)": {"x": ROWS > 0.5, "y": ROWS > 0.3},
    "tf.realdiv(x, y)": {"x": ROWS, "y": unit(3, 4)},
    "tf.rank(x)": {"x": ROWS},
    "tf.guarantee_const(x)": {"x": ROWS},
    "tf.math.bincount(x, minlength=4, maxlength=4)": {"x": ints(1, 2, 2, 3)},
    "tf.math.bincount(x, weights=w, minlength=6, maxlength=6)": {
        "x": ints(1, 2, 2, 3),
        "w": unit(4),
    },
    "tf.math.bincount(x, weights=w, axis=-1, minlength=6, maxlength=6)": {
        "x": ints([1, 2], [2, 3]),
        "w": unit(2, 2),
    },
    "tf.math.confusion_matrix(x, y)": {"x": ints(0, 1, 2), "y": ints(0, 2, 2)},
    "tf.math.confusion_matrix(x, y, num_classes=3)": {"x": ints(0, 1, 2), "y": ints(0, 2, 2)},
    "tf.math.in_top_k(x, y, 2)": {"x": ints(0, 1, 2), "y": ROWS},
    "tf.math.invert_permutation(x)": {"x": ints(2, 0, 1)},
    "tf.math.segment_mean(x, i)": {"x": ROWS, "i": ints(0, 0, 2)},
    "tf.math.segment_max(x, i)": {"x": ROWS, "i": ints(0, 0, 2)},
    "tf.math.unsorted_segment_sqrt_n(x, i, 4)": {"x": ROWS, "i": ints(3, -1, 2)},
    "tf.sparse.segment_sum(x, r, i, num_segments=5)": {
        "x": ROWS,
        "r": ints(2, 0, 1),
        "i": ints(0, 0, 2),
    },
    "tf.sparse.segment_mean(x, r, i)": {"x": ROWS, "r": ints(2, 0, 1), "i": ints(0, 0, 2)},
    "tf.histogram_fixed_width(x, r, 5)": {"x": ROWS, "r": np.array([0.0, 1.0], np.float32)},
    "tf.math.reduce_logsumexp(x, axis=0)": {"x": ROWS},
    "tf.math.zero_fraction(x)": {"x": np.round(ROWS)},
    "tf.math.count_nonzero(x)": {"x": np.round(ROWS)},
    "tf.clip_by_value(x, a, b)": {"x": ROWS, "a": HALF, "b": HALF + 0.2},
    "tf.clip_by_norm(x, a)": {"x": ROWS, "a": HALF},
    "tf.clip_by_global_norm([x, x], a)": {"x": ROWS, "a": HALF},
}

ARRAY: dict[str, Any] = {
    "tf.pad(x, [[1, 0], [0, 2]], constant_values=v)": {"x": ROWS, "v": HALF},
    "tf.pad(x, [[1, 0], [0, 2]], 'REFLECT')": {"x": ROWS},
    "tf.repeat(x, r, axis=0)": {"x": ROWS, "r": ints(1, 3, 2)},
    "tf.repeat(x, 2)": {"x": ROWS},
    "tf.sequence_mask(x)": {"x": ints(1, 3, 2)},
    "tf.sequence_mask(x, 5)": {"x": ints(1, 3, 2)},
    "tf.unravel_index(x, [3, 4])": {"x": ints(1, 7, 11)},
    "tf.gather_nd(x, i, bad_indices_policy='IGNORE')": {
        "x": ROWS,
        "i": ints([0, 0], [5, 1], [2, 3]),
    },
    "tf.scatter_nd(i, x, [4], bad_indices_policy='IGNORE')": {
        "x": unit(3),
        "i": ints([0], [5], [2]),
    },
    "tf.tensor_scatter_nd_add(t, i, x, bad_indices_policy='IGNORE')": {
        "t": unit(4),
        "x": unit(3),
        "i": ints([0], [5], [2]),
    },
    "tf.gather(x, i, batch_dims=1)": {"x": ROWS, "i": ints([0, 1], [3, 2], [1, 1])},
    "tf.boolean_mask(x, m)": {"x": ROWS, "m": ROWS > 0.5},
    "x[i]": {"x": unit(5), "i": ONE},
    "x[i:]": {"x": unit(5), "i": ONE},
    "x[x > 0.5]": {"x": unit(5)},
    "tf.slice(x, i, [2, 2])": {"x": ROWS, "i": ints(0, 1)},
    "tf.strided_slice(x, i, [3, 4])": {"x": ROWS, "i": ints(0, 1)},
    "tf.roll(x, s, 0)": {"x": ROWS, "s": ONE},
    "tf.linspace(a, b, 5)": {"a": HALF, "b": HALF + 2},
    "tf.linspace(a, b, 5) ": {"a": ONE, "b": ONE + 7},
    "tf.range(a, b)": {"a": ONE, "b": ONE + 7},
    "tf.range(a, b, 0.25)": {"a": HALF, "b": HALF + 2},
    "tf.fill([2, 3], v)": {"v": HALF},
    "tf.one_hot(i, 4, on_value=a, off_value=b)": {"i": ints(0, 2, 1), "a": HALF, "b": HALF + 1},
    "tf.eye(2) * x": {"x": HALF},
    "tf.zeros_like(x)": {"x": ROWS},
    "tf.unique(x)": {"x": ints(3, 1, 3, 2)},
    "tf.unique_with_counts(x)": {"x": ints(3, 1, 3, 2)},
    "tf.dynamic_partition(x, p, 2)": {"x": ROWS, "p": ints(0, 1, 0)},
    "tf.dynamic_stitch([i, j], [x, y])": {
        "x": ROWS,
        "y": ROWS + 1,
        "i": ints(0, 2, 4),
        "j": ints(1, 3, 5),
    },
    "tf.reverse_sequence(x, n, 1)": {"x": ROWS, "n": ints(1, 4, 2)},
    "tf.searchsorted(x, y, side='right')": {"x": np.sort(unit(5)), "y": unit(3)},
    "tf.bitcast(x, tf.int32)": {"x": ROWS},
    "tf.sparse.from_dense(x).indices": {"x": ints([0, 1], [2, 0])},
    "tf.sparse.to_dense(tf.sparse.SparseTensor(i, x, [3, 4]))": {
        "x": unit(2),
        "i": np.array([[0, 1], [2, 3]]),
    },
    "tf.bitcast(x, tf.uint8)": {"x": ROWS},
    "tf.tensor_scatter_nd_update(t, i, x)": {"t": unit(4), "x": unit(2), "i": ints([0], [2])},
    "tf.batch_to_space(x, [2, 2], c)": {"x": unit(4, 2, 2, 1), "c": ints([0, 0], [0, 1])},
    "tf.space_to_batch(x, [2, 2], c)": {"x": unit(1, 2, 3, 1), "c": ints([0, 0], [0, 1])},
    "tf.split(x, 2, axis=1)": {"x": ROWS},
    "tf.broadcast_to(x, [2, 3, 4])": {"x": ROWS},
    "tf.meshgrid(x, y)": {"x": unit(3), "y": unit(2)},
    "tf.norm(x)": {"x": ROWS},
    "tf.size(x)": {"x": ROWS},
    "tf.shape(x)": {"x": ROWS},
    "tf.foldl(lambda a, b: a + b, x)": {"x": ROWS},
    "tf.map_fn(lambda a: a * 2, x)": {"x": ROWS},
    "tf.scan(lambda a, b: a + b, x)": {"x": ROWS},
    "tf.vectorized_map(lambda a: a * 2, x)": {"x": ROWS},
    "tf.case([(x > 0.4, lambda: x * 2)], default=lambda: x)": {"x": HALF},
    "tf.cond(x > 0.45, lambda: x * 2, lambda: x)": {"x": HALF},
    "tf.switch_case(i, [lambda: x, lambda: x * 2, lambda: x * 3])": {"i": ONE, "x": HALF},
    "tf.while_loop(lambda i: i < 9, lambda i: [i * 2], [i])": {"i": ONE},
}

NN: dict[str, Any] = {
    "tf.nn.batch_norm_with_global_normalization(x, m, v, b, g, 1e-3, True)": {
        "x": BATCH,
        "m": unit(3),
        "v": unit(3),
        "b": unit(3),
        "g": unit(3),
    },
    "tf.nn.collapse_repeated(x, n)": {"x": ints([1, 1, 2], [3, 3, 3]), "n": ints(3, 2)},
    "tf.nn.ctc_unique_labels(x)": {"x": ints([1, 1, 2], [3, 3, 3])},
    "tf.nn.ctc_loss(y, x, n, m, logits_time_major=False, blank_index=0)": {
        "x": unit(2, 5, 4),
        "y": ints([1, 2], [3, 1]),
        "n": ints(2, 1),
        "m": ints(5, 4),
    },
    "tf.nn.dilation2d(x, w, [1, 1, 1, 1], 'SAME', 'NHWC', [1, 1, 1, 1])": {
        "x": BATCH,
        "w": unit(2, 2, 3),
    },
    "tf.nn.erosion2d(x, w, [1, 1, 1, 1], 'SAME', 'NHWC', [1, 1, 1, 1])": {
        "x": BATCH,
        "w": unit(2, 2, 3),
    },
    "tf.nn.isotonic_regression(x)": {"x": ROWS},
    "tf.nn.max_pool_with_argmax(x, 2, 2, 'SAME')": {"x": BATCH},
    "tf.nn.scale_regularization_loss(x)": {"x": HALF},
    "tf.nn.top_k(x, 2)": {"x": ROWS},
    "tf.nn.embedding_lookup(x, i)": {"x": ROWS, "i": ints(2, 0)},
    "tf.nn.sparse_softmax_cross_entropy_with_logits(i, x)": {"x": ROWS, "i": ints(2, 0, 3)},
    "tf.nn.weighted_cross_entropy_with_logits(x, y, w)": {"x": ROWS, "y": unit(3, 4), "w": HALF},
    "tf.nn.moments(x, [0])": {"x": ROWS},
    "tf.nn.experimental.stateless_dropout(x, 0.5, seed=s)": {"x": ROWS, "s": SEED},
    "tf.nn.experimental.stateless_dropout(x, r, seed=s)": {"x": ROWS, "s": SEED, "r": HALF},
    "tf.nn.local_response_normalization(x)": {"x": BATCH},
    "tf.nn.batch_normalization(x, m, v, None, None, 1e-3)": {
        "x": BATCH,
        "m": unit(3),
        "v": unit(3),
    },
    "tf.nn.l2_normalize(x, 0)": {"x": ROWS},
    "tf.nn.embedding_lookup_sparse(t, tf.sparse.SparseTensor([[0, 0], [2, 1]], i, [3, 2]), None)": {
        "t": ROWS,
        "i": ints(2, 0),
    },
    "tf.nn.safe_embedding_lookup_sparse(t, tf.sparse.SparseTensor([[0, 0]], i, [3, 2]))": {
        "t": ROWS,
        "i": ints(2),
    },
    "tf.nn.bias_add(x, b)": {
        "x": ROWS,
        "b": unit(4),
    },
}

LINALG: dict[str, Any] = {
    "tf.linalg.eigh_tridiagonal(a, b)": {"a": unit(4), "b": unit(3)},
    "tf.linalg.eigh_tridiagonal(a, b, select='i', select_range=[1, 2])": {
        "a": unit(4),
        "b": unit(3),
    },
    "tf.linalg.eigh_tridiagonal(a, b, select='v', select_range=[l, h])": {
        "a": unit(4),
        "b": unit(3),
        "l": HALF - 0.3,
        "h": HALF + 0.3,
    },
    "tf.linalg.logm(x)": {"x": spd(3).astype(np.complex64)},
    "tf.linalg.sqrtm(x)": {"x": spd(3)},
    "tf.linalg.expm(x)": {"x": spd(3)},
    "tf.linalg.lu_matrix_inverse(*tf.linalg.lu(x))": {"x": spd(3)},
    "tf.linalg.lu_solve(*tf.linalg.lu(x), y)": {"x": spd(3), "y": draw.standard_normal((3, 2))},
    "tf.linalg.lu_reconstruct(*tf.linalg.lu(x))": {"x": spd(3)},
    "tf.linalg.lstsq(x, y, l2_regularizer=0.5)": {"x": ROWS, "y": unit(3, 2)},
    "tf.linalg.pinv(x)": {"x": ROWS},
    "tf.linalg.pinv(x, rcond=r)": {"x": ROWS, "r": HALF},
    "tf.linalg.matrix_rank(x)": {"x": ROWS},
    "tf.linalg.matrix_rank(x, tol=t)": {"x": ROWS, "t": HALF},
    "tf.linalg.banded_triangular_solve(b, y)": {
        "b": unit(2, 3).astype(np.float64),
        "y": draw.standard_normal((3, 1)),
    },
    "tf.linalg.diag(x, padding_value=v)": {"x": ROWS, "v": HALF},
    "tf.linalg.diag(x, k=1, padding_value=v)": {"x": ROWS, "v": HALF},
    "tf.linalg.diag_part(x, k=(-1, 1), padding_value=v)": {"x": ROWS, "v": HALF},
    "tf.linalg.set_diag(x, y)": {"x": ROWS, "y": unit(3)},
    "tf.linalg.inv(x)": {"x": spd(3)},
    "tf.linalg.solve(x, y)": {"x": spd(3), "y": draw.standard_normal((3, 2))},
    "tf.linalg.svd(x, compute_uv=False)": {"x": ROWS},
    "tf.linalg.slogdet(x)": {"x": spd(3)},
    "tf.linalg.cholesky(x)": {"x": spd(3)},
    "tf.linalg.eigh(x)[0]": {"x": spd(3)},
    "tf.linalg.tridiagonal_solve(x, y)": {"x": unit(3, 4) + 2, "y": unit(4, 1)},
}

OPERATORS: dict[str, Any] = {
    "tf.linalg.LinearOperatorPermutation(p).matmul(x)": {"p": ints(2, 0, 1), "x": ROWS},
    "tf.linalg.LinearOperatorPermutation(p).determinant()": {"p": ints(2, 0, 1)},
    "tf.linalg.LinearOperatorFullMatrix(x).solve(y)": {
        "x": spd(3),
        "y": draw.standard_normal((3, 2)),
    },
    "tf.linalg.LinearOperatorDiag(x).matvec(y)": {"x": unit(3), "y": unit(3)},
    "tf.linalg.LinearOperatorLowerTriangular(x).solve(y)": {"x": ROWS[:, :3], "y": unit(3, 2)},
}

SIGNAL: dict[str, Any] = {
    "tf.signal.fftnd(tf.cast(x, tf.complex64))": {"x": ROWS},
    "tf.signal.ifftnd(tf.cast(x, tf.complex64))": {"x": ROWS},
    "tf.signal.irfftnd(tf.cast(x, tf.complex64))": {"x": ROWS},
    "tf.signal.rfftnd(x)": {"x": ROWS},
    "tf.signal.rfft3d(x)": {"x": unit(2, 3, 4)},
    "tf.signal.mdct(x, 4)": {"x": unit(16)},
    "tf.signal.frame(x, 3, 2, pad_end=True, pad_value=v)": {"x": unit(8), "v": HALF},
    "tf.signal.kaiser_window(5, b)": {"b": HALF},
    "tf.signal.kaiser_bessel_derived_window(6, b)": {"b": HALF},
    "tf.signal.stft(x, 4, 2)": {"x": unit(16)},
    "tf.signal.dct(x)": {"x": unit(8)},
}

IMAGES: dict[str, Any] = {
    "tf.image.adjust_brightness(x, d)": {"x": IMAGE, "d": HALF},
    "tf.image.adjust_contrast(x, d)": {"x": IMAGE, "d": HALF},
    "tf.image.adjust_hue(x, d)": {"x": IMAGE, "d": HALF - 0.2},
    "tf.image.adjust_saturation(x, d)": {"x": IMAGE, "d": HALF},
    "tf.image.adjust_gamma(x, d)": {"x": IMAGE, "d": HALF},
    "tf.image.psnr(x, y, 1.0)": {"x": IMAGE, "y": unit(6, 5, 3)},
    "tf.image.psnr(x, y, m)": {"x": IMAGE, "y": unit(6, 5, 3), "m": HALF + 0.5},
    "tf.image.ssim_multiscale(x, y, 1.0, filter_size=2)": {
        "x": unit(1, 36, 36, 1),
        "y": unit(1, 36, 36, 1),
    },
    "tf.image.ssim(x, y, m)": {
        "x": unit(1, 16, 16, 1),
        "y": unit(1, 16, 16, 1),
        "m": HALF + 0.5,
    },
    "tf.image.resize(x, [3, 4])": {"x": IMAGE},
    "tf.image.resize(x, s)": {"x": IMAGE, "s": ints(3, 4)},
    "tf.image.resize_with_pad(x, 8, 8)": {"x": IMAGE},
    "tf.image.rgb_to_grayscale(x)": {"x": IMAGE},
    "tf.image.rgb_to_hsv(x)": {"x": IMAGE},
    "tf.image.per_image_standardization(x)": {"x": IMAGE},
    "tf.image.rot90(x, k)": {"x": IMAGE, "k": ONE},
    "tf.image.crop_to_bounding_box(x, k, 1, 3, 3)": {"x": IMAGE, "k": ONE},
    "tf.image.central_crop(x, 0.5)": {"x": IMAGE},
    "tf.image.crop_and_resize(x, b, i, [3, 3])": {
        "x": BATCH,
        "b": BOXES,
        "i": ints(0, 1, 1, 0),
    },
    "tf.image.draw_bounding_boxes(x, b, c)": {
        "x": BATCH,
        "b": unit(2, 1, 4),
        "c": unit(1, 3),
    },
    "tf.image.non_max_suppression(b, s, 3)": {"b": BOXES, "s": SCORES},
    "tf.image.non_max_suppression(b, s, 3, t)": {"b": BOXES, "s": SCORES, "t": HALF},
    "tf.image.non_max_suppression_with_scores(b, s, 3, 0.5, 0.1, 0.2)": {"b": BOXES, "s": SCORES},
    "tf.image.non_max_suppression_overlaps(o, s, 3)": {"o": unit(4, 4), "s": SCORES},
    "tf.image.non_max_suppression_padded(b, s, 3)": {"b": BOXES, "s": SCORES},
    "tf.image.non_max_suppression_padded(b, s, 3, pad_to_max_output_size=True)": {
        "b": BOXES,
        "s": SCORES,
    },
    "tf.image.combined_non_max_suppression(b, s, 2, 3)": {
        "b": BOXES[None, :, None],
        "s": unit(1, 4, 2),
    },
    "tf.image.flip_left_right(x)": {"x": IMAGE},
    "tf.image.stateless_random_brightness(x, 0.2, s)": {"x": IMAGE, "s": SEED},
    "tf.image.stateless_random_contrast(x, 0.2, 0.5, s)": {"x": IMAGE, "s": SEED},
    "tf.image.stateless_random_crop(x, [3, 3, 3], s)": {"x": IMAGE, "s": SEED},
    "tf.image.stateless_random_flip_left_right(x, s)": {"x": IMAGE, "s": SEED},
    "tf.image.stateless_random_flip_up_down(x, s)": {"x": IMAGE, "s": SEED},
    "tf.image.stateless_random_flip_up_down(x, s) ": {"x": BATCH, "s": SEED},
    "tf.image.stateless_random_hue(x, 0.2, s)": {"x": IMAGE, "s": SEED},
    "tf.image.stateless_random_saturation(x, 0.2, 0.5, s)": {"x": IMAGE, "s": SEED},
    "tf.image.extract_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], 'SAME')": {"x": BATCH},
    "tf.image.total_variation(x)": {"x": BATCH},
    "tf.image.sobel_edges(x)": {"x": BATCH},
    "tf.image.convert_image_dtype(x, tf.uint8)": {"x": IMAGE},
    "tf.image.grayscale_to_rgb(x)": {"x": IMAGE[..., :1]},
    "tf.image.yiq_to_rgb(x)": {"x": IMAGE},
    "tf.image.transpose(x)": {"x": IMAGE},
}

TEXT = words("a b", "Cde", "12")
STRINGS: dict[str, Any] = {
    "tf.strings.format('{} and {}', [x, y])": {"x": ROWS, "y": ints(1, 2)},
    "tf.strings.lower(x)": {"x": TEXT},
    "tf.strings.upper(x, encoding='utf-8')": {"x": TEXT},
    "tf.strings.reduce_join(x, separator='-')": {"x": TEXT},
    "tf.strings.reduce_join(x, axis=0, keepdims=True)": {"x": TEXT},
    "tf.strings.regex_full_match(x, '[a-z ]+')": {"x": TEXT},
    "tf.strings.regex_replace(x, '([a-z])', r'<\\1>')": {"x": TEXT},
    "tf.strings.split(x[0])": {"x": TEXT},
    "tf.strings.substr(x, p, 1)": {"x": TEXT, "p": ints(0, 1, 1)},
    "tf.strings.to_number(x)": {"x": words("1", "2", "30")},
    "tf.strings.join([x, y], ' ')": {"x": TEXT, "y": words("z", "y", "x")},
    "tf.strings.length(x)": {"x": TEXT},
    "tf.strings.strip(x)": {"x": TEXT},
    "tf.strings.as_string(x)": {"x": ROWS},
    "tf.equal(x, 'Cde')": {"x": TEXT},
    "tf.gather(x, i)": {"x": TEXT, "i": ints(2, 0)},
}

# For random ops with their own stream only shapes and dtypes are compared.
STREAMS: dict[str, Any] = {
    "tf.random.normal([2, 3], mean=x)": {"x": HALF},
    "tf.random.uniform([2, 3], maxval=x)": {"x": HALF},
    "tf.random.uniform([2, 3], maxval=i, dtype=tf.int32)": {"i": ONE + 5},
    "tf.random.truncated_normal([2, 3], stddev=x)": {"x": HALF},
    "tf.random.categorical(x, 4)": {"x": ROWS},
    "tf.random.gamma([2], x)": {"x": unit(3)},
    "tf.random.poisson([2], x)": {"x": unit(3)},
    "tf.random.shuffle(x)": {"x": ROWS},
    "tf.nn.dropout(x, 0.5)": {"x": ROWS},
    "tf.nn.dropout(x, r)": {"x": ROWS, "r": HALF},
    "tf.image.random_brightness(x, 0.2)": {"x": IMAGE},
    "tf.image.random_contrast(x, 0.2, 0.5)": {"x": IMAGE},
    "tf.image.random_crop(x, [3, 3, 3])": {"x": IMAGE},
    "tf.image.random_flip_left_right(x)": {"x": IMAGE},
    "tf.image.random_flip_up_down(x)": {"x": IMAGE},
    "tf.image.random_flip_up_down(x) ": {"x": BATCH},
    "tf.image.random_hue(x, 0.2)": {"x": IMAGE},
    "tf.image.random_saturation(x, 0.2, 0.5)": {"x": IMAGE},
}

RANDOM: dict[str, Any] = {
    "tf.random.stateless_normal([2, 3], s)": {"s": SEED},
    "tf.random.stateless_normal([2, 3], s, mean=x)": {"s": SEED, "x": HALF},
    "tf.random.stateless_uniform([2, 3], s, maxval=x)": {"s": SEED, "x": HALF},
    "tf.random.stateless_uniform([2, 3], s, 0, i, tf.int32)": {"s": SEED, "i": ONE + 5},
    "tf.random.stateless_truncated_normal([2, 3], s)": {"s": SEED},
    "tf.random.stateless_categorical(x, 4, s)": {"s": SEED, "x": ROWS},
    "tf.random.stateless_gamma([2, 3], s, x)": {"s": SEED, "x": unit(3)},
    "tf.random.stateless_poisson([2, 3], s, x)": {"s": SEED, "x": unit(3)},
    "tf.random.stateless_binomial([2, 3], s, n, x)": {
        "s": SEED,
        "n": np.array([5.0, 6.0, 7.0], np.float32),
        "x": unit(3),
    },
    "tf.random.stateless_parameterized_truncated_normal([3], s, m, d, -1.0, h)": {
        "s": SEED,
        "m": unit(3),
        "d": unit(3),
        "h": unit(3),
    },
    "tf.random.split(s, 3)": {"s": SEED},
    "tf.random.fold_in(s, d)": {"s": SEED, "d": ONE},
    "tf.random.experimental.index_shuffle(i, s, 9)": {"i": ints(0, 3, 5), "s": SEED},
    "tf.random.experimental.stateless_shuffle(x, s)": {"x": ROWS, "s": SEED},
}

CHECKS: dict[str, Any] = {
    "[tf.debugging.assert_positive(x), x][1]": {"x": ROWS},
    "[tf.debugging.assert_less(x, y), x][1]": {"x": ROWS, "y": ROWS + 1},
    "[tf.debugging.assert_near(x, y, atol=1.5), x][1]": {"x": ROWS, "y": ROWS + 1},
    "[tf.debugging.Assert(tf.reduce_all(x > 0.05), [x]), x][1]": {"x": ROWS},
    "tf.debugging.check_numerics(x, 'bad')": {"x": ROWS},
    "tf.debugging.assert_all_finite(x, 'bad')": {"x": ROWS},
    "tf.ensure_shape(x, [3, None])": {"x": ROWS},
}

GROUPS = {
    "math": MATH,
    "array": ARRAY,
    "nn": NN,
    "linalg": LINALG,
    "operator": OPERATORS,
    "signal": SIGNAL,
    "image": IMAGES,
    "strings": STRINGS,
    "random": RANDOM,
    "stream": STREAMS,
    "check": CHECKS,
}
PROGRAMS = {
    f"{group}/{expression}": (expression, arrays)
    for group, programs in GROUPS.items()
    for expression, arrays in programs.items()
}
