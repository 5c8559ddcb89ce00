"""tf.image: resizing, boxes, colours, random augmentation and image similarity."""

import numpy as np
import pytest

import gradtape as tf

RAMP = tf.reshape(tf.range(16.0), [4, 4, 1])
PIXELS = np.random.default_rng(3).random((2, 12, 14, 3)).astype(np.float32)


def flat(x):
    return np.asarray(x).reshape(-1).tolist()


def gradient(f, *xs):
    xs = [tf.constant(x) for x in xs]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return tape.gradient(y, xs)


@pytest.mark.parametrize(
    "method",
    ["bilinear", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic", "nearest"],
)
@pytest.mark.parametrize("antialias", [False, True])
def test_resizing_keeps_constant_images(method, antialias):
    x = tf.fill([5, 7, 2], 3.0)
    y = tf.image.resize(x, [3, 11], method=method, antialias=antialias)
    np.testing.assert_allclose(y, np.full((3, 11, 2), 3.0), rtol=1e-6)


def test_resizing_gives_float32_except_with_nearest():
    x = tf.cast(RAMP, tf.uint8)
    assert tf.image.resize(x, [2, 2]).dtype == tf.float32
    assert flat(tf.image.resize(x, [2, 2], method="nearest")) == [5, 7, 13, 15]


def test_large_and_small_images_are_resized_alike():
    x = np.random.default_rng(0).random((1, 90, 70, 3)).astype(np.float32)
    whole = tf.image.resize(x, [120, 50], antialias=True)
    for c in range(3):
        one = tf.image.resize(x[..., c : c + 1].astype(np.float64), [120, 50], antialias=True)
        np.testing.assert_allclose(whole[..., c : c + 1], one, rtol=1e-5)


def test_the_gradient_of_a_resized_image_sums_to_its_size():
    (g,) = gradient(lambda x: tf.image.resize(x, [7, 6], method="bicubic"), RAMP)
    np.testing.assert_allclose(tf.reduce_sum(g), 42.0, rtol=1e-5)


def test_the_aspect_ratio_can_be_preserved():
    assert tf.image.resize(PIXELS, [6, 20], preserve_aspect_ratio=True).shape == (2, 6, 7, 3)
    assert tf.image.resize_with_pad(PIXELS, 6, 20).shape == (2, 6, 20, 3)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((tf.ones([3, 3]), [2, 2]), ValueError),
        ((RAMP, [2]), ValueError),
        ((RAMP, [2.0, 2.0]), ValueError),
        ((RAMP, [2, 2], "BILINEAR"), ValueError),
        ((RAMP, [0, 2]), tf.errors.InvalidArgumentError),
        ((tf.ones([2, 2, 1], tf.bool), [2, 2]), tf.errors.InvalidArgumentError),
    ],
)
def test_resizing_checks_its_arguments(arguments, error):
    with pytest.raises(error):
        tf.image.resize(*arguments)


def test_a_crop_samples_at_pixel_centres():
    crop = tf.image.crop_and_resize(RAMP[None], [[0.0, 0.0, 1.0, 1.0]], [0], [2, 3])
    assert flat(crop) == [0.0, 1.5, 3.0, 12.0, 13.5, 15.0]


def test_extrapolation_value_fills_pixels_outside_the_image():
    box = [[-1.0, -1.0, 2.0, 2.0]]
    crop = tf.image.crop_and_resize(RAMP[None], box, [0], [3, 3], extrapolation_value=9.0)
    assert flat(crop) == [9.0, 9.0, 9.0, 9.0, 7.5, 9.0, 9.0, 9.0, 9.0]


def test_boxes_have_a_gradient():
    boxes = np.array([[0.1, 0.2, 0.7, 0.9]], np.float32)

    def total(b):
        return tf.reduce_sum(tf.image.crop_and_resize(PIXELS, b, [1], [3, 2]) ** 2)

    (g,) = gradient(total, boxes)
    for k in range(4):
        step = np.zeros_like(boxes)
        step[0, k] = 1e-3
        slope = (total(boxes + step) - total(boxes - step)) / 2e-3
        np.testing.assert_allclose(g[0, k], slope, rtol=2e-2)


def test_a_box_index_without_an_image_is_out_of_range():
    with pytest.raises(tf.errors.OutOfRangeError):
        tf.image.crop_and_resize(RAMP[None], [[0.0, 0.0, 1.0, 1.0]], [1], [2, 2])


def test_cropping_is_the_inverse_of_padding():
    padded = tf.image.pad_to_bounding_box(RAMP, 1, 2, 7, 8)
    assert padded.shape == (7, 8, 1)
    np.testing.assert_array_equal(tf.image.crop_to_bounding_box(padded, 1, 2, 4, 4), RAMP)
    assert flat(tf.image.resize_with_crop_or_pad(RAMP, 2, 2)) == [5.0, 6.0, 9.0, 10.0]
    assert flat(tf.image.central_crop(RAMP, 0.5)) == [5.0, 6.0, 9.0, 10.0]


def test_the_error_class_of_a_box_outside_differs_for_tensors():
    with pytest.raises(ValueError, match="height must be >= target"):
        tf.image.crop_to_bounding_box(RAMP, 3, 0, 2, 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="height must be >= target"):
        tf.image.crop_to_bounding_box(RAMP, tf.constant(3), 0, 2, 2)


@pytest.mark.parametrize("k", range(-1, 5))
def test_rot90_equals_numpys(k):
    np.testing.assert_array_equal(tf.image.rot90(PIXELS, k), np.rot90(PIXELS, k, (1, 2)))


def test_flips_and_transposes_equal_numpys():
    np.testing.assert_array_equal(tf.image.flip_left_right(PIXELS), PIXELS[:, :, ::-1])
    np.testing.assert_array_equal(tf.image.flip_up_down(PIXELS[0]), PIXELS[0, ::-1])
    np.testing.assert_array_equal(tf.image.transpose(PIXELS), PIXELS.swapaxes(1, 2))


def test_hsv_to_rgb_inverts_rgb_to_hsv():
    np.testing.assert_allclose(tf.image.hsv_to_rgb(tf.image.rgb_to_hsv(PIXELS)), PIXELS, atol=1e-6)
    hsv = tf.image.rgb_to_hsv([[0.0, 0.0, 1.0], [0.5, 0.5, 0.5], [0.0, 0.0, 0.0]])
    np.testing.assert_allclose(hsv, [[2 / 3, 1, 1], [0, 0, 0.5], [0, 0, 0]], rtol=1e-6)


def test_hsv_to_rgb_has_no_gradient():
    assert gradient(tf.image.hsv_to_rgb, PIXELS) == [None]


@pytest.mark.parametrize("space", ["yiq", "yuv"])
def test_luma_and_chroma_convert_back_to_rgb(space):
    forward = getattr(tf.image, f"rgb_to_{space}")
    back = getattr(tf.image, f"{space}_to_rgb")
    np.testing.assert_allclose(back(forward(PIXELS)), PIXELS, atol=1e-4)


def test_rotating_the_hue_by_the_full_circle_changes_nothing():
    np.testing.assert_allclose(tf.image.adjust_hue(PIXELS, 1.0), PIXELS, atol=1e-5)
    red = tf.constant([[[1.0, 0.0, 0.0]]])
    np.testing.assert_allclose(tf.image.adjust_hue(red, 1 / 3), [[[0, 1, 0]]], atol=1e-6)
    np.testing.assert_allclose(tf.image.adjust_saturation(red, 0.0), [[[1, 1, 1]]])


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float64, tf.uint8])
def test_adjustments_keep_the_dtype(dtype):
    x = tf.image.convert_image_dtype(PIXELS[0], dtype)
    for change in (
        lambda x: tf.image.adjust_brightness(x, 0.1),
        lambda x: tf.image.adjust_contrast(x, 0.5),
        lambda x: tf.image.adjust_gamma(x, 2.0),
        lambda x: tf.image.adjust_hue(x, 0.1),
        lambda x: tf.image.adjust_saturation(x, 0.5),
    ):
        assert change(x).dtype == dtype


def test_integers_are_scaled_to_and_from_floats():
    x = tf.constant([0, 128, 255], tf.uint8)
    np.testing.assert_allclose(tf.image.convert_image_dtype(x, tf.float32), [0, 128 / 255, 1])
    assert flat(tf.image.convert_image_dtype(x, tf.uint16)) == [0, 32768, 65280]
    clipped = tf.image.convert_image_dtype([-1.0, 2.0], tf.uint8, saturate=True)
    assert flat(clipped) == [0, 255]
    with pytest.raises(AttributeError):
        tf.image.convert_image_dtype([True], tf.float32)


def test_a_constant_image_is_standardised_to_zeros_and_has_a_gradient():
    x = tf.fill([2, 2, 1], 5.0)
    assert flat(tf.image.per_image_standardization(x)) == [0.0] * 4
    (g,) = gradient(lambda x: tf.image.per_image_standardization(x) * [1.0], x)
    np.testing.assert_allclose(g, np.zeros((2, 2, 1)), atol=1e-6)


def test_similarity_of_an_image_with_itself():
    np.testing.assert_allclose(tf.image.ssim(PIXELS, PIXELS, 1.0), [1, 1], rtol=1e-6)
    several = tf.image.ssim_multiscale(PIXELS, PIXELS, 1.0, (0.5, 0.5), filter_size=5)
    np.testing.assert_allclose(several, [1, 1], rtol=1e-6)
    assert flat(tf.image.psnr(PIXELS, PIXELS, 1.0)) == [np.inf, np.inf]


def test_ssim_needs_equal_sizes_at_least_as_large_as_the_filter():
    with pytest.raises(ValueError, match="incompatible"):
        tf.image.ssim(PIXELS, PIXELS[:, :-1], 1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="as large as the filter"):
        tf.image.ssim(PIXELS[:, :5], PIXELS[:, :5], 1.0)


def test_sobel_edges_equal_the_sobel_filters():
    x = PIXELS[:, :, :, :1]
    wide = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), mode="reflect")[..., 0]
    across = wide[:, :, 2:] - wide[:, :, :-2]
    across = across[:, :-2] + 2 * across[:, 1:-1] + across[:, 2:]
    np.testing.assert_allclose(tf.image.sobel_edges(x)[..., 0, 1], across, atol=1e-5)


def test_total_variation_sums_differences_in_both_directions():
    assert float(tf.image.total_variation(RAMP)) == 12 + 48
    down, across = tf.image.image_gradients(RAMP[None])
    assert flat(down[0, :, 0]) == [4, 4, 4, 0]
    assert flat(across[0, 0]) == [1, 1, 1, 0]


def test_better_boxes_suppress_overlapping_ones():
    boxes = [[0.0, 0, 1, 1], [0, 0, 1, 0.9], [1, 1, 0, 0], [2, 2, 3, 3]]
    scores = [0.5, 0.9, 0.6, 0.1]
    assert flat(tf.image.non_max_suppression(boxes, scores, 4)) == [1, 3]
    assert flat(tf.image.non_max_suppression(boxes, scores, 4, score_threshold=0.1)) == [1]
    places, weaker = tf.image.non_max_suppression_with_scores(boxes, scores, 4, soft_nms_sigma=0.5)
    assert flat(places) == [1, 2, 3, 0]
    np.testing.assert_allclose(weaker[1], 0.6 * np.exp(-(0.9**2)), rtol=1e-5)


def test_batched_suppression_pads_with_zeros():
    boxes = tf.constant([[[0.0, 0, 1, 1], [0, 0, 1, 0.9], [2, 2, 3, 3]]] * 2)
    scores = tf.constant([[0.5, 0.9, 0.1], [0.9, 0.5, 0.1]])
    places, valid = tf.image.non_max_suppression_padded(
        boxes, scores, 3, pad_to_max_output_size=True
    )
    assert places.numpy().tolist() == [[1, 2, 0], [0, 2, 0]]
    assert flat(valid) == [2, 2]


def test_suppression_of_several_classes():
    boxes = [[[[0.0, 0, 1, 1]], [[0, 0, 1, 0.9]], [[0.5, 0.5, 3, 3]]]]
    scores = [[[0.5, 0.2], [0.9, 0.1], [0.1, 0.8]]]
    found = tf.image.combined_non_max_suppression(boxes, scores, 2, 3)
    np.testing.assert_allclose(found.nmsed_scores, [[0.9, 0.8, 0.2]], rtol=1e-6)
    assert flat(found.nmsed_classes) == [0, 1, 1]
    assert flat(found.nmsed_boxes[0, 1]) == [0.5, 0.5, 1, 1]
    assert flat(found.valid_detections) == [3]


def test_boxes_are_drawn_with_the_colours_in_turn():
    boxes = [[[0.0, 0.0, 1.0, 1.0], [0.34, 0.34, 0.34, 0.34]]]
    drawn = tf.image.draw_bounding_boxes(tf.zeros([1, 4, 4, 1]), boxes, [[1.0], [2.0]])
    assert np.asarray(drawn)[0, :, :, 0].tolist() == [
        [1, 1, 1, 1],
        [1, 2, 0, 1],
        [1, 0, 0, 1],
        [1, 1, 1, 1],
    ]


def test_random_augmentation_is_deterministic_in_the_seed():
    for change in (
        lambda seed: tf.image.stateless_random_flip_left_right(PIXELS, seed),
        lambda seed: tf.image.stateless_random_brightness(PIXELS, 0.3, seed),
        lambda seed: tf.image.stateless_random_contrast(PIXELS, 0.3, 0.9, seed),
        lambda seed: tf.image.stateless_random_hue(PIXELS, 0.3, seed),
        lambda seed: tf.image.stateless_random_saturation(PIXELS, 0.3, 0.9, seed),
        lambda seed: tf.image.stateless_random_crop(PIXELS, [1, 3, 3, 3], seed),
    ):
        np.testing.assert_array_equal(change([1, 2]), change([1, 2]))
    tf.random.set_seed(3)
    first = tf.image.random_crop(PIXELS, [2, 5, 5, 3])
    tf.random.set_seed(3)
    np.testing.assert_array_equal(tf.image.random_crop(PIXELS, [2, 5, 5, 3]), first)


def test_bounds_of_random_augmentation_are_checked():
    with pytest.raises(ValueError, match="non-negative"):
        tf.image.random_brightness(PIXELS, -1.0)
    with pytest.raises(ValueError, match=r"<= 0\.5"):
        tf.image.random_hue(PIXELS, 0.7)
    with pytest.raises(ValueError, match="upper must be > lower"):
        tf.image.random_contrast(PIXELS, 1.0, 0.5)


def test_hsv_to_rgb_and_bicubic_resizing_of_float16_have_no_gradient():
    x = tf.constant([[[0.2, 0.4, 0.6]]])
    half = tf.ones((2, 2, 1), tf.float16)
    with tf.GradientTape() as tape:
        tape.watch([x, half])
        y = tf.image.hsv_to_rgb(x), tf.image.resize(half, [3, 3], "bicubic")
    assert tape.gradient(y, [x, half]) == [None, None]


@pytest.mark.parametrize(
    ("adjust", "op"),
    [
        (tf.image.adjust_contrast, "AdjustContrastv2"),
        (tf.image.adjust_hue, "AdjustHue"),
        (tf.image.adjust_saturation, "AdjustSaturation"),
    ],
)
def test_differentiating_colour_adjustments_raises_lookup_error(adjust, op):
    image, delta, scale = tf.Variable(PIXELS), tf.Variable(0.1), tf.Variable(1.0)
    for source in (image, delta):
        with tf.GradientTape() as tape:
            adjusted = adjust(image, delta)
        with pytest.raises(LookupError, match=f"^gradient registry has no entry for: {op}$"):
            tape.gradient(adjusted, source)
    with tf.GradientTape() as tape:
        total = scale * tf.reduce_sum(adjust(tf.constant(PIXELS), 0.1))
    np.testing.assert_allclose(tape.gradient(total, scale), total)


def test_a_function_may_adjust_colours_but_not_differentiate_them():
    def darker(x):
        return tf.reduce_sum(tf.image.adjust_contrast(x, 0.5))

    compiled = tf.function(darker)
    x = tf.constant(PIXELS)
    for _ in range(3):
        np.testing.assert_allclose(compiled(x), darker(x), rtol=1e-5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = compiled(x)
    with pytest.raises(LookupError, match="AdjustContrastv2"):
        tape.gradient(total, x)
    with pytest.raises(LookupError, match="AdjustContrastv2"):
        tf.function(lambda x: tf.gradients(darker(x), x))(x)
