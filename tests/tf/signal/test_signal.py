"""tf.signal: frames, windows, cosine and Fourier transforms, mel scale."""

import numpy as np
import pytest
import scipy.fft

import gradtape as tf

WAVE = np.random.default_rng(4).normal(size=(2, 20))


def gradient(f, x):
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


def test_frames_overlap_and_may_be_padded():
    assert tf.signal.frame([1, 2, 3, 4], 3, 2).numpy().tolist() == [[1, 2, 3]]
    padded = tf.signal.frame([1, 2, 3, 4], 3, 2, pad_end=True, pad_value=9)
    assert padded.numpy().tolist() == [[1, 2, 3], [3, 4, 9]]


def test_an_inner_axis_can_be_framed():
    x = np.arange(24).reshape(2, 4, 3)
    frames = tf.signal.frame(x, 2, 1, axis=1)
    assert frames.shape == (2, 3, 2, 3)
    np.testing.assert_array_equal(frames[:, 1], x[:, 1:3])


def test_the_gradient_of_frames_counts_the_frames_of_each_sample():
    g = gradient(lambda x: tf.signal.frame(x, 3, 1), np.zeros(5))
    assert g.numpy().tolist() == [1, 2, 3, 2, 1]


def test_overlap_and_add_inverts_frames_without_overlap():
    frames = tf.signal.frame(WAVE, 5, 5)
    np.testing.assert_array_equal(tf.signal.overlap_and_add(frames, 5), WAVE)
    assert tf.signal.overlap_and_add([[1, 1, 1], [1, 1, 1]], 1).numpy().tolist() == [1, 2, 2, 1]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: tf.signal.frame(1.0, 2, 1), ValueError),
        (lambda: tf.signal.frame([1.0], 2.0, 1), ValueError),
        (lambda: tf.signal.frame([1.0], 2, 1, axis=1), IndexError),
        (lambda: tf.signal.frame([1.0], 2, 0), tf.errors.InvalidArgumentError),
        (lambda: tf.signal.overlap_and_add([1.0], 1), ValueError),
        (lambda: tf.signal.stft([1, 2, 3, 4], 2, 1), ValueError),
        (lambda: tf.signal.rfft(tf.constant([1j])), ValueError),
        (lambda: tf.signal.dct(WAVE, axis=0), NotImplementedError),
        (lambda: tf.signal.dct(WAVE, type=5), ValueError),
        (lambda: tf.signal.dct(WAVE, type=1, norm="ortho"), ValueError),
        (lambda: tf.signal.mdct(WAVE, 6), ValueError),
        (lambda: tf.signal.hann_window(3, dtype=tf.int32), ValueError),
        (lambda: tf.signal.linear_to_mel_weight_matrix(upper_edge_hertz=5000.0), ValueError),
    ],
)
def test_invalid_arguments_are_rejected(call, error):
    with pytest.raises(error):
        call()


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
@pytest.mark.parametrize("norm", [None, "ortho"])
@pytest.mark.parametrize("n", [None, 7, 31])
def test_cosine_transforms_equal_scipys(kind, norm, n):
    if kind == 1 and norm:
        pytest.skip("type 1 has no orthogonal form")
    want = scipy.fft.dct(WAVE, type=kind, norm=norm, n=n)
    np.testing.assert_allclose(tf.signal.dct(WAVE, kind, n=n, norm=norm), want, atol=1e-10)


@pytest.mark.parametrize("kind", [2, 3, 4])
def test_the_gradient_of_an_orthogonal_cosine_transform_is_its_inverse(kind):
    g = gradient(lambda x: tf.reduce_sum(tf.signal.dct(x, kind, norm="ortho") * WAVE), WAVE)
    np.testing.assert_allclose(g, tf.signal.idct(WAVE, kind, norm="ortho"), atol=1e-10)


@pytest.mark.parametrize(("length", "step"), [(4, 2), (6, 2), (8, 3)])
def test_inverse_stft_inverts_stft(length, step):
    spectra = tf.signal.stft(WAVE, length, step)
    window = tf.signal.inverse_stft_window_fn(step)
    back = tf.signal.inverse_stft(spectra, length, step, window_fn=window)
    inner = slice(length, back.shape[-1] - length)
    np.testing.assert_allclose(back[:, inner], WAVE[:, inner], atol=1e-10)


@pytest.mark.parametrize(
    "window", [tf.signal.vorbis_window, tf.signal.kaiser_bessel_derived_window, None]
)
@pytest.mark.parametrize("norm", [None, "ortho"])
def test_inverse_mdct_inverts_mdct(window, norm):
    spectra = tf.signal.mdct(WAVE, 8, window, norm=norm)
    back = tf.signal.inverse_mdct(spectra, window, norm=norm)
    np.testing.assert_allclose(back[:, 4:-4], WAVE[:, 4:-4], atol=1e-6)


def test_windows_equal_numpys():
    np.testing.assert_allclose(tf.signal.hann_window(9), np.hanning(9), atol=1e-6)
    np.testing.assert_allclose(tf.signal.hann_window(8), np.hanning(9)[:-1], atol=1e-6)
    np.testing.assert_allclose(tf.signal.hamming_window(8, periodic=False), np.hamming(8), 1e-5)
    np.testing.assert_allclose(tf.signal.kaiser_window(8, 5.0), np.kaiser(8, 5.0), rtol=1e-5)
    assert tf.signal.hann_window(1).numpy().tolist() == [1]


def test_overlapping_squares_of_vorbis_windows_sum_to_one():
    square = tf.signal.vorbis_window(16, dtype=tf.float64) ** 2
    np.testing.assert_allclose(square[:8] + square[8:], np.ones(8))


def test_the_kaiser_window_is_differentiable_in_beta():
    g = gradient(lambda beta: tf.signal.kaiser_window(6, beta, dtype=tf.float64), np.float64(5))
    slope = (np.kaiser(6, 5.001).sum() - np.kaiser(6, 4.999).sum()) / 0.002
    np.testing.assert_allclose(g, slope, rtol=1e-5)


def test_mel_bands_rise_and_fall():
    weights = tf.signal.linear_to_mel_weight_matrix(5, 65, 8000, 100.0, 3800.0).numpy()
    assert weights.shape == (65, 5)
    assert (weights[0] == 0).all()
    assert (np.diff(weights.argmax(axis=0)) > 0).all()
    np.testing.assert_allclose(weights[10:40].sum(axis=1), 1, rtol=1e-5)


def test_the_first_cepstral_coefficient_is_a_scaled_sum():
    x = np.arange(6.0).reshape(1, 6)
    first = tf.signal.mfccs_from_log_mel_spectrograms(x)[0, 0]
    np.testing.assert_allclose(first, 2 * 15 / np.sqrt(12))


def test_transforms_along_several_axes_equal_numpys():
    x = np.random.default_rng(1).normal(size=(3, 4, 5))
    spectrum = tf.signal.rfftnd(tf.constant(x), axes=[0, 1], fft_length=[5, 4])
    np.testing.assert_allclose(spectrum, np.fft.rfftn(x, (5, 4), (0, 1)), atol=1e-12)
    back = tf.signal.irfftnd(spectrum, axes=[0, 1], fft_length=[5, 4])
    np.testing.assert_allclose(back[:3], x, atol=1e-12)
    z = tf.constant(x + 1j)
    np.testing.assert_allclose(tf.signal.fftnd(z, norm="ortho"), np.fft.fftn(x + 1j, norm="ortho"))
    np.testing.assert_allclose(tf.signal.ifftnd(tf.signal.fftnd(z)), z, atol=1e-12)


def test_overlap_and_add_of_empty_frames_gives_zeros():
    x = tf.zeros((2, 3, 0))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.signal.overlap_and_add(x, 2)
    np.testing.assert_array_equal(y, np.zeros((2, 4)))
    assert tape.gradient(y, x).shape == x.shape
