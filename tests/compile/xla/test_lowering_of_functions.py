"""Functions of raw arrays that are not primitives compute the same on XLA as eagerly."""

import numpy as np
import pytest

import gradtape as tf

pytest.importorskip("jax")

IDS = np.array([0, 0, 2, 3, 3])
LOOSE = np.array([3, -1, 0, 3, 2])
ROWS = np.arange(10, dtype=np.float32).reshape(5, 2) - 4
TABLE = np.array([[1.0, 3.0, 5.0], [0.0, 0.0, 2.0]], np.float32)
SQUARE = np.array([[2.0, 1.0], [4.0, 2.0]], np.float32)
TALL = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])

CALLS = {
    "searchsorted": (lambda a, b: tf.searchsorted(a, b), TABLE[0], ROWS[0]),
    "searchsorted rows": (
        lambda a, b: tf.searchsorted(a, b, side="right", out_type=tf.int64),
        TABLE,
        np.array([[3.0, 9.0], [0.0, -1.0]], np.float32),
    ),
    "bincount": (lambda a: tf.math.bincount(a), IDS),
    "bincount, limited": (lambda a: tf.math.bincount(a, minlength=2, maxlength=3), IDS),
    "bincount, weighted": (lambda a, w: tf.math.bincount(a, weights=w), IDS, ROWS[:, 0]),
    "bincount of rows": (lambda a: tf.math.bincount(a, axis=-1), np.array([[0, 1], [3, 3]])),
    "bincount, binary": (
        lambda a: tf.math.bincount(a, axis=-1, binary_output=True, dtype=tf.int64),
        np.array([[0, 1], [3, 3]]),
    ),
    "histogram": (lambda x: tf.histogram_fixed_width(x, [-2.0, 3.0], 4), ROWS),
    "histogram bins": (lambda x: tf.histogram_fixed_width_bins(x, [-2.0, 3.0], 4), ROWS),
    "confusion matrix": (lambda a, b: tf.math.confusion_matrix(a, b, 4), IDS, IDS[::-1].copy()),
    "sequence_mask": (lambda n: tf.sequence_mask(n, 4), IDS),
    "sequence_mask, as floats": (lambda n: tf.sequence_mask(n, dtype=tf.float32), IDS),
    "invert_permutation": (lambda p: tf.math.invert_permutation(p), np.array([2, 0, 1], np.int32)),
    "matrix_rank": (lambda x: tf.linalg.matrix_rank(x), SQUARE),
    "matrix_rank, batch": (lambda x: tf.linalg.matrix_rank(x, tol=0.1), np.stack([SQUARE] * 2)),
    "pinv": (lambda x: tf.linalg.pinv(x), TALL),
    "lu_reconstruct": (lambda x: tf.linalg.lu_reconstruct(*tf.linalg.lu(x)), TALL[1:]),
    "reverse_sequence": (
        lambda x, n: tf.reverse_sequence(x, n, seq_axis=0, batch_axis=1),
        ROWS,
        np.array([2, 4]),
    ),
    "segment_sum": (lambda x, i: tf.math.segment_sum(x, i), ROWS, IDS),
    "segment_mean": (lambda x, i: tf.math.segment_mean(x, i), ROWS, IDS),
    "segment_mean, integers": (lambda x, i: tf.math.segment_mean(x, i), ROWS.astype("i"), IDS),
    "segment_max": (lambda x, i: tf.math.segment_max(x, i), ROWS, IDS),
    "unsorted_segment_sum": (lambda x, i: tf.math.unsorted_segment_sum(x, i, 5), ROWS, LOOSE),
    "unsorted_segment_mean": (lambda x, i: tf.math.unsorted_segment_mean(x, i, 5), ROWS, LOOSE),
    "unsorted_segment_max": (lambda x, i: tf.math.unsorted_segment_max(x, i, 5), ROWS, LOOSE),
    "unsorted_segment_sqrt_n": (lambda x, i: tf.math.unsorted_segment_sqrt_n(x, i, 5), ROWS, LOOSE),
    "sparse.segment_mean": (
        lambda x, r, i: tf.sparse.segment_mean(x, r, i, num_segments=5),
        ROWS,
        LOOSE.clip(0),
        IDS,
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_results_equal_those_of_numpy(name):
    function, *args = CALLS[name]
    want = function(*args)
    compiled = tf.function(function, jit_compile=True)
    given = [tf.constant(a) for a in args]
    for got in [compiled(*given) for _ in range(3)]:
        assert got.dtype is want.dtype
        assert got.shape == want.shape
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-5, atol=1e-6)


def test_guards_detect_other_sizes():
    count = tf.function(lambda a: tf.math.bincount(a), jit_compile=True)
    for last in (1, 4, 1, 4, 2):
        numbers = np.array([0, 1, last])
        assert count(tf.constant(numbers)).numpy().tolist() == np.bincount(numbers).tolist()


@pytest.mark.parametrize("name", ["segment_mean", "unsorted_segment_mean", "pinv"])
def test_gradients_equal_those_of_numpy(name):
    function, x, *rest = CALLS[name]

    def gradient(x, *rest):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(function(x, *rest) ** 2)
        return tape.gradient(y, x)

    given = [tf.constant(a) for a in (x, *rest)]
    compiled = tf.function(gradient, jit_compile=True)
    compiled(*given)
    np.testing.assert_allclose(compiled(*given).numpy(), gradient(*given).numpy(), rtol=1e-4)
