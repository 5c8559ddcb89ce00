"""Moments and normalisation in blocks: the choice of layout, and that all layouts agree."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.ops.nn import normalization
from gradtape.ops.nn.normalization import (
    MAX_DOT_LENGTH,
    ROW_WIDTH,
    find_matrix_layout,
    moments,
    standardize,
    sum_centered_product,
)
from tests.sweep.check import PROPERTIES
from tests.sweep.registry import primitives, samples

generator = np.random.default_rng(5)
LARGE = 4096


@pytest.fixture(autouse=True)
def _blocks_for_smaller_arrays(monkeypatch):
    monkeypatch.setattr(normalization, "BLOCKS_MIN_SIZE", LARGE)


@pytest.mark.parametrize("name", ["standardize", "sum_centered_product", "moments"])
@pytest.mark.parametrize("property_name", PROPERTIES)
def test_rules_hold_in_blocks(property_name, name, monkeypatch):
    monkeypatch.setattr(normalization, "BLOCKS_MIN_SIZE", 1)
    PROPERTIES[property_name](primitives()[name], samples()[name])


def normal(*shape):
    return generator.normal(size=shape).astype(np.float32)


def test_small_arrays_and_other_dtypes_have_no_layout():
    assert find_matrix_layout(np.zeros((LARGE // 4 - 1, 4), np.float32), (4,)) is None
    assert find_matrix_layout(np.zeros((LARGE // 4, 4), np.float32), (4,)) is not None
    assert find_matrix_layout(np.zeros((LARGE, 4), np.float16), (4,)) is None
    assert find_matrix_layout(np.zeros((LARGE, 4), np.complex64), (4,)) is None
    assert find_matrix_layout(np.float32(1), ()) is None


def test_operands_along_the_last_axes_are_rows_tiled_to_the_width():
    x = np.zeros((16, 32, 8), np.float32)
    assert find_matrix_layout(x, (8,), (1, 1, 8)) == (512 * 8 // ROW_WIDTH, ROW_WIDTH, False, 8)
    assert find_matrix_layout(x, (32, 8)) == (4, 1024, False, 256)
    assert find_matrix_layout(np.zeros((511, 9), np.float32), (9,)) == (511, 9, False, 9)
    assert find_matrix_layout(np.zeros((3, 2 * ROW_WIDTH), np.float32), (2 * ROW_WIDTH,)) == (
        3,
        2048,
        False,
        2048,
    )


def test_operands_along_the_first_axes_are_columns_if_rows_are_short():
    assert find_matrix_layout(np.zeros((64, 8, 8), np.float32), (64, 1, 1)) == (64, 64, True, 64)
    assert find_matrix_layout(np.zeros((2, MAX_DOT_LENGTH), np.float32), (2, 1)) == (
        2,
        MAX_DOT_LENGTH,
        True,
        2,
    )
    assert find_matrix_layout(np.zeros((2, MAX_DOT_LENGTH + 1), np.float32), (2, 1)) is None


def test_operands_in_the_middle_or_of_different_shapes_have_no_layout():
    x = np.zeros((16, 32, 16), np.float32)
    assert find_matrix_layout(x, (32, 1)) is None
    assert find_matrix_layout(x, (16, 1, 16)) is None
    assert find_matrix_layout(x, (16,), (16, 1, 1)) is None
    assert find_matrix_layout(x, (16, 32, 16)) is None
    assert find_matrix_layout(x, (2, 16, 32, 16)) is None
    assert find_matrix_layout(x, (5,)) is None


CASES = [
    ((511, 9), (0,)),
    ((512, 8), (0,)),
    ((16, 16, 16), (0, 1)),
    ((16, 16, 16), (1, 2)),
    ((16, 16, 16), (1,)),
    ((16, 16, 17), (0, 2)),
    ((3, 2 * ROW_WIDTH + 1), (0,)),
    ((9, 1000), (1,)),
    ((2, MAX_DOT_LENGTH), (1,)),
    ((2, MAX_DOT_LENGTH + 1), (1,)),
    ((2**17 // 64 + 3, 64), (0,)),
    ((2**17 // 64 + 3, 64), (1,)),
    ((5000,), (0,)),
    ((70, 70), (0, 1)),
    ((70, 70), ()),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("shape", "axes"), CASES, ids=str)
def test_every_layout_agrees_with_the_definition(shape, axes, dtype):
    x, g = (generator.normal(size=shape).astype(dtype) for _ in range(2))
    exact, pull = x.astype(float), g.astype(float)
    close = {"rtol": 2e-5, "atol": 2e-5 * np.sqrt(x.size)} if dtype == "float32" else {}
    axis = tuple(a - x.ndim for a in axes)
    mean, variance = moments(x, axis=axis, keepdims=True)
    assert mean.dtype == variance.dtype == dtype
    np.testing.assert_allclose(mean, exact.mean(axes, keepdims=True), rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(variance, exact.var(axes, keepdims=True), rtol=2e-5, atol=1e-6)
    factor, offset = variance + 1, mean + 2
    want = (exact - mean) * factor + offset
    zero = x.dtype.type(0)
    for known in (variance, zero):
        got = standardize(x, mean, factor, offset, known)
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(standardize(x, zero, factor, zero, zero), exact * factor, rtol=1e-5)
    for middle in (mean, zero):
        total = sum_centered_product(g, x, middle, shape=mean.shape, rank=x.ndim)
        want = (pull * (exact - middle)).sum(axes, keepdims=True)
        assert total.shape == mean.shape
        np.testing.assert_allclose(total, want, **close)


def test_a_scalar_mean_is_subtracted():
    x = normal(64, 64)
    got = standardize(x, *np.float32([1, 2, 3, 1]))
    np.testing.assert_allclose(got, (x - 1) * 2 + 3, rtol=1e-6, atol=1e-6)
    got = tf.nn.batch_normalization(x, 1.0, 3.0, None, None, 1.0)
    np.testing.assert_allclose(got, (x - 1) / 2, rtol=1e-6, atol=1e-6)


def test_moments_far_from_zero_are_accurate():
    x = normal(512, 64) + 1000
    _, variance = tf.nn.moments(x, [0])
    np.testing.assert_allclose(variance, x.astype(float).var(0), rtol=1e-5)


def test_nan_and_infinity_affect_only_their_channel_or_row():
    x = normal(128, 64)
    x[3, 5], x[7, 9] = np.nan, np.inf
    for axes, bad in (((0,), [5, 9]), ((1,), [3, 7])):
        mean, variance = tf.nn.moments(x, axes)
        assert np.flatnonzero(np.isnan(variance)).tolist() == bad
        assert np.flatnonzero(~np.isfinite(mean)).tolist() == bad


@pytest.mark.parametrize("axes", [(0, 1, 2), (3,), (1, 2), (1, 2, 3), (0, 2, 3)], ids=str)
def test_normalisation_has_gradients_for_every_operand(axes, monkeypatch):
    shape = (3, 4, 4, 5)
    statistic = tuple(1 if i in axes else n for i, n in enumerate(shape))
    along = statistic if axes == (0, 2, 3) else (5,)
    x, scale, offset, g = (
        tf.constant(generator.normal(size=s)) for s in (shape, along, along, shape)
    )

    def gradients():
        with tf.GradientTape() as tape:
            tape.watch([x, scale, offset])
            mean, variance = tf.nn.moments(x, axes, keepdims=True)
            y = tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3)
        return [y, *tape.gradient(y, [x, scale, offset], output_gradients=g)]

    normal = x.numpy() - x.numpy().mean(axes, keepdims=True)
    factor = 1 / np.sqrt(x.numpy().var(axes, keepdims=True) + 1e-3)
    normal = normal * factor
    pull = g.numpy() * scale.numpy()
    back = pull - pull.mean(axes, keepdims=True)
    back = back - normal * (pull * normal).mean(axes, keepdims=True)
    extra = tuple(i for i in range(4) if (1, 1, 1, 5)[i] == 1)
    rest = (0, 2, 3) if along == statistic and axes == (0, 2, 3) else extra
    want = [
        normal * scale.numpy() + offset.numpy(),
        back * factor,
        (g.numpy() * normal).sum(rest).reshape(along),
        g.numpy().sum(rest).reshape(along),
    ]
    for large in (10**6, 1):  # without and with blocks
        monkeypatch.setattr(normalization, "BLOCKS_MIN_SIZE", large)
        for got, wanted in zip(gradients(), want, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-10, atol=1e-10)


def test_complex_variance_uses_absolute_values_as_in_tensorflow():
    x = tf.constant([[1 + 2j, 3 - 1j], [0.5j, 2]], tf.complex64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        _, variance = tf.nn.moments(x, [0])
    np.testing.assert_allclose(variance, [0.8125, 0.5])
    want = [[0.5 + 0.75j, 0.5 - 0.5j], [-0.5 - 0.75j, -0.5 + 0.5j]]
    np.testing.assert_allclose(tape.gradient(variance, x), want)


def test_moments_accept_the_dtypes_that_tensorflow_accepts():
    mean, variance = tf.nn.moments(tf.constant([[1, 2], [4, 7]]), [0])
    assert (mean.numpy().tolist(), variance.numpy().tolist()) == ([2, 4], [2, 6])
    with pytest.raises(tf.errors.InvalidArgumentError, match="uint8"):
        tf.nn.moments(tf.constant([1, 2], tf.uint8), [0])


def test_half_precision_statistics_are_computed_in_float32():
    x = tf.cast(normal(4096) * 50 + 1, tf.float16)
    mean, variance = tf.nn.moments(x, [0])
    assert mean.dtype == variance.dtype == tf.float16
    np.testing.assert_allclose(variance, x.numpy().astype(float).var(), rtol=2e-3)


@pytest.mark.parametrize("far", [0.0, 3.0, 1e3, 1e5])
def test_far_from_zero_the_accurate_formula_runs(far):
    x = normal(600, 64)
    x[:, 5] += np.float32(far)
    mean, factor, offset = x.mean(0), normal(64), normal(64)
    got = standardize.op.kernel(x, mean, factor, offset, x.var(0))
    want = (x.astype(float) - mean) * factor + offset
    np.testing.assert_allclose(got, want, rtol=2e-6, atol=4e-6)
