"""tf.audio: WAV files there and back."""

import numpy as np
import pytest

import gradtape as tf

SOUND = np.array([[0.5, -0.25], [1.5, -1.0], [0.0, 0.125]], np.float32)


def test_there_and_back():
    audio, rate = tf.audio.decode_wav(tf.audio.encode_wav(SOUND, 8000))
    assert rate.numpy() == 8000
    expected = np.clip(SOUND, -1, 32767 / 32768)
    np.testing.assert_array_equal(audio, expected)


def test_as_many_samples_and_channels_as_asked_for():
    wav = tf.audio.encode_wav(SOUND, 8000)
    assert tf.audio.decode_wav(wav, 1, 2).audio.numpy().tolist() == [[0.5], [32767 / 32768]]
    more = tf.audio.decode_wav(wav, 3, 4).audio.numpy()
    assert more[0].tolist() == [0.5, -0.25, -0.25]
    assert more[3].tolist() == [0, 0, 0]


def test_what_is_no_wav_file_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="RIFF"):
        tf.audio.decode_wav(b"abc")
    with pytest.raises(tf.errors.InvalidArgumentError, match="channels"):
        tf.audio.encode_wav([0.5], 8)


def test_a_dataset_of_files_knows_its_shape():
    wav = tf.audio.encode_wav(SOUND, 8000)
    dataset = tf.data.Dataset.from_tensors(wav).map(lambda w: tf.audio.decode_wav(w)[0])
    assert dataset.element_spec.shape.as_list() == [None, None]
    assert next(iter(dataset)).shape == (3, 2)
