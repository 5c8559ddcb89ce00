"""All convolution algorithms agree with the accurate one, and each runs where the rule says."""

import numpy as np
import pytest

import gradtape as tf
from gradtape.ops.convolution import (
    convolution,
    depthwise,
    few_channels,
    few_outputs,
    fft,
    im2col,
    phases,
    pointwise,
    winograd,
    winograd_phases,
)
from gradtape.ops.convolution.algorithm import choose_algorithm
from gradtape.ops.convolution.window import Window

FLOAT = np.dtype("float32")


def window_of(size, stride=1, dilation=1, paddings=None):
    n = len(size)
    return Window(size, (stride,) * n, (dilation,) * n, paddings or ((0, 0),) * n)


STEPS = ("convolve", "unconvolve", "correlate")


def rule(images, spatial, channels, outs, window, dtype=FLOAT, groups=1, order=0, step=STEPS[0]):
    x, w = (images, *spatial, channels), (*window.size, channels // groups, outs)
    return choose_algorithm(step, x, w, window, groups, np.dtype(dtype), order)


def rules(*case, **options):
    """The algorithms of `convolve`, `unconvolve` and `correlate`."""
    return tuple(rule(*case, **options, step=step) for step in STEPS)


THREE = window_of((3, 3), paddings=((1, 1), (1, 1)))
SEVEN = window_of((7, 7), paddings=((3, 3), (3, 3)))
BARE = window_of((3, 3))
ONE = window_of((1, 1))
FOUR = window_of((4, 4), 2, paddings=((1, 1), (1, 1)))
FIVE = window_of((5, 5), 2)
HALVES = window_of((2, 2), 2)
BORDERS = [  # (images, spatial, channels, outputs, window) just inside and just outside
    (winograd, (2, (16, 16), 16, 16, THREE), im2col, (2, (16, 16), 15, 16, THREE)),
    (winograd, (2, (16, 16), 16, 16, THREE), im2col, (2, (16, 16), 16, 15, THREE)),
    (winograd, (6, (8, 8), 16, 16, THREE), im2col, (5, (8, 8), 16, 16, THREE)),
    (winograd, (1, (26, 26), 16, 16, THREE), im2col, (1, (25, 26), 16, 16, THREE)),
    (winograd, (16, (13, 13), 16, 16, THREE), im2col, (13, (13, 13), 16, 16, THREE)),
    (winograd, (11, (14, 15), 16, 16, THREE), im2col, (11, (13, 10), 16, 16, THREE)),
    (winograd, (6, (7, 7), 48, 48, THREE), im2col, (6, (7, 7), 47, 48, THREE)),
    (winograd, (6, (7, 7), 48, 48, THREE), im2col, (6, (6, 7), 48, 48, THREE)),
    (winograd, (6, (10, 10), 48, 48, BARE), im2col, (6, (8, 8), 48, 48, BARE)),
    (winograd, (2, (18, 18), 16, 16, BARE), im2col, (2, (18, 18), 16, 16, window_of((3, 3), 2))),
    (
        winograd,
        (2, (18, 18), 16, 16, BARE),
        im2col,
        (2, (20, 20), 16, 16, window_of((3, 3), 1, 2)),
    ),
    (winograd, (2, (18, 18), 16, 16, BARE), im2col, (2, (18, 17), 16, 16, window_of((3, 2)))),
    (winograd_phases, (3, (32, 32), 32, 32, FOUR), im2col, (3, (32, 30), 32, 32, FOUR)),
    (winograd_phases, (3, (32, 32), 32, 32, FOUR), im2col, (3, (32, 32), 31, 32, FOUR)),
    (winograd_phases, (12, (19, 19), 48, 48, FIVE), im2col, (12, (19, 19), 48, 47, FIVE)),
    (few_outputs, (4, (8, 8), 16, 4, THREE), im2col, (4, (8, 7), 16, 4, THREE)),
    (few_outputs, (4, (8, 8), 16, 4, THREE), im2col, (4, (8, 8), 15, 4, THREE)),
    (few_outputs, (4, (8, 8), 20, 4, THREE), im2col, (4, (8, 8), 20, 5, THREE)),
    (few_outputs, (4, (8, 8), 16, 4, THREE), im2col, (4, (16, 16), 16, 4, window_of((3, 3), 2))),
    (few_channels, (2, (9, 8), 3, 5, THREE), im2col, (2, (9, 8), 4, 5, THREE)),
    (
        few_channels,
        (2, (9, 8), 2, 5, window_of((4, 4))),
        im2col,
        (2, (9, 8), 2, 5, window_of((4, 5))),
    ),
    (fft, (12, (14, 13), 6, 6, SEVEN), im2col, (12, (14, 13), 4, 6, SEVEN)),
    (fft, (12, (9, 9), 6, 6, SEVEN), im2col, (12, (8, 8), 6, 6, SEVEN)),
    (
        fft,
        (12, (16, 16), 12, 12, window_of((5, 5))),
        im2col,
        (12, (16, 16), 12, 12, window_of((5, 4))),
    ),
    (pointwise, (2, (6, 5), 3, 4, ONE), few_channels, (2, (6, 5), 3, 4, window_of((1, 2)))),
    (
        pointwise,
        (2, (7, 5), 3, 4, window_of((1, 1), 2)),
        few_channels,
        (2, (6, 5), 3, 4, ONE._replace(paddings=((0, 1), (0, 0)))),
    ),
]


@pytest.mark.parametrize(("inside", "here", "outside", "there"), BORDERS)
def test_the_rule_switches_algorithms_where_the_table_says(inside, here, outside, there):
    assert rule(*here) is inside
    assert rule(*there) is outside


def test_float64_and_second_order_use_the_accurate_algorithm():
    for case in [(2, (16, 16), 24, 24, THREE), (12, (14, 13), 6, 6, SEVEN)]:
        assert rule(*case, order=1) in (winograd, fft)
        assert rule(*case, order=2) is im2col
        assert rule(*case, dtype="float64") is im2col


TRANSPOSED = [  # (images, spatial, channels, outputs, window) just inside and just outside
    (phases, (4, (16, 16), 3, 5, FOUR), im2col, (3, (16, 16), 3, 5, FOUR)),
    (phases, (4, (16, 16), 9, 5, HALVES), im2col, (4, (16, 14), 9, 5, HALVES)),
    (phases, (4, (16, 16), 3, 5, FOUR), im2col, (4, (16, 16), 3, 5, window_of((4, 4), 3))),
    (winograd_phases, (3, (32, 32), 32, 32, FOUR), phases, (3, (32, 32), 31, 32, FOUR)),
    (winograd_phases, (12, (19, 19), 16, 16, FIVE), im2col, (11, (19, 19), 16, 16, FIVE)),
    (winograd_phases, (12, (19, 19), 16, 16, FIVE), im2col, (12, (19, 19), 15, 16, FIVE)),
    (winograd_phases, (24, (15, 15), 16, 16, FIVE), im2col, (48, (14, 14), 16, 16, FIVE)),
    (few_outputs, (4, (8, 8), 16, 3, THREE), im2col, (4, (8, 8), 16, 4, THREE)),
]


@pytest.mark.parametrize(("inside", "here", "outside", "there"), TRANSPOSED)
def test_the_transposed_step_has_its_own_borders(inside, here, outside, there):
    assert rule(*here, step="unconvolve") is inside
    assert rule(*there, step="unconvolve") is outside


def test_phases_without_winograd_serve_only_the_transposed_step():
    assert rules(4, (16, 16), 3, 5, FOUR) == (im2col, phases, im2col)
    for dtype, order in (("float64", 0), ("float32", 2)):
        case = (3, (32, 32), 32, 32, FOUR)
        assert rules(*case, dtype=dtype, order=order) == (im2col, phases, im2col)
        case = (12, (19, 19), 48, 48, FIVE)
        assert rules(*case, dtype=dtype, order=order) == (im2col,) * 3


def test_winograd_on_phases_of_size_five_needs_more_channels_for_two_steps():
    assert rules(12, (19, 19), 48, 48, FIVE) == (winograd_phases,) * 3
    assert rules(12, (19, 19), 16, 16, FIVE) == (im2col, winograd_phases, im2col)


@pytest.mark.parametrize(
    ("module", "case", "bound"),
    [
        (winograd, (4, (21, 18), 16, 16, THREE), 2e-5),
        (winograd, (2, (16, 16), 64, 64, THREE), 3e-5),
        (winograd_phases, (3, (20, 17), 16, 24, FIVE), 2e-5),
        (winograd_phases, (4, (32, 32), 64, 128, FIVE), 2e-5),
        (winograd_phases, (3, (20, 17), 16, 24, FOUR), 1e-5),
        (winograd_phases, (4, (32, 32), 64, 128, FOUR), 2.5e-5),
        (phases, (3, (20, 17), 16, 24, FOUR), 2e-6),
        (few_outputs, (3, (20, 17), 24, 3, THREE), 4e-6),
        (fft, (12, (14, 13), 6, 6, SEVEN), 1e-5),
        (im2col, (2, (16, 16), 64, 64, THREE), 2e-6),
    ],
)
def test_errors_relative_to_the_largest_element_are_bounded(module, case, bound):
    *sizes, window = case
    x, w, y = data(*sizes, window)
    operands = {
        "convolve": (x, w, window),
        "unconvolve": (y, w, window, sizes[1]),
        "correlate": (x, y, window),
    }
    for step in STEPS if module is not phases else STEPS[1:2]:
        got = getattr(module, step)(*operands[step])
        a, b, *others = operands[step]
        exact = getattr(im2col, step)(*wide(a, b), *others)
        assert np.abs(got - exact).max() <= bound * np.abs(exact).max()


any_geometry = [
    pytest.mark.parametrize("paddings", [((0, 0), (0, 0)), ((1, 2), (2, 1)), ((4, 0), (0, 5))]),
    pytest.mark.parametrize("spatial", [(11, 14), (12, 9), (6, 6)]),
]


@any_geometry[0]
@any_geometry[1]
@pytest.mark.parametrize("size", [2, 4])
def test_phases_add_each_output_to_its_window(monkeypatch, size, paddings, spatial):
    monkeypatch.setattr(phases, "BLOCK_ELEMENTS", 1)
    window = window_of((size, size), 2, paddings=paddings)
    _, w, y = data(3, spatial, 3, 4, window)
    want = im2col.unconvolve(y, w, window, spatial)
    got = phases.unconvolve(y, w, window, spatial)
    np.testing.assert_allclose(got, want, atol=1e-4)


@any_geometry[0]
@any_geometry[1]
@pytest.mark.parametrize("size", [4, 5])
def test_winograd_on_phases_fits_any_geometry(monkeypatch, size, paddings, spatial):
    monkeypatch.setattr(winograd_phases, "BLOCK_ELEMENTS", 1)
    window = window_of((size, size), 2, paddings=paddings)
    x, w, y = data(3, spatial, 3, 4, window)
    close(winograd_phases.convolve(x, w, window), im2col.convolve(x, w, window))
    close(winograd_phases.correlate(x, y, window), im2col.correlate(x, y, window))
    got = winograd_phases.unconvolve(y, w, window, spatial)
    close(got, im2col.unconvolve(y, w, window, spatial))


@any_geometry[1]
@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("paddings", [((0, 0), (0, 0)), ((1, 2), (2, 1)), ((2, 0), (0, 2))])
def test_few_outputs_fit_any_geometry(paddings, spatial, dilation):
    window = window_of((3, 3), 1, dilation, paddings)
    x, w, y = data(3, spatial, 6, 2, window)
    close(few_outputs.convolve(x, w, window), im2col.convolve(x, w, window))
    close(few_outputs.correlate(x, y, window), im2col.correlate(x, y, window))
    got = few_outputs.unconvolve(y, w, window, spatial)
    close(got, im2col.unconvolve(y, w, window, spatial))


def test_grouped_convolutions_are_depthwise_or_generic():
    assert rule(2, (6, 6), 6, 12, THREE, groups=6) is depthwise
    assert rule(2, (6, 6), 6, 12, THREE, groups=3) is None


def test_empty_convolutions_have_no_algorithm():
    assert rule(0, (6, 6), 6, 12, THREE) is None
    assert rule(2, (2, 2), 6, 12, window_of((3, 3))) is None


def data(images, spatial, channels, outs, window, groups=1):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(images, *spatial, channels)).astype(FLOAT)
    w = rng.normal(size=(*window.size, channels // groups, outs)).astype(FLOAT)
    y = rng.normal(size=(images, *window.outputs(spatial), outs)).astype(FLOAT)
    return x, w, y


def close(got, want):
    """Assert equality to five digits of the largest element, in float32."""
    assert got.dtype == FLOAT
    assert got.shape == want.shape
    assert got.flags.c_contiguous
    np.testing.assert_allclose(got, want, rtol=0, atol=3e-5 * np.max(np.abs(want), initial=0))


def wide(*arrays):
    return [a.astype("float64") for a in arrays]


def agrees(images, spatial, channels, outs, window, groups=1):
    """Compare all three kernels with the generic kernel in float64."""
    x, w, y = data(images, spatial, channels, outs, window, groups)
    static = {"window": window, "groups": groups, "order": 0}
    exact = convolution.lower_convolve(*wide(x, w), **static)
    close(convolution.convolve(x, w, **static), exact)
    exact = convolution.scatter_windows(
        *wide(y, w), window, groups, spatial, convolution.add_at_view
    )
    close(convolution.unconvolve(y, w, **static, spatial=spatial), exact)
    exact = convolution.lower_correlate(*wide(x, y), **static)
    close(convolution.correlate(x, y, **static), exact)


@pytest.mark.parametrize(
    "case", [c for row in BORDERS + TRANSPOSED for c in (row[1], row[3])], ids=str
)
def test_both_sides_of_every_border_agree(case):
    agrees(*case)


ODD = [((2, 0), (0, 1)), ((0, 3), (1, 1)), ((4, 4), (5, 3))]


@pytest.mark.parametrize("paddings", ODD)
@pytest.mark.parametrize(
    ("size", "channels"), [((3, 3), 24), ((3, 3), 3), ((7, 7), 12), ((2, 3), 8)]
)
def test_uneven_and_wide_paddings(paddings, size, channels):
    agrees(9, (17, 19), channels, 24, window_of(size, paddings=paddings))


@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize(
    ("channels", "outs", "groups"),
    [(2, 5, 1), (8, 4, 1), (4, 24, 1), (6, 6, 6), (6, 12, 6), (6, 4, 2)],
)
@pytest.mark.parametrize("paddings", [((0, 0), (0, 0)), ((1, 2), (2, 0))])
def test_strides_dilations_and_groups(stride, dilation, channels, outs, groups, paddings):
    agrees(3, (11, 9), channels, outs, window_of((3, 3), stride, dilation, paddings), groups)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize(("channels", "groups"), [(2, 1), (16, 1), (4, 4)])
@pytest.mark.parametrize("n", [1, 3])
def test_one_and_three_spatial_axes(n, channels, groups, stride):
    window = window_of((3,) * n, stride, paddings=((1, 0),) * n)
    agrees(2, (6, 7, 5)[:n], channels, 8, window, groups)


def test_blocks_may_split_an_image(monkeypatch):
    for module in (im2col, winograd, few_channels, depthwise):
        monkeypatch.setattr(module, "BLOCK", 2000)
    monkeypatch.setattr(winograd, "MIN_TILES_PER_BLOCK", 1)
    for case in [(3, (20, 17), 24, 24, THREE), (3, (9, 9), 8, 8, THREE), (5, (9, 9), 2, 8, THREE)]:
        agrees(*case)
    agrees(3, (20, 17), 24, 24, THREE, groups=24)


@pytest.mark.parametrize(
    ("size", "stride", "channels", "outs"),
    [(3, 1, 24, 24), (7, 1, 24, 24), (3, 1, 2, 24), (3, 1, 24, 2), (4, 2, 32, 32), (5, 2, 48, 48)],
)
@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan, 1e38])
def test_an_infinite_pixel_affects_only_its_windows(size, stride, channels, outs, bad):
    window = window_of((size, size), stride, paddings=((size // 2,) * 2,) * 2)
    x, w, y = data(12, (16, 16), channels, outs, window)
    x[1, 4, 5, 0] = y[2, 6, 7, 1] = bad
    static = {"window": window, "groups": 1, "order": 0}
    with np.errstate(all="ignore"):
        for got, want in [
            (convolution.convolve(x, w, **static), convolution.lower_convolve(x, w, **static)),
            (
                convolution.unconvolve(y, w, **static, spatial=(16, 16)),
                convolution.scatter_windows(y, w, window, 1, (16, 16), convolution.add_at_view),
            ),
            (convolution.correlate(x, y, **static), convolution.lower_correlate(x, y, **static)),
        ]:
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("padding", ["SAME", "VALID", [[0, 0], [2, 1], [0, 3], [0, 0]]])
@pytest.mark.parametrize(("channels", "size"), [(24, 3), (2, 3), (12, 7), (8, 1)])
def test_both_data_formats_give_the_same_convolution(padding, channels, size):
    rng = np.random.default_rng(1)
    x = tf.constant(rng.normal(size=(4, 18, 17, channels)).astype(FLOAT))
    w = tf.constant(rng.normal(size=(size, size, channels, 24)).astype(FLOAT))
    first = padding
    if isinstance(padding, list):
        first = [padding[0], padding[3], *padding[1:3]]
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, w])
        last = tf.nn.conv2d(x, w, 1, padding)
        turned = tf.nn.conv2d(tf.transpose(x, (0, 3, 1, 2)), w, 1, first, data_format="NCHW")
        one, two = (tf.reduce_sum(tf.sin(y)) for y in (last, turned))
    close(tf.transpose(turned, (0, 2, 3, 1)).numpy().copy(), last.numpy())
    for a, b in zip(tape.gradient(one, [x, w]), tape.gradient(two, [x, w]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-2)


def test_half_types_accumulate_in_float32():
    x, w, _ = data(2, (16, 16), 24, 24, THREE)
    static = {"window": THREE, "groups": 1, "order": 0}
    got = convolution.convolve(x.astype("float16"), w.astype("float16"), **static)
    assert got.dtype == "float16"
    want = convolution.convolve(x, w, **static)
    np.testing.assert_allclose(got, want, rtol=0.01, atol=0.1)


def test_second_derivatives_are_accurate():
    """`order` grows with every derivative; from order 2 on only accurate algorithms run."""
    x, w = (tf.constant(a) for a in data(6, (8, 8), 24, 24, THREE)[:2])
    seen = []

    def watch(*args):
        seen.append(args[-1])
        return choose_algorithm(*args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(convolution, "choose_algorithm", watch)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.reduce_sum(tf.nn.conv2d(x, w, 1, "SAME") ** 3)
            g = tf.reduce_sum(inner.gradient(y, x) ** 2)
        outer.gradient(g, x)
    assert seen == [0, 1, 2, 1]
